package form

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/schema"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
)

// OpenLine shows the form for a subscription, filled in with the words of a typed command: an event type,
// its arguments as name=value, and options such as mode=push.
//
// Errors: [evidence.ErrUsage], those of [query.ServerOf], or that the server has not listed its types.
func OpenLine(e *Env, snap *host.Snapshot, typed []string) (tea.Cmd, error) {
	r, t, err := readLine(snap, typed)
	if err != nil {
		return nil, err
	}
	if t == nil {
		s := query.FindServer(snap, r.Server)
		return nil, fmt.Errorf("%s has not listed its types yet: it is %s", s.Name, cmp.Or(evidence.ServerWhy(s, e.Clock()), evidence.Reach(*s, e.Clock())))
	}
	f := newForm(e, r.Server, *t, event.ModePush, event.ModePoll, event.ModeWebhook)
	if err := f.model.Load(r.Args); err != nil {
		return nil, err
	}
	f.edited = true
	f.choose(r.Mode)
	if r.From.Saved {
		f.start = 1
	}
	return f.open(), nil
}

// choose chooses a mode as the operator does, if the form has it.
func (f *Form) choose(mode event.Mode) {
	for i, m := range f.modes {
		if m.mode == mode {
			f.mode, f.chosen = i, true
		}
	}
}

// readLine parses the words of a typed command. The type is nil if its server has not listed its types.
func readLine(snap *host.Snapshot, typed []string) (r host.Request, t *event.Type, err error) {
	r.Type, r.Mode = trust.Untrusted(typed[0]), event.ModeAuto
	var args []string
	server := ""
	for _, word := range typed[1:] {
		switch name, value, ok := strings.Cut(word, "="); {
		case !ok:
			return r, nil, fmt.Errorf("%w: %q is not of the form name=value", evidence.ErrUsage, word)
		case name == "mode":
			if r.Mode = event.Mode(value); !slices.Contains([]event.Mode{event.ModeAuto, event.ModePush, event.ModePoll, event.ModeWebhook}, r.Mode) {
				return r, nil, fmt.Errorf("%w: mode is auto, push, poll, webhook", evidence.ErrUsage)
			}
		case name == "server":
			server = value
		case name == "from":
			if r.From.Saved = value == "saved"; !r.From.Saved && value != "now" {
				return r, nil, fmt.Errorf("%w: from is now or saved", evidence.ErrUsage)
			}
		default:
			args = append(args, word)
		}
	}
	if r.Server, err = query.ServerOf(snap, typed[0], server); err != nil {
		return r, nil, err
	}
	if t = query.FindType(snap, query.Node{Server: r.Server, Type: r.Type}); t == nil {
		return r, nil, nil
	}
	r.Args, err = evidence.Args(args, t.InputSchema)
	return r, t, err
}

// CompleteLine returns candidates for the last word of a typed command.
func CompleteLine(snap *host.Snapshot, typed []string) []string {
	if len(typed) == 1 {
		return query.TypeNames(snap)
	}
	out := []string{"mode=push", "mode=poll", "mode=webhook", "mode=auto", "from=saved"}
	if _, t, err := readLine(snap, typed[:1]); err == nil && t != nil {
		out = append(evidence.ArgNames(t.InputSchema), out...)
	}
	for _, name := range query.ServerNames(snap) {
		out = append(out, "server="+name)
	}
	return out
}

// LineForHistory returns a typed line for the history. Of lines of the command it leaves out the
// arguments that the event type calls secret; it returns "" if the type is not known.
func LineForHistory(snap *host.Snapshot, command, line string) string {
	typed, err := evidence.Split(line)
	if err != nil || len(typed) < 2 || typed[0] != command {
		return line
	}
	_, t, err := readLine(snap, typed[1:])
	if err != nil || t == nil {
		return ""
	}
	secret := func(word string) bool {
		name, _, _ := strings.Cut(word, "=")
		return slices.ContainsFunc(schema.Fields(*t), func(f schema.Field) bool { return f.Name().Raw() == name && holdsSecret(f) })
	}
	typed = slices.DeleteFunc(typed, secret)
	for i, w := range typed {
		typed[i] = evidence.Quote(w)
	}
	return strings.Join(typed, " ")
}

func holdsSecret(f schema.Field) bool { return f.Secret || slices.ContainsFunc(f.Fields, holdsSecret) }
