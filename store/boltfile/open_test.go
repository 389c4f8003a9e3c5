package boltfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// A process that has a file open locks it, even if it only reads.
func TestOpenFileIsLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	db, _, err := OpenFile(path, Options{})
	must(t, err)
	if Free(path) {
		t.Error("it counts as free")
	}
	if _, _, err := OpenFile(path, Options{ReadOnly: true}); !errors.Is(err, ErrLocked) {
		t.Error(err)
	}
	must(t, db.Close())
	if !Free(path) {
		t.Error("it counts as open")
	}
	db, file, err := OpenFile(path, Options{})
	must(t, err)
	must(t, Release(file)) // as after damage, without bbolt
	if !Free(path) {
		t.Error("it was released and counts as open")
	}
	_ = db // bbolt must not be asked any more
}

func TestDamagedFilesAreNotOpened(t *testing.T) {
	db, path := newFile(t, 10)
	must(t, db.Close())
	good, err := os.ReadFile(path)
	must(t, err)
	page := os.Getpagesize()
	newest, _, err := MetaPages(bytes.NewReader(good))
	must(t, err)
	flipped := func(at int) []byte {
		bad := bytes.Clone(good)
		bad[at] ^= 1
		return bad
	}
	for says, content := range map[string][]byte{
		"cut short":               good[:newest.Length-1],
		"one of its first two":    flipped(page + metaRoot),
		"where the last commit":   flipped(metaRoot),
		"the file is not what it": []byte(strings.Repeat("no database ", 4000)),
	} {
		must(t, os.WriteFile(path, content, 0o600))
		_, _, err := OpenFile(path, Options{})
		if !errors.Is(err, ErrDamaged) || says != "the file is not what it" && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
		if !Free(path) {
			t.Errorf("%s: it is locked", says)
		}
	}
}

// Files of a newer program and databases of other programs are distinguished from damage.
func TestFilesOfOtherProgramsAreRefused(t *testing.T) {
	db, _ := newFile(t, 1)
	must(t, Update(db, func(tx *Tx) error { return tx.SetVersion(Newest + 1) }))
	nothing := func(*Tx) error { return nil }
	for _, err := range []error{View(db, nothing), Update(db, nothing), NewReader(db).View(nothing)} {
		if !errors.Is(err, ErrNewer) {
			t.Errorf("newer: %v", err)
		}
	}
	if version, err := Version(db); version != Newest+1 || err != nil {
		t.Errorf("its version is %d, %v", version, err)
	}
	foreign, err := bolt.Open(filepath.Join(t.TempDir(), "file"), 0o600, nil)
	must(t, err)
	defer foreign.Close()
	must(t, foreign.Update(func(tx *bolt.Tx) error { _, err := tx.CreateBucket(one); return err }))
	if err := View(foreign, nothing); !errors.Is(err, ErrForeign) {
		t.Errorf("foreign: %v", err)
	}
}

// A reader sees each commit, though it reads the tallies only once per commit.
func TestReaderSeesEachCommit(t *testing.T) {
	db, _ := newFile(t, 1)
	r := NewReader(db)
	for n := uint64(1); n < 4; n++ {
		for range 2 {
			must(t, r.View(func(tx *Tx) error {
				value, err := tx.Bucket(one).Get(number(int(n)))
				if tx.Bucket(one).Entries() != n || value == nil {
					t.Errorf("%d entries, the newest is %q, after %d commits", tx.Bucket(one).Entries(), value, n)
				}
				return err
			}))
		}
		must(t, Update(db, func(tx *Tx) error { return tx.Bucket(one).Put(number(int(n+1)), []byte("next")) }))
	}
}

func TestMissingBuckets(t *testing.T) {
	db, _ := newFile(t, 1)
	must(t, Update(db, func(tx *Tx) error {
		b := tx.Bucket([]byte("nosuch"))
		_, getErr := b.Get(number(1))
		for name, err := range map[string]error{
			"Get": getErr, "Put": b.Put(number(1), nil), "Append": b.Append(number(1), nil, 0), "Delete": b.Delete(number(1)),
			"SetCounter": b.SetCounter(1), "Each": b.Each(func(_, _ []byte) error { return nil }),
		} {
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "nosuch is missing") {
				t.Errorf("%s: %v", name, err)
			}
		}
		c := b.Cursor()
		for name, move := range map[string]func() ([]byte, []byte){"First": c.First, "Last": c.Last, "Next": c.Next, "Prev": c.Prev} {
			if k, _ := move(); k != nil || !errors.Is(c.Err(), ErrDamaged) {
				t.Errorf("%s: %x, %v", name, k, c.Err())
			}
		}
		return nil
	}))
}

