package datadir_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/datadir"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newStore makes the database of a store that is open until close is called.
func newStore(t *testing.T) (dir string, closeDB func()) {
	t.Helper()
	dir = t.TempDir()
	db, _, err := datadir.Open(dir, 0)
	must(t, err)
	return dir, func() { t.Helper(); must(t, db.Close()) }
}

// A second process is told which process has the store; without a note of it, that some
// process has.
func TestLockedStoreNamesItsProcess(t *testing.T) {
	dir, closeDB := newStore(t)
	refused := func(words string, err error) {
		t.Helper()
		if !errors.Is(err, boltfile.ErrLocked) || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), dir) {
			t.Errorf("not told as %q: %v", words, err)
		}
	}
	refused("another process", datadir.NotInUse(dir))
	must(t, datadir.WriteHolder(dir, time.Now()))
	_, err := datadir.OpenReadOnly(dir, datadir.DB)
	refused(fmt.Sprint("process ", os.Getpid()), err)
	_, _, err = datadir.Open(dir, 0)
	refused(fmt.Sprint("process ", os.Getpid()), err)
	closeDB()
	must(t, errors.Join(datadir.NotInUse(dir), datadir.RemoveHolder(dir), datadir.RemoveHolder(dir)))
}

// An error about a file has its path and advice.
func TestErrorsOfBrokenFilesGiveAdvice(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, datadir.DB)
	if _, err := datadir.OpenReadOnly(dir, datadir.DB); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	check := func(what string, err error) {
		t.Helper()
		var told *datadir.FileError
		if !errors.Is(err, event.ErrDamaged) || !errors.As(err, &told) || told.Path != path || told.Advice != datadir.DamageAdvice {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, os.WriteFile(path, nil, 0o600))
	_, err := datadir.OpenReadOnly(dir, datadir.DB)
	check("an empty file", err)
	must(t, os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600))
	_, _, err = datadir.Open(dir, 0)
	check("no database", err)
	for _, is := range []error{boltfile.ErrForeign, boltfile.ErrNewer} {
		var told *datadir.FileError
		if err := datadir.Misplaced(path, is); !errors.Is(err, is) || !errors.As(err, &told) || told.Path != path || told.Advice == "" {
			t.Errorf("%v: %v", is, err)
		}
	}
}

// A database that was initialised once is not initialised again when it is empty or gone.
func TestEmptiedStoreIsNotInitialisedAgain(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, datadir.DB)
	must(t, datadir.CheckNotEmptied(path))
	must(t, os.WriteFile(filepath.Join(dir, datadir.WitnessFile), []byte("id\n"), 0o600))
	for _, empty := range []bool{false, true} {
		if empty {
			must(t, os.WriteFile(path, nil, 0o600))
		}
		if _, _, err := datadir.Open(dir, 0); !errors.Is(err, event.ErrDamaged) || !strings.Contains(err.Error(), path) {
			t.Errorf("empty %v: %v", empty, err)
		}
	}
	must(t, os.WriteFile(path, []byte("x"), 0o600))
	must(t, datadir.CheckNotEmptied(path))
}

func TestSnapshotsAreFoundNewestFirst(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2026, 2, 19, 15, 30, 0, 0, time.UTC)
	var want []string
	for _, hours := range []int{9, 0, 30} {
		name := datadir.SnapshotName(at.Add(time.Duration(hours) * time.Hour))
		if made, err := datadir.SnapshotAt(name); err != nil || !made.Equal(at.Add(time.Duration(hours)*time.Hour)) {
			t.Errorf("%s was made at %v, %v", name, made, err)
		}
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
		want = append(want, name)
	}
	want = []string{want[2], want[0], want[1]}
	must(t, os.WriteFile(filepath.Join(dir, "snapshot-20260219T153000Z.db.new"), nil, 0o600))
	if names, err := datadir.Snapshots(dir); err != nil || !slices.Equal(names, want) {
		t.Errorf("got %q, want %q: %v", names, want, err)
	}
}

func TestMoveAsideNamesWhyAndWhen(t *testing.T) {
	dir, closeDB := newStore(t)
	closeDB()
	at := time.Date(2026, 2, 19, 15, 30, 0, 0, time.UTC)
	name, err := datadir.MoveAside(dir, "damaged", at)
	if _, statErr := os.Stat(filepath.Join(dir, name)); name != "state.db.damaged-20260219T153000Z" || err != nil || statErr != nil {
		t.Errorf("%q: %v, %v", name, err, statErr)
	}
	if name, err := datadir.MoveAside(dir, "damaged", at); name != "" || err != nil {
		t.Errorf("nothing is there: %q, %v", name, err)
	}
}

// A second file that is moved aside in the same second does not replace the first.
func TestMoveAsideKeepsWhatWasMovedBefore(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2026, 2, 19, 15, 30, 0, 0, time.UTC)
	for i, want := range []string{"state.db.damaged-20260219T153000Z", "state.db.damaged-20260219T153000Z-2", "state.db.damaged-20260219T153000Z-3"} {
		content := []byte{byte(i)}
		must(t, os.WriteFile(filepath.Join(dir, datadir.DB), content, 0o600))
		if name, err := datadir.MoveAside(dir, "damaged", at); name != want || err != nil {
			t.Errorf("it is moved to %q, %v; want %q", name, err, want)
		}
		if kept, err := os.ReadFile(filepath.Join(dir, want)); !slices.Equal(kept, content) || err != nil {
			t.Errorf("%s holds %v, %v", want, kept, err)
		}
	}
}

// Temporary stores of dead processes are removed; stores that are open or just being made are
// not.
func TestTemporaryRemovesStoresOfDeadProcesses(t *testing.T) {
	parent := t.TempDir()
	dirs := map[string]string{}
	for _, name := range []string{"abandoned", "open", "being made"} {
		dir, err := datadir.Temporary(parent)
		must(t, err)
		dirs[name] = dir
	}
	for _, name := range []string{"abandoned", "open"} {
		db, _, err := datadir.Open(dirs[name], 0)
		must(t, err)
		must(t, datadir.WriteHolder(dirs[name], time.Now()))
		if name == "abandoned" {
			must(t, db.Close())
		} else {
			defer db.Close()
		}
	}
	_, err := datadir.Temporary(parent)
	must(t, err)
	for name, dir := range dirs {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) != (name == "abandoned") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A renamed file keeps its id, and a copy has another one.
func TestFileIDOfACopyDiffers(t *testing.T) {
	dir := t.TempDir()
	path, moved, copied := filepath.Join(dir, "file"), filepath.Join(dir, "moved"), filepath.Join(dir, "copy")
	must(t, os.WriteFile(path, []byte("x"), 0o600))
	id := datadir.FileID(path)
	// File times advance in steps of a few milliseconds, so copies are made until one has a
	// new time.
	for deadline := time.Now().Add(time.Minute); ; {
		must(t, os.WriteFile(copied, []byte("x"), 0o600))
		if datadir.FileID(copied) != id {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("each copy has the id %q too", id)
		}
		must(t, os.Remove(copied))
	}
	must(t, os.Rename(path, moved))
	if datadir.BirthTime(moved) == "" {
		if !strings.HasSuffix(id, path) {
			t.Errorf("the id of %s is %q", path, id)
		}
		return
	}
	if got := datadir.FileID(moved); got != id {
		t.Errorf("its id was %q and is %q", id, got)
	}
}
