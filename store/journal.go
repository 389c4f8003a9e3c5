package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/tables"
)

// Bounds of an entry of the journal, in bytes.
const (
	maxJournalKey   = 200
	maxJournalValue = 1 << 20
)

// journal is the [event.Journal] of a store. It shares the commits of the log.
type journal struct{ s *Store }

var _ event.Journal = journal{}

// Journal implements [event.Store].
func (s *Store) Journal() event.Journal { return journal{s} }

// Change implements [event.Journal].
//
// Errors: [event.ErrClosed], [event.ErrFull], the cause of ctx; [ErrBatch] for an unknown
// table, a key without 1 to 200 bytes, a value above 1 MiB.
func (j journal) Change(ctx context.Context, change event.JournalChange) error {
	size := 0
	for _, e := range slices.Concat(change.Put, change.Delete) {
		if err := checkEntry(e); err != nil {
			return err
		}
		size += len(e.Key) + len(e.Value)
	}
	return j.s.doBytes(ctx, size, func(c *commit) error { return c.journal(&change) })
}

func checkEntry(e event.JournalEntry) error {
	if err := checkTable(e.Table); err != nil {
		return err
	}
	switch {
	case e.Key == "" || len(e.Key) > maxJournalKey:
		return fmt.Errorf("%w: a key in %s has %d bytes, must be 1 to %d", ErrBatch, e.Table, len(e.Key), maxJournalKey)
	case len(e.Value) > maxJournalValue:
		return fmt.Errorf("%w: the value of %q in %s has %d bytes, must be at most %d", ErrBatch, e.Key, e.Table, len(e.Value), maxJournalValue)
	}
	return nil
}

func checkTable(name event.JournalTable) error {
	if !tables.IsJournal(name) {
		return fmt.Errorf("%w: the journal has no table %q", ErrBatch, string(name))
	}
	return nil
}

func (c *commit) journal(change *event.JournalChange) error {
	for _, e := range change.Put {
		if err := c.tx.Bucket([]byte(e.Table)).Put([]byte(e.Key), slices.Clip(e.Value)); err != nil {
			return fmt.Errorf("entry %q of %s: %w", e.Key, e.Table, err)
		}
	}
	for _, e := range change.Delete {
		if err := c.tx.Bucket([]byte(e.Table)).Delete([]byte(e.Key)); err != nil {
			return fmt.Errorf("remove entry %q of %s: %w", e.Key, e.Table, err)
		}
	}
	return c.audit(change.Audit, tables.SubChange{})
}

// Entry implements [event.Journal].
//
// Errors: [event.ErrNotFound], [event.ErrClosed], [ErrDamaged], [ErrBatch] for an unknown
// table.
func (j journal) Entry(table event.JournalTable, key string) (value []byte, err error) {
	if err := checkTable(table); err != nil {
		return nil, err
	}
	err = j.s.view(func(tx *boltfile.Tx) error {
		have, err := tx.Bucket([]byte(table)).Get([]byte(key))
		if err == nil && have == nil {
			err = fmt.Errorf("entry %q of %s: %w", key, table, event.ErrNotFound)
		}
		value = bytes.Clone(have)
		return err
	})
	return value, err
}

// Entries implements [event.Journal]. fn runs in a read transaction: it must not block.
//
// Errors: [event.ErrClosed], [ErrDamaged], [ErrBatch] for an unknown table.
func (j journal) Entries(table event.JournalTable, prefix string, fn func(key string, value []byte) bool) error {
	if err := checkTable(table); err != nil {
		return err
	}
	return j.s.view(func(tx *boltfile.Tx) error {
		c := tx.Bucket([]byte(table)).Cursor()
		for k, v := c.Seek([]byte(prefix)); k != nil && bytes.HasPrefix(k, []byte(prefix)); k, v = c.Next() {
			if !fn(string(k), v) {
				return nil
			}
		}
		return c.Err()
	})
}
