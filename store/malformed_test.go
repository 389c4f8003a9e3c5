package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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

// malformed is the content of a file in the place of a store's.
type malformed struct {
	put  func(t *testing.T, path string, good []byte)
	is   error  // what reading it is, nil: an error of the system
	says string // beside the path
	// restored is the message of restore, if that differs.
	restored string
}

func write(content func(good []byte) []byte) func(*testing.T, string, []byte) {
	return func(t *testing.T, path string, good []byte) {
		if err := os.WriteFile(path, content(good), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func changed(change func(*boltfile.Tx) error) func(*testing.T, string, []byte) {
	return func(t *testing.T, path string, good []byte) {
		write(func([]byte) []byte { return good })(t, path, good)
		putMeta(t, filepath.Dir(path), change)
	}
}

func malformedFiles() map[string]malformed {
	return map[string]malformed{
		"empty":     {write(func([]byte) []byte { return nil }), ErrDamaged, "empty", ""},
		"cut":       {write(func(good []byte) []byte { return good[:10_000] }), ErrDamaged, "eventdeck store recover", ""},
		"one page":  {write(func(good []byte) []byte { return good[:os.Getpagesize()] }), ErrDamaged, "eventdeck store recover", ""},
		"one byte":  {write(func(good []byte) []byte { return good[:1] }), ErrDamaged, "eventdeck store recover", ""},
		"zeros":     {write(func([]byte) []byte { return make([]byte, 1<<16) }), ErrDamaged, "eventdeck store recover", ""},
		"garbage":   {write(func([]byte) []byte { return bytes.Repeat([]byte("garbage\x00\xff"), 8_000) }), ErrDamaged, "eventdeck store recover", ""},
		"text":      {write(func([]byte) []byte { return []byte(strings.Repeat("{\"a\": 1}\n", 8_000)) }), ErrDamaged, "eventdeck store recover", ""},
		"missing":   {func(*testing.T, string, []byte) {}, ErrDamaged, "missing", "no such file"},
		"directory": {func(t *testing.T, path string, _ []byte) { mustDo(t, os.Mkdir(path, 0o700)) }, nil, "not a regular file", "is a directory; name the file"},
		"link": {func(t *testing.T, path string, good []byte) {
			other := filepath.Join(t.TempDir(), "other")
			write(func([]byte) []byte { return good })(t, other, good)
			mustDo(t, os.Symlink(other, path))
		}, nil, "symbolic link; replace it", "-"},
		"another program's": {func(t *testing.T, path string, _ []byte) {
			db, err := bolt.Open(path, 0o600, nil)
			if err != nil {
				t.Fatal(err)
			}
			mustDo(t, errors.Join(db.Update(func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("theirs")); return err }), db.Close()))
		}, ErrForeign, "--data DIR", ""},
	}
}

func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// For every malformed file in the place of the store, each command ends with an error that
// names the file, the problem and what to do, and leaves the file as it is.
func TestMalformedStores(t *testing.T) {
	good := goodFile(t)
	ignore := func(string) {}
	for name, m := range malformedFiles() {
		t.Run(name, func(t *testing.T) {
			dir := makeStore(t)
			path := filepath.Join(dir, datadir.DB)
			mustDo(t, os.Remove(path))
			m.put(t, path, good)
			was := fingerprint(t, dir)
			for command, run := range map[string]func() error{
				"open":  func() error { return openError(t, dir) },
				"check": func() error { return maintain.Check(t.Context(), dir, ignore) },
				"compact": func() error {
					_, _, err := maintain.Compact(dir)
					return err
				},
				"backup": func() error {
					_, err := maintain.Backup(dir, filepath.Join(t.TempDir(), "copy"))
					return err
				},
				"recover": func() error { return maintain.Recover(t.Context(), dir, time.Now(), ignore) },
			} {
				err := run()
				if command == "recover" { // without a snapshot there is nothing to begin with
					if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "eventdeck store restore FILE") {
						t.Errorf("%s: %v", command, err)
					}
				} else if err == nil || m.is != nil && !errors.Is(err, m.is) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), m.says) || strings.Contains(err.Error(), path+": "+path) {
					t.Errorf("%s: %v", command, err)
				}
				if now := fingerprint(t, dir); now != was {
					t.Fatalf("%s changed what is there:\n%s\nbefore\n%s", command, now, was)
				}
			}
		})
	}
}

