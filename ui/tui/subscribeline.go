package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/config"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/action"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/form"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
	"eventdeck/ui/tui/words"
)

// subscribeWords are what a typed line says of a subscription.
type subscribeWords struct {
	request host.Request // without arguments
	typ     *event.Type  // nil: its server has not listed its types yet
	args    []string     // name=value
}

func (a *app) runSubscribe(words []string) (tea.Cmd, error) {
	if len(words) == 0 {
		return nil, a.actions.Usage("sub")
	}
	w, err := a.subscribeWords(words)
	if err != nil {
		return nil, err
	}
	if w.typ != nil {
		if err := w.complete(*w.typ); err != nil {
			return nil, err
		}
	} else if s := a.server(w.request.Server); s.Reach != host.ReachReady && s.Reach != host.ReachConnecting {
		return nil, fmt.Errorf("nothing is subscribed: %s is %s; %s on it tries at once",
			s.Name, cmp.Or(evidence.ServerWhy(s, a.Clock()), evidence.Reach(*s, a.Clock())), a.KeyOf("server.reconnect"))
	}
	a.Tell("asking " + cells.Sanitize(w.request.Server).Plain() + " for " + trust.Line(w.request.Type).Plain() + " " + a.Glyphs.More)
	return a.Do(func(ctx context.Context) tea.Msg {
		err := w.subscribe(ctx, a.api)
		snap := a.api.Snapshot()
		return widget.Then(func() tea.Cmd {
			a.take(snap)
			a.subscribed(w, err)
			return a.read()
		})
	}), nil
}

// complete reads the arguments as the type takes them.
func (w *subscribeWords) complete(typ event.Type) (err error) {
	if err := typedAnew(typ, w.args); err != nil {
		return err
	}
	w.request.Args, err = words.Args(w.args, typ.InputSchema)
	return err
}

// subscribe asks the server for the subscription, and for the type before, where that is
// not known.
func (w *subscribeWords) subscribe(ctx context.Context, h host.API) error {
	if w.typ == nil {
		within, cancel := context.WithTimeoutCause(ctx, form.SubscribeWithin, form.ErrLate)
		defer cancel()
		types, err := h.Types(within, w.request.Server)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(types, func(t event.Type) bool { return t.Name == w.request.Type })
		if i < 0 {
			return unknownType(w.request.Type.Raw(), w.request.Server, types)
		}
		if err := w.complete(types[i]); err != nil {
			return err
		}
		w.typ = &types[i]
	}
	_, err := form.Subscribe(ctx, h, w.request)
	return err
}

// subscribed tells what became of a typed subscription.
func (a *app) subscribed(w subscribeWords, err error) {
	name := cells.Sanitize(w.request.Server).Plain() + " " + trust.Line(w.request.Type).Plain()
	if w.typ != nil {
		name = evidence.RequestName(*w.typ, w.request)
	}
	what, err := evidence.Unconfirmed("subscribed to "+name, err)
	switch v := a.begun(w.request); {
	case err == nil:
		a.Tell(what)
	case errors.Is(err, context.Canceled):
	case v != nil && errors.Is(err, form.ErrLate):
		why := cmp.Or(evidence.Why(v, a.Clock()), "not confirmed yet")
		a.tellBad(name + ": " + why + "; it goes on trying, " + a.KeyOf("quiet") + " on it tells more")
	case errors.Is(err, form.ErrLate):
		a.tellBad("cannot subscribe to " + name + ": the server has not answered")
	default:
		a.Fail("cannot subscribe to "+name, err)
	}
}

// begun is the subscription that a request began, nil if there is none.
func (a *app) begun(r host.Request) *host.SubscriptionView {
	args, err := event.CanonicalArgs(r.Args)
	if err != nil {
		return nil
	}
	return a.sub(event.Key{Server: r.Server, Type: r.Type, Args: args}.ID())
}

// subscribeWords reads a line that subscribes, and finds the server and the type.
func (a *app) subscribeWords(words []string) (w subscribeWords, err error) {
	w.request.Mode = event.ModeAuto
	server := ""
	for _, word := range words[1:] {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			return w, fmt.Errorf("%w: %q is no name=value", action.ErrUsage, word)
		}
		switch name {
		case "mode":
			if w.request.Mode = event.Mode(value); !slices.Contains(modeNames, value) {
				return w, fmt.Errorf("%w: mode is %s", action.ErrUsage, strings.Join(modeNames, ", "))
			}
		case "server":
			server = value
		case "from":
			if value != "now" && value != "saved" {
				return w, fmt.Errorf("%w: from is now or saved", action.ErrUsage)
			}
			w.request.From.Saved = value == "saved"
		default:
			w.args = append(w.args, word)
		}
	}
	w.request.Type = trust.Untrusted(words[0])
	if w.request.Server, err = a.serverOf(words[0], server); err != nil {
		return w, err
	}
	w.typ = a.listed(query.Node{Server: w.request.Server, Type: w.request.Type})
	return w, nil
}

// serverOf finds the server that an event type is of: the one that is named, or the only
// one that lists it or may list it yet.
func (a *app) serverOf(typ, named string) (string, error) {
	var listing, unlisted []string
	var types []event.Type
	for i := range a.snap.Servers {
		s := &a.snap.Servers[i]
		if named != "" && s.Name != named {
			continue
		}
		types = append(types, s.Types...)
		switch {
		case slices.ContainsFunc(s.Types, func(t event.Type) bool { return t.Name.Raw() == typ }):
			listing = append(listing, s.Name)
		case !s.TypesKnown:
			unlisted = append(unlisted, s.Name)
		}
	}
	switch {
	case named != "" && a.server(named) == nil:
		return "", a.unknownServer(named)
	case len(listing) == 1:
		return listing[0], nil
	case len(listing) > 1:
		return "", fmt.Errorf("%w: %s all list it; add server=%s", action.ErrUsage, strings.Join(listing, ", "), listing[0])
	case len(unlisted) == 1:
		return unlisted[0], nil
	case len(unlisted) > 1:
		return "", fmt.Errorf("%s have not listed their types yet; add server=%s to ask one of them", strings.Join(unlisted, ", "), unlisted[0])
	}
	return "", unknownType(typ, named, types)
}

// unknownServer says that no server has a name, and which there are.
func (a *app) unknownServer(name string) error {
	names := a.completeServer(nil)
	if len(names) == 0 {
		return fmt.Errorf("%w %q: there are none", host.ErrUnknownServer, name)
	}
	if near := config.Nearest(name, names); near != "" {
		return fmt.Errorf("%w %q; did you mean %q?", host.ErrUnknownServer, name, near)
	}
	return fmt.Errorf("%w %q; there are %s", host.ErrUnknownServer, name, strings.Join(names, ", "))
}

// unknownType says that a type is listed nowhere, or not at a server that is named.
func unknownType(name, server string, types []event.Type) error {
	at := ""
	if server != "" {
		at = " at " + server
	}
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = trust.Line(t.Name).Plain()
	}
	if near := config.Nearest(name, names); near != "" {
		return fmt.Errorf("%w %q%s; did you mean %q?", host.ErrUnknownType, name, at, near)
	}
	return fmt.Errorf("%w %q%s", host.ErrUnknownType, name, at)
}

// server returns a server by its name, nil if there is none.
func (a *app) server(name string) *host.ServerView {
	for i := range a.snap.Servers {
		if a.snap.Servers[i].Name == name {
			return &a.snap.Servers[i]
		}
	}
	return nil
}
