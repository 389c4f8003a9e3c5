package boltfile

import (
	"errors"
	"os"
	"syscall"

	berrors "go.etcd.io/bbolt/errors"
)

// Release closes a database file without bbolt, which releases its lock.
//
// Errors: those of the system.
func Release(f *os.File) error { return f.Close() }

// Codes of the system that package syscall does not name.
const (
	errorHandleDiskFull = syscall.Errno(39)
	errorDiskFull       = syscall.Errno(112)
)

// IsNoSpace reports whether err says that there is no room.
func IsNoSpace(err error) bool {
	return errors.Is(err, errorDiskFull) || errors.Is(err, errorHandleDiskFull) ||
		errors.Is(err, berrors.ErrMaxSizeReached)
}
