package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zalando/go-keyring"

	"eventdeck/host/event"
)

// fakeRing is a keyring in memory.
type fakeRing struct {
	mu       sync.Mutex
	entries  map[string]string
	get, set error
	forget   bool          // takes a secret and holds nothing
	hang     chan struct{} // calls return when it is closed
	hung     func()        // called when a call hangs; nil: nothing is
}

// enter waits as long as the keyring hangs, and returns with its lock.
func (r *fakeRing) enter() {
	if r.hang != nil {
		if r.hung != nil {
			r.hung()
		}
		<-r.hang
	}
	r.mu.Lock()
}

func (r *fakeRing) Get(service, account string) (string, error) {
	r.enter()
	defer r.mu.Unlock()
	if r.get != nil {
		return "", r.get
	}
	secret, ok := r.entries[service+"/"+account]
	if !ok && !r.forget {
		return "", ErrNoKey
	}
	return secret, nil
}

func (r *fakeRing) Set(service, account, secret string) error {
	r.enter()
	defer r.mu.Unlock()
	if r.set != nil {
		return r.set
	}
	if !r.forget {
		r.entries[service+"/"+account] = secret
	}
	return nil
}

func newRing() *fakeRing { return &fakeRing{entries: map[string]string{}} }

// hookSecret opens the store, and returns the secret of subscription aa and
// what the store says of itself.
func hookSecret(t *testing.T, dir string, ring Keyring) (string, event.StoreInfo) {
	t.Helper()
	s := openTest(t, Options{Dir: dir, Keyring: ring})
	defer s.Close()
	sub, err := s.Subscription("aa")
	if err != nil {
		t.Fatal(err)
	}
	return sub.Hook.Secret.Reveal(), s.Info()
}

func keepSecret(t *testing.T, dir string, ring Keyring, secret string) {
	t.Helper()
	s := openTest(t, Options{Dir: dir, Keyring: ring})
	defer s.Close()
	store(t, s, event.Batch{Sub: "aa", Update: func(sub *event.Subscription) { sub.Hook.Secret = event.NewSecret(secret) }})
}

func TestKeyInTheKeyring(t *testing.T) {
	ring := newRing()
	first, second := t.TempDir(), t.TempDir()
	keepSecret(t, first, ring, "whsec_1")
	keepSecret(t, second, ring, "whsec_2")
	equal(t, len(ring.entries), 2)
	for dir, want := range map[string]string{first: "whsec_1", second: "whsec_2"} {
		got, info := hookSecret(t, dir, ring)
		if got != want || info.Sealed != "keyring" || info.KeyLost {
			t.Errorf("%q, %+v", got, info)
		}
		if _, err := os.Stat(filepath.Join(dir, fileKey)); err == nil {
			t.Error("the key is in a file too")
		}
	}
}

func TestKeyInAFileStaysThere(t *testing.T) {
	dir := t.TempDir()
	keepSecret(t, dir, NoKeyring(), "whsec_1")
	ring := newRing()
	got, info := hookSecret(t, dir, ring)
	if got != "whsec_1" || info.Sealed != "file" || len(ring.entries) != 0 {
		t.Errorf("%q, %+v, %v", got, info, ring.entries)
	}
}

