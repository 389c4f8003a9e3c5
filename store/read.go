package store

import (
	"encoding/binary"
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"eventdeck/host/event"
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
// Errors: [event.ErrClosed], [ErrDamaged], those of fn.
func (s *Store) view(fn func(*bolt.Tx) error) error {
	err := guard(nil, func() error { return s.db.View(fn) })
	if errors.Is(err, berrors.ErrDatabaseNotOpen) {
		return event.ErrClosed
	}
	return err
}

// Last implements [event.Store].
func (s *Store) Last() uint64 { return s.last.Load() }

// Get implements [event.Store].
func (s *Store) Get(seq uint64) (event.Record, error) {
	var r event.Record
	err := s.view(func(tx *bolt.Tx) error {
		value := tx.Bucket(bucketEvents).Get(seqKey(seq))
		if value == nil {
			return fmt.Errorf("record %d: %w", seq, event.ErrNotFound)
		}
		var err error
		r, err = decodeStored(seq, value)
		return err
	})
	return r, err
}

func decodeStored(seq uint64, value []byte) (event.Record, error) {
	r, err := decodeRecord(seq, value)
	if err != nil {
		return r, fmt.Errorf("%w: record %d: %w", ErrDamaged, seq, err)
	}
	return r, nil
}

// Forward implements [event.Store]: it ends with the record that was the newest
// when it was called.
func (s *Store) Forward(seq uint64, fn func(event.Record) bool) error {
	last := s.Last()
	for n := firstChunk; seq <= last; n = min(2*n, maxChunk) {
		chunk, err := s.chunk(n, seq, last, seekForward, (*bolt.Cursor).Next)
		if err != nil {
			return err
		}
		for _, r := range chunk {
			if !fn(r) {
				return nil
			}
		}
		if len(chunk) == 0 {
			return nil
		}
		seq = chunk[len(chunk)-1].Seq + 1
	}
	return nil
}

// Backward implements [event.Store].
func (s *Store) Backward(seq uint64, fn func(event.Record) bool) error {
	seq = min(seq, s.Last())
	for n := firstChunk; seq > 0; n = min(2*n, maxChunk) {
		chunk, err := s.chunk(n, seq, seq, seekBackward, (*bolt.Cursor).Prev)
		if err != nil {
			return err
		}
		for _, r := range chunk {
			if !fn(r) {
				return nil
			}
		}
		if len(chunk) == 0 {
			return nil
		}
		seq = chunk[len(chunk)-1].Seq - 1
	}
	return nil
}

// chunk returns up to n records in the order of step, from seq on, none of them
// newer than last.
func (s *Store) chunk(n int, seq, last uint64, seek func(*bolt.Cursor, uint64) (k, v []byte), step func(*bolt.Cursor) (k, v []byte)) ([]event.Record, error) {
	records := make([]event.Record, 0, n)
	err := s.view(func(tx *bolt.Tx) error {
		c := tx.Bucket(bucketEvents).Cursor()
		size := 0
		for k, v := seek(c, seq); k != nil && len(records) < n && size < chunkBytes; k, v = step(c) {
			if len(k) != 8 {
				return fmt.Errorf("%w: a record has the key %x", ErrDamaged, k)
			}
			at := binary.BigEndian.Uint64(k)
			if at > last {
				break
			}
			r, err := decodeStored(at, v)
			if err != nil {
				return err
			}
			records = append(records, r)
			size += len(v)
		}
		return nil
	})
	return records, err
}

func seekForward(c *bolt.Cursor, seq uint64) (k, v []byte) { return c.Seek(seqKey(seq)) }

// seekBackward finds the last record at or before seq.
func seekBackward(c *bolt.Cursor, seq uint64) (k, v []byte) {
	k, v = c.Seek(seqKey(seq))
	switch {
	case k == nil:
		return c.Last()
	case len(k) == 8 && binary.BigEndian.Uint64(k) > seq:
		return c.Prev()
	}
	return k, v
}
