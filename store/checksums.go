package store

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"eventdeck/store/tables"
)

// Bounds of the work that gives entries of an older file their checksums.
const (
	sumBytes = 1 << 20              // of one transaction
	sumRest  = 5 * time.Millisecond // after each, at least
	sumRetry = time.Minute          // after one that failed
)

// runSums gives entries of an older file their checksums, a few at a time and for at
// most half of the time, until none is without or ctx ends. What cannot be read is
// told as damage, and nothing more is done then: a checksum would make it look sound.
func (s *Store) runSums(ctx context.Context) {
	defer close(s.sumsDone)
	<-s.loaded
	var more atomic.Bool // the writer may set it after ctx has ended
	for more.Store(s.unsummed.Load() > 0); more.Load(); {
		began := time.Now()
		rest := sumRest
		err := s.do(ctx, func(c *commit) error {
			left, err := c.sum()
			more.Store(left)
			return err
		})
		if err != nil {
			rest = sumRetry
			more.Store(!errors.Is(err, ErrDamaged))
		}
		select {
		case <-time.After(max(rest, time.Since(began))):
		case <-ctx.Done():
			return
		}
	}
}

// sum gives some entries their checksums and reports whether there are more without.
func (c *commit) sum() (more bool, err error) {
	more, err = c.tx.Sum(sumBytes, tables.LookAt)
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
