package host_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
)

func key(n byte) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = n
	return ed25519.NewKeyFromSeed(seed)
}

func public(k ed25519.PrivateKey) ed25519.PublicKey { return k.Public().(ed25519.PublicKey) }

func TestServerKeyIsDemanded(t *testing.T) {
	r, _ := hookRig(t, event.Server{RequireServerKey: true})
	if _, err := r.host.Subscribe(r.ctx(), r.tick()); !errors.Is(err, host.ErrServerKeys) {
		t.Fatalf("without keys: %v", err)
	}
	if len(r.store.Subscriptions()) != 0 {
		t.Fatal("a subscription is left")
	}
}

// keyed subscribes at a server that signs with a key of its own.
func keyed(t *testing.T, k ed25519.PrivateKey) (*rig, *hookServer) {
	t.Helper()
	r, s := hookRig(t, event.Server{RequireServerKey: true})
	s.keys = []ed25519.PublicKey{public(k)}
	if _, err := r.host.Subscribe(r.ctx(), r.tick()); err != nil {
		t.Fatal(err)
	}
	return r, s
}

func TestServerKeyIsPinned(t *testing.T) {
	old, next := key(1), key(2)
	r, s := keyed(t, old)
	for what, tt := range map[string]struct {
		key  ed25519.PrivateKey
		want int
	}{"by the key": {old, 204}, "by the secret alone": {nil, 401}, "by another key, just after the keys were read": {next, 401}} {
		if got := s.deliver("evt_1", occurrence("evt_1"), tt.key); got != tt.want {
			t.Errorf("%s: %d, want %d", what, got, tt.want)
		}
	}

	// After a restart the pinned key holds, even if the server does not answer.
	r.close()
	s.mu.Lock()
	asked := s.asked
	s.keys = nil
	s.mu.Unlock()
	r.open()
	if got := s.deliver("evt_2", occurrence("evt_2"), old); got != 204 {
		t.Errorf("after a restart: %d", got)
	}
	if s.asked != asked {
		t.Errorf("the keys were asked for %d times more", s.asked-asked)
	}
	var audit []string
	if err := r.host.Audit().Before(0, func(e event.AuditEntry) bool { audit = append(audit, e.Action); return true }); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(audit, "signing keys changed") {
		t.Errorf("the audit log does not tell of the keys: %q", audit)
	}
}

// A delivery that is signed by an unknown key has the keys read again; its sender is told to retry
// meanwhile.
func TestServerKeyThatWasReplaced(t *testing.T) {
	old, next := key(1), key(2)
	r, s := keyed(t, old)
	r.later.Store(int64(2 * time.Minute))
	s.mu.Lock()
	s.keys = []ed25519.PublicKey{public(next)}
	s.mu.Unlock()
	if got := s.deliver("evt_1", occurrence("evt_1"), next); got != 503 {
		t.Fatalf("by a new key: %d", got)
	}
	r.eventually("the new key is taken", func() bool { return s.deliver("evt_1", occurrence("evt_1"), next) == 204 })
	if got := s.deliver("evt_2", occurrence("evt_2"), old); got != 401 {
		t.Errorf("by the old key: %d", got)
	}
}

func (s *hookServer) publish(keys ...ed25519.PrivateKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = nil
	for _, k := range keys {
		s.keys = append(s.keys, public(k))
	}
}

func (s *hookServer) questions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// The server is asked for its keys once a minute, for any number of deliveries signed by unknown
// keys and of requests by the operator.
func TestServerIsNotAskedForItsKeysTooOften(t *testing.T) {
	r, s := hookRig(t, event.Server{RequireServerKey: true})
	for range 3 {
		if _, err := r.host.Subscribe(r.ctx(), r.tick()); !errors.Is(err, host.ErrServerKeys) {
			t.Fatalf("without keys: %v", err)
		}
	}
	if n := s.questions(); n != 1 {
		t.Errorf("a server without keys was asked %d times in a minute", n)
	}
	r.later.Store(int64(59 * time.Second))
	s.publish(key(1))
	if _, err := r.host.Subscribe(r.ctx(), r.tick()); !errors.Is(err, host.ErrServerKeys) {
		t.Fatalf("just before the minute is over: %v", err)
	}
	r.later.Store(int64(61 * time.Second))
	if _, err := r.host.Subscribe(r.ctx(), r.tick()); err != nil {
		t.Fatalf("after a minute: %v", err)
	}
	if n := s.questions(); n != 2 {
		t.Errorf("it was asked %d times", n)
	}

	for round, minutes := range []int{3, 4} {
		r.later.Store(int64(time.Duration(minutes) * time.Minute))
		want := s.questions() + 1
		r.eventually("the keys are read again", func() bool {
			if got := s.deliver("evt_1", occurrence("evt_1"), key(9)); got != 503 && got != 401 {
				t.Fatalf("by an unknown key: %d", got)
			}
			return s.questions() == want
		})
		for range 20 {
			s.deliver("evt_1", occurrence("evt_1"), key(9))
		}
		if got := s.deliver("evt_good", occurrence("evt_good"), key(1)); got != 204 {
			t.Errorf("by the right key meanwhile: %d", got)
		}
		if n := s.questions(); n != want {
			t.Errorf("round %d: asked %d times, want %d", round, n, want)
		}
	}
}

// A withdrawn key is noticed without a delivery, and accepted for a week at most if the server does
// not answer.
func TestServerKeysAreReadAgainEachDay(t *testing.T) {
	r, s := hookRig(t, event.Server{RequireServerKey: true})
	s.publish(key(1))
	sub, err := r.host.Subscribe(r.ctx(), r.tick())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		after time.Duration
		more  int
	}{{24*time.Hour - time.Minute, 0}, {24*time.Hour + time.Minute, 1}} {
		want := s.questions() + tt.more
		r.later.Store(int64(tt.after))
		for range 2 {
			if err := r.host.Refresh(r.ctx(), sub.ID); err != nil {
				t.Fatal(err)
			}
		}
		r.eventually("the keys are read", func() bool { return s.questions() >= want })
		if n := s.questions(); n != want {
			t.Errorf("after %s: asked %d times, want %d", tt.after, n, want)
		}
	}
	read := time.Duration(r.later.Load())
	s.publish() // nothing
	for _, tt := range []struct {
		after time.Duration
		want  int
	}{{7*24*time.Hour - time.Minute, 204}, {7*24*time.Hour + time.Minute, 503}} {
		r.later.Store(int64(read + tt.after))
		if got := s.deliver("evt_1", occurrence("evt_1"), key(1)); got != tt.want {
			t.Errorf("%s without an answer: %d, want %d", tt.after, got, tt.want)
		}
	}
}

// Keys are read over the same network as everything else of a server.
func TestServerKeysAreAskedForOverTheHostsNetwork(t *testing.T) {
	r, s := hookRig(t, event.Server{RequireServerKey: true})
	s.publish(key(1))
	r.close()
	at := strings.TrimPrefix(s.url, "http://")
	r.url = "http://127.0.0.1:1/mcp" // where no server listens
	r.net.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, at)
	}
	r.open()
	if _, err := r.host.Subscribe(r.ctx(), r.tick()); err != nil {
		t.Fatal(err)
	}
	if s.questions() != 1 {
		t.Errorf("asked %d times", s.questions())
	}
}
