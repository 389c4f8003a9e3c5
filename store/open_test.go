package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/datadir"
	"eventdeck/store/maintain"
	"eventdeck/store/seal"
	"eventdeck/store/tables"
)

// makeStore leaves a closed store with some events and a secret.
func makeStore(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s := openTest(t, Options{Dir: dir})
	b := eventsBatch("aa", "1", "2", "3")
	b.Update = set(fullSub(t))
	store(t, s, b)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func openError(t *testing.T, dir string) error {
	t.Helper()
	s, err := Open(t.Context(), Options{Dir: dir, Keyring: seal.NoKeyring()})
	if err == nil {
		t.Cleanup(func() { s.Close() })
	}
	return err
}

func TestLockErrorNamesTheFirstInstance(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, Options{Dir: dir})
	start := time.Now()
	err := openError(t, dir)
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), fmt.Sprintf("process %d ", os.Getpid())) || !strings.Contains(err.Error(), "--data") {
		t.Errorf("%v", err)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	store(t, s, eventsBatch("aa", "1")) // the first one is undisturbed

	if err := os.WriteFile(filepath.Join(dir, datadir.PID), []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := openError(t, dir); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "another process") {
		t.Errorf("%v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := openError(t, dir); err != nil {
		t.Errorf("after the first one has gone: %v", err)
	}
}

func TestEmptiedOrMissingFileIsNoticed(t *testing.T) {
	for name, spoil := range map[string]func(string) error{
		"emptied": func(path string) error { return os.Truncate(path, 0) },
		"missing": os.Remove,
	} {
		dir := makeStore(t)
		if err := spoil(filepath.Join(dir, datadir.DB)); err != nil {
			t.Fatal(err)
		}
		if err := openError(t, dir); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), datadir.WitnessFile) || strings.Contains(err.Error(), "store check") {
			t.Errorf("%s: %v", name, err)
		}
		if err := maintain.Check(t.Context(), dir, func(string) {}); err == nil || !strings.Contains(err.Error(), "`eventdeck store recover`") {
			t.Errorf("%s, checked: %v", name, err)
		}
		if err := os.Remove(filepath.Join(dir, datadir.WitnessFile)); err != nil {
			t.Fatal(err)
		}
		if err := openError(t, dir); err != nil {
			t.Errorf("%s, after doing as told: %v", name, err)
		}
	}
}

func TestDamagedFilesAreRefused(t *testing.T) {
	good := goodFile(t)
	zeroMetas := bytes.Clone(good)
	clear(zeroMetas[:2*os.Getpagesize()])
	for name, content := range map[string][]byte{
		"100 bytes": good[:100], "one page": good[:os.Getpagesize()], "text": bytes.Repeat([]byte("text "), 9999), "no meta pages": zeroMetas,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, datadir.DB), content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := openError(t, dir); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDamageIsAnError opens and reads files with damaged pages: each ends with an error or
// works, and a panic would end the test binary. It does not write, and turns the garbage
// collector off: bbolt computes addresses from what it reads, and an address that happens to
// be in the heap is fatal when the collector meets it. Only a check in a process of its own is
// safe from that.
func TestDamageIsAnError(t *testing.T) {
	if raceDetector {
		t.Skip("a damaged page leads bbolt to addresses of other memory, which the detector takes for a race")
	}
	good := makeStore(t)
	content, err := os.ReadFile(filepath.Join(good, datadir.DB))
	if err != nil {
		t.Fatal(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	pages := len(content) / os.Getpagesize()
	random := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for n := range 64 {
		bad := bytes.Clone(content)
		switch n % 4 {
		case 0:
			bad = bad[:1+random.IntN(len(bad))]
		case 1:
			page := random.IntN(pages) * os.Getpagesize()
			clear(bad[page : page+os.Getpagesize()])
		default:
			for range 40 {
				bad[random.IntN(len(bad))] ^= byte(1 + random.IntN(255))
			}
		}
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(good)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, datadir.DB), bad, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), Options{Dir: dir, Keyring: seal.NoKeyring(), noSnapshots: true})
		if err != nil {
			refused++
			if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewer) && !strings.Contains(err.Error(), "another program") {
				t.Errorf("copy %d: %v", n, err)
			}
			continue
		}
		<-s.loaded
		_ = s.Forward(0, func(event.Record) bool { return true })
		s.Refusals()
		_ = s.Close()
	}
	if refused == 0 {
		t.Error("none of them was refused")
	}
}

// putMeta changes a closed store as the program would.
func putMeta(t *testing.T, dir string, put func(*boltfile.Tx) error) {
	t.Helper()
	withDB(t, dir, func(db *bolt.DB) error { return boltfile.Update(db, put) })
}

// putRaw changes the entries of a closed store as damage would.
func putRaw(t *testing.T, dir string, put func(*bolt.Tx) error) {
	t.Helper()
	withDB(t, dir, func(db *bolt.DB) error { return db.Update(put) })
}

