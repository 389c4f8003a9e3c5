package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"eventdeck/store/boltfile"
	"eventdeck/store/private"
)

// lockedError names the process that holds the store, if it is known.
func lockedError(dir string) error {
	who := "another process"
	if pid, ok := holder(dir); ok {
		who = fmt.Sprintf("process %d", pid)
	}
	return fmt.Errorf("%w: %s has %s open; quit it, or use --data DIR for another place", boltfile.ErrLocked, who, dir)
}

// holder returns the process that holds the store, as it noted itself.
func holder(dir string) (pid int, ok bool) {
	content, err := private.Read(dir, PID)
	if err != nil {
		return 0, false
	}
	first, _, _ := strings.Cut(string(content), " ")
	pid, err = strconv.Atoi(strings.TrimSpace(first))
	return pid, err == nil && pid > 0
}

// WriteHolder notes that this process has the store in dir open, for the messages of other
// processes.
//
// Errors: [private.ErrRefused], those of the file system.
func WriteHolder(dir string, now time.Time) error {
	return private.Write(dir, PID, fmt.Appendf(nil, "%d %s\n", os.Getpid(), now.UTC().Format(time.RFC3339)))
}

// RemoveHolder takes back what [WriteHolder] noted.
func RemoveHolder(dir string) error {
	return private.Remove(filepath.Join(dir, PID))
}

// NotInUse refuses a store that a process has open. A missing file and one that is no
// database are not in use.
//
// Errors: [boltfile.ErrLocked], those of closing the file.
func NotInUse(dir string) error {
	db, err := OpenReadOnly(dir, DB)
	if errors.Is(err, boltfile.ErrLocked) {
		return err
	}
	if err == nil {
		return db.Close()
	}
	return nil
}
