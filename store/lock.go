package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"eventdeck/store/private"
)

// lockedError names the process that holds the store, if it is known.
func lockedError(dir string) error {
	who := "another process"
	if pid, ok := holder(dir); ok {
		who = fmt.Sprintf("process %d", pid)
	}
	return fmt.Errorf("%w: %s has %s open; quit it, or use --data DIR for another place", ErrLocked, who, dir)
}

// holder returns what the process that holds the store has written of itself.
func holder(dir string) (pid int, ok bool) {
	content, err := private.Read(dir, filePID)
	if err != nil {
		return 0, false
	}
	first, _, _ := strings.Cut(string(content), " ")
	pid, err = strconv.Atoi(strings.TrimSpace(first))
	return pid, err == nil && pid > 0
}

func writeHolder(dir string, now time.Time) error {
	return private.Write(dir, filePID, fmt.Appendf(nil, "%d %s\n", os.Getpid(), now.UTC().Format(time.RFC3339)))
}

func removeHolder(dir string) error {
	if err := os.Remove(filepath.Join(dir, filePID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
