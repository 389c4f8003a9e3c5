package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"

	berrors "go.etcd.io/bbolt/errors"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/tables"
)

// A scan reads in chunks, each in a transaction of its own, so that a slow
// consumer never holds a transaction: pages cannot be reused under an open one.
// Chunks start small, because many callers want only a screenful.
const (
	firstChunk = 64
	maxChunk   = 1000
	chunkBytes = 1 << 20
)

// view runs fn in a read transaction.
//
// Errors: [event.ErrClosed], [ErrDamaged], [ErrGone], those of fn.
func (s *Store) view(fn func(*boltfile.Tx) error) error {
	if err := s.failed(); err != nil {
		return err
	}
	began := false
	err := boltfile.Guard(nil, func() error {
		return s.reader.View(func(tx *boltfile.Tx) error {
			began = true
			return fn(tx)
		})
	})
	if errors.Is(err, ErrDamaged) {
		err = s.advise(err)
		if !began {
			s.fail(err) // bbolt may have left a lock behind
		}
	}
	if errors.Is(err, ErrDamaged) {
		s.noteDamage(err)
	}
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		return event.ErrClosed
	}
	return err
}

// noteDamage keeps the first damage that was met.
func (s *Store) noteDamage(err error) { s.damage.CompareAndSwap(nil, &err) }

// Last implements [event.Store].
func (s *Store) Last() uint64 { return s.last.Load() }

// Get implements [event.Store].
func (s *Store) Get(seq uint64) (event.Record, error) {
	var r event.Record
	err := s.view(func(tx *boltfile.Tx) error {
		value, err := tx.Bucket(tables.Events).Get(tables.SeqKey(seq))
		if err != nil {
			return err
		}
		if value == nil {
			return fmt.Errorf("record %d: %w", seq, event.ErrNotFound)
		}
		r, err = decodeStored(seq, value)
		return err
	})
	return r, err
}

func decodeStored(seq uint64, value []byte) (event.Record, error) {
	r, err := tables.DecodeRecord(seq, value)
	if err != nil {
		return r, damagedRecord(seq, err)
	}
	return r, nil
}

func damagedRecord(seq uint64, err error) error {
	return fmt.Errorf("%w: record %d: %w", ErrDamaged, seq, err)
}

// Forward implements [event.Store]: it ends with the record that was the newest when it was
// called.
//
// A scan from the first record on also counts the records of the log, and ends with
// [ErrDamaged] if some are missing.
func (s *Store) Forward(seq uint64, fn func(event.Record) bool) error {
	last := s.Last()
	if seq > last {
		return nil
	}
	n, ended := 0, false
	var damage, circular error
	err := s.copies(seq, last, func(r event.Record) bool {
		if n++; n == firstChunk && seq <= 1 {
			if damage, circular = s.shape(); circular != nil {
				return false
			}
		}
		if fn(r) {
			return true
		}
		ended, damage = true, nil // the caller does not ask for the rest
		return false
	})
	if err == nil && n < firstChunk && seq <= 1 && !ended {
		damage, _ = s.shape()
	}
	return cmp.Or(err, circular, damage)
}

// shape returns what is wrong with the tree of the log; circular is set if the tree must not
// be followed.
func (s *Store) shape() (damage, circular error) {
	err := s.view(func(tx *boltfile.Tx) error {
		events := tx.Bucket(tables.Events)
		n, sound, again, err := events.Shape(s.ctx, s.end.file)
		if err == nil && (!sound || n != events.Entries()) {
			damage = s.advise(fmt.Errorf("%w: of %d records %d can be found", ErrDamaged, events.Entries(), n))
			s.noteDamage(damage)
		}
		if again {
			circular = damage
		}
		return err
	})
	return cmp.Or(damage, err), circular
}

// Backward implements [event.Store].
func (s *Store) Backward(seq uint64, fn func(event.Record) bool) error {
	if seq = min(seq, s.Last()); seq > 0 {
		return s.copies(seq, 1, fn)
	}
	return nil
}

// copies calls fn for the records from..to, outside of any transaction.
func (s *Store) copies(from, to uint64, fn func(event.Record) bool) error {
	for n := firstChunk; ; n = min(2*n, maxChunk) {
		chunk, size := make([]event.Record, 0, n), 0
		next, err := s.span(from, to, func(seq uint64, value []byte) (bool, error) {
			r, err := decodeStored(seq, value)
			chunk = append(chunk, r)
			size += len(value)
			return len(chunk) < n && size < chunkBytes, err
		})
		if err != nil {
			return err
		}
		for _, r := range chunk {
			if !fn(r) {
				return nil
			}
		}
		if next == 0 {
			return nil
		}
		from = next
	}
}

// Scan implements [event.Store].
func (s *Store) Scan(from, to uint64, fn func(*event.Record) bool) error {
	var lent event.Record
	if from == 0 && to > 0 {
		from = 1
	}
	for from != 0 {
		n := 0
		next, err := s.span(from, to, func(seq uint64, value []byte) (bool, error) {
			if err := tables.DecodeShared(&lent, seq, value); err != nil {
				return false, damagedRecord(seq, err)
			}
			if !fn(&lent) {
				n = -1
				return false, nil
			}
			n++
			return n < maxChunk, nil
		})
		if err != nil || n < 0 {
			return err
		}
		from = next
	}
	return nil
}

// span calls visit for the stored records from..to, downwards when to is less, in one
// transaction and until visit returns false. It returns the number to continue at, 0 at the
// end.
func (s *Store) span(from, to uint64, visit func(seq uint64, value []byte) (bool, error)) (next uint64, err error) {
	err = s.view(func(tx *boltfile.Tx) error {
		c := tx.Bucket(tables.Events).Cursor()
		k, v := c.Seek(tables.SeqKey(from))
		step := c.Next
		if to < from {
			k, v = seekBackward(c, from)
			step = c.Prev
		}
		for ; k != nil; k, v = step() {
			if len(k) != 8 {
				return fmt.Errorf("%w: a record has the key %x", ErrDamaged, k)
			}
			seq := binary.BigEndian.Uint64(k)
			if from <= to && seq > to || to < from && seq < to {
				return nil
			}
			if more, err := visit(seq, v); err != nil || !more {
				next = after(seq, from, to)
				return err
			}
		}
		return c.Err()
	})
	return next, err
}

// after returns the number behind seq on the way from..to, 0 at its end.
func after(seq, from, to uint64) uint64 {
	switch {
	case seq == to:
		return 0
	case from < to:
		return seq + 1
	}
	return seq - 1
}

// seekBackward finds the last record at or before seq.
func seekBackward(c *boltfile.Cursor, seq uint64) (k, v []byte) {
	k, v = c.Seek(tables.SeqKey(seq))
	switch {
	case k == nil && c.Err() == nil:
		return c.Last()
	case len(k) == 8 && binary.BigEndian.Uint64(k) > seq:
		return c.Prev()
	}
	return k, v
}
