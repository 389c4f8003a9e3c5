package eventserver

import (
	"context"
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
	minTTL      = time.Second
	maxVerify   = 8     // verifications at a time
	maxVerified = 1_000 // callbacks that are remembered as verified
)

// Backoff returns the usual waits before the second and each later try of a delivery.
func Backoff() []time.Duration {
	return []time.Duration{500 * time.Millisecond, 15 * time.Second, 2 * time.Minute, 9 * time.Minute}
}

// HookRequest is what events/subscribe and events/unsubscribe say of a webhook.
type HookRequest struct {
	Delivery struct {
		Mode   string `json:"mode"`
		URL    string `json:"url"`
		Secret string `json:"secret"`
	} `json:"delivery"`
	TTL json.RawMessage `json:"ttlMs"`
}

// ReadHookRequest reads the webhook params of a principal. It refuses an anonymous caller, whose
// principal is "" (Forbidden), another mode, and a URL that is not https or has a user or fragment
// (InvalidParams).
func ReadHookRequest(params json.RawMessage, principal string) (HookRequest, *Refusal) {
	var p HookRequest
	if principal == "" {
		return p, Refuse(wire.Forbidden, "webhooks need an authenticated caller", map[string]any{"reason": "unauthenticated"})
	}
	if f := Decode(params, &p); f != nil {
		return p, f
	}
	if m := p.Delivery.Mode; m != "" && m != "webhook" {
		return p, BadParam("delivery.mode", "delivery.mode must be webhook")
	}
	u, err := url.Parse(p.Delivery.URL)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return p, BadParam("delivery.url", "delivery.url must be an https URL without user and fragment")
	}
	return p, nil
}

// Secret returns the secret that signs deliveries. It refuses one that is no key of Standard
// Webhooks (InvalidParams).
func (p HookRequest) Secret() (event.Secret, *Refusal) {
	secret := event.NewSecret(p.Delivery.Secret)
	if _, err := secret.WebhookKey(); err != nil {
		return secret, BadParam("delivery.secret", err.Error())
	}
	return secret, nil
}

// Lease returns the lease to grant: ttlMs, bounded to between a second and most. A request without
// ttlMs, or for no expiry, gets most: subscriptions are kept in memory only, and a longer lease
// would hide their loss in a restart for longer.
func (p HookRequest) Lease(most time.Duration) (time.Duration, *Refusal) {
	if len(p.TTL) == 0 || string(p.TTL) == "null" {
		return most, nil
	}
	var ms float64
	if json.Unmarshal(p.TTL, &ms) != nil {
		return 0, BadParam("ttlMs", "ttlMs must be a number or null")
	}
	ms = min(max(ms, float64(minTTL.Milliseconds())), float64(most.Milliseconds()))
	return time.Duration(ms) * time.Millisecond, nil
}

// HookID returns the id of a webhook subscription. It is deterministic, so that a subscription
// keeps its id over refreshes and restarts. args is canonical JSON.
func HookID(principal, url, name, args string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{principal, url, name, args}, "\x00")))
	return "sub_" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:15]))
}

// Verifier proves that receivers want deliveries, once for each principal and url. It remembers
// maxVerified of them, and then forgets an arbitrary one for each new one. Its methods may be
// called from any goroutine.
type Verifier struct {
	slots chan struct{} // one slot for each verification under way

	mu       sync.Mutex
	random   io.Reader
	verified map[string]bool // by principal and url
}

// NewVerifier returns a verifier that makes its challenges from random.
func NewVerifier(random io.Reader) *Verifier {
	return &Verifier{slots: make(chan struct{}, maxVerify), random: random, verified: map[string]bool{}}
}

// Verify sends a challenge to a callback that is not verified yet, which may take 10 s. It refuses
// with CallbackEndpointError, whose reason says whether the callback could not be reached or did
// not echo the challenge; the response of the callback is not repeated.
func (v *Verifier) Verify(ctx context.Context, s *Sender, id, principal, url string, secret event.Secret) *Refusal {
	v.mu.Lock()
	done := v.verified[verifiedKey(principal, url)]
	v.mu.Unlock()
	if done {
		return nil
	}
	select {
	case v.slots <- struct{}{}:
		defer func() { <-v.slots }()
	case <-ctx.Done():
		return BadCallback("timeout")
	}
	challenge, msgID := v.Token(), "msg_verification_"+v.Token()
	body, err := json.Marshal(map[string]string{"type": "verification", "challenge": challenge})
	if err != nil {
		return BadCallback("challenge_failed")
	}
	o := s.Send(ctx, Delivery{URL: url, SubID: id, WebhookID: msgID, Body: body, Secrets: []event.Secret{secret}, WantBody: true})
	if !o.OK && !o.Answered {
		return BadCallback(o.Category)
	}
	var echo struct {
		Challenge string `json:"challenge"`
	}
	if !o.OK || json.Unmarshal(o.Body, &echo) != nil || subtle.ConstantTimeCompare([]byte(echo.Challenge), []byte(challenge)) != 1 {
		return BadCallback("challenge_failed")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.verified) >= maxVerified {
		for key := range v.verified { // it is verified again with its next subscription
			delete(v.verified, key)
			break
		}
	}
	v.verified[verifiedKey(principal, url)] = true
	return nil
}

// Forget forgets a verification: the callback is verified again with its next subscription.
func (v *Verifier) Forget(principal, url string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.verified, verifiedKey(principal, url))
}

func verifiedKey(principal, url string) string { return principal + "\x00" + url }

// BadCallback refuses a callback. reason is a category of SEP-3415.
func BadCallback(reason string) *Refusal {
	return Refuse(wire.CallbackEndpointError, "the callback could not be verified", map[string]any{"reason": reason})
}

// Token returns 128 random bits as text.
func (v *Verifier) Token() string {
	b := make([]byte, 16)
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, err := io.ReadFull(v.random, b); err != nil {
		panic("eventserver: no randomness: " + err.Error())
	}
	return hex.EncodeToString(b)
}
