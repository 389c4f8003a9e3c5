package tui

import (
	"fmt"
	"slices"
	"strings"

	"eventdeck/host/event"
	"eventdeck/host/redact"
	"eventdeck/host/schema"
	"eventdeck/ui/tui/action"
	"eventdeck/ui/tui/words"
)

// memorable returns a typed line as it is remembered: without the values that the
// schema of its event type calls secret. It is "" where the type is not known.
func (a *app) memorable(line string) string {
	typed, err := action.Split(line)
	if err != nil || len(typed) < 2 || typed[0] != "sub" {
		return line
	}
	asked, err := a.subscribeWords(typed[1:])
	if err != nil || asked.typ == nil {
		return ""
	}
	masked := false
	for i, w := range typed[2:] {
		if name, _, _ := strings.Cut(w, "="); secretName(*asked.typ, name) {
			typed[i+2], masked = name+"="+redact.Shown, true
		}
	}
	if !masked {
		return line
	}
	for i, w := range typed {
		if strings.ContainsAny(w, " \t\"'\\") {
			typed[i] = words.Shell(w)
		}
	}
	return strings.Join(typed, " ")
}

// typedAnew refuses a line out of the history in which a secret is still to be typed.
//
// Error: errUsage.
func typedAnew(typ event.Type, words []string) error {
	for _, w := range words {
		if name, value, _ := strings.Cut(w, "="); value == redact.Shown && secretName(typ, name) {
			return fmt.Errorf("%w: %s is secret and was not remembered; type its value again", action.ErrUsage, name)
		}
	}
	return nil
}

// secretName tells whether the argument of that name is not to be shown, all of it or
// a part.
func secretName(typ event.Type, name string) bool {
	return slices.ContainsFunc(schema.Fields(typ), func(f schema.Field) bool { return f.Name().Raw() == name && holdsSecret(f) })
}

func holdsSecret(f schema.Field) bool { return f.Secret || slices.ContainsFunc(f.Fields, holdsSecret) }
