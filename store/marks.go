package store

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"eventdeck/host/event"
	"eventdeck/store/tables"
)

const (
	maxMarks = 10_000
	maxNote  = 4096 // bytes of a mark's note
)

// storedMark is an [event.Mark] in the file. Its key is the sequence number and
// a byte that is 1 for a line.
type storedMark struct {
	At   tables.Timestamp `json:"at"`
	Note []byte           `json:"note,omitempty"`
}

func markKey(seq uint64, line bool) []byte {
	if line {
		return append(tables.SeqKey(seq), 1)
	}
	return append(tables.SeqKey(seq), 0)
}

// SetMark implements [event.Store]. It returns after the commit.
//
// Errors: [event.ErrClosed], [event.ErrFull], the cause of ctx; [ErrBatch] for a
// note over 4 KiB, or for one mark more when 10,000 are kept.
func (s *Store) SetMark(ctx context.Context, m event.Mark) error {
	if len(m.Note) > maxNote {
		return fmt.Errorf("%w: the note of a mark has %d bytes, must be at most %d", ErrBatch, len(m.Note), maxNote)
	}
	if kept := s.Marks(); len(kept) >= maxMarks && !slices.ContainsFunc(kept, func(k event.Mark) bool { return k.Seq == m.Seq && k.Line == m.Line }) {
		return fmt.Errorf("%w: %d marks are kept; remove some first", ErrBatch, maxMarks)
	}
	value, err := json.Marshal(storedMark{tables.Stamp(m.At), []byte(m.Note)})
	if err != nil {
		return fmt.Errorf("mark at record %d: %w", m.Seq, err)
	}
	return s.do(ctx, func(c *commit) error {
		return c.tx.Bucket(tables.Marks).Put(markKey(m.Seq, m.Line), value)
	})
}

// RemoveMark implements [event.Store]. It returns after the commit; the errors
// are those of [Store.SetMark].
func (s *Store) RemoveMark(ctx context.Context, seq uint64, line bool) error {
	return s.do(ctx, func(c *commit) error {
		return c.tx.Bucket(tables.Marks).Delete(markKey(seq, line))
	})
}

// Marks implements [event.Store]. A mark that cannot be read is left out.
func (s *Store) Marks() []event.Mark {
	var marks []event.Mark
	eachJSON(s, tables.Marks, func(k []byte, in storedMark) {
		if len(k) == 9 {
			marks = append(marks, event.Mark{Seq: binary.BigEndian.Uint64(k), At: in.At.Time(), Note: string(in.Note), Line: k[8] == 1})
		}
	})
	return marks
}
