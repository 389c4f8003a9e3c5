package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/datadir"
	"eventdeck/store/maintain"
	"eventdeck/store/tables"
)

// lagOf opens a store and returns why its journal may lag the acts.
func lagOf(t *testing.T, dir string) string {
	t.Helper()
	s := openTest(t, Options{Dir: dir})
	defer s.Close()
	value, err := s.Journal().Entry(event.TableReact, event.KeyLag)
	if err != nil && !errors.Is(err, event.ErrNotFound) {
		t.Error(err)
	}
	return string(value)
}

// goOn lets a store act again, as the operator does.
func goOn(t *testing.T, dir string) {
	t.Helper()
	s := openTest(t, Options{Dir: dir})
	mustDo(t, s.Journal().Change(t.Context(), event.JournalChange{Delete: []event.JournalEntry{{Table: event.TableReact, Key: event.KeyLag}}}))
	mustDo(t, s.Close())
}

// A copy that is opened beside its original, or later, does not know what the original did. A
// moved store does, and a copy that was let go on goes on.
func TestCopiedStoreSaysThatItMayLag(t *testing.T) {
	base := t.TempDir()
	dir, copied, moved := filepath.Join(base, "store"), filepath.Join(base, "copy"), filepath.Join(base, "moved")
	equal(t, lagOf(t, dir), "")
	equal(t, lagOf(t, dir), "")
	mustDo(t, os.CopyFS(copied, os.DirFS(dir)))
	equal(t, lagOf(t, copied), wordsCopied)
	equal(t, lagOf(t, copied), wordsCopied) // until the operator says so
	goOn(t, copied)
	equal(t, lagOf(t, copied), "")
	equal(t, lagOf(t, dir), "")

	late := filepath.Join(base, "late")
	mustDo(t, os.CopyFS(late, os.DirFS(dir)))
	mustDo(t, os.RemoveAll(dir))
	_, _, err := maintain.Compact(late)
	mustDo(t, err)
	equal(t, lagOf(t, late), wordsCopied)

	if datadir.BirthTime(copied) == "" {
		t.Skip("this file system does not tell when a file was made: what is moved is taken for a copy")
	}
	mustDo(t, os.Rename(copied, moved))
	equal(t, lagOf(t, moved), "")
}

func TestCompactedStoreIsNoCopy(t *testing.T) {
	dir := t.TempDir()
	equal(t, lagOf(t, dir), "")
	_, _, err := maintain.Compact(dir)
	mustDo(t, err)
	equal(t, lagOf(t, dir), "")
}

// A restored store keeps that reason, and an uncertain copy holds nothing.
func TestUncertainCopyHoldsNothing(t *testing.T) {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "backup")
	equal(t, lagOf(t, dir), "")
	_, err := maintain.Backup(dir, file)
	mustDo(t, err)
	_, err = maintain.Restore(t.Context(), dir, file, nil, time.Now(), func(string) {})
	mustDo(t, err)
	equal(t, lagOf(t, dir), "the store was restored from a copy")
	goOn(t, dir)
	equal(t, lagOf(t, dir), "")

	s := openTest(t, Options{Dir: dir})
	other := "at /before the file system told"
	if datadir.BirthTime(filepath.Join(dir, datadir.DB)) == "" {
		other = "made before"
	}
	mustDo(t, boltfile.Update(s.db, func(tx *boltfile.Tx) error { return tables.PutFileID(tx, other) }))
	mustDo(t, s.Close())
	equal(t, lagOf(t, dir), "")
}
