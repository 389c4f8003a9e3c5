package datadir

import (
	"fmt"
	"os"
	"path/filepath"

	"eventdeck/store/boltfile"
	"eventdeck/store/private"
)

const temporaryPrefix = "eventdeck-"

// maxAbandoned bounds how many directories one start looks at.
const maxAbandoned = 64

// Temporary makes a directory for a store that is removed when it is closed, and removes
// those of processes that have died. parent is where it is made; "" means the system's place
// for these.
//
// Errors: those of the file system.
func Temporary(parent string) (string, error) {
	removeAbandoned(parent)
	dir, err := os.MkdirTemp(parent, temporaryPrefix)
	if err != nil {
		return "", fmt.Errorf("temporary data directory: %w", err)
	}
	return dir, nil
}

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
	if err != nil || !info.IsDir() || private.CheckOwner(info) != nil || private.ModesMatter && info.Mode().Perm() != 0o700 {
		return false
	}
	if _, err := os.Lstat(filepath.Join(dir, PID)); err != nil {
		return false
	}
	path := filepath.Join(dir, DB)
	if _, err := os.Lstat(path); err != nil {
		return false
	}
	return boltfile.Free(path)
}
