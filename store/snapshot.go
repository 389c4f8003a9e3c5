package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/datadir"
	"eventdeck/store/private"
	"eventdeck/store/tables"
)

const (
	snapshotEvery = time.Hour
	snapshotCheck = 10 * time.Minute // how often it is checked whether one is due
	snapshotSoon  = 2 * time.Second  // after a subscription was made, removed or changed
	snapshotShare = 10               // then snapshots take at most 1/snapshotShare of the time
	snapshotsKept = 5                // each of another hour
)

// decidedAnew reports whether two versions of a subscription differ in what the operator has decided
// of it: a recovered store must have that.
func decidedAnew(a, b *event.Subscription) bool {
	return a.Mode != b.Mode || a.Preferred != b.Preferred || a.Failover != b.Failover || a.Paused != b.Paused ||
		a.MaxAge != b.MaxAge || a.TTL != b.TTL || a.State.Over() != b.State.Over() ||
		a.Hook.Path != b.Hook.Path || a.Hook.Secret != b.Hook.Secret
}

// snapshotNeeded asks for a snapshot within seconds.
func (s *Store) snapshotNeeded() {
	s.snapshot.needed.Store(true)
	select {
	case s.snapshot.wake <- struct{}{}:
	default:
	}
}

// snapshots are asked for, besides those that are made every hour.
type snapshots struct {
	needed atomic.Bool
	wake   chan struct{} // one slot
}

// takeSnapshot copies what is not the log to a file beside the database, and removes those before
// it within the same hour, and the oldest ones. The newest one has the latest name, also after the
// clock was set back.
func takeSnapshot(db *bolt.DB, dir string, now time.Time) error {
	before, err := datadir.Snapshots(dir)
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	if len(before) > 0 {
		if at, err := datadir.SnapshotAt(before[0]); err == nil && !now.Truncate(time.Second).After(at) {
			now = at.Add(time.Second)
		}
	}
	name := datadir.SnapshotName(now)
	err = private.Replace(dir, name, func(temp string) error {
		dst, err := datadir.OpenFile(temp, boltfile.Options{})
		if err != nil {
			return err
		}
		err = boltfile.Guard(nil, func() error {
			return boltfile.View(db, func(from *boltfile.Tx) error {
				return boltfile.Update(dst, func(to *boltfile.Tx) error { return tables.CopyControl(to, from) })
			})
		})
		return errors.Join(err, dst.Close())
	})
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	kept, hour := 1, datadir.SnapshotHour(name)
	for _, old := range before {
		if h := datadir.SnapshotHour(old); h != hour && kept < snapshotsKept {
			kept, hour = kept+1, h
		} else if err := os.Remove(filepath.Join(dir, old)); err != nil {
			return fmt.Errorf("snapshot: %w", err)
		}
	}
	return nil
}

// runSnapshots makes one an hour, if anything was committed since the last one, and one soon after
// it was asked for, until ctx ends. A failure is no failure of the store: it is tried again.
func (s *Store) runSnapshots(ctx context.Context) {
	<-s.loaded
	last := 0
	for {
		began := time.Now()
		last = s.snapshotAfter(last)
		pause := max(snapshotSoon, snapshotShare*time.Since(began))
		check := time.NewTimer(snapshotCheck)
		select {
		case <-check.C:
		case <-s.snapshot.wake:
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
		case <-ctx.Done():
		}
		if check.Stop(); ctx.Err() != nil {
			return
		}
	}
}

// snapshotAfter makes a snapshot if one is due and there was a commit after the
// given one. It returns the newest commit that a snapshot holds.
func (s *Store) snapshotAfter(last int) int {
	at := s.newestTx()
	if s.failed() != nil || at == last || !s.snapshotDue() {
		return last
	}
	needed := s.snapshot.needed.Swap(false)
	if takeSnapshot(s.db, s.dir, s.now()) != nil {
		if needed {
			s.snapshot.needed.Store(true) // looked at again with the next check
		}
		return last
	}
	return at
}

// snapshotDue reports whether a snapshot was asked for, or the newest one is too old, or there is
// none and something to put into it.
func (s *Store) snapshotDue() bool {
	if s.snapshot.needed.Load() {
		return true
	}
	names, err := datadir.Snapshots(s.dir)
	if err != nil || len(names) == 0 {
		return err == nil && len(s.Subscriptions()) > 0
	}
	at, err := datadir.SnapshotAt(names[0])
	return err != nil || s.now().Sub(at) >= snapshotEvery
}

func (s *Store) newestTx() (id int) {
	_ = s.view(func(tx *boltfile.Tx) error {
		id = tx.ID()
		return nil
	})
	return id
}
