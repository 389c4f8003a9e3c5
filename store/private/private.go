// Package private reads and writes files of one user: it refuses files that others may have
// placed or could change, and makes files that no other user can read.
package private

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrRefused is wrapped by the errors for files that others may have placed or could change.
var ErrRefused = errors.New("refused")

// Dir makes sure that dir is a directory of this user which no other user can
// enter: it is made, or its mode is tightened to 0700. A symbolic link, another
// user's directory and one that is shared by design (sticky, like /tmp) are
// refused.
//
// Errors: [ErrRefused], those of the file system.
func Dir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("data directory %s: %w: it is a symbolic link; name the directory itself", dir, ErrRefused)
	case !info.IsDir():
		return fmt.Errorf("data directory %s: %w: it is not a directory", dir, ErrRefused)
	case info.Mode()&fs.ModeSticky != 0:
		return fmt.Errorf("data directory %s: %w: it is shared with other users; use a directory of your own", dir, ErrRefused)
	}
	if err := CheckOwner(info); err != nil {
		return fmt.Errorf("data directory %s: %w", dir, err)
	}
	if ModesMatter && info.Mode().Perm() != 0o700 {
		if err := os.Chmod(dir, 0o700); err != nil {
			return fmt.Errorf("data directory: %w", err)
		}
	}
	return nil
}

// Open is [os.OpenFile] for a regular file of this user: it follows no
// symbolic link at the end of the path and leaves the file with mode 0600.
//
// Errors: [ErrRefused], those of the file system.
func Open(path string, flag int, _ os.FileMode) (*os.File, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		// Checked before opening too, since opening a named pipe or a device has effects.
		if err := check(path, info); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(path, flag|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	if err := tighten(path, f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func tighten(path string, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := check(path, info); err != nil {
		return err
	}
	if ModesMatter && info.Mode().Perm() != 0o600 {
		return f.Chmod(0o600)
	}
	return nil
}

func check(path string, info fs.FileInfo) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s: %w: it is a symbolic link; replace it with the file itself", path, ErrRefused)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: %w: it is not a regular file", path, ErrRefused)
	}
	if err := CheckOwner(info); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// maxRead bounds what [Read] returns, in bytes.
const maxRead = 4096

// Read returns the content of a small private file, of at most 4,096 bytes.
//
// Errors: [ErrRefused], those of the file system.
func Read(dir, name string) ([]byte, error) {
	f, err := Open(filepath.Join(dir, name), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxRead))
}

// Write replaces a small private file: see [Replace].
//
// Errors: [ErrRefused], those of the file system.
func Write(dir, name string, content []byte) error {
	return Replace(dir, name, func(temp string) error {
		f, err := Open(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(content)
		if err == nil {
			err = f.Sync()
		}
		return errors.Join(err, f.Close())
	})
}

// TempSuffix ends the names of files that are written to replace another one.
const TempSuffix = ".new"

// Replace calls write, which makes a file at temp and syncs it, and renames that to name in
// dir: a crash leaves the old or the new file. After an error the old file is as it was. Two
// processes must not replace one file at once.
//
// Errors: those of write and of the file system.
func Replace(dir, name string, write func(temp string) error) error {
	path := filepath.Join(dir, name)
	temp := path + TempSuffix
	if err := Remove(temp); err != nil {
		return err
	}
	err := write(temp)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, Remove(temp))
	}
	return SyncDir(dir)
}

// Remove removes a file, if it is there.
//
// Errors: those of the file system.
func Remove(path string) error {
	// A read-only file system refuses to remove even what is not there.
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
