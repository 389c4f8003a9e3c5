package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"eventdeck/store/seal"
)

// Temporary files of a process that died while it replaced a file are removed; files that are
// being written, or are not the store's, stay.
func TestLeftoversOfDeadProcessesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for name, age := range map[string]time.Duration{
		DB + ".new": 2 * leftoverAge, "snapshot-20260219T153000Z.db.new": 2 * leftoverAge,
		seal.FileKey + ".new": 0, "mine.new": 2 * leftoverAge,
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, []byte("half"), 0o600), os.Chtimes(path, now.Add(-age), now.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	RemoveLeftovers(dir, now)
	left, err := filepath.Glob(filepath.Join(dir, "*.new"))
	want := []string{filepath.Join(dir, "mine.new"), filepath.Join(dir, seal.FileKey+".new")}
	if err != nil || !slices.Equal(left, want) {
		t.Errorf("left are %q, not %q: %v", left, want, err)
	}
}