// A malformed copy changes nothing in the store that it was to replace.
func TestMalformedCopiesAreNotRestored(t *testing.T) {
	good := goodFile(t)
	for name, m := range malformedFiles() {
		if m.restored == "-" {
			continue
		}
		copied := filepath.Join(t.TempDir(), "kept.db")
		m.put(t, copied, good)
		dir := makeStore(t)
		was := fingerprint(t, dir)
		_, err := maintain.Restore(t.Context(), dir, copied, nil, time.Now(), func(string) {})
		if err == nil || !strings.Contains(err.Error(), copied) || strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if m.restored == "" && (!errors.Is(err, m.is) || !strings.Contains(err.Error(), "take another copy; the store is as it was")) || !strings.Contains(err.Error(), m.restored) {
			t.Errorf("%s: %v", name, err)
		}
		if now := fingerprint(t, dir); now != was {
			t.Errorf("%s changed the store:\n%s\nbefore\n%s", name, now, was)
		}
		if err := openError(t, dir); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A store of a newer program can be copied and checked, but not opened; its file stays as it
// is.
func TestStoreOfANewerProgram(t *testing.T) {
	good := goodFile(t)
	dir := makeStore(t)
	path := filepath.Join(dir, datadir.DB)
	changed(func(tx *boltfile.Tx) error { return tx.SetVersion(tables.Newest + 1) })(t, path, good)
	was := fingerprint(t, dir)
	if err := openError(t, dir); !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "use a newer eventdeck, or --data DIR") {
		t.Errorf("%v", err)
	}
	if now := fingerprint(t, dir); now != was {
		t.Errorf("it changed:\n%s\nbefore\n%s", now, was)
	}
}

// A file that was initialised and has no tables is not silently initialised again.
func TestDatabaseWithoutTablesIsNotInitialisedAgain(t *testing.T) {
	dir := makeStore(t)
	path := filepath.Join(dir, datadir.DB)
	mustDo(t, os.Remove(path))
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	mustDo(t, db.Close())
	if err := openError(t, dir); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "eventdeck store recover") {
		t.Errorf("%v", err)
	}
	mustDo(t, os.Remove(filepath.Join(dir, datadir.WitnessFile)))
	if err := openError(t, dir); err != nil {
		t.Errorf("a file in which nothing was ever kept: %v", err)
	}
}

// fingerprint is the content of a directory, except for the process that has it open.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == datadir.PID || path == dir {
			return err
		}
		b.WriteString(d.Name() + " " + d.Type().String())
		if d.Type().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b.WriteString(" " + keyedSum(content))
		}
		b.WriteByte('\n')
		return nil
	})
	mustDo(t, err)
	return b.String()
}

func keyedSum(content []byte) string {
	sum := sha256.Sum256(content)
	return fmt.Sprintf("%d %x", len(content), sum[:6])
}

// A store that was open for a moment has a snapshot from which it can be recovered.
func TestSnapshotWhenAStoreIsClosed(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), Options{Dir: dir, Keyring: seal.NoKeyring()})
	mustDo(t, err)
	store(t, s, event.Batch{Sub: "aa", Update: set(fullSub(t))})
	mustDo(t, s.Close())
	mustDo(t, os.WriteFile(filepath.Join(dir, datadir.DB), bytes.Repeat([]byte("x"), 1<<16), 0o600))
	mustDo(t, maintain.Recover(t.Context(), dir, time.Now(), func(string) {}))
	s = openTest(t, Options{Dir: dir})
	if n := len(s.Subscriptions()); n != 1 {
		t.Errorf("%d subscriptions", n)
	}
}

// bbolt panics on such a file when it has it open and locked already. The lock must be
// released, since the recovery needs it.
func TestPanicInOpenLeavesNoLock(t *testing.T) {
	dir := t.TempDir()
	mustDo(t, openTest(t, Options{Dir: dir}).Close())
	path := filepath.Join(dir, datadir.DB)
	good, err := os.ReadFile(path)
	mustDo(t, err)
	file := bytes.Clone(good)
	size, freelist, newest := os.Getpagesize(), uint64(0), uint64(0)
	for page := range 2 {
		meta := file[page*size+16:]
		if txid := binary.LittleEndian.Uint64(meta[48:]); txid >= newest {
			freelist, newest = binary.LittleEndian.Uint64(meta[32:]), txid
		}
	}
	file[int(freelist)*size+8] = 1 // the kind of the page
	mustDo(t, os.WriteFile(path, file, 0o600))
	for range 2 {
		if _, err := Open(t.Context(), Options{Dir: dir}); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "freelist") {
			t.Errorf("opened: %v", err)
		}
	}
	mustDo(t, os.WriteFile(path, good, 0o600))
	mustDo(t, openTest(t, Options{Dir: dir}).Close())
}