func withDB(t *testing.T, dir string, do func(*bolt.DB) error) {
	t.Helper()
	db, err := bolt.Open(filepath.Join(dir, datadir.DB), 0o600, &bolt.Options{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(do(db), db.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestDamageErrorNamesTheFileAndAdvice(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"overwritten": func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("x", 1<<16)), 0o600) },
		"cut short":   func(path string) error { return os.Truncate(path, 20000) },
	} {
		dir := makeStore(t)
		path := filepath.Join(dir, datadir.DB)
		if err := damage(path); err != nil {
			t.Fatal(err)
		}
		err := openError(t, dir)
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "--data DIR") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFilesOfOtherVersions(t *testing.T) {
	dir := makeStore(t)
	putMeta(t, dir, func(tx *boltfile.Tx) error { return tx.SetVersion(tables.Newest + 1) })
	if err := openError(t, dir); !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "newer") {
		t.Errorf("newer: %v", err)
	}
	putRaw(t, dir, func(tx *bolt.Tx) error { return tx.Bucket(tables.Meta).Delete([]byte("layout")) })
	if err := openError(t, dir); !errors.Is(err, ErrDamaged) {
		t.Errorf("without a version: %v", err)
	}

	dir = t.TempDir()
	putRaw(t, dir, func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("theirs")); return err })
	if err := openError(t, dir); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("another program's: %v", err)
	}

	dir = makeStore(t)
	putMeta(t, dir, func(tx *boltfile.Tx) error { return tx.Bucket(tables.Subs).Put([]byte("aa"), []byte(`{"v":9}`)) })
	if err := openError(t, dir); !errors.Is(err, ErrDamaged) {
		t.Errorf("a newer subscription: %v", err)
	}
	putMeta(t, dir, func(tx *boltfile.Tx) error { return tx.Bucket(tables.Subs).Put([]byte("aa"), []byte(`{`)) })
	if err := openError(t, dir); !errors.Is(err, ErrDamaged) {
		t.Errorf("a damaged subscription: %v", err)
	}
	putMeta(t, dir, func(tx *boltfile.Tx) error { return tx.Bucket(tables.Meta).Put(tables.KeySeal, []byte(`{`)) })
	if err := openError(t, dir); !errors.Is(err, ErrDamaged) {
		t.Errorf("damaged words on the key: %v", err)
	}
}

func TestTemporaryStoreIsRemoved(t *testing.T) {
	parent := t.TempDir()
	s := openTest(t, Options{Dir: parent, Temporary: true})
	store(t, s, event.Batch{Sub: "aa", Update: set(fullSub(t))})
	info := s.Info()
	if !info.Temporary || info.Sealed != "memory" || filepath.Dir(info.Path) != parent {
		t.Errorf("%+v", info)
	}
	if _, err := os.Stat(info.Path); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) != 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestOpenIsRefused(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, Options{Dir: t.TempDir()}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := Open(t.Context(), Options{}); err == nil {
		t.Error("no directory: opened")
	}
	if _, err := Open(t.Context(), Options{Temporary: true, Dir: filepath.Join(t.TempDir(), "none")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("temporary in a directory that is not there: %v", err)
	}
	parent := t.TempDir()
	none := bytes.NewReader(nil)
	if _, err := Open(t.Context(), Options{Temporary: true, Dir: parent, Random: none}); err == nil {
		t.Error("no randomness: opened")
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) != 0 {
		t.Errorf("a temporary store that failed to open leaves %v, %v", left, err)
	}
	for _, n := range []int{0, 48, 60} { // for the schema; the key; the first secret
		random := bytes.NewReader(make([]byte, n))
		if _, err := Open(t.Context(), Options{Dir: t.TempDir(), Keyring: seal.NoKeyring(), Random: random}); err == nil {
			t.Errorf("%d random bytes: opened", n)
		}
	}
}

func TestNoRandomnessForASecret(t *testing.T) {
	s := openTest(t, Options{Random: bytes.NewReader(make([]byte, 48+40))})
	for _, sub := range []event.Subscription{
		{Hook: event.Hook{Secret: event.NewSecret("whsec_1")}}, {Hook: event.Hook{Previous: event.NewSecret("whsec_1")}},
	} {
		if r := <-submit(t, s, event.Batch{Sub: "aa", Update: set(sub)}); r.err == nil {
			t.Error("a secret was stored without a random nonce")
		}
	}
	if len(s.Subscriptions()) != 0 {
		t.Error("the subscription is there")
	}
}

// bbolt would continue with the commit before the last one when one of the first two pages is
// lost. The store is refused with advice, and a recovery keeps every record.
func TestLostFirstPageIsReported(t *testing.T) {
	for _, page := range []int64{0, 1} {
		dir := fillStore(t, 20)
		f, err := os.OpenFile(filepath.Join(dir, datadir.DB), os.O_RDWR, 0)
		mustDo(t, err)
		_, err = f.WriteAt(make([]byte, os.Getpagesize()), page*int64(os.Getpagesize()))
		mustDo(t, errors.Join(err, f.Close()))
		for name, open := range map[string]func() error{
			"open": func() error {
				s, err := Open(t.Context(), Options{Dir: dir, Keyring: seal.NoKeyring()})
				if err == nil {
					return s.Close()
				}
				return err
			},
			"check": func() error { return maintain.Check(t.Context(), dir, func(string) {}) },
			"backup": func() error {
				_, err := maintain.Backup(dir, filepath.Join(t.TempDir(), "copy"))
				return err
			},
		} {
			if err := open(); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "`eventdeck store recover`") {
				t.Errorf("page %d, %s: %v", page, name, err)
			}
		}
		mustDo(t, maintain.Recover(t.Context(), dir, time.Now(), func(string) {}))
		s := openTest(t, Options{Dir: dir})
		equal(t, s.Info().Records, 40)
		mustDo(t, s.Close())
	}
}

// goodFile returns the database file of a store.
func goodFile(t *testing.T) []byte {
	t.Helper()
	good, err := os.ReadFile(filepath.Join(makeStore(t), datadir.DB))
	if err != nil {
		t.Fatal(err)
	}
	return good
}
