package subline

import (
	"fmt"
	"slices"
	"strings"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/redact"
	"eventdeck/host/schema"
	"eventdeck/ui/tui/words"
)

// ForHistory returns a typed line for the history. In lines of the subscribe command it masks the
// arguments that the schema of the event type calls secret; it returns "" if the type is not known.
func ForHistory(snap *host.Snapshot, command, text string) string {
	typed, err := words.Split(text)
	if err != nil || len(typed) < 2 || typed[0] != command {
		return text
	}
	asked, err := read(snap, typed[1:])
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
		return text
	}
	for i, w := range typed {
		if strings.ContainsAny(w, " \t\"'\\") {
			typed[i] = words.ShellQuote(w)
		}
	}
	return strings.Join(typed, " ")
}

// checkMasked refuses arguments in which a masked secret of the history was not typed again.
//
// Error: [words.ErrUsage].
func checkMasked(typ event.Type, typed []string) error {
	for _, w := range typed {
		if name, value, _ := strings.Cut(w, "="); value == redact.Shown && secretName(typ, name) {
			return fmt.Errorf("%w: %s is secret and was not remembered; type its value again", words.ErrUsage, name)
		}
	}
	return nil
}

// secretName reports whether an argument is secret or contains a secret.
func secretName(typ event.Type, name string) bool {
	return slices.ContainsFunc(schema.Fields(typ), func(f schema.Field) bool { return f.Name().Raw() == name && holdsSecret(f) })
}

func holdsSecret(f schema.Field) bool { return f.Secret || slices.ContainsFunc(f.Fields, holdsSecret) }