func TestLostKey(t *testing.T) {
	for name, c := range map[string]struct {
		ring *fakeRing
		lose func(t *testing.T, dir string, r *fakeRing)
	}{
		"file removed": {nil, func(t *testing.T, dir string, _ *fakeRing) {
			if err := os.Remove(filepath.Join(dir, fileKey)); err != nil {
				t.Fatal(err)
			}
		}},
		"file of something else": {nil, func(t *testing.T, dir string, _ *fakeRing) {
			if err := os.WriteFile(filepath.Join(dir, fileKey), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		"file with another key": {nil, func(t *testing.T, dir string, _ *fakeRing) {
			if err := os.WriteFile(filepath.Join(dir, fileKey), []byte(encodeKey(make([]byte, 32))), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		"entry removed": {newRing(), func(_ *testing.T, _ string, r *fakeRing) { clear(r.entries) }},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var ring Keyring = NoKeyring()
			if c.ring != nil {
				ring = c.ring
			}
			keepSecret(t, dir, ring, "whsec_1")
			_, before := hookSecret(t, dir, ring)
			c.lose(t, dir, c.ring)

			for range 2 { // and it stays lost
				got, info := hookSecret(t, dir, ring)
				if got != "" || !info.KeyLost || info.Sealed != before.Sealed {
					t.Errorf("%q, %+v", got, info)
				}
			}
			s := openTest(t, Options{Dir: dir, Keyring: ring})
			store(t, s, event.Batch{Sub: "aa", Update: func(sub *event.Subscription) { sub.Paused = true }})
			if !s.Info().KeyLost {
				t.Error("another change hides the loss")
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			keepSecret(t, dir, ring, "whsec_2")
			if got, info := hookSecret(t, dir, ring); got != "whsec_2" || info.KeyLost {
				t.Errorf("after a new secret: %q, %+v", got, info)
			}
		})
	}
}

func TestKeyringFailuresAreNoReasonToFallBack(t *testing.T) {
	locked := errors.New("the collection is locked")
	known := t.TempDir()
	good := newRing()
	keepSecret(t, known, good, "whsec_1")
	for name, c := range map[string]struct {
		dir  string
		ring *fakeRing
		is   error
	}{
		"locked at the first start": {t.TempDir(), &fakeRing{set: locked}, locked},
		"locked later":              {known, &fakeRing{get: locked}, locked},
		"gone later":                {known, &fakeRing{get: ErrNoKeyring, set: ErrNoKeyring}, ErrNoKeyring},
		"forgets":                   {t.TempDir(), &fakeRing{forget: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(t.Context(), Options{Dir: c.dir, Keyring: c.ring})
			if !errors.Is(err, ErrKeyring) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%v", err)
			}
			if _, err := os.Stat(filepath.Join(c.dir, fileKey)); err == nil {
				t.Error("a key file was made")
			}
		})
	}
	if got, _ := hookSecret(t, known, good); got != "whsec_1" {
		t.Errorf("a failure did harm: %q", got)
	}
}

func TestKeyringThatHangs(t *testing.T) {
	ring := newRing()
	ring.hang = make(chan struct{})
	defer close(ring.hang)
	dir := t.TempDir()
	_, err := Open(t.Context(), Options{Dir: dir, Keyring: ring, keyLimit: 20 * time.Millisecond})
	if !errors.Is(err, ErrKeyring) || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ring = newRing()
	ring.hang, ring.hung = make(chan struct{}), cancel
	defer close(ring.hang)
	if _, err := Open(ctx, Options{Dir: dir, Keyring: ring, keyLimit: time.Minute}); !errors.Is(err, ErrKeyring) || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestKeyringErrors(t *testing.T) {
	other := errors.New("failed to unlock correct collection")
	for _, c := range []struct{ err, is error }{
		{keyring.ErrNotFound, ErrNoKey},
		{keyring.ErrUnsupportedPlatform, ErrNoKeyring},
		{fmt.Errorf("start: %w", exec.ErrNotFound), ErrNoKeyring},
		{other, other},
	} {
		got := keyringError(c.err)
		if !errors.Is(got, c.is) || c.is == other && errors.Is(got, ErrNoKeyring) {
			t.Errorf("%v becomes %v", c.err, got)
		}
	}
	if keyringError(nil) != nil {
		t.Error("nil becomes an error")
	}
}

func TestSystemKeyring(t *testing.T) {
	keyring.MockInit()
	ring := SystemKeyring()
	if _, err := ring.Get("eventdeck", "none"); !errors.Is(err, ErrNoKey) {
		t.Errorf("%v", err)
	}
	if err := ring.Set("eventdeck", "a", "s"); err != nil {
		t.Fatal(err)
	}
	if got, err := ring.Get("eventdeck", "a"); got != "s" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestSealedValuesAreBoundToTheirPlace(t *testing.T) {
	s, err := newSealer(make([]byte, 32), bytes.NewReader(make([]byte, 99)))
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := s.seal("here", "secret")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.open("here", sealed); got != "secret" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	bent := bytes.Clone(sealed)
	bent[len(bent)-1] ^= 1
	newer := bytes.Clone(sealed)
	newer[0]++
	for name, c := range map[string]struct {
		place  string
		sealed []byte
	}{"moved": {"there", sealed}, "changed": {"here", bent}, "short": {"here", sealed[:9]}, "newer": {"here", newer}} {
		if got, err := s.open(c.place, c.sealed); err == nil {
			t.Errorf("%s: opens to %q", name, got)
		}
	}
	if _, err := newSealer(make([]byte, 9), nil); err == nil {
		t.Error("a key of 9 bytes is taken")
	}
}
