package store

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"eventdeck/host/event"
	"eventdeck/store/seal"
)

// memoryRing is a keyring in memory.
type memoryRing map[string]string

func (r memoryRing) Get(service, account string) (string, error) {
	secret, ok := r[service+"/"+account]
	if !ok {
		return "", seal.ErrNoKey
	}
	return secret, nil
}

func (r memoryRing) Set(service, account, secret string) error {
	r[service+"/"+account] = secret
	return nil
}

// hookSecret opens the store, and returns the secret of subscription aa and the info of the
// store.
func hookSecret(t *testing.T, dir string, ring seal.Keyring) (string, event.StoreInfo) {
	t.Helper()
	s := openTest(t, Options{Dir: dir, Keyring: ring})
	defer s.Close()
	sub, err := s.Subscription("aa")
	if err != nil {
		t.Fatal(err)
	}
	return sub.Hook.Secret.Reveal(), s.Info()
}

func keepSecret(t *testing.T, dir string, ring seal.Keyring, secret string) {
	t.Helper()
	s := openTest(t, Options{Dir: dir, Keyring: ring})
	defer s.Close()
	store(t, s, event.Batch{Sub: "aa", Update: func(sub *event.Subscription) { sub.Hook.Secret = event.NewSecret(secret) }})
}

func TestKeyInTheKeyring(t *testing.T) {
	ring := memoryRing{}
	first, second := t.TempDir(), t.TempDir()
	keepSecret(t, first, ring, "whsec_1")
	keepSecret(t, second, ring, "whsec_2")
	equal(t, len(ring), 2)
	for dir, want := range map[string]string{first: "whsec_1", second: "whsec_2"} {
		got, info := hookSecret(t, dir, ring)
		if got != want || info.Sealed != "keyring" || info.KeyLost {
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
	ring := memoryRing{}
	got, info := hookSecret(t, dir, ring)
	if got != "whsec_1" || info.Sealed != "file" || len(ring) != 0 {
		t.Errorf("%q, %+v, %v", got, info, ring)
	}
}

func TestLostKey(t *testing.T) {
	for name, c := range map[string]struct {
		ring memoryRing
		lose func(t *testing.T, dir string, r memoryRing)
	}{
		"file removed": {nil, func(t *testing.T, dir string, _ memoryRing) {
			if err := os.Remove(filepath.Join(dir, seal.FileKey)); err != nil {
				t.Fatal(err)
			}
		}},
		"file of something else": {nil, func(t *testing.T, dir string, _ memoryRing) {
			if err := os.WriteFile(filepath.Join(dir, seal.FileKey), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		"file with another key": {nil, func(t *testing.T, dir string, _ memoryRing) {
			if err := os.WriteFile(filepath.Join(dir, seal.FileKey), []byte(base64.StdEncoding.EncodeToString(make([]byte, 32))), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		"entry removed": {memoryRing{}, func(_ *testing.T, _ string, r memoryRing) { clear(r) }},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var ring seal.Keyring = seal.NoKeyring()
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
