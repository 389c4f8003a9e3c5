package demo

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/url"
	"strings"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

const (
	minTTL         = time.Second
	maxVerify      = 8         // verifications at a time
	dualSign       = time.Hour // after a rotation both secrets sign
	deliveriesEach = 16        // concurrent deliveries of one subscription
)

// hooks are the webhook subscriptions of a server.
type hooks struct {
	engine *engine
	opts   PagerOptions
	sender *sender
	random io.Reader
	key    ed25519.PrivateKey // see PagerOptions.ServerKey
	verify chan struct{}      // one slot for every verification under way

	ctx     context.Context // of begin: as long as the workers run
	workers sync.WaitGroup

	mu       sync.Mutex
	byID     map[string]*hook
	verified map[string]bool // principal and url
}

func newHooks(e *engine, opts PagerOptions) *hooks {
	random := opts.Random
	if random == nil {
		random = rand.Reader
	}
	return &hooks{engine: e, random: random, verify: make(chan struct{}, maxVerify), byID: map[string]*hook{}, verified: map[string]bool{}}
}

// begin must be called before the first request is served.
func (h *hooks) begin(ctx context.Context, opts PagerOptions) {
	h.ctx, h.opts = ctx, opts
	ca := opts.CAFile
	if !opts.TrustCA {
		ca = ""
	}
	h.sender = newSender(opts.AllowLoopback, ca, 2*deliveriesEach)
	h.sender.key = h.key
}

// wait returns when every worker has ended; ctx of begin must be over.
func (h *hooks) wait() {
	h.mu.Lock() // requests that entered before are counted; none enters after
	workers := &h.workers
	h.mu.Unlock()
	workers.Wait()
	h.sender.transport.CloseIdleConnections()
}

type hookParams struct {
	Delivery struct {
		Mode   string `json:"mode"`
		URL    string `json:"url"`
		Secret string `json:"secret"`
	} `json:"delivery"`
	TTL json.RawMessage `json:"ttlMs"`
}

// hookID is deterministic, so that a subscription keeps its id over refreshes
// and restarts.
func hookID(principal, url, name, args string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{principal, url, name, args}, "\x00")))
	return "sub_" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:15]))
}

func (h *hooks) params(c call) (hookParams, *refusal) {
	var p hookParams
	if c.principal == "" {
		return p, &refusal{wire.Forbidden, "webhooks need an authenticated caller", map[string]any{"reason": "unauthenticated"}}
	}
	if f := decode(c.params, &p); f != nil {
		return p, f
	}
	if m := p.Delivery.Mode; m != "" && m != "webhook" {
		return p, badParam("delivery.mode", "delivery.mode must be webhook")
	}
	u, err := url.Parse(p.Delivery.URL)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return p, badParam("delivery.url", "delivery.url must be an https URL without user and fragment")
	}
	return p, nil
}

// lease reads ttlMs. The default is also the longest that is granted, and what a request
// for no expiry gets: subscriptions are not kept over a restart, and a client that is granted more
// would miss it for longer.
func (h *hooks) lease(raw json.RawMessage) (time.Duration, *refusal) {
	if len(raw) == 0 || string(raw) == "null" {
		return h.opts.DefaultTTL, nil
	}
	var ms float64
	if json.Unmarshal(raw, &ms) != nil {
		return 0, badParam("ttlMs", "ttlMs must be a number or null")
	}
	ms = min(max(ms, float64(minTTL.Milliseconds())), float64(h.opts.DefaultTTL.Milliseconds()))
	return time.Duration(ms) * time.Millisecond, nil
}

