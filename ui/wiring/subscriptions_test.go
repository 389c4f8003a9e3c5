package wiring

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// noted is a host that notes what is asked of it.
type noted struct {
	host.API
	subs []host.SubscriptionView
	did  []string
	err  error
}

func (n *noted) Snapshot() host.Snapshot { return host.Snapshot{Subs: n.subs} }

func (n *noted) note(format string, args ...any) error {
	n.did = append(n.did, fmt.Sprintf(format, args...))
	return n.err
}

func (n *noted) Subscribe(_ context.Context, r host.Request) (event.Subscription, error) {
	return event.Subscription{}, n.note("begin %s %s saved %v", r.Args, r.Mode, r.From.Saved)
}

func (n *noted) Unsubscribe(_ context.Context, id event.SubID) error { return n.note("end %s", id) }
func (n *noted) Pause(_ context.Context, id event.SubID) error       { return n.note("pause %s", id) }
func (n *noted) Resume(_ context.Context, id event.SubID) error      { return n.note("resume %s", id) }
func (n *noted) SetMode(_ context.Context, id event.SubID, m event.Mode) error {
	return n.note("mode %s %s", id, m)
}

// What a client asked for is carried out; a change of arguments begins the new subscription before it
// ends the old one, and never ends the one that was asked for.
func TestClientRequestsAreCarried(t *testing.T) {
	key := event.Key{Server: "pager", Type: trust.Untrusted("incident"), Args: json.RawMessage(`{"a":1}`)}
	id := string(key.ID())
	w := react.ClientRequest{Server: key.Server, Type: key.Type, Args: key.Args, Mode: event.ModePoll}
	about := func(act react.ClientAct, args string) react.ClientRequest {
		q := w
		q.Act, q.Sub, q.Args = act, key.ID(), nil
		if args != "" {
			q.Args = json.RawMessage(args)
		}
		return q
	}
	begin := w
	begin.Act = react.ClientBegin
	running := []host.SubscriptionView{{Subscription: event.Subscription{ID: key.ID(), Key: key, State: event.StateLive}}}
	for name, c := range map[string]struct {
		w    react.ClientRequest
		subs []host.SubscriptionView
		err  error
		want []string
		ok   bool
	}{
		"begin":                 {begin, nil, nil, []string{`begin {"a":1} poll saved true`}, true},
		"begin what runs":       {begin, running, nil, nil, true},
		"end":                   {about(react.ClientEnd, ""), running, nil, []string{"end " + id}, true},
		"end what is gone":      {about(react.ClientEnd, ""), nil, event.ErrNotFound, []string{"end " + id}, true},
		"pause":                 {about(react.ClientPause, ""), running, nil, []string{"pause " + id}, true},
		"resume":                {about(react.ClientResume, ""), running, nil, []string{"resume " + id}, true},
		"mode":                  {about(react.ClientChange, ""), running, nil, []string{"mode " + id + " poll"}, true},
		"arguments as before":   {about(react.ClientChange, `{"a":1}`), running, nil, []string{"mode " + id + " poll"}, true},
		"arguments":             {about(react.ClientChange, `{"a":2}`), running, nil, []string{`begin {"a":2} poll saved true`, "end " + id}, true},
		"arguments are refused": {about(react.ClientChange, `{"a":2}`), running, host.ErrArguments, []string{`begin {"a":2} poll saved true`}, false},
	} {
		n := &noted{subs: c.subs, err: c.err}
		if err := (subscriptions{n}).Carry(t.Context(), c.w); (err == nil) != c.ok || !slices.Equal(n.did, c.want) {
			t.Errorf("%s: did %q, %v; want %q", name, n.did, err, c.want)
		}
	}
}
