//go:build unix

package boltfile

import (
	"errors"
	"os"
	"syscall"

	berrors "go.etcd.io/bbolt/errors"
)

// Release releases the lock on a database file without bbolt, and closes it. A mapping
// that cannot be taken away any more would hold the lock beyond the closing.
//
// Errors: those of the system.
func Release(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}

// IsNoSpace reports whether err says that there is no room: a full disk, a
// quota, a limit of the file's size.
func IsNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		errors.Is(err, syscall.EFBIG) || errors.Is(err, berrors.ErrMaxSizeReached)
}
