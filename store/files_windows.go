package store

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	berrors "go.etcd.io/bbolt/errors"
)

// Access on Windows is a matter of the lists that the user's profile directory
// hands down; modes say nothing there.
const (
	modesMatter = false
	noFollow    = 0
)

func checkOwner(fs.FileInfo) error { return nil }

func syncDir(string) error { return nil }

// letGo closes a file, which releases its locks.
func letGo(f *os.File) error { return f.Close() }

// Codes of the system that package syscall does not name.
const (
	errorHandleDiskFull = syscall.Errno(39)
	errorDiskFull       = syscall.Errno(112)
)

// isNoSpace reports whether err says that there is no room.
func isNoSpace(err error) bool {
	return errors.Is(err, errorDiskFull) || errors.Is(err, errorHandleDiskFull) ||
		errors.Is(err, berrors.ErrMaxSizeReached)
}
