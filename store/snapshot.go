package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"

	"eventdeck/store/boltfile"
	"eventdeck/store/datadir"
	"eventdeck/store/private"
	"eventdeck/store/tables"
)

const (
	snapshotEvery = time.Hour
	snapshotCheck = 10 * time.Minute // how often it is checked whether one is due
	snapshotsKept = 5
)

// takeSnapshot copies what is not the log to a file beside the database, and
// removes the oldest snapshots.
func takeSnapshot(db *bolt.DB, dir string, now time.Time) error {
	name := datadir.SnapshotName(now)
	err := private.Replace(dir, name, func(temp string) error {
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
	names, err := datadir.Snapshots(dir)
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	for _, old := range names[min(snapshotsKept, len(names)):] {
		if err := os.Remove(filepath.Join(dir, old)); err != nil {
			return fmt.Errorf("snapshot: %w", err)
		}
	}
	return nil
}

// runSnapshots makes one an hour, if anything was committed since the last one, until ctx
// ends. A failure is no failure of the store: it is tried again.
func (s *Store) runSnapshots(ctx context.Context) {
	<-s.loaded
	last := 0
	for {
		last = s.snapshotAfter(last)
		timer := time.NewTimer(snapshotCheck)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// snapshotAfter makes a snapshot if one is due and there was a commit after the
// given one. It returns the newest commit that a snapshot holds.
func (s *Store) snapshotAfter(last int) int {
	at := s.newestTx()
	if s.failed() != nil || at == last || !s.snapshotDue() || takeSnapshot(s.db, s.dir, s.now()) != nil {
		return last
	}
	return at
}

// snapshotDue reports whether the newest snapshot is too old, or there is none
// and something to put into it.
func (s *Store) snapshotDue() bool {
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
