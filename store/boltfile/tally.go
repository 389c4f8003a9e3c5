package boltfile

import (
	"bytes"
	"encoding/binary"
)

// tally is what a file says of one of its buckets, to be compared with its content.
type tally struct {
	name    []byte
	entries uint64
	sums    uint32 // of all entries, combined by exclusive or
	counter uint64
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
		for _, n := range [...]uint64{y.entries, uint64(y.sums), y.counter} {
			out = binary.AppendUvarint(out, n)
		}
	}
	stored, _ := withSum(Meta, keyTallies, out)
	return t.tx.Bucket(Meta).Put(keyTallies, stored)
}

// Own reports whether an entry belongs to this package; no tally counts it.
func Own(name, key []byte) bool {
	return string(name) == string(Meta) && (string(key) == string(keyLayout) || string(key) == string(keyTallies))
}
