package boltfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"
)

var one, other = []byte("one"), []byte("other")

func number(n int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// newFile makes a file with n entries in the bucket one.
func newFile(t testing.TB, n int) (db *bolt.DB, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file")
	db, err := bolt.Open(path, 0o600, nil)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	must(t, Update(db, func(tx *Tx) error {
		for _, name := range [][]byte{Meta, one, other} {
			if err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		for i := range n {
			if err := tx.Bucket(one).Put(number(i+1), fmt.Appendf(nil, "value %d", i+1)); err != nil {
				return err
			}
		}
		return tx.SetVersion(Newest)
	}))
	return db, path
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// findings are what Verify says.
func findings(t *testing.T, db *bolt.DB) (found []error) {
	t.Helper()
	must(t, View(db, func(tx *Tx) error {
		return tx.Verify(t.Context(), func(err error) { found = append(found, err) })
	}))
	return found
}

func TestEveryKindOfChangeIsFound(t *testing.T) {
	for name, change := range map[string]func(tx *bolt.Tx) error{
		"a value": func(tx *bolt.Tx) error {
			v := bytes.Clone(tx.Bucket(one).Get(number(3)))
			v[0] ^= 1
			return tx.Bucket(one).Put(number(3), v)
		},
		"a checksum": func(tx *bolt.Tx) error {
			v := bytes.Clone(tx.Bucket(one).Get(number(3)))
			v[len(v)-1] ^= 1
			return tx.Bucket(one).Put(number(3), v)
		},
		"another key": func(tx *bolt.Tx) error {
			return tx.Bucket(one).Put(number(4), bytes.Clone(tx.Bucket(one).Get(number(3))))
		},
		"another bucket": func(tx *bolt.Tx) error {
			return tx.Bucket(other).Put(number(3), bytes.Clone(tx.Bucket(one).Get(number(3))))
		},
		"missing":        func(tx *bolt.Tx) error { return tx.Bucket(one).Delete(number(3)) },
		"too short":      func(tx *bolt.Tx) error { return tx.Bucket(one).Put(number(3), []byte("x")) },
		"a counter":      func(tx *bolt.Tx) error { return tx.Bucket(one).SetSequence(7) },
		"no such bucket": func(tx *bolt.Tx) error { return tx.DeleteBucket(other) },
		"a bucket more":  func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("more")); return err },
		"a bucket inside": func(tx *bolt.Tx) error {
			_, err := tx.Bucket(one).CreateBucket(number(0))
			return err
		},
	} {
		db, _ := newFile(t, 10)
		if found := findings(t, db); len(found) > 0 {
			t.Fatalf("before: %v", found)
		}
		must(t, db.Update(change))
		if found := findings(t, db); len(found) == 0 {
			t.Errorf("%s: nothing is found", name)
		}
	}
}

// The tallies match after puts, repeated puts and deletes.
func TestTalliesFollowEveryChange(t *testing.T) {
	db, _ := newFile(t, 10)
	must(t, Update(db, func(tx *Tx) error {
		b := tx.Bucket(one)
		if n, err := b.Next(); n != 1 || err != nil {
			t.Errorf("the first number is %d, %v", n, err)
		}
		return errors.Join(b.Put(number(3), []byte("new")), b.Delete(number(4)), b.Delete(number(99)),
			b.Append(number(11), []byte("last"), Sum([]byte("last"))), b.Put(number(11), nil))
	}))
	if found := findings(t, db); len(found) > 0 {
		t.Error(found)
	}
	must(t, View(db, func(tx *Tx) error {
		b := tx.Bucket(one)
		if b.Entries() != 10 || b.Counter() != 1 {
			t.Errorf("%d entries, counter %d", b.Entries(), b.Counter())
		}
		v, err := b.Get(number(3))
		if string(v) != "new" {
			t.Errorf("got %q", v)
		}
		return err
	}))
}

// Reading a tree that leads back to itself ends.
func TestWalkEndsInACircle(t *testing.T) {
	db, path := newFile(t, 5000)
	var root uint64
	must(t, db.View(func(tx *bolt.Tx) error { root = uint64(tx.Bucket(one).RootPage()); return nil }))
	must(t, db.Close())
	content, err := os.ReadFile(path)
	must(t, err)
	newest, sound, err := MetaPages(bytes.NewReader(content))
	if err != nil || sound != 2 {
		t.Fatalf("%d meta pages are sound, %v", sound, err)
	}
	all := func([]byte) bool { return true }
	count := func() (n int, sound bool) {
		sound, err := ReadPages(bytes.NewReader(content)).Walk(t.Context(), newest.Root, all, func(bucket []byte, entries []Entry) error {
			if bytes.Equal(bucket, one) {
				n += len(entries)
			}
			return nil
		})
		must(t, err)
		return n, sound
	}
	if n, sound := count(); n != 5000 || !sound {
		t.Errorf("%d entries, sound %v", n, sound)
	}
	page := content[int(root)*os.Getpagesize():]
	if kindOf(page) != branchKind {
		t.Fatal("the tree has one page only")
	}
	binary.LittleEndian.PutUint64(page[pageHead+8:], root)
	if n, sound := count(); n == 5000 || sound {
		t.Errorf("in a circle: %d entries, sound %v", n, sound)
	}
}

// Reading the tallies ends, whatever bytes are in their place.
func FuzzTallies(f *testing.F) {
	f.Add([]byte{4, 3, 'o', 'n', 'e', 1, 2, 3, 4, 5, 6})
	f.Fuzz(func(t *testing.T, in []byte) {
		if tallies, err := parseTallies(in); (tallies == nil) == (err == nil) {
			t.Errorf("%v and %v", tallies, err)
		}
	})
}
