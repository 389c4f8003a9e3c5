package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"eventdeck/store/boltfile"
	"eventdeck/store/private"
)

// A snapshot is a store of its own that holds everything but the log:
// subscriptions, cursors, leases, sealed secrets, settings. A store whose file is
// damaged begins again with the newest one.
const (
	snapshotPrefix = "snapshot-"
	snapshotSuffix = ".db"
	snapshotTime   = "20060102T150405Z"
	snapshotEvery  = time.Hour
	snapshotLook   = 10 * time.Minute // how often it is looked whether one is due
	snapshotsKept  = 5
)

// notInSnapshot are the tables that a snapshot has without content: the log, what
// belongs to its records, and what is kept for the record only.
var notInSnapshot = [][]byte{bucketEvents, bucketDedup, bucketUsage, bucketGone, bucketAudit, bucketRefusals}

// snapshots returns the names of the snapshots in dir, newest first.
func snapshots(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if n := e.Name(); strings.HasPrefix(n, snapshotPrefix) && strings.HasSuffix(n, snapshotSuffix) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	slices.Reverse(names)
	return names, nil
}

// snapshotAt returns when a snapshot was made.
func snapshotAt(name string) (time.Time, error) {
	return time.Parse(snapshotTime, strings.TrimSuffix(strings.TrimPrefix(name, snapshotPrefix), snapshotSuffix))
}

// takeSnapshot copies what is not the log to a file beside the database, and
// removes the oldest snapshots.
func takeSnapshot(db *bolt.DB, dir string, now time.Time) error {
	name := snapshotPrefix + now.UTC().Format(snapshotTime) + snapshotSuffix
	err := replaceFile(dir, name, func(temp string) error {
		dst, err := openBolt(temp, boltfile.Options{})
		if err != nil {
			return err
		}
		err = boltfile.Guard(nil, func() error {
			return boltfile.View(db, func(from *boltfile.Tx) error {
				return boltfile.Update(dst, func(to *boltfile.Tx) error { return copyControl(to, from, nil) })
			})
		})
		return errors.Join(err, dst.Close())
	})
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	names, err := snapshots(dir)
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

// copyControl copies the tables that a snapshot holds into an empty file. bad gets the
// entries that are not what was written; where it is nil there must be none.
func copyControl(to, from *boltfile.Tx, bad func(table, key []byte)) error {
	if err := to.Mirror(from); err != nil {
		return err
	}
	names, err := from.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if slices.ContainsFunc(notInSnapshot, func(n []byte) bool { return bytes.Equal(n, name) }) {
			continue
		}
		put := to.Bucket(name).Put
		if bad == nil {
			err = from.Bucket(name).Each(put)
		} else {
			err = from.Bucket(name).EachGood(put, func(key []byte) { bad(name, key) })
		}
		if err != nil {
			return err
		}
	}
	if from.Checked() || !from.Bucket(bucketGone).Exists() {
		return nil
	}
	return to.Bucket(bucketGone).SetCounter(0) // in layouts without checksums it counts what is in it
}

// replaceFile has make write a private file, and puts it in the place of name.
func replaceFile(dir, name string, make func(temp string) error) error {
	temp := filepath.Join(dir, name+".new")
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := make(temp); err != nil {
		return errors.Join(err, ignoreMissing(os.Remove(temp)))
	}
	if err := os.Rename(temp, filepath.Join(dir, name)); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return private.SyncDir(dir)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// runSnapshots makes one an hour, if anything was committed since the last one,
// until ctx ends. One that cannot be made is not the store's failure: it is
// tried again.
func (s *Store) runSnapshots(ctx context.Context) {
	defer close(s.snapshotsDone)
	<-s.loaded
	last := 0
	for {
		last = s.snapshotAfter(last)
		timer := time.NewTimer(snapshotLook)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// lastSnapshot makes one when the store is closed if one is due: what was open for less
// than it takes until it is looked again would have none.
func (s *Store) lastSnapshot() {
	if !s.alone {
		s.snapshotAfter(0)
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

// snapshotOlder keeps a snapshot of a file that is about to be migrated.
func (s *Store) snapshotOlder() error {
	have, err := boltfile.Version(s.db)
	if err != nil || have == 0 || have >= schemaVersion {
		return err
	}
	return takeSnapshot(s.db, s.dir, s.now())
}

// snapshotDue reports whether the newest snapshot is too old, or there is none
// and something to put into it.
func (s *Store) snapshotDue() bool {
	names, err := snapshots(s.dir)
	if err != nil || len(names) == 0 {
		return err == nil && len(s.Subscriptions()) > 0
	}
	at, err := snapshotAt(names[0])
	return err != nil || s.now().Sub(at) >= snapshotEvery
}

func (s *Store) newestTx() (id int) {
	_ = s.view(func(tx *boltfile.Tx) error {
		id = tx.ID()
		return nil
	})
	return id
}
