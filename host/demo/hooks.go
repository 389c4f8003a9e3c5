package demo

import (
	"context"
	"crypto/ed25519"
	"slices"
	"time"

	"eventdeck/host/eventserver"
)

const deliveriesEach = 16 // concurrent deliveries of one subscription

// hooks are the webhook subscriptions of a server.
type hooks struct {
	*eventserver.Hooks[*hook]
	engine *engine
	opts   PagerOptions
	key    ed25519.PrivateKey // see PagerOptions.ServerKey
}

func newHooks(e *engine, opts PagerOptions) *hooks {
	return &hooks{Hooks: eventserver.NewHooks[*hook](eventserver.NewVerifier(opts.Random)), engine: e}
}

// begin must be called before the first request is served.
func (h *hooks) begin(ctx context.Context, opts PagerOptions) {
	h.opts = opts
	ca := opts.CAFile
	if !opts.TrustCA {
		ca = ""
	}
	h.Sender = eventserver.NewSender(opts.AllowLoopback, ca, 2*deliveriesEach)
	h.Sender.Key = h.key
	h.Longest, h.Most = opts.DefaultTTL, opts.MaxSubscriptions
	h.Begin(ctx)
}

// subscribe answers events/subscribe: a new subscription or a refresh.
func (h *hooks) subscribe(ctx context.Context, c call) (map[string]any, *eventserver.Refusal) {
	var w requested
	asked, f := h.Check(ctx, c.params, c.principal, func() (name, args string, f *eventserver.Refusal) {
		if w, f = h.engine.resolve(c.params, "webhook", time.Now()); f != nil {
			return "", "", f
		}
		return w.kind.name, w.raw, nil
	})
	if f != nil {
		return nil, f
	}
	if h.engine.faults.has(faultChallenge) {
		h.Verifier.Forget(c.principal, asked.URL)
		return nil, eventserver.BadCallback("challenge_failed")
	}
	return h.Grant(asked, func() *hook { return newHook(h, asked, w) },
		func(k *hook, fresh bool) map[string]any { return k.grant(asked, w, fresh) })
}

// unsubscribe answers events/unsubscribe.
func (h *hooks) unsubscribe(c call) (map[string]any, *eventserver.Refusal) {
	return h.Unsubscribe(c.params, c.principal, func() (name, args string, f *eventserver.Refusal) {
		var wanted requestParams
		if f := eventserver.Decode(c.params, &wanted); f != nil {
			return "", "", f
		}
		i := slices.IndexFunc(h.engine.types, func(t *eventType) bool { return t.name == wanted.Name })
		if i < 0 {
			return "", "", eventserver.NoSubscription()
		}
		_, args, f = h.engine.types[i].arguments(wanted)
		return wanted.Name, args, f
	})
}
