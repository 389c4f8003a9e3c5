package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventdeck/host/event"
	"eventdeck/store/seal"
)

// memoryRing is a keyring in memory.
type memoryRing struct {
	mu      sync.Mutex
	entries map[string]string
	fails   error // of every call
	prompts int   // that were shown; one unlocks
}

func newRing() *memoryRing { return &memoryRing{entries: map[string]string{}} }

// lock makes all calls fail with err, until it is nil.
func (r *memoryRing) lock(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fails = err
}

func (r *memoryRing) Get(_ context.Context, service, account string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	secret, ok := r.entries[service+"/"+account]
	if r.fails == nil && !ok {
		return "", seal.ErrNoKey
	}
	return secret, r.fails
}

func (r *memoryRing) Set(_ context.Context, service, account, secret string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fails == nil {
		r.entries[service+"/"+account] = secret
	}
	return r.fails
}

func (r *memoryRing) Delete(_ context.Context, service, account string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.entries, service+"/"+account)
	return r.fails
}

func (r *memoryRing) Unlock(context.Context, string, string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fails = nil
	r.prompts++
	return nil
}

// hookSecret opens the store, and returns the secret of subscription aa and the info of the
// store.
func hookSecret(t *testing.T, dir string, ring seal.Keyring) (string, event.StoreInfo) {
	t.Helper()
	s := openTest(t, Options{Dir: dir, Keyring: ring})
	defer s.Close()
	return secretOf(t, s), s.Info()
}

func secretOf(t *testing.T, s *Store) string {
	t.Helper()
	sub, err := s.Subscription("aa")
	if err != nil {
		t.Fatal(err)
	}
	return sub.Hook.Secret.Reveal()
}

// keepSecret stores a secret of subscription aa, and a credential.
func keepSecret(t *testing.T, dir string, ring seal.Keyring, secret string) {
	t.Helper()
	s := openTest(t, Options{Dir: dir, Keyring: ring})
	defer s.Close()
	store(t, s, event.Batch{Sub: "aa", Update: func(sub *event.Subscription) { sub.Hook.Secret = event.NewSecret(secret) }})
	if err := s.SetCredential(t.Context(), "oauth/x", event.NewSecret("token "+secret)); err != nil {
		t.Fatal(err)
	}
}

func TestKeyInTheKeyring(t *testing.T) {
	ring := newRing()
	first, second := t.TempDir(), t.TempDir()
	keepSecret(t, first, ring, "whsec_1")
	keepSecret(t, second, ring, "whsec_2")
	equal(t, len(ring.entries), 2)
	for dir, want := range map[string]string{first: "whsec_1", second: "whsec_2"} {
		got, info := hookSecret(t, dir, ring)
		if got != want || info.Sealed != "keyring" || info.Locked != nil {
			t.Errorf("%q, %+v", got, info)
		}
		if _, err := os.Stat(filepath.Join(dir, seal.FileKey)); err == nil {
			t.Error("the key is in a file too")
		}
	}
}

func TestKeyInAFileStaysThere(t *testing.T) {
	dir := t.TempDir()
	keepSecret(t, dir, seal.NoKeyring(), "whsec_1")
	ring := newRing()
	got, info := hookSecret(t, dir, ring)
	if got != "whsec_1" || info.Sealed != "file" || len(ring.entries) != 0 {
		t.Errorf("%q, %+v, %v", got, info, ring.entries)
	}
}

// A store whose key cannot be had opens. What needs no secret works, nothing of what is sealed is
// harmed, and the secrets are there once the key is.
func TestStoreWithALockedKey(t *testing.T) {
	for name, lock := range map[string]error{
		"locked": seal.ErrRingLocked, "no service": seal.ErrNoKeyring, "another session's": seal.ErrNoKey, "fails": errors.New("out of order"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir, ring := t.TempDir(), newRing()
				keepSecret(t, dir, ring, "whsec_1")
				ring.lock(lock)
				s := openTest(t, Options{Dir: dir, Keyring: ring, Prompt: false})
				defer s.Close()
				if info := s.Info(); !errors.Is(info.Locked, event.ErrKeyLocked) || info.Sealed != "keyring" {
					t.Errorf("%+v", info)
				}
				if _, err := s.Credential("oauth/x"); !errors.Is(err, event.ErrKeyLocked) {
					t.Errorf("a credential: %v", err)
				}
				if _, err := s.Credential("oauth/y"); !errors.Is(err, event.ErrNotFound) {
					t.Errorf("a credential that is not there: %v", err)
				}
				if err := s.SetCredential(t.Context(), "oauth/x", event.NewSecret("other")); !errors.Is(err, event.ErrKeyLocked) {
					t.Errorf("a new credential: %v", err)
				}
				store(t, s, event.Batch{Sub: "aa", Update: func(sub *event.Subscription) {
					if !sub.Hook.Secret.IsZero() {
						t.Error("the secret is not locked")
					}
					sub.Paused = true
					sub.Resume = event.NewSecret("resume") // which a server may give at any time
				}})
				time.Sleep(10 * keyEvery)
				select {
				case <-s.Unlocked():
					t.Fatal("unlocked")
				default:
				}
				ring.lock(nil)
				<-s.Unlocked()
				token, err := s.Credential("oauth/x")
				if got := secretOf(t, s); got != "whsec_1" || err != nil || token.Reveal() != "token whsec_1" || s.Info().Locked != nil {
					t.Errorf("then %q, %v, %+v", got, err, s.Info())
				}
				if sub, _ := s.Subscription("aa"); !sub.Paused {
					t.Error("the change is lost")
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if got, info := hookSecret(t, dir, ring); got != "whsec_1" || info.Locked != nil {
					t.Errorf("opened again: %q, %+v", got, info)
				}
			})
		})
	}
}