func TestCursorWalksBothWays(t *testing.T) {
	db, _ := newFile(t, 500)
	must(t, View(db, func(tx *Tx) error {
		c := tx.Bucket(one).Cursor()
		n := 0
		for k, v := c.First(); k != nil; k, v = c.Next() {
			if n++; !bytes.Equal(k, number(n)) || string(v) != fmt.Sprint("value ", n) {
				t.Fatalf("entry %d is %x, %q", n, k, v)
			}
		}
		for k, _ := c.Last(); k != nil; k, _ = c.Prev() {
			if !bytes.Equal(k, number(n)) {
				t.Fatalf("entry %d backwards is %x", n, k)
			}
			n--
		}
		if n != 0 {
			t.Errorf("%d entries were not met backwards", n)
		}
		if k, _ := c.Seek(number(300)); !bytes.Equal(k, number(300)) {
			t.Errorf("seek finds %x", k)
		}
		if k, _ := c.Seek(number(501)); k != nil {
			t.Errorf("seek behind the end finds %x", k)
		}
		return c.Err()
	}))
	must(t, db.Update(func(tx *bolt.Tx) error { return tx.Bucket(one).Put(number(250), []byte("changed")) }))
	must(t, View(db, func(tx *Tx) error {
		c := tx.Bucket(one).Cursor()
		n := 0
		for k, _ := c.First(); k != nil; k, _ = c.Next() {
			n++
		}
		if k, _ := c.Next(); n != 249 || !errors.Is(c.Err(), ErrDamaged) || k != nil {
			t.Errorf("the walk ends after %d entries with %v", n, c.Err())
		}
		return nil
	}))
}

// A copy has every entry with its checksum, and the counters; a damaged entry ends the
// copying.
func TestCopyWritesEveryEntry(t *testing.T) {
	from, _ := newFile(t, 300)
	must(t, Update(from, func(tx *Tx) error { return tx.Bucket(one).SetCounter(300) }))
	whole, err := bolt.Open(filepath.Join(t.TempDir(), "file"), 0o600, nil)
	must(t, err)
	defer whole.Close()
	must(t, Copy(whole, from, 1000))
	must(t, View(whole, func(tx *Tx) error {
		if tx.Version() != Newest || tx.Bucket(one).Entries() != 300 || tx.Bucket(one).Counter() != 300 {
			t.Errorf("version %d, %d entries, counter %d", tx.Version(), tx.Bucket(one).Entries(), tx.Bucket(one).Counter())
		}
		return tx.Verify(t.Context(), func(err error) { t.Error(err) })
	}))
	bad, _ := newFile(t, 300)
	must(t, bad.Update(func(tx *bolt.Tx) error { return tx.Bucket(one).Put(number(7), []byte("damage")) }))
	to, err := bolt.Open(filepath.Join(t.TempDir(), "file"), 0o600, nil)
	must(t, err)
	defer to.Close()
	if err := Copy(to, bad, 1000); !errors.Is(err, ErrDamaged) {
		t.Errorf("of a damaged file: %v", err)
	}
}

// A file is copied out while it is open and copied in again; a cancelled copy leaves nothing.
func TestCopyOutAndIn(t *testing.T) {
	db, _ := newFile(t, 100)
	dir := t.TempDir()
	out, in := filepath.Join(dir, "out"), filepath.Join(dir, "in")
	n, err := CopyOut(t.Context(), db, out)
	must(t, err)
	if info, err := os.Stat(out); err != nil || info.Size() != n {
		t.Errorf("%d bytes were written: %v", n, err)
	}
	if _, err := CopyOut(t.Context(), db, out); !errors.Is(err, os.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	content, err := os.ReadFile(out)
	must(t, err)
	must(t, CopyIn(t.Context(), bytes.NewReader(content), in))
	copied, _, err := OpenFile(in, Options{ReadOnly: true})
	must(t, err)
	if found := findings(t, copied); len(found) > 0 {
		t.Error(found)
	}
	must(t, copied.Close())
	ended, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	if _, err := CopyOut(ended, db, filepath.Join(dir, "ended")); !errors.Is(err, stopped) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "ended")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half a copy is left: %v", err)
	}
}

// A file that this program cannot map is not called damaged.
func TestFileThatCannotBeMapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	db, _, err := OpenFile(path, Options{})
	if err == nil {
		err = db.Close()
	}
	if err == nil {
		err = os.Truncate(path, 3<<30) // sparse
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := checkSize(path, 1<<30); !errors.Is(err, ErrTooLarge) || errors.Is(err, ErrDamaged) {
		t.Errorf("%v", err)
	}
	db, _, err = OpenFile(path, Options{})
	if strconv.IntSize == 32 && !errors.Is(err, ErrTooLarge) || strconv.IntSize == 64 && err != nil {
		t.Errorf("opened: %v", err)
	}
	if err == nil {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
