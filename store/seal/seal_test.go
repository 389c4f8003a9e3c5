package seal

import (
	"bytes"
	"context"
	"crypto/rand"
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

// keeper is a Keeper for a store in dir.
func keeper(dir string, ring Keyring) Keeper {
	return Keeper{Dir: dir, Ring: ring, Random: rand.Reader}
}

func TestKeyStaysWhereItIs(t *testing.T) {
	ring := newRing()
	for kept, first := range map[string]Keyring{InKeyring: ring, InFile: NoKeyring()} {
		dir := t.TempDir()
		key, where, noted, err := keeper(dir, first).Key(t.Context(), nil)
		if err != nil || where != kept || noted == nil {
			t.Fatalf("%s: kept in %s, %v", kept, where, err)
		}
		again, where, fresh, err := keeper(dir, ring).Key(t.Context(), noted)
		if err != nil || where != kept || fresh != nil || !bytes.Equal(again, key) {
			t.Errorf("%s: then in %s, another note %t, another key %t, %v", kept, where, fresh != nil, !bytes.Equal(again, key), err)
		}
	}
	if len(ring.entries) != 1 {
		t.Errorf("%d keys are in the keyring", len(ring.entries))
	}
}

func TestNoFallbackFromAFailingKeyring(t *testing.T) {
	locked := errors.New("the collection is locked")
	good := newRing()
	key, _, noted, err := keeper(t.TempDir(), good).Key(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		noted []byte
		ring  *fakeRing
		is    error
	}{
		"locked at the first start": {nil, &fakeRing{set: locked}, locked},
		"locked later":              {noted, &fakeRing{get: locked}, locked},
		"gone later":                {noted, &fakeRing{get: ErrNoKeyring, set: ErrNoKeyring}, ErrNoKeyring},
		"forgets":                   {nil, &fakeRing{forget: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			_, _, fresh, err := keeper(dir, c.ring).Key(t.Context(), c.noted)
			if !errors.Is(err, ErrKeyring) || c.is != nil && !errors.Is(err, c.is) || fresh != nil {
				t.Errorf("%v, another note %t", err, fresh != nil)
			}
			if _, err := os.Stat(filepath.Join(dir, FileKey)); err == nil {
				t.Error("a key file was made")
			}
		})
	}
	if got, _, _, err := keeper(t.TempDir(), good).Key(t.Context(), noted); !bytes.Equal(got, key) {
		t.Errorf("a failure did harm: %v", err)
	}
}

func TestKeyringThatHangs(t *testing.T) {
	ring := newRing()
	ring.hang = make(chan struct{})
	defer close(ring.hang)
	k := keeper(t.TempDir(), ring)
	k.Limit = 20 * time.Millisecond
	if _, _, _, err := k.Key(t.Context(), nil); !errors.Is(err, ErrKeyring) || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ring = newRing()
	ring.hang, ring.hung = make(chan struct{}), cancel
	defer close(ring.hang)
	k.Ring, k.Limit = ring, time.Minute
	if _, _, _, err := k.Key(ctx, nil); !errors.Is(err, ErrKeyring) || !errors.Is(err, context.Canceled) {
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
	s, err := NewSealer(make([]byte, 32), bytes.NewReader(make([]byte, 99)))
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := s.Seal("here", "secret")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Open("here", sealed); got != "secret" || err != nil {
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
		if got, err := s.Open(c.place, c.sealed); err == nil {
			t.Errorf("%s: opens to %q", name, got)
		}
	}
	if _, err := NewSealer(make([]byte, 9), nil); err == nil {
		t.Error("a key of 9 bytes is taken")
	}
}
