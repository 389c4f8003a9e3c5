package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"time"

	"eventdeck/host/eventserver"
)

// Bounds of webhook subscriptions.
const (
	maxHooks = 100              // of a caller
	leaseFor = 10 * time.Minute // the longest lease: subscriptions are not kept over a restart
)

// hooks are the webhook subscriptions of clients.
type hooks struct {
	*eventserver.Hooks[*hook]
	server *Server
}

func newHooks(s *Server) *hooks {
	h := &hooks{Hooks: eventserver.NewHooks[*hook](eventserver.NewVerifier(rand.Reader)), server: s}
	h.Sender = eventserver.NewSender(s.opts.CallbacksOnLoopback, s.opts.CallbackCA, 1)
	h.Longest, h.Most = s.opts.Lease, maxHooks
	return h
}

// subscribe answers events/subscribe: a new subscription or a refresh.
func (h *hooks) subscribe(ctx context.Context, r request) (map[string]any, *eventserver.Refusal) {
	var w wanted
	asked, f := h.Check(ctx, r.params, r.caller, func() (name, args string, f *eventserver.Refusal) {
		w, f = h.server.resolve(r.params)
		return w.name, w.args, f
	})
	if f != nil {
		return nil, f
	}
	return h.Grant(asked, func() *hook { return newHook(h, asked, w) },
		func(k *hook, fresh bool) map[string]any { return k.grant(asked, w, fresh) })
}

// unsubscribe answers events/unsubscribe.
func (h *hooks) unsubscribe(r request) (map[string]any, *eventserver.Refusal) {
	return h.Unsubscribe(r.params, r.caller, func() (name, args string, f *eventserver.Refusal) {
		var asked struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}
		if f := eventserver.Decode(r.params, &asked); f != nil {
			return "", "", f
		}
		t, ok := h.server.types.find(asked.Name)
		if !ok {
			return "", "", eventserver.NoSubscription()
		}
		w, f := h.server.choose(t, asked.Arguments, h.server.opts.Now())
		return t.name, w.args, f
	})
}
