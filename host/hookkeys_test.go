package host_test

import (
	"crypto/ed25519"
	"errors"
	"slices"
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

func TestServerKeyIsPinned(t *testing.T) {
	old, next := key(1), key(2)
	r, s := hookRig(t, event.Server{RequireServerKey: true})
	s.keys = []ed25519.PublicKey{public(old)}
	if _, err := r.host.Subscribe(r.ctx(), r.tick()); err != nil {
		t.Fatal(err)
	}
	for what, tt := range map[string]struct {
		key  ed25519.PrivateKey
		want int
	}{"by the key": {old, 204}, "by the secret alone": {nil, 401}, "by another key, just after the keys were read": {next, 401}} {
		if got := s.deliver("evt_1", occurrence("evt_1"), tt.key); got != tt.want {
			t.Errorf("%s: %d, want %d", what, got, tt.want)
		}
	}

	// After a restart the pinned key holds, also while the server is silent.
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

// A delivery that is signed by a key which is not known has the keys read again,
// and is asked to come again meanwhile.
func TestServerKeyThatWasReplaced(t *testing.T) {
	old, next := key(1), key(2)
	r, s := hookRig(t, event.Server{RequireServerKey: true})
	s.keys = []ed25519.PublicKey{public(old)}
	if _, err := r.host.Subscribe(r.ctx(), r.tick()); err != nil {
		t.Fatal(err)
	}
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
