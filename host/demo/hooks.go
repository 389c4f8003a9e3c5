package demo

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"io"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventserver"
	"eventdeck/host/wire"
)

const (
	dualSign       = time.Hour // after a rotation both secrets sign
	deliveriesEach = 16        // concurrent deliveries of one subscription
)

// hooks are the webhook subscriptions of a server.
type hooks struct {
	engine *engine
	opts   PagerOptions
	sender *eventserver.Sender
	random io.Reader
	key    ed25519.PrivateKey // see PagerOptions.ServerKey
	verify *eventserver.Verifier

	ctx     context.Context // of begin: as long as the workers run
	workers sync.WaitGroup

	mu   sync.Mutex
	byID map[string]*hook
}

func newHooks(e *engine, opts PagerOptions) *hooks {
	random := opts.Random
	if random == nil {
		random = rand.Reader
	}
	return &hooks{engine: e, random: random, verify: eventserver.NewVerifier(random), byID: map[string]*hook{}}
}

// begin must be called before the first request is served.
func (h *hooks) begin(ctx context.Context, opts PagerOptions) {
	h.ctx, h.opts = ctx, opts
	ca := opts.CAFile
	if !opts.TrustCA {
		ca = ""
	}
	h.sender = eventserver.NewSender(opts.AllowLoopback, ca, 2*deliveriesEach)
	h.sender.Key = h.key
}

// wait returns when every worker has ended; ctx of begin must be over.
func (h *hooks) wait() {
	h.mu.Lock() // requests that entered before are counted; none enters after
	workers := &h.workers
	h.mu.Unlock()
	workers.Wait()
	h.sender.Close()
}

// subscribe answers events/subscribe: a new subscription or a refresh.
func (h *hooks) subscribe(ctx context.Context, c call) (map[string]any, *eventserver.Refusal) {
	p, f := eventserver.ReadHookRequest(c.params, c.principal)
	if f != nil {
		return nil, f
	}
	secret, f := p.Secret()
	if f != nil {
		return nil, f
	}
	ttl, f := p.Lease(h.opts.DefaultTTL)
	if f != nil {
		return nil, f
	}
	w, f := h.engine.resolve(c.params, "webhook", time.Now())
	if f != nil {
		return nil, f
	}
	id := eventserver.HookID(c.principal, p.Delivery.URL, w.kind.name, w.raw)
	if f := h.room(id, c.principal); f != nil {
		return nil, f
	}
	if f := h.challenge(ctx, id, c.principal, p.Delivery.URL, secret); f != nil {
		return nil, f
	}
	for {
		k, fresh, f := h.enter(id, c.principal, p.Delivery.URL, w, secret, ttl)
		if f != nil {
			return nil, f
		}
		if result := k.granted(ttl, w, secret, fresh); result != nil {
			return result, nil
		}
	}
}

// room checks the limit of subscriptions, before anything is sent anywhere.
func (h *hooks) room(id, principal string) *eventserver.Refusal {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.roomLocked(id, principal)
}

func (h *hooks) roomLocked(id, principal string) *eventserver.Refusal {
	if h.byID[id] != nil {
		return nil
	}
	n := 0
	for _, k := range h.byID {
		if k.principal == principal {
			n++
		}
	}
	if n >= h.opts.MaxSubscriptions {
		return eventserver.Refuse(wire.ResourceExhausted, "too many webhook subscriptions", map[string]any{"limit": "subscriptions", "max": h.opts.MaxSubscriptions})
	}
	return nil
}

// enter finds the subscription or starts its worker.
func (h *hooks) enter(id, principal, url string, w requested, secret event.Secret, ttl time.Duration) (k *hook, fresh bool, f *eventserver.Refusal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		return nil, false, eventserver.BadCallback("connection_refused")
	}
	if k := h.byID[id]; k != nil && !k.isOver() {
		return k, false, nil
	}
	if f := h.roomLocked(id, principal); f != nil {
		return nil, false, f
	}
	k = newHook(h, id, principal, url, w, secret, ttl)
	h.byID[id] = k
	h.workers.Go(func() {
		k.run(h.ctx)
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.byID[id] == k {
			delete(h.byID, id)
		}
		if h.engine.faults.has(faultForgotten) {
			h.verify.Forget(principal, url)
		}
	})
	return k, true, nil
}

// challenge proves that the receiver wants deliveries, once for every principal
// and url.
func (h *hooks) challenge(ctx context.Context, id, principal, url string, secret event.Secret) *eventserver.Refusal {
	f := h.verify.Verify(ctx, h.sender, id, principal, url, secret)
	if f == nil && h.engine.faults.has(faultChallenge) {
		h.verify.Forget(principal, url)
		f = eventserver.BadCallback("challenge_failed")
	}
	return f
}

// unsubscribe answers events/unsubscribe.
func (h *hooks) unsubscribe(c call) (map[string]any, *eventserver.Refusal) {
	p, f := eventserver.ReadHookRequest(c.params, c.principal)
	if f != nil {
		return nil, f
	}
	var wanted requestParams
	if f := eventserver.Decode(c.params, &wanted); f != nil {
		return nil, f
	}
	gone := eventserver.Refuse(wire.NotFound, "no such subscription", map[string]any{"kind": "subscription"})
	for _, t := range h.engine.types {
		if t.name != wanted.Name {
			continue
		}
		_, raw, f := t.arguments(wanted)
		if f != nil {
			return nil, f
		}
		id := eventserver.HookID(c.principal, p.Delivery.URL, t.name, raw)
		h.mu.Lock()
		k := h.byID[id]
		delete(h.byID, id)
		h.mu.Unlock()
		if k == nil {
			return nil, gone
		}
		k.cancel()
		return map[string]any{}, nil
	}
	return nil, gone
}

// terminateAll ends every subscription with a terminated envelope.
func (h *hooks) terminateAll(f *eventserver.Refusal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, k := range h.byID {
		delete(h.byID, id)
		k.terminate(f)
	}
	h.verify.ForgetAll()
}
