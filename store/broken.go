package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"eventdeck/store/boltfile"
	"eventdeck/store/datadir"
)

// end is how a store ends before it is closed: its file is damaged or gone. bbolt is not
// called after that: a panic in it leaves its locks held, and writing to a damaged file makes
// it worse.
type end struct {
	file   *os.File // what bbolt has open and locked
	once   sync.Once
	broken chan struct{} // closed at the end
	err    error         // why; set before broken is closed
	mu     sync.Mutex
	size   int64 // of the file at the last check; it never shrinks
}

const (
	fileCheck = 5 * time.Second // how often the file is checked
	// brokenWait is how long Close waits for the writer of a broken store. It never returns if
	// it waits for a lock that bbolt left held.
	brokenWait = 2 * time.Second
)

// Broken returns a channel that is closed when nothing can be read or stored any more: the
// file is damaged or gone. Info().Err tells which.
func (s *Store) Broken() <-chan struct{} { return s.end.broken }

// fail ends the store.
func (s *Store) fail(err error) {
	err = s.advise(err)
	s.end.once.Do(func() {
		s.end.err = err
		s.setErr(err)
		close(s.end.broken)
	})
}

// advise adds to an error about damage the path of the file and what the operator can do.
func (s *Store) advise(err error) error {
	var told *datadir.FileError
	if !errors.Is(err, ErrDamaged) || errors.As(err, &told) {
		return err
	}
	return &datadir.FileError{Path: filepath.Join(s.dir, datadir.DB), Err: err, Advice: recoverAdvice}
}

// failed returns why the store has ended, nil if it has not.
func (s *Store) failed() error {
	select {
	case <-s.end.broken:
		return s.end.err
	default:
		return nil
	}
}

// await waits for done; once the store is broken, for brokenWait at most.
func (s *Store) await(done <-chan struct{}) {
	select {
	case <-done:
		return
	case <-s.end.broken:
	}
	select {
	case <-done:
	case <-time.After(brokenWait):
	}
}

// closeDB closes the database. After damage it does so without bbolt, which might wait for a
// lock that it left held.
func (s *Store) closeDB() error {
	if s.failed() != nil {
		return boltfile.Release(s.end.file)
	}
	return s.db.Close()
}

// update runs fn in a write transaction. Damage ends the store. outside: see
// [boltfile.Guard].
func (s *Store) update(outside func() bool, fn func(*boltfile.Tx) error) error {
	if err := s.failed(); err != nil {
		return err
	}
	err := boltfile.Guard(outside, func() error { return boltfile.Update(s.db, fn) })
	if errors.Is(err, ErrDamaged) {
		s.fail(err)
		return s.failed()
	}
	return err
}

// watchFile notices when the file was removed, replaced or cut short: later commits would be
// lost with this process.
func (s *Store) watchFile(ctx context.Context) {
	tick := time.NewTicker(fileCheck)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.checkFile()
		case <-ctx.Done():
			return
		}
	}
}

// checkFile ends the store when its file was removed, replaced or cut short.
func (s *Store) checkFile() {
	s.end.mu.Lock()
	defer s.end.mu.Unlock()
	path := filepath.Join(s.dir, datadir.DB)
	own, err := s.end.file.Stat()
	if err != nil {
		return // it is being closed
	}
	there, err := os.Lstat(path)
	if err == nil && os.SameFile(own, there) {
		if size := there.Size(); size < s.end.size {
			s.fail(fmt.Errorf("%w: it was cut short while it was open, from %d to %d bytes", ErrDamaged, s.end.size, size))
		} else {
			s.end.size = size
		}
		return
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return // it may be there all the same
	}
	s.fail(fmt.Errorf("%w: %s was removed or replaced while it was open; start again, which begins a new one, or put a copy back with `eventdeck store restore FILE`", ErrGone, path))
}

const recoverAdvice = "`eventdeck store check` tells more, `eventdeck store recover` keeps what can be read"