// subscribe answers events/subscribe: a new subscription or a refresh.
func (h *hooks) subscribe(ctx context.Context, c call) (map[string]any, *refusal) {
	p, f := h.params(c)
	if f != nil {
		return nil, f
	}
	secret := event.NewSecret(p.Delivery.Secret)
	if _, err := secret.WebhookKey(); err != nil {
		return nil, badParam("delivery.secret", err.Error())
	}
	ttl, f := h.lease(p.TTL)
	if f != nil {
		return nil, f
	}
	w, f := h.engine.resolve(c.params, "webhook", time.Now())
	if f != nil {
		return nil, f
	}
	id := hookID(c.principal, p.Delivery.URL, w.kind.name, w.raw)
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
func (h *hooks) room(id, principal string) *refusal {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.roomLocked(id, principal)
}

func (h *hooks) roomLocked(id, principal string) *refusal {
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
		return &refusal{wire.ResourceExhausted, "too many webhook subscriptions", map[string]any{"limit": "subscriptions", "max": h.opts.MaxSubscriptions}}
	}
	return nil
}

// enter finds the subscription or starts its worker.
func (h *hooks) enter(id, principal, url string, w requested, secret event.Secret, ttl time.Duration) (k *hook, fresh bool, f *refusal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		return nil, false, callbackRefusal("connection_refused")
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
			delete(h.verified, verifiedKey(principal, url))
		}
	})
	return k, true, nil
}

// challenge proves that the receiver wants deliveries, once for every principal
// and url.
func (h *hooks) challenge(ctx context.Context, id, principal, url string, secret event.Secret) *refusal {
	key := verifiedKey(principal, url)
	h.mu.Lock()
	done := h.verified[key]
	h.mu.Unlock()
	if done {
		return nil
	}
	select {
	case h.verify <- struct{}{}:
		defer func() { <-h.verify }()
	case <-ctx.Done():
		return callbackRefusal("timeout")
	}
	challenge, msgID := h.token(), "msg_verification_"+h.token()
	body, err := json.Marshal(map[string]string{"type": "verification", "challenge": challenge})
	if err != nil {
		return callbackRefusal("challenge_failed")
	}
	o := h.sender.send(ctx, delivery{url: url, subID: id, webhookID: msgID, body: body, secrets: []event.Secret{secret}, wantBody: true})
	if !o.ok && !o.answered {
		return callbackRefusal(o.category)
	}
	var echo struct {
		Challenge string `json:"challenge"`
	}
	if !o.ok || json.Unmarshal(o.body, &echo) != nil || subtle.ConstantTimeCompare([]byte(echo.Challenge), []byte(challenge)) != 1 {
		return callbackRefusal("challenge_failed")
	}
	if h.engine.faults.has(faultChallenge) {
		return callbackRefusal("challenge_failed")
	}
	h.mu.Lock()
	h.verified[key] = true
	h.mu.Unlock()
	return nil
}

func verifiedKey(principal, url string) string { return principal + "\x00" + url }

func callbackRefusal(reason string) *refusal {
	return &refusal{wire.CallbackEndpointError, "the callback could not be verified", map[string]any{"reason": reason}}
}

// token returns 128 random bits as text.
func (h *hooks) token() string {
	b := make([]byte, 16)
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, err := io.ReadFull(h.random, b); err != nil {
		panic("demo: no randomness: " + err.Error())
	}
	return hex.EncodeToString(b)
}

// unsubscribe answers events/unsubscribe.
func (h *hooks) unsubscribe(c call) (map[string]any, *refusal) {
	p, f := h.params(c)
	if f != nil {
		return nil, f
	}
	var wanted requestParams
	if f := decode(c.params, &wanted); f != nil {
		return nil, f
	}
	gone := &refusal{wire.NotFound, "no such subscription", map[string]any{"kind": "subscription"}}
	for _, t := range h.engine.types {
		if t.name != wanted.Name {
			continue
		}
		_, raw, f := t.arguments(wanted)
		if f != nil {
			return nil, f
		}
		id := hookID(c.principal, p.Delivery.URL, t.name, raw)
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
func (h *hooks) terminateAll(f *refusal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, k := range h.byID {
		delete(h.byID, id)
		k.terminate(f)
	}
	clear(h.verified)
}
