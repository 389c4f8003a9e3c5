package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The files of a store, all in one directory.
const (
	fileDB         = "state.db"
	fileGeneration = "state.gen" // says that the database was initialised
	filePID        = "state.pid" // the process that holds the database; informative
	fileKey        = "state.key" // sealing key, where there is no keyring
)

// errNotPrivate is wrapped by what refuses a file that others may have placed
// or could change.
var errNotPrivate = errors.New("refused")

// privateDir makes sure that dir is a directory of this user which no other user can
// enter: it is made, or its mode is tightened to 0700. A symbolic link, another
// user's directory and one that is shared by design (sticky, like /tmp) are
// refused.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("data directory %s: %w: it is a symbolic link; name the directory itself", dir, errNotPrivate)
	case !info.IsDir():
		return fmt.Errorf("data directory %s: %w: it is not a directory", dir, errNotPrivate)
	case info.Mode()&fs.ModeSticky != 0:
		return fmt.Errorf("data directory %s: %w: it is shared with other users; use a directory of your own", dir, errNotPrivate)
	}
	if err := checkOwner(info); err != nil {
		return fmt.Errorf("data directory %s: %w", dir, err)
	}
	if modesMatter && info.Mode().Perm() != 0o700 {
		if err := os.Chmod(dir, 0o700); err != nil {
			return fmt.Errorf("data directory: %w", err)
		}
	}
	return nil
}

// openPrivate is [os.OpenFile] for a regular file of this user: it follows no
// symbolic link at the end of the path and leaves the file with mode 0600.
func openPrivate(path string, flag int, _ os.FileMode) (*os.File, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		// Before the opening too, since opening a named pipe or a device acts.
		if err := checkPrivate(path, info); err != nil {
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
	if err := checkPrivate(path, info); err != nil {
		return err
	}
	if modesMatter && info.Mode().Perm() != 0o600 {
		return f.Chmod(0o600)
	}
	return nil
}

func checkPrivate(path string, info fs.FileInfo) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s: %w: it is a symbolic link; replace it with the file itself", path, errNotPrivate)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: %w: it is not a regular file", path, errNotPrivate)
	}
	if err := checkOwner(info); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// readPrivate returns the content of a small private file.
func readPrivate(dir, name string) ([]byte, error) {
	f, err := openPrivate(filepath.Join(dir, name), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 4096))
}

// writePrivate replaces a small private file so that a crash leaves the old or
// the new content. Only the holder of the database's lock may call it.
func writePrivate(dir, name string, content []byte) error {
	path := filepath.Join(dir, name)
	temp := path + ".new"
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := openPrivate(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return syncDir(dir)
}

// leftoverAge is how long nothing was written to a file that was to replace another one,
// before it is taken for one whose process has died.
const leftoverAge = time.Minute

// removeLeftovers removes what processes left that died while they wrote a file anew. What
// cannot be removed does no harm.
func removeLeftovers(dir string, now time.Time) {
	found, err := filepath.Glob(filepath.Join(dir, "*.new"))
	if err != nil {
		return
	}
	for _, path := range found {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || checkOwner(info) != nil || now.Sub(info.ModTime()) < leftoverAge || !isStoreFile(info.Name()) {
			continue
		}
		_ = os.Remove(path)
	}
}

// isStoreFile reports whether a name that ends in .new is that of a file of a store.
func isStoreFile(name string) bool {
	name = strings.TrimSuffix(name, ".new")
	return slices.Contains([]string{fileDB, fileGeneration, filePID, fileKey}, name) || strings.HasPrefix(name, snapshotPrefix) && strings.HasSuffix(name, snapshotSuffix)
}
