package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventserver"
	"eventdeck/host/wire"
)

// Bounds of webhook subscriptions.
const (
	maxHooks = 100              // of a caller
	leaseFor = 10 * time.Minute // the longest lease: nothing of it is kept over a restart
	dualSign = time.Hour        // after a rotation both secrets sign
)

// hooks are the webhook subscriptions of clients.
type hooks struct {
	server *Server
	sender *eventserver.Sender
	verify *eventserver.Verifier

	mu   sync.Mutex
	ctx  context.Context // of begin: as long as the workers run
	byID map[string]*hook
}

func newHooks(s *Server) *hooks {
	return &hooks{server: s, sender: eventserver.NewSender(s.opts.CallbacksOnLoopback, s.opts.CallbackCA, 1), verify: eventserver.NewVerifier(rand.Reader), byID: map[string]*hook{}}
}

// begin must be called before the first request is served.
func (h *hooks) begin(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ctx = ctx
}

// subscribe answers events/subscribe: a new subscription or a refresh.
func (h *hooks) subscribe(ctx context.Context, r request) (map[string]any, *eventserver.Refusal) {
	p, f := eventserver.ReadHookRequest(r.params, r.caller)
	if f != nil {
		return nil, f
	}
	secret, f := p.Secret()
	if f != nil {
		return nil, f
	}
	ttl, f := p.Lease(h.server.opts.Lease)
	if f != nil {
		return nil, f
	}
	w, f := h.server.resolve(r.params, string(event.ModeWebhook))
	if f != nil {
		return nil, f
	}
	id := eventserver.HookID(r.caller, p.Delivery.URL, w.name, w.args)
	if f := h.room(id, r.caller); f != nil {
		return nil, f
	}
	if f := h.verify.Verify(ctx, h.sender, id, r.caller, p.Delivery.URL, secret); f != nil {
		return nil, f
	}
	for {
		k, fresh, f := h.enter(id, r.caller, p.Delivery.URL, w, secret)
		if f != nil {
			return nil, f
		}
		if result := k.grant(ttl, w, secret, fresh); result != nil {
			return result, nil
		}
	}
}

// room checks the limit of subscriptions, before anything is sent anywhere.
func (h *hooks) room(id, caller string) *eventserver.Refusal {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.roomLocked(id, caller)
}

func (h *hooks) roomLocked(id, caller string) *eventserver.Refusal {
	if h.byID[id] != nil {
		return nil
	}
	n := 0
	for _, k := range h.byID {
		if k.caller == caller {
			n++
		}
	}
	if n >= maxHooks {
		return eventserver.Refuse(wire.ResourceExhausted, "too many webhook subscriptions", map[string]any{"limit": "subscriptions", "max": maxHooks})
	}
	return nil
}

// enter finds the subscription or starts its worker.
func (h *hooks) enter(id, caller, url string, w wanted, secret event.Secret) (k *hook, fresh bool, f *eventserver.Refusal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		return nil, false, eventserver.BadCallback("connection_refused")
	}
	if k := h.byID[id]; k != nil && !k.isOver() {
		return k, false, nil
	}
	if f := h.roomLocked(id, caller); f != nil {
		return nil, false, f
	}
	k = &hook{owner: h, id: id, caller: caller, url: url, wanted: w, done: w.pos, secret: secret,
		refreshBefore: h.server.opts.Now().Add(time.Minute), kick: make(chan struct{}, 1), stop: make(chan struct{})}
	h.byID[id] = k
	h.server.work.Go(func() {
		k.run(h.ctx)
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.byID[id] == k {
			delete(h.byID, id)
		}
	})
	return k, true, nil
}

// unsubscribe answers events/unsubscribe.
func (h *hooks) unsubscribe(r request) (map[string]any, *eventserver.Refusal) {
	p, f := eventserver.ReadHookRequest(r.params, r.caller)
	if f != nil {
		return nil, f
	}
	var asked struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if f := eventserver.Decode(r.params, &asked); f != nil {
		return nil, f
	}
	gone := eventserver.Refuse(wire.NotFound, "no such subscription", map[string]any{"kind": "subscription"})
	t, ok := h.server.types.find(asked.Name)
	if !ok {
		return nil, gone
	}
	w, f := h.server.choose(t, asked.Arguments, h.server.opts.Now())
	if f != nil {
		return nil, f
	}
	id := eventserver.HookID(r.caller, p.Delivery.URL, t.name, w.args)
	h.mu.Lock()
	k := h.byID[id]
	delete(h.byID, id)
	h.mu.Unlock()
	if k == nil {
		return nil, gone
	}
	k.stopOnce.Do(func() { close(k.stop) })
	return map[string]any{}, nil
}