// The keyring asks the operator once a secret is needed, and only on a terminal.
func TestLockedKeyringPrompts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, ring := t.TempDir(), newRing()
		keepSecret(t, dir, ring, "whsec_1")
		for _, terminal := range []bool{false, true} {
			ring.lock(seal.ErrRingLocked)
			s := openTest(t, Options{Dir: dir, Keyring: ring, Prompt: terminal})
			time.Sleep(5 * keyEvery)
			equal(t, ring.prompts, 0)
			if _, err := s.Credential("oauth/x"); !errors.Is(err, event.ErrKeyLocked) {
				t.Errorf("%v", err)
			}
			synctest.Wait()
			if locked := s.Info().Locked != nil; locked == terminal || ring.prompts == 1 != terminal {
				t.Errorf("terminal %t: locked %t after %d prompts", terminal, locked, ring.prompts)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// An operator who wants the key in the keyring gets a store that is locked until it can be made.
func TestKeyringThatWasAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ring := newRing()
		ring.lock(seal.ErrRingLocked)
		s := openTest(t, Options{Dir: t.TempDir(), Keyring: ring, KeyPlace: seal.InKeyring})
		if info := s.Info(); info.Locked == nil || info.Sealed != "keyring" {
			t.Errorf("%+v", info)
		}
		ring.lock(nil)
		<-s.Unlocked()
		if err := s.SetCredential(t.Context(), "oauth/x", event.NewSecret("token")); err != nil || len(ring.entries) != 1 {
			t.Errorf("%v, %d keys", err, len(ring.entries))
		}
	})
}

func changeKey(t *testing.T, dir string, ring seal.Keyring, to string, lose bool) (string, error) {
	t.Helper()
	var said strings.Builder
	err := ChangeKey(t.Context(), Options{Dir: dir, Keyring: ring}, to, lose, func(line string) { said.WriteString(line + "\n") })
	return said.String(), err
}

func TestMoveKey(t *testing.T) {
	dir, ring := t.TempDir(), newRing()
	keepSecret(t, dir, ring, "whsec_1")
	for _, to := range []string{seal.InFile, seal.InFile, seal.InKeyring} {
		if said, err := changeKey(t, dir, ring, to, false); err != nil {
			t.Fatalf("to the %s: %v, %s", to, err, said)
		}
		_, err := os.Stat(filepath.Join(dir, seal.FileKey))
		if inFile := err == nil; inFile != (to == seal.InFile) || len(ring.entries) == 1 == inFile {
			t.Errorf("to the %s: a key file %t, %d in the keyring", to, inFile, len(ring.entries))
		}
		if got, info := hookSecret(t, dir, ring); got != "whsec_1" || info.Sealed != to {
			t.Errorf("to the %s: %q, %+v", to, got, info)
		}
	}
	ring.lock(seal.ErrRingLocked)
	if _, err := changeKey(t, dir, ring, seal.InFile, false); !errors.Is(err, event.ErrKeyLocked) {
		t.Errorf("from a locked keyring: %v", err)
	}
}

func TestNewKey(t *testing.T) {
	dir, ring := t.TempDir(), seal.NoKeyring()
	keepSecret(t, dir, ring, "whsec_1")
	path := filepath.Join(dir, seal.FileKey)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if said, err := changeKey(t, dir, ring, NewKey, false); err != nil || strings.Contains(said, "unreadable") {
		t.Errorf("with the old key: %v, %s", err, said)
	}
	if after, err := os.ReadFile(path); err != nil || bytes.Equal(after, before) {
		t.Errorf("the same key, or %v", err)
	}
	if got, _ := hookSecret(t, dir, ring); got != "whsec_1" {
		t.Errorf("%q", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := changeKey(t, dir, ring, NewKey, false); !errors.Is(err, event.ErrKeyLocked) || !strings.Contains(err.Error(), "subscription aa") || !strings.Contains(err.Error(), "1 sign-in") {
		t.Errorf("without the old key: %v", err)
	}
	if got, info := hookSecret(t, dir, ring); got != "" || info.Locked == nil {
		t.Errorf("it was made all the same: %q, %+v", got, info)
	}
	if said, err := changeKey(t, dir, ring, NewKey, true); err != nil || !strings.Contains(said, "subscription aa") {
		t.Errorf("%v, %s", err, said)
	}
	if got, info := hookSecret(t, dir, ring); got != "" || info.Locked != nil {
		t.Errorf("then %q, %+v", got, info)
	}
	keepSecret(t, dir, ring, "whsec_2")
	if got, _ := hookSecret(t, dir, ring); got != "whsec_2" {
		t.Errorf("after a new secret: %q", got)
	}
}
