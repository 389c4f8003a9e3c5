package boltfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// tally is what a file says of one of its buckets, to be compared with its content.
type tally struct {
	name    []byte
	entries uint64
	sums    uint32 // of all entries, combined by exclusive or
	counter uint64

	unchecked span   // keys of the entries that carry no checksum yet; sums has them all the same
	unsummed  uint64 // how many entries these are
}

// span is a range of numbers, both ends included. The zero span is empty, as 0 is not
// a key.
type span struct{ first, last uint64 }

func (s span) has(key []byte) bool {
	if s.last == 0 || len(key) != 8 {
		return false
	}
	n := binary.BigEndian.Uint64(key)
	return s.first <= n && n <= s.last
}

func newTally(name []byte) *tally { return &tally{name: bytes.Clone(name)} }

func (t *Tx) tally(name []byte) *tally {
	for _, have := range t.tallies {
		if string(have.name) == string(name) {
			return have
		}
	}
	return nil
}

// parseTallies is the reverse of keepTallies.
//
// Error: [ErrDamaged].
func parseTallies(in []byte) ([]*tally, error) {
	bad := false
	number := func() uint64 {
		v, n := binary.Uvarint(in)
		if n <= 0 {
			bad = true
			return 0
		}
		in = in[n:]
		return v
	}
	number()         // the version, which layout compares
	const usual = 20 // buckets, for two allocations only: each transaction begins here
	tallies, room := make([]*tally, 0, usual), make([]tally, usual)
	for len(in) > 0 && !bad {
		n := number()
		if bad || n > uint64(len(in)) {
			break
		}
		if len(room) == 0 {
			room = make([]tally, usual)
		}
		t := &room[0]
		room = room[1:]
		t.name, in = in[:n], in[n:]
		t.entries, t.sums, t.counter = number(), uint32(number()), number()
		t.unchecked, t.unsummed = span{number(), number()}, number()
		tallies = append(tallies, t)
	}
	if bad || len(in) > 0 {
		return nil, damaged(Meta, keyTallies, "it cannot be read")
	}
	return tallies, nil
}

// keepTallies stores the tallies, if they have changed.
func (t *Tx) keepTallies() error {
	if !t.changed {
		return nil
	}
	t.changed = false
	out := binary.AppendUvarint(make([]byte, 0, 512), t.version)
	for _, y := range t.tallies {
		out = append(binary.AppendUvarint(out, uint64(len(y.name))), y.name...)
		for _, n := range [...]uint64{y.entries, uint64(y.sums), y.counter, y.unchecked.first, y.unchecked.last, y.unsummed} {
			out = binary.AppendUvarint(out, n)
		}
	}
	stored, _ := withSum(Meta, keyTallies, out)
	return t.tx.Bucket(Meta).Put(keyTallies, stored)
}

// AddChecksums turns a file without checksums into one with them, and reads every entry once.
// Entries of the buckets in large, whose keys must be numbers of eight bytes, get their
// checksums later, by [Tx.Backfill]; until then the tallies detect a changed entry.
//
// Errors: [ErrDamaged], those of bbolt.
func (t *Tx) AddChecksums(large ...[]byte) error {
	names, err := t.Names()
	if err != nil {
		return err
	}
	t.tallies, t.changed = []*tally{}, true
	for _, name := range names {
		b := t.tx.Bucket(name)
		y := newTally(name)
		y.counter = b.Sequence()
		if err := b.SetSequence(0); err != nil {
			return err
		}
		if slices.ContainsFunc(large, func(l []byte) bool { return bytes.Equal(l, name) }) {
			err = y.count(b)
		} else {
			err = y.sumAll(b)
		}
		if err != nil {
			return err
		}
		t.tallies = append(t.tallies, y)
	}
	return nil
}

// count counts the entries of a large bucket as they are.
func (y *tally) count(b *bolt.Bucket) error {
	return b.ForEach(func(k, v []byte) error {
		if len(k) != 8 || v == nil {
			return damaged(y.name, k, "it has no number")
		}
		n := binary.BigEndian.Uint64(k)
		if y.entries == 0 {
			y.unchecked.first = n
		}
		y.unchecked.last = n
		y.entries++
		y.unsummed++
		y.sums ^= finish(Sum(v), y.name, k)
		return nil
	})
}

// sumAll adds a checksum to every entry of a small bucket.
func (y *tally) sumAll(b *bolt.Bucket) error {
	var keys, values [][]byte
	err := b.ForEach(func(k, v []byte) error {
		if v == nil {
			return damaged(y.name, k, "it is a bucket")
		}
		if Own(y.name, k) {
			return nil
		}
		stored, sum := withSum(y.name, k, v)
		keys, values = append(keys, bytes.Clone(k)), append(values, stored)
		y.entries++
		y.sums ^= sum
		return nil
	})
	for i := range keys {
		if err == nil {
			err = b.Put(keys[i], values[i])
		}
	}
	return err
}

// Own reports whether an entry belongs to this package; no tally counts it.
func Own(name, key []byte) bool {
	return string(name) == string(Meta) && (string(key) == string(keyVersion) || string(key) == string(keyTallies))
}

// Unsummed returns how many entries have no checksum of their own yet.
func (t *Tx) Unsummed() (n uint64) {
	for _, y := range t.tallies {
		n += y.unsummed
	}
	return n
}

// Backfill adds checksums to about size bytes of entries of an older file, and reports whether
// others still lack one. check may refuse an entry: then no more checksums are added.
//
// Errors: [ErrDamaged], those of check.
func (t *Tx) Backfill(size int, check func(bucket, key, value []byte) error) (more bool, err error) {
	for _, y := range t.tallies {
		if size, err = t.BackfillBucket(y.name, size, check); err != nil {
			return false, err
		}
		if size <= 0 {
			return t.Unsummed() > 0, nil
		}
	}
	return false, nil
}

// BackfillBucket is [Tx.Backfill] for one bucket. It returns how many of the size bytes are
// left; 0 or less means that other entries may still lack a checksum.
//
// Errors: those of [Tx.Backfill].
func (t *Tx) BackfillBucket(name []byte, size int, check func(bucket, key, value []byte) error) (left int, err error) {
	y := t.tally(name)
	if y == nil || y.unchecked.last == 0 {
		return size, nil
	}
	b := t.tx.Bucket(y.name)
	if b == nil {
		return size, fmt.Errorf("%w: the table %s is missing", ErrDamaged, y.name)
	}
	b.FillPercent = 0.95 // numbers: the order in which they were added
	var keys, values [][]byte
	c := b.Cursor()
	k, v := c.Seek(binary.BigEndian.AppendUint64(nil, y.unchecked.first))
	for ; y.unchecked.has(k) && size > 0; k, v = c.Next() {
		if v == nil {
			return size, damaged(y.name, k, "it is a bucket")
		}
		if err := check(y.name, k, v); err != nil {
			return size, err
		}
		stored, _ := withSum(y.name, k, v)
		keys, values = append(keys, bytes.Clone(k)), append(values, stored)
		size -= len(stored)
	}
	t.changed = true
	y.unsummed -= min(y.unsummed, uint64(len(keys)))
	if y.unchecked.has(k) {
		y.unchecked.first = binary.BigEndian.Uint64(k)
	} else {
		y.unchecked, y.unsummed = span{}, 0
	}
	for i := range keys {
		if err := b.Put(keys[i], values[i]); err != nil {
			return size, err
		}
	}
	return size, nil
}
