// Package subline subscribes by a typed line: an event type, its arguments as name=value, and options
// such as mode=push.
package subline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/form"
	"eventdeck/ui/tui/lookup"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
	"eventdeck/ui/tui/words"
)

// Modes are the words for a mode.
var Modes = []string{string(event.ModeAuto), string(event.ModePush), string(event.ModePoll), string(event.ModeWebhook)}

// Env has what a typed subscription needs from the screen.
type Env struct {
	*cells.Env
	widget.Screen
	Host  Host
	Snap  *host.Snapshot
	KeyOf func(action string) string
	Take  func(host.Snapshot) tea.Cmd // shows a newer snapshot, and reads the host
}

// Host is the part of the host that is used, in the background.
type Host interface {
	form.Host
	Snapshot() host.Snapshot
	Types(ctx context.Context, server string) ([]event.Type, error)
}

// line is a parsed line.
type line struct {
	request host.Request // without arguments
	typ     *event.Type  // nil: its server has not listed its types yet
	args    []string     // name=value
}

// Subscribe subscribes by the words of a line after the command, and shows the result.
//
// Errors: [words.ErrUsage], those of [lookup.ServerOf], that the server is not connected, or that an
// argument is wrong.
func Subscribe(e *Env, typed []string) (tea.Cmd, error) {
	l, err := read(e.Snap, typed)
	if err != nil {
		return nil, err
	}
	if l.typ != nil {
		if err := l.complete(*l.typ); err != nil {
			return nil, err
		}
	} else if s := lookup.Server(e.Snap, l.request.Server); s.Reach != host.ReachReady && s.Reach != host.ReachConnecting {
		return nil, fmt.Errorf("nothing is subscribed: %s is %s; %s on it tries at once",
			s.Name, cmp.Or(evidence.ServerWhy(s, e.Clock()), evidence.Reach(*s, e.Clock())), e.KeyOf("server.reconnect"))
	}
	e.Tell("asking " + cells.Sanitize(l.request.Server).Plain() + " for " + trust.Line(l.request.Type).Plain() + " " + e.Glyphs.More)
	return e.Do(func(ctx context.Context) tea.Msg {
		err := l.subscribe(ctx, e.Host)
		snap := e.Host.Snapshot()
		return widget.Then(func() tea.Cmd {
			cmd := e.Take(snap)
			l.tell(e, err)
			return cmd
		})
	}), nil
}

// complete parses the arguments by the schema of the type.
func (l *line) complete(typ event.Type) (err error) {
	if err := checkMasked(typ, l.args); err != nil {
		return err
	}
	l.request.Args, err = words.Args(l.args, typ.InputSchema)
	return err
}

// subscribe subscribes at the server. If the type is not known it lists the types first.
func (l *line) subscribe(ctx context.Context, h Host) error {
	if l.typ == nil {
		within, cancel := context.WithTimeoutCause(ctx, form.SubscribeWithin, form.ErrLate)
		defer cancel()
		types, err := h.Types(within, l.request.Server)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(types, func(t event.Type) bool { return t.Name == l.request.Type })
		if i < 0 {
			return lookup.UnknownType(l.request.Type.Raw(), l.request.Server, types)
		}
		if err := l.complete(types[i]); err != nil {
			return err
		}
		l.typ = &types[i]
	}
	_, err := form.Subscribe(ctx, h, l.request)
	return err
}

// tell shows the result.
func (l *line) tell(e *Env, err error) {
	name := cells.Sanitize(l.request.Server).Plain() + " " + trust.Line(l.request.Type).Plain()
	if l.typ != nil {
		name = evidence.RequestName(*l.typ, l.request)
	}
	what, err := evidence.Unconfirmed("subscribed to "+name, err)
	switch v := lookup.SubFor(e.Snap, l.request); {
	case err == nil:
		e.Tell(what)
	case errors.Is(err, context.Canceled):
	case v != nil && errors.Is(err, form.ErrLate):
		why := cmp.Or(evidence.Why(v, e.Clock()), "not confirmed yet")
		e.Fail(name, fmt.Errorf("%s; it goes on trying, %s on it tells more", why, e.KeyOf("quiet")))
	case errors.Is(err, form.ErrLate):
		e.Fail("cannot subscribe to "+name, errors.New("the server has not answered"))
	default:
		e.Fail("cannot subscribe to "+name, withAdvice(err, e.Snap.Receiver))
	}
}

// withAdvice replaces the error of a refused callback by an explanation and what to do; it returns any
// other error as it is.
func withAdvice(err error, receiver string) error {
	said, ok := host.RefusalOf(err)
	if !ok || said.Name != host.RefusedCallback {
		return err
	}
	reason := said.Reason.Raw()
	return errors.New(evidence.CallbackText(reason) + " " + cells.Sentence(evidence.CallbackStep(reason, receiver)))
}

// read parses a line, and finds the server and the type.
func read(snap *host.Snapshot, typed []string) (l line, err error) {
	l.request.Mode = event.ModeAuto
	server := ""
	for _, word := range typed[1:] {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			return l, fmt.Errorf("%w: %q is not of the form name=value", words.ErrUsage, word)
		}
		switch name {
		case "mode":
			if l.request.Mode = event.Mode(value); !slices.Contains(Modes, value) {
				return l, fmt.Errorf("%w: mode is %s", words.ErrUsage, strings.Join(Modes, ", "))
			}
		case "server":
			server = value
		case "from":
			if value != "now" && value != "saved" {
				return l, fmt.Errorf("%w: from is now or saved", words.ErrUsage)
			}
			l.request.From.Saved = value == "saved"
		default:
			l.args = append(l.args, word)
		}
	}
	l.request.Type = trust.Untrusted(typed[0])
	if l.request.Server, err = lookup.ServerOf(snap, typed[0], server); err != nil {
		return l, err
	}
	l.typ = lookup.Type(snap, query.Node{Server: l.request.Server, Type: l.request.Type})
	return l, nil
}

// Complete returns candidates for the last word of a line.
func Complete(snap *host.Snapshot, typed []string) []string {
	if len(typed) == 1 {
		return lookup.Types(snap)
	}
	out := []string{"mode=push", "mode=poll", "mode=webhook", "mode=auto", "from=saved"}
	if l, err := read(snap, typed[:1]); err == nil && l.typ != nil {
		out = append(words.ArgNames(l.typ.InputSchema), out...)
	}
	for _, name := range lookup.Servers(snap) {
		out = append(out, "server="+name)
	}
	return out
}
