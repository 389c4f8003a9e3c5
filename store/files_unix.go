//go:build unix

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	berrors "go.etcd.io/bbolt/errors"
)

const (
	modesMatter = true
	noFollow    = syscall.O_NOFOLLOW
)

func checkOwner(info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%w: it belongs to the user with the id %d and not to you", errNotPrivate, st.Uid)
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// letGo releases the lock on a file and closes it. A mapping that cannot be taken
// away any more would hold the lock beyond the closing.
func letGo(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}

// isNoSpace reports whether err says that there is no room: a full disk, a
// quota, a limit of the file's size.
func isNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		errors.Is(err, syscall.EFBIG) || errors.Is(err, berrors.ErrMaxSizeReached)
}
