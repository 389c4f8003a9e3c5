package store

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"eventdeck/store/tables"
)

// Bounds of the backfill, which adds checksums to the entries of an older file.
const (
	backfillBytes = 1 << 20              // of one transaction
	backfillRest  = 5 * time.Millisecond // after each, at least
	backfillRetry = time.Minute          // after one that failed
)

// runBackfill adds checksums to the entries of an older file, a few at a time and for at most
// half of the time, until all of them have one or ctx ends. It reports an entry that cannot be
// read as damage and stops: a checksum would make it look sound.
func (s *Store) runBackfill(ctx context.Context) {
	defer close(s.backfilled)
	<-s.loaded
	var more atomic.Bool // the writer may set it after ctx has ended
	for more.Store(s.unsummed.Load() > 0); more.Load(); {
		began := time.Now()
		rest := backfillRest
		err := s.do(ctx, func(c *commit) error {
			left, err := c.backfill()
			more.Store(left)
			return err
		})
		if err != nil {
			rest = backfillRetry
			more.Store(!errors.Is(err, ErrDamaged))
		}
		select {
		case <-time.After(max(rest, time.Since(began))):
		case <-ctx.Done():
			return
		}
	}
}

// backfill adds checksums to some entries and reports whether others still lack one.
func (c *commit) backfill() (more bool, err error) {
	more, err = c.tx.Backfill(backfillBytes, tables.CheckEntry)
	var unreadable *tables.UnreadableError
	if errors.As(err, &unreadable) {
		c.store.noteDamage(err)
		return false, nil
	}
	if err == nil {
		c.store.unsummed.Store(c.tx.Unsummed())
	}
	return more, err
}
