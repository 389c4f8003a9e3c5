package sim

import (
	"encoding/json"
	"hash/fnv"
	"strconv"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// wrongSecret is a secret that no receiver has.
var wrongSecret = event.NewSecret("whsec_bm9ib2R5IGhhcyB0aGlzIHNlY3JldCBhdCBhbGwhISE=")

func hookKey(f *Feed, url string) string { return f.Name + " " + url }

// id returns the server's id of the subscription: the same for the same key.
func (k *hook) id() string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(k.url)) // never fails
	return "sub-" + k.feed.Name + "-" + strconv.Itoa(int(h.Sum32()))
}

// subscribe answers events/subscribe: a new subscription or a refresh.
func (s *Server) subscribe(a answerer, f *Feed, p request) {
	now := time.Now()
	secret, key := event.NewSecret(p.Delivery.Secret), hookKey(f, p.Delivery.URL)
	s.mu.Lock()
	k, process, others := s.hooks[key], s.process, s.others(f, p.Delivery.URL, now)
	s.mu.Unlock()
	if process == nil {
		return
	}
	if others && k == nil && f.Deviates(OnePath) {
		a.fail(wire.ProfileSEP.Code(wire.ResourceExhausted), "one subscription at a time", map[string]any{"limit": "subscriptions", "max": 1})
		return
	}
	if k == nil && s.Challenges && !s.challenge(process, f, p.Delivery.URL, secret) {
		if others {
			f.noteSecondPath() // the host tries once per renewEvery
		}
		a.fail(wire.ProfileSEP.Code(wire.CallbackEndpointError), "the callback did not answer the challenge", map[string]any{"reason": "challenge_failed"})
		return
	}
	at, truncated := f.startAt(p.Cursor)
	lease := s.rand.Between(shortestLease, longestLease)
	if s.Lease > 0 {
		lease = s.Lease
	}
	until := now.Add(lease)
	alive := k != nil && k.isAlive(now)
	var mark int
	switch {
	case alive && p.Cursor != nil && f.Deviates(ReplayLiveIgnored, ReplayNever):
		mark, truncated = k.renew(secret, until), false
	case p.Cursor != nil && f.Deviates(ReplayNever):
		last := f.Last()
		s.skip(f, at, last, f.pollsTruly())
		at, truncated = last, false
		fallthrough
	default:
		if k == nil {
			k = newHook(f, at)
			defer s.add(key, k, others)
		}
		mark = k.grant(p.Delivery.URL, secret, until, at, p.Cursor != nil)
	}
	a.result(map[string]any{
		"id": k.id(), "cursor": f.answered(mark), "truncated": truncated, "deliveryStatus": k.status(),
		"refreshBefore": until.UTC().Format(time.RFC3339Nano),
	})
	if s.chance(s.behaves().Forget, "subscription forgotten") {
		defer s.remove(key)
	}
}

// others reports whether the type has a live subscription at another address. The lock is
// held.
func (s *Server) others(f *Feed, url string, now time.Time) bool {
	for _, k := range s.hooks {
		if k.feed == f && k.url != url && k.isAlive(now) {
			return true
		}
	}
	return false
}

// add begins the deliveries of a new subscription.
func (s *Server) add(key string, k *hook, others bool) {
	if others {
		s.net.Count("second path")
		k.feed.noteSecondPath()
	}
	s.remove(key) // another request for the same key may have overtaken this one
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks[key] = k
	s.work(k)
}

// remove ends a subscription without telling the host.
func (s *Server) remove(key string) {
	s.mu.Lock()
	k := s.hooks[key]
	delete(s.hooks, key)
	s.mu.Unlock()
	if k != nil {
		k.mu.Lock()
		k.over = true
		k.mu.Unlock()
		close(k.removed)
	}
}

func (s *Server) unsubscribe(p request) {
	if f := s.feeds[p.Name]; f != nil {
		s.remove(hookKey(f, p.Delivery.URL))
	}
}

// challenge asks a callback whether it wants deliveries.
func (s *Server) challenge(l *serverProcess, f *Feed, url string, secret event.Secret) bool {
	s.net.Count("challenged")
	if s.chance(s.behaves().Challenge, "challenge refused") {
		return false
	}
	nonce := strconv.Itoa(s.rand.N(1 << 30))
	id := "msg_verification_" + nonce
	raw, err := json.Marshal(map[string]any{"type": "verification", "challenge": nonce})
	if err != nil {
		panic("a challenge of the model: " + err.Error())
	}
	h, err := signedHeader(secret, id, "sub-new", raw)
	if err != nil {
		return false // the secret cannot be used
	}
	status, body := s.post(l, sent{feed: f, url: url, header: h, body: raw})
	var echo struct{ Challenge string }
	return status.ok() && json.Unmarshal(body, &echo) == nil && echo.Challenge == nonce
}
