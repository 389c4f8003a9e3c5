package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/store/private"
	"eventdeck/store/seal"
)

// The files of a store, all in one directory with that of package seal and the snapshots.
const (
	DB          = event.StoreFile
	WitnessFile = "state.gen" // see Witness
	PID         = "state.pid" // the process that holds the database; informative
)

// leftoverAge is the age, since its last write, from which a temporary file counts as left
// behind by a dead process.
const leftoverAge = time.Minute

// RemoveLeftovers removes the temporary files of processes that died while they replaced a
// file of the store in dir. What cannot be removed does no harm.
func RemoveLeftovers(dir string, now time.Time) {
	found, err := filepath.Glob(filepath.Join(dir, "*"+private.TempSuffix))
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

// isStoreFile reports whether a name is that of a temporary file that replaces a file of a
// store.
func isStoreFile(name string) bool {
	name = strings.TrimSuffix(name, private.TempSuffix)
	return slices.Contains([]string{DB, WitnessFile, PID, seal.FileKey}, name) || strings.HasPrefix(name, snapshotPrefix) && strings.HasSuffix(name, snapshotSuffix)
}

// MoveAside renames the database file in dir, and returns its new name, which tells why and
// when; "" if there is none. A file that was moved aside before is never replaced.
//
// Errors: those of the file system.
func MoveAside(dir, why string, now time.Time) (string, error) {
	first := DB + "." + why + "-" + now.UTC().Format(snapshotTime)
	name := first
	for n := 2; ; n++ {
		_, err := os.Lstat(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			break
		}
		if err != nil {
			return "", err
		}
		name = fmt.Sprintf("%s-%d", first, n)
	}
	err := os.Rename(filepath.Join(dir, DB), filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return name, err
}
