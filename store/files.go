package store

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"eventdeck/store/private"
)

// The files of a store, all in one directory.
const (
	fileDB         = "state.db"
	fileGeneration = "state.gen" // says that the database was initialised
	filePID        = "state.pid" // the process that holds the database; informative
	fileKey        = "state.key" // sealing key, where there is no keyring
)

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
		if err != nil || !info.Mode().IsRegular() || private.CheckOwner(info) != nil || now.Sub(info.ModTime()) < leftoverAge || !isStoreFile(info.Name()) {
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
