package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/store/datadir"
	"eventdeck/store/maintain"
	"eventdeck/store/tables"
)

// allTables is a change with an entry for each table of the journal, and an audit entry.
func allTables(value string) event.JournalChange {
	c := event.JournalChange{Audit: []event.AuditEntry{{At: fullNow(), Actor: event.ActorHost, Action: "run created", Result: event.ResultOK}}}
	for _, name := range tables.Journal {
		c.Put = append(c.Put, event.JournalEntry{Table: event.JournalTable(name), Key: "key", Value: []byte(value)})
	}
	return c
}

// hasJournal compares each table of the journal with one entry of the value.
func hasJournal(t *testing.T, s *Store, value string) {
	t.Helper()
	for _, name := range tables.Journal {
		have, err := s.Journal().Entry(event.JournalTable(name), "key")
		if string(have) != value || err != nil {
			t.Errorf("%s: %q, %v", name, have, err)
		}
	}
}

func TestJournalIsKeptOverReopen(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, Options{Dir: dir})
	mustDo(t, s.Journal().Change(t.Context(), allTables("one")))
	mustDo(t, s.Journal().Change(t.Context(), event.JournalChange{Put: []event.JournalEntry{
		{Table: event.TableRuns, Key: "b/2", Value: []byte("2")}, {Table: event.TableRuns, Key: "b/1", Value: []byte("1")}, {Table: event.TableRuns, Key: "c", Value: []byte("3")},
	}}))
	mustDo(t, s.Close())
	s = openTest(t, Options{Dir: dir})
	hasJournal(t, s, "one")
	equal(t, len(audit(t, s, 0)), 1)
	var seen []string
	mustDo(t, s.Journal().Entries(event.TableRuns, "b/", func(k string, v []byte) bool {
		seen = append(seen, k+"="+string(v))
		return true
	}))
	equal(t, strings.Join(seen, " "), "b/1=1 b/2=2")
	mustDo(t, s.Journal().Change(t.Context(), event.JournalChange{Delete: []event.JournalEntry{{Table: event.TableRuns, Key: "c"}, {Table: event.TableRuns, Key: "never was"}}}))
	if _, err := s.Journal().Entry(event.TableRuns, "c"); !errors.Is(err, event.ErrNotFound) {
		t.Error(err)
	}
	mustDo(t, s.Close())
	mustDo(t, maintain.Check(t.Context(), dir, func(string) {}))
}

// A change is stored as a whole or not at all.
func TestJournalChangesAreAtomic(t *testing.T) {
	full := errors.New("the disk is full")
	var fail error
	s := openTest(t, Options{Hooks: Hooks{FailBefore: func() error { return fail }}})
	mustDo(t, s.Journal().Change(t.Context(), allTables("one")))
	fail = full
	if err := s.Journal().Change(t.Context(), allTables("two")); !errors.Is(err, full) {
		t.Error(err)
	}
	fail = nil
	hasJournal(t, s, "one")
	equal(t, len(audit(t, s, 0)), 1)
	mustDo(t, s.Close())
	if err := s.Journal().Change(context.Background(), allTables("two")); !errors.Is(err, event.ErrClosed) {
		t.Error(err)
	}
}

func TestJournalEntriesAreBounded(t *testing.T) {
	s := openTest(t, Options{})
	put := func(table event.JournalTable, key string, size int) error {
		return s.Journal().Change(t.Context(), event.JournalChange{Put: []event.JournalEntry{{Table: table, Key: key, Value: make([]byte, size)}}})
	}
	mustDo(t, put(event.TableRuns, strings.Repeat("k", maxJournalKey), maxJournalValue))
	for name, err := range map[string]error{
		"no key":       put(event.TableRuns, "", 1),
		"a long key":   put(event.TableRuns, strings.Repeat("k", maxJournalKey+1), 1),
		"a long value": put(event.TableRuns, "k", maxJournalValue+1),
		"no table":     put("subs", "k", 1),
	} {
		if !errors.Is(err, ErrBatch) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A copy does not know of acts after it was made: it says so when it is restored, and so does
// a recovered store.
func TestJournalSaysThatItMayLag(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, Options{Dir: dir})
	store(t, s, event.Batch{Sub: "aa", Update: set(fullSub(t))})
	store(t, s, eventsBatch("aa", "1", "2"))
	mustDo(t, s.Journal().Change(t.Context(), allTables("one")))
	file := filepath.Join(t.TempDir(), "copy")
	_, err := s.Backup(t.Context(), file)
	mustDo(t, err)
	mustDo(t, s.Close())

	_, _, err = maintain.Compact(dir)
	mustDo(t, err)
	lag := func() string {
		t.Helper()
		s := openTest(t, Options{Dir: dir})
		defer s.Close()
		hasJournal(t, s, "one")
		value, err := s.Journal().Entry(event.TableReact, event.KeyLag)
		if err != nil && !errors.Is(err, event.ErrNotFound) {
			t.Error(err)
		}
		return string(value)
	}
	equal(t, lag(), "")
	mustDo(t, maintain.Recover(t.Context(), dir, time.Now(), func(string) {}))
	equal(t, lag(), "the store was recovered")
	_, err = maintain.Restore(t.Context(), dir, file, nil, time.Now(), func(string) {})
	mustDo(t, err)
	equal(t, lag(), "the store was restored from a copy")
}

// A store that is recovered from a snapshot has the journal of the snapshot.
func TestSnapshotHasTheJournal(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, Options{Dir: dir})
	store(t, s, event.Batch{Sub: "aa", Update: set(fullSub(t))})
	mustDo(t, s.Journal().Change(t.Context(), allTables("one")))
	mustDo(t, takeSnapshot(s.db, dir, fullNow()))
	mustDo(t, s.Close())
	mustDo(t, os.Truncate(filepath.Join(dir, datadir.DB), 0))
	mustDo(t, maintain.Recover(t.Context(), dir, time.Now(), func(string) {}))
	hasJournal(t, openTest(t, Options{Dir: dir}), "one")
}
