package datadir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"eventdeck/store/private"
	"eventdeck/store/seal"
)

// The files of a store, all in one directory with that of package seal and the snapshots.
const (
	DB         = "state.db"
	Generation = "state.gen" // says that the database was initialised
	PID        = "state.pid" // the process that holds the database; informative
)

// leftoverAge is how long nothing was written to a file that was to replace another one,
// before it is taken for one whose process has died.
const leftoverAge = time.Minute

// RemoveLeftovers removes what processes left that died while they wrote a file anew. What
// cannot be removed does no harm.
func RemoveLeftovers(dir string, now time.Time) {
	found, err := filepath.Glob(filepath.Join(dir, "*.new"))
	if err != nil {
		return
	}
	for _, path := range found {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || private.CheckOwner(info) != nil || now.Sub(info.ModTime()) < leftoverAge || !isStoreFile(info.Name()) {
			continue
		}
		_ = os.Remove(path)
	}
}

// isStoreFile reports whether a name that ends in .new is that of a file of a store.
func isStoreFile(name string) bool {
	name = strings.TrimSuffix(name, ".new")
	return slices.Contains([]string{DB, Generation, PID, seal.FileKey}, name) || strings.HasPrefix(name, snapshotPrefix) && strings.HasSuffix(name, snapshotSuffix)
}

// MoveAside renames the database file, if there is one, and returns its new name.
func MoveAside(dir, why string, now time.Time) (string, error) {
	name := DB + "." + why + "-" + now.UTC().Format(snapshotTime)
	err := os.Rename(filepath.Join(dir, DB), filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return name, err
}

// Replace has make write a private file, and puts it in the place of name. After an error
// of make what was there is as it was.
func Replace(dir, name string, make func(temp string) error) error {
	temp := filepath.Join(dir, name+".new")
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := make(temp); err != nil {
		return errors.Join(err, ignoreMissing(os.Remove(temp)))
	}
	if err := os.Rename(temp, filepath.Join(dir, name)); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return private.SyncDir(dir)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
