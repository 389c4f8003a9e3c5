package seal

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
)

// fakeRing is a keyring in memory.
type fakeRing struct {
	entries map[string]string
	fails   error // of every call
	forgets bool  // takes a secret and holds nothing
	silent  bool  // answers nothing
}

func (r *fakeRing) enter(ctx context.Context) error {
	if r.silent {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return r.fails
}

func (r *fakeRing) Get(ctx context.Context, service, account string) (string, error) {
	if err := r.enter(ctx); err != nil {
		return "", err
	}
	secret, ok := r.entries[service+"/"+account]
	if !ok {
		return "", ErrNoKey
	}
	return secret, nil
}

func (r *fakeRing) Set(ctx context.Context, service, account, secret string) error {
	err := r.enter(ctx)
	if err == nil && !r.forgets {
		r.entries[service+"/"+account] = secret
	}
	return err
}

func (r *fakeRing) Delete(ctx context.Context, service, account string) error {
	delete(r.entries, service+"/"+account)
	return r.enter(ctx)
}

func (r *fakeRing) Unlock(ctx context.Context, _, _ string) error { return r.enter(ctx) }

func newRing() *fakeRing { return &fakeRing{entries: map[string]string{}} }

// keeper is a Keeper for a store in dir.
func keeper(dir string, ring Keyring) Keeper {
	return Keeper{Dir: dir, Ring: ring, Within: 20 * time.Millisecond, Random: rand.Reader}
}

func find(t *testing.T, k Keeper, noted []byte) Key {
	t.Helper()
	key, err := k.Find(t.Context(), noted)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// unavailable are the keyrings that do not take a key now.
func unavailable() map[string]*fakeRing {
	return map[string]*fakeRing{
		"locked": {fails: ErrRingLocked}, "silent": {silent: true}, "not there": {fails: ErrNoKeyring},
		"forgets": {forgets: true}, "fails": {fails: errors.New("out of order")},
	}
}

func TestKeyStaysWhereItIs(t *testing.T) {
	ring := newRing()
	for kept, first := range map[string]Keyring{InKeyring: ring, InFile: NoKeyring()} {
		dir := t.TempDir()
		key := find(t, keeper(dir, first), nil)
		again := find(t, keeper(dir, ring), key.Note)
		if key.Kept != kept || again.Kept != kept || !bytes.Equal(again.Bytes, key.Bytes) || !bytes.Equal(again.Note, key.Note) {
			t.Errorf("%s: kept in %s, then in %s, another key %t", kept, key.Kept, again.Kept, !bytes.Equal(again.Bytes, key.Bytes))
		}
	}
	if len(ring.entries) != 1 {
		t.Errorf("%d keys are in the keyring", len(ring.entries))
	}
}

func TestNewKeyWithoutKeyringGoesIntoAFile(t *testing.T) {
	for name, ring := range unavailable() {
		dir := t.TempDir()
		key := find(t, keeper(dir, ring), nil)
		if key.Kept != InFile {
			t.Errorf("%s: kept in the %s", name, key.Kept)
		}
		if info, err := os.Stat(filepath.Join(dir, FileKey)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// An operator who wants the key in the keyring never gets it in a file.
func TestPlaceThatWasAskedFor(t *testing.T) {
	for name, ring := range unavailable() {
		k := keeper(t.TempDir(), ring)
		k.Place = InKeyring
		key, err := k.Find(t.Context(), nil)
		if !errors.Is(err, event.ErrKeyLocked) || key.Kept != InKeyring {
			t.Errorf("%s: %s, %v", name, key.Kept, err)
		}
		k.Place = "" // it is remembered
		again, err := k.Find(t.Context(), key.Note)
		if !errors.Is(err, event.ErrKeyLocked) || string(again.Note) != string(key.Note) {
			t.Errorf("%s: again: %s, %v", name, again.Note, err)
		}
		if _, err := os.Stat(filepath.Join(k.Dir, FileKey)); err == nil {
			t.Errorf("%s: a key file was made", name)
		}
		k.Ring = newRing()
		if got := find(t, k, key.Note); got.Kept != InKeyring {
			t.Errorf("%s: later it is kept in the %s", name, got.Kept)
		}
	}
	ring := newRing()
	k := keeper(t.TempDir(), ring)
	k.Place = InFile
	if key := find(t, k, nil); key.Kept != InFile || len(ring.entries) != 0 {
		t.Errorf("kept in the %s, %v", key.Kept, ring.entries)
	}
}

func TestKeyThatCannotBeHadIsLocked(t *testing.T) {
	good, dir := newRing(), t.TempDir()
	key := find(t, keeper(dir, good), nil)
	rings := unavailable()
	rings["of another session"] = newRing()
	for name, ring := range rings {
		got, err := keeper(dir, ring).Find(t.Context(), key.Note)
		if !errors.Is(err, event.ErrKeyLocked) || got.Bytes != nil || got.Kept != InKeyring {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if len(ring.entries) != 0 {
			t.Errorf("%s: a key was stored", name)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, FileKey)); err == nil {
		t.Error("a key file was made")
	}
	if got := find(t, keeper(dir, good), key.Note); !bytes.Equal(got.Bytes, key.Bytes) {
		t.Error("a failure did harm")
	}
}

func TestKeyFileThatIsGoneIsLocked(t *testing.T) {
	for name, content := range map[string]string{"gone": "", "of something else": "x", "with another key": encodeKey(make([]byte, 32))} {
		dir := t.TempDir()
		k, path := keeper(dir, NoKeyring()), filepath.Join(dir, FileKey)
		key := find(t, k, nil)
		kept, err := os.ReadFile(path)
		if err == nil {
			err = os.Remove(path)
		}
		if err == nil && content != "" {
			err = os.WriteFile(path, []byte(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.Find(t.Context(), key.Note); !errors.Is(err, event.ErrKeyLocked) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.WriteFile(path, kept, 0o600); err != nil {
			t.Fatal(err)
		}
		if back := find(t, k, key.Note); !bytes.Equal(back.Bytes, key.Bytes) {
			t.Errorf("%s: another key after it is back", name)
		}
	}
}

// A new database beside a key file may be one to which a backup is restored.
func TestKeyFileIsNeverReplaced(t *testing.T) {
	dir := t.TempDir()
	k := keeper(dir, NoKeyring())
	first := find(t, k, nil)
	if again := find(t, k, nil); !bytes.Equal(again.Bytes, first.Bytes) {
		t.Error("another key for a new store")
	}
	made, err := k.Make(t.Context())
	if err != nil || bytes.Equal(made.Bytes, first.Bytes) {
		t.Fatalf("the same key again, or %v", err)
	}
	for _, key := range []Key{first, made} {
		if got := find(t, k, key.Note); !bytes.Equal(got.Bytes, key.Bytes) {
			t.Error("a key is lost")
		}
	}
	if err := k.Forget(t.Context(), first.Note); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Find(t.Context(), first.Note); !errors.Is(err, event.ErrKeyLocked) {
		t.Errorf("a forgotten key: %v", err)
	}
	if got := find(t, k, made.Note); !bytes.Equal(got.Bytes, made.Bytes) {
		t.Error("the other key is forgotten too")
	}
	if err := k.Forget(t.Context(), made.Note); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, FileKey)); err == nil {
		t.Error("an empty key file is left")
	}
}

// A copy of the store that was made before the key was moved finds it at its new place.
func TestMovedKeyIsFoundByOlderNotes(t *testing.T) {
	k := keeper(t.TempDir(), newRing())
	first := find(t, k, nil)
	for _, place := range []string{InFile, InKeyring} {
		noted := find(t, k, first.Note).Note
		moved, err := k.Keep(t.Context(), first.Bytes, place)
		if err == nil {
			err = k.Forget(t.Context(), noted)
		}
		if err != nil || moved.Kept != place {
			t.Fatalf("to the %s: %+v, %v", place, moved, err)
		}
		if got := find(t, k, first.Note); got.Kept != place || !bytes.Equal(got.Bytes, first.Bytes) {
			t.Errorf("to the %s: found in the %s", place, got.Kept)
		}
	}
}

func TestNoteThatMakesNoSense(t *testing.T) {
	if _, err := keeper(t.TempDir(), newRing()).Find(t.Context(), []byte("{")); !errors.Is(err, event.ErrDamaged) {
		t.Errorf("%v", err)
	}
}
