//go:build unix

package private

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// ModesMatter says whether the system keeps users apart by the modes of files.
const ModesMatter = true

const noFollow = syscall.O_NOFOLLOW

// CheckOwner refuses what belongs to another user.
//
// Error: [ErrRefused].
func CheckOwner(info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%w: it belongs to the user with the id %d and not to you", ErrRefused, st.Uid)
	}
	return nil
}

// SyncDir flushes the names in a directory to the disk.
//
// Errors: those of the file system.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
