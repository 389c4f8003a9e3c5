// Package boltfile reads and writes a bbolt file whose every entry carries a checksum. It
// knows buckets, keys and values, and nothing of what they mean.
//
// An entry is stored as its value and four bytes: the CRC-32C of value, key and the bucket's
// name, so that a changed byte and an entry in the wrong place are both detected. For each
// bucket a [Tx] keeps the number of entries, their combined checksums, and a counter, so that
// a missing entry is detected too. These tallies are one entry of the bucket "meta", written
// with every transaction that changes anything.
package boltfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"

	"eventdeck/host/event"
)

// Errors of this package.
var (
	// ErrDamaged: the content of the file is not what was written.
	ErrDamaged = event.ErrDamaged
	// ErrNewer: a newer program has written the file.
	ErrNewer = errors.New("the store was written by a newer program")
	// ErrForeign: the file is a database of another program.
	ErrForeign = errors.New("it is a database of another program")
	// ErrUnreleased: the file has a layout that no release had.
	ErrUnreleased = errors.New("the store was written before the first release")
)

const (
	// Newest is the version of the layout that this program writes.
	Newest = 1
	// maxVersion is more than any program will write.
	maxVersion = 1000
)

// Meta is the bucket with what the file says of itself.
var Meta = []byte("meta")

// The keys of the meta bucket that belong to this package.
var (
	keyLayout  = []byte("layout") // uint64, without a checksum: older programs read it
	keyTallies = []byte("tallies")
	// keyUnreleased held the version of the layout before the first release.
	keyUnreleased = []byte("version")
)

// Tx is a transaction. It is valid as long as the transaction of bbolt, and for one goroutine.
type Tx struct {
	tx      *bolt.Tx
	id      int // of a transaction that a Reader remembers
	version uint64
	tallies []*tally
	changed bool
}

// View runs fn in a read transaction.
//
// Errors: [ErrDamaged], [ErrNewer], [ErrForeign], those of bbolt and of fn.
func View(db *bolt.DB, fn func(*Tx) error) error {
	return db.View(func(tx *bolt.Tx) error {
		t, err := within(tx)
		if err != nil {
			return err
		}
		return fn(t)
	})
}

// Reader opens many read transactions, and reads the tallies once per commit instead of once
// per transaction. It may be used from any goroutine.
type Reader struct {
	db   *bolt.DB
	last atomic.Pointer[Tx] // without the transaction of bbolt; nothing of it changes
}

// NewReader returns a reader of an open database.
func NewReader(db *bolt.DB) *Reader { return &Reader{db: db} }

// View is [View].
func (r *Reader) View(fn func(*Tx) error) error {
	return r.db.View(func(tx *bolt.Tx) error {
		last := r.last.Load()
		if last == nil || last.id != tx.ID() {
			t, err := within(tx)
			if err != nil {
				return err
			}
			last = &Tx{id: tx.ID(), version: t.version, tallies: t.tallies}
			for _, y := range last.tallies {
				y.name = bytes.Clone(y.name) // it lies in the file
			}
			r.last.Store(last)
		}
		return fn(&Tx{tx: tx, version: last.version, tallies: last.tallies})
	})
}

// Update runs fn in a write transaction, which is committed when fn returns nil.
//
// Errors: those of [View].
func Update(db *bolt.DB, fn func(*Tx) error) error {
	return db.Update(func(tx *bolt.Tx) error {
		t, err := within(tx)
		if err != nil {
			return err
		}
		if err := fn(t); err != nil {
			return err
		}
		return t.keepTallies()
	})
}

func within(tx *bolt.Tx) (*Tx, error) {
	version, tallies, err := layout(tx)
	switch {
	case err != nil:
		return nil, err
	case version > Newest:
		return nil, fmt.Errorf("%w: its layout has version %d and this program knows versions up to %d", ErrNewer, version, Newest)
	}
	t := &Tx{tx: tx, version: version}
	if version > 0 {
		t.tallies, err = parseTallies(tallies)
	}
	return t, err
}

// ID is the number of the transaction.
func (t *Tx) ID() int { return t.tx.ID() }

// Size is how many bytes the file has.
func (t *Tx) Size() int64 { return t.tx.Size() }

// Version returns the layout of a file, 0 for a file to which nothing was written yet.
//
// Errors: [ErrDamaged], [ErrForeign], [ErrUnreleased].
func Version(db *bolt.DB) (version uint64, err error) {
	err = db.View(func(tx *bolt.Tx) error {
		version, _, err = layout(tx)
		return err
	})
	return version, err
}

// layout returns the version of a file and its tallies as they are stored. The file stores the
// version twice: one that was changed by damage must not be believed.
func layout(tx *bolt.Tx) (version uint64, tallies []byte, err error) {
	meta := tx.Bucket(Meta)
	if meta == nil {
		if k, _ := tx.Cursor().First(); k != nil {
			return 0, nil, ErrForeign
		}
		return 0, nil, nil
	}
	v := meta.Get(keyLayout)
	if before := versionIn(meta.Get(keyUnreleased)); v == nil && before <= maxVersion {
		return 0, nil, unreleased(before)
	}
	if version = versionIn(v); version == 0 || version > maxVersion {
		return 0, nil, fmt.Errorf("%w: it has no version", ErrDamaged)
	}
	tallies, err = Open(Meta, keyTallies, meta.Get(keyTallies))
	switch {
	case err != nil && version > Newest:
		return version, nil, nil // a newer program may keep something else there
	case err != nil:
		return 0, nil, err
	}
	if own, n := binary.Uvarint(tallies); n <= 0 || own != version {
		return 0, nil, fmt.Errorf("%w: its version is %d in one place and %d in another", ErrDamaged, version, own)
	}
	return version, tallies, nil
}

func unreleased(version uint64) error {
	return fmt.Errorf("%w: its layout has version %d of those times", ErrUnreleased, version)
}

// Version is the layout of the file.
func (t *Tx) Version() uint64 { return t.version }

// versionIn decodes a version; it returns more than maxVersion if v is none.
func versionIn(v []byte) uint64 {
	if len(v) != 8 {
		return maxVersion + 1
	}
	return binary.BigEndian.Uint64(v)
}

// SetVersion notes the layout of the file.
//
// Errors: those of bbolt.
func (t *Tx) SetVersion(version uint64) error {
	t.version, t.changed = version, true
	return t.tx.Bucket(Meta).Put(keyLayout, binary.BigEndian.AppendUint64(nil, version))
}

// CreateBucket makes a bucket if there is none of the name.
//
// Errors: those of bbolt.
func (t *Tx) CreateBucket(name []byte) error {
	if _, err := t.tx.CreateBucketIfNotExists(name); err != nil {
		return err
	}
	if t.tally(name) == nil {
		t.tallies, t.changed = append(t.tallies, newTally(name)), true
	}
	return nil
}

// Names returns the names of all buckets.
//
// Errors: those of bbolt.
func (t *Tx) Names() (names [][]byte, err error) {
	err = t.tx.ForEach(func(name []byte, _ *bolt.Bucket) error {
		names = append(names, name)
		return nil
	})
	return names, err
}
