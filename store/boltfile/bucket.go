package boltfile

import (
	"bytes"
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// Bucket is a bucket within a transaction: every entry is read and written through it. Values
// are valid as long as the transaction. Keys and values that are stored must not be changed
// before its end.
type Bucket struct {
	tx   *Tx
	b    *bolt.Bucket
	name []byte
	y    *tally
}

// Bucket returns the bucket of the name. If there is none, its methods return
// [ErrDamaged].
func (t *Tx) Bucket(name []byte) Bucket {
	b := Bucket{tx: t, b: t.tx.Bucket(name), name: name, y: t.tally(name)}
	if b.y == nil {
		b.b = nil
	}
	return b
}

// Exists reports whether there is such a bucket.
func (b Bucket) Exists() bool { return b.b != nil }

func (b Bucket) missing() error {
	if b.b == nil {
		return fmt.Errorf("%w: the table %s is missing", ErrDamaged, b.name)
	}
	return nil
}

// FillPages makes the bucket fill its pages nearly to their end. It is for buckets whose keys
// are only appended.
func (b Bucket) FillPages() {
	if b.b != nil {
		b.b.FillPercent = 0.95
	}
}

// Entries returns how many entries there are.
func (b Bucket) Entries() uint64 {
	if b.b == nil {
		return 0
	}
	return b.y.entries
}

// Counter returns the number that SetCounter kept.
func (b Bucket) Counter() uint64 {
	if b.b == nil {
		return 0
	}
	return b.y.counter
}

// SetCounter keeps a number beside the bucket.
//
// Errors: [ErrDamaged], those of bbolt.
func (b Bucket) SetCounter(n uint64) error {
	if err := b.missing(); err != nil {
		return err
	}
	b.y.counter, b.tx.changed = n, true
	return nil
}

// Next raises the counter by one and returns it.
//
// Errors: those of [Bucket.SetCounter].
func (b Bucket) Next() (uint64, error) {
	n := b.Counter() + 1
	return n, b.SetCounter(n)
}

// Get returns a value, nil if there is none.
//
// Error: [ErrDamaged].
func (b Bucket) Get(key []byte) ([]byte, error) {
	if err := b.missing(); err != nil {
		return nil, err
	}
	stored := b.b.Get(key)
	if stored == nil {
		return nil, nil
	}
	return b.open(key, stored)
}

func (b Bucket) open(key, stored []byte) ([]byte, error) {
	if stored == nil {
		return nil, damaged(b.name, key, "it is a bucket")
	}
	return Open(b.name, key, stored)
}

// Put stores a value. It keeps the slice, and writes the checksum into its spare capacity if
// that is enough.
//
// Errors: [ErrDamaged], those of bbolt.
func (b Bucket) Put(key, value []byte) error {
	if err := b.missing(); err != nil {
		return err
	}
	b.uncount(key)
	sum := EntrySum(b.name, key, value)
	b.count(sum)
	return b.b.Put(key, binary.LittleEndian.AppendUint32(value, sum))
}

// Append stores a value under a key that is not there yet. sum is that of [Sum]. It keeps the
// slice, and writes the checksum into its spare capacity if that is enough.
//
// Errors: [ErrDamaged], those of bbolt.
func (b Bucket) Append(key, value []byte, sum uint32) error {
	if err := b.missing(); err != nil {
		return err
	}
	sum = finish(sum, b.name, key)
	b.count(sum)
	return b.b.Put(key, binary.LittleEndian.AppendUint32(value, sum))
}

// Delete removes an entry, if it is there.
//
// Errors: [ErrDamaged], those of bbolt.
func (b Bucket) Delete(key []byte) error {
	if err := b.missing(); err != nil {
		return err
	}
	b.uncount(key)
	return b.b.Delete(key)
}

func (b Bucket) count(sum uint32) {
	b.y.entries++
	b.y.sums ^= sum
	b.tx.changed = true
}

// uncount removes an entry from the tally, with the checksum by which it was counted.
func (b Bucket) uncount(key []byte) {
	stored := b.b.Get(key)
	if stored == nil {
		return
	}
	b.y.entries--
	b.y.sums ^= sumOf(b.y, key, stored)
	b.tx.changed = true
}

// sumOf is the checksum by which an entry was counted.
func sumOf(y *tally, key, stored []byte) uint32 {
	if len(stored) < SumSize {
		return finish(Sum(stored), y.name, key)
	}
	return binary.LittleEndian.Uint32(stored[len(stored)-SumSize:])
}

// Each calls fn for the entries, in the order of their keys. fn must not change the
// bucket.
//
// Errors: [ErrDamaged], those of fn.
func (b Bucket) Each(fn func(key, value []byte) error) error {
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if Own(b.name, k) {
			continue
		}
		if err := fn(k, v); err != nil {
			return err
		}
	}
	return c.Err()
}

// Cursor walks over the entries of a bucket. It stops at a damaged entry, and Err returns why.
type Cursor struct {
	bucket Bucket
	c      *bolt.Cursor
	at     []byte // key of the present entry
	err    error
}

// Cursor returns a cursor that is not positioned yet.
func (b Bucket) Cursor() *Cursor {
	c := &Cursor{bucket: b, err: b.missing()}
	if c.err == nil {
		c.c = b.b.Cursor()
	}
	return c
}

// Err returns why the walk stopped, nil if it passed the last entry.
//
// Error: [ErrDamaged].
func (c *Cursor) Err() error { return c.err }

// First goes to the first entry. Like the other moves it returns a nil key if there is no such
// entry.
func (c *Cursor) First() (key, value []byte) { return c.jump((*bolt.Cursor).First) }

// Last goes to the last entry.
func (c *Cursor) Last() (key, value []byte) { return c.jump((*bolt.Cursor).Last) }

// Seek goes to the entry of the key, or to the next one.
func (c *Cursor) Seek(to []byte) (key, value []byte) {
	return c.jump(func(b *bolt.Cursor) (k, v []byte) { return b.Seek(to) })
}

// Next goes to the next entry.
//
// Errors: those of [Bucket.SetCounter].
func (c *Cursor) Next() (key, value []byte) { return c.step((*bolt.Cursor).Next, 1) }

// Prev goes to the entry before.
func (c *Cursor) Prev() (key, value []byte) { return c.step((*bolt.Cursor).Prev, -1) }

// jump goes to any entry, and nowhere after an error.
func (c *Cursor) jump(move func(*bolt.Cursor) (k, v []byte)) (key, value []byte) {
	if c.err != nil {
		return nil, nil
	}
	return c.look(move(c.c))
}

// step goes to a neighbour, whose key must compare to that of this entry as order says:
// damage can lead a walk in circles.
func (c *Cursor) step(move func(*bolt.Cursor) (k, v []byte), order int) (key, value []byte) {
	if c.err != nil {
		return nil, nil
	}
	k, stored := move(c.c)
	if k != nil && bytes.Compare(k, c.at) != order {
		c.err = damaged(c.bucket.name, k, "it is out of order")
		return nil, nil
	}
	return c.look(k, stored)
}

func (c *Cursor) look(k, stored []byte) (key, value []byte) {
	if k == nil {
		return nil, nil
	}
	c.at = k
	if Own(c.bucket.name, k) {
		return k, stored
	}
	v, err := c.bucket.open(k, stored)
	if err != nil {
		c.err = err
		return nil, nil
	}
	return k, v
}
