package store

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"eventdeck/store/boltfile"
)

const temporaryPrefix = "eventdeck-"

// maxAbandoned bounds how many directories one start looks at.
const maxAbandoned = 64

// removeAbandoned removes the temporary stores in dir that no process has open: their
// processes have died. What cannot be removed stays, and does no harm.
func removeAbandoned(dir string) {
	if dir == "" {
		dir = os.TempDir()
	}
	found, err := filepath.Glob(filepath.Join(dir, temporaryPrefix+"*"))
	if err != nil {
		return
	}
	for _, old := range found[:min(len(found), maxAbandoned)] {
		if abandoned(old) {
			_ = os.RemoveAll(old) // a later start tries again
		}
	}
}

// abandoned reports whether dir is a complete temporary store of this user that was closed by
// no process. A store that is just being made has not noted its process yet.
func abandoned(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || checkOwner(info) != nil || modesMatter && info.Mode().Perm() != 0o700 {
		return false
	}
	if _, err := os.Lstat(filepath.Join(dir, filePID)); err != nil {
		return false
	}
	path := filepath.Join(dir, fileDB)
	if _, err := os.Lstat(path); err != nil {
		return false
	}
	return free(path)
}

// free reports whether no process holds the lock of a database file.
func free(path string) bool {
	var db *bolt.DB
	err := boltfile.Guard(nil, func() (err error) {
		db, err = bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Millisecond, ReadOnly: true, OpenFile: openPrivate})
		return err
	})
	if err == nil {
		return db.Close() == nil
	}
	// The lock comes before the content, which is of no interest here.
	return !errors.Is(err, berrors.ErrTimeout) && !fromSystem(err)
}
