package eventserver

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// Hook is one webhook subscription of a server.
type Hook interface {
	comparable
	// Run delivers until ctx or the subscription ends.
	Run(ctx context.Context)
	// IsOver reports whether the subscription has ended, though Run may not have returned.
	IsOver() bool
	// Stop makes Run return. It may be called more than once.
	Stop()
}

// Hooks are the webhook subscriptions of a server. Make them with [NewHooks]; set Sender,
// Longest and Most before the first request. Its methods may be called from any goroutine.
type Hooks[H Hook] struct {
	Sender   *Sender
	Verifier *Verifier
	Longest  time.Duration // longest lease
	Most     int           // most subscriptions of a principal

	workers sync.WaitGroup

	mu   sync.Mutex
	ctx  context.Context // of Begin: as long as the workers run
	byID map[string]kept[H]
}

// kept is a subscription with its principal.
type kept[H Hook] struct {
	hook      H
	principal string
}

// NewHooks returns an empty set of subscriptions. v verifies their callbacks.
func NewHooks[H Hook](v *Verifier) *Hooks[H] {
	return &Hooks[H]{Verifier: v, byID: map[string]kept[H]{}}
}

// Begin must be called before the first request is served. The workers end with ctx.
func (h *Hooks[H]) Begin(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ctx = ctx
}

// Wait waits for all workers, and closes the idle connections. The context of Begin must be over,
// or every subscription about to end.
func (h *Hooks[H]) Wait() {
	h.mu.Lock() // requests that began before are counted
	workers := &h.workers
	h.mu.Unlock()
	workers.Wait()
	h.Sender.Close()
}

// Asked is a checked request to subscribe by webhook.
type Asked struct {
	ID, Principal, URL string
	Secret             event.Secret
	Lease              time.Duration // to grant
}

// Check reads the params of events/subscribe, and verifies the callback; Grant then answers. It
// refuses what [ReadHookRequest], [HookRequest.Secret], [HookRequest.Lease], resolve and
// [Verifier.Verify] refuse, and more subscriptions of a principal than Most (ResourceExhausted).
// Nothing is sent before all else is checked. resolve returns the name of the requested type, and
// its arguments as canonical JSON.
func (h *Hooks[H]) Check(ctx context.Context, params json.RawMessage, principal string, resolve func() (name, args string, f *Refusal)) (Asked, *Refusal) {
	a := Asked{Principal: principal}
	p, f := ReadHookRequest(params, principal)
	if f != nil {
		return a, f
	}
	if a.Secret, f = p.Secret(); f != nil {
		return a, f
	}
	if a.Lease, f = p.Lease(h.Longest); f != nil {
		return a, f
	}
	name, args, f := resolve()
	if f != nil {
		return a, f
	}
	a.URL = p.Delivery.URL
	a.ID = HookID(principal, a.URL, name, args)
	if f := h.checkLimit(a); f != nil { // before anything is sent anywhere
		return a, f
	}
	return a, h.Verifier.Verify(ctx, h.Sender, a.ID, principal, a.URL, a.Secret)
}

func (h *Hooks[H]) checkLimit(a Asked) *Refusal {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.checkLimitLocked(a)
}

func (h *Hooks[H]) checkLimitLocked(a Asked) *Refusal {
	if _, there := h.byID[a.ID]; there {
		return nil
	}
	n := 0
	for _, k := range h.byID {
		if k.principal == a.Principal {
			n++
		}
	}
	if n >= h.Most {
		return TooMany("webhook subscriptions", "subscriptions", h.Most)
	}
	return nil
}

// Grant finds the subscription, or starts the one that begin returns, and returns the result of
// grant for it; fresh says whether it was started. grant returns nil for a subscription that has
// just ended, and is then called again for another. Grant refuses more subscriptions than Most
// (ResourceExhausted), and any after the context of Begin has ended (CallbackEndpointError).
func (h *Hooks[H]) Grant(a Asked, begin func() H, grant func(hook H, fresh bool) map[string]any) (map[string]any, *Refusal) {
	for {
		hook, fresh, f := h.enter(a, begin)
		if f != nil {
			return nil, f
		}
		if result := grant(hook, fresh); result != nil {
			return result, nil
		}
	}
}

func (h *Hooks[H]) enter(a Asked, begin func() H) (hook H, fresh bool, f *Refusal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		return hook, false, BadCallback("connection_refused")
	}
	if k, there := h.byID[a.ID]; there && !k.hook.IsOver() {
		return k.hook, false, nil
	}
	if f := h.checkLimitLocked(a); f != nil {
		return hook, false, f
	}
	hook = begin()
	h.byID[a.ID] = kept[H]{hook, a.Principal}
	h.workers.Go(func() {
		hook.Run(h.ctx)
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.byID[a.ID].hook == hook {
			delete(h.byID, a.ID)
		}
	})
	return hook, true, nil
}

// Unsubscribe answers events/unsubscribe; resolve is that of Check. It refuses what
// [ReadHookRequest] and resolve refuse, and a subscription that is not there (NotFound).
func (h *Hooks[H]) Unsubscribe(params json.RawMessage, principal string, resolve func() (name, args string, f *Refusal)) (map[string]any, *Refusal) {
	p, f := ReadHookRequest(params, principal)
	if f != nil {
		return nil, f
	}
	name, args, f := resolve()
	if f != nil {
		return nil, f
	}
	id := HookID(principal, p.Delivery.URL, name, args)
	h.mu.Lock()
	k, there := h.byID[id]
	delete(h.byID, id)
	h.mu.Unlock()
	if !there {
		return nil, NoSubscription()
	}
	k.hook.Stop()
	return map[string]any{}, nil
}

// NoSubscription refuses to end a subscription that does not exist.
func NoSubscription() *Refusal {
	return Refuse(wire.NotFound, "no such subscription", map[string]any{"kind": "subscription"})
}
