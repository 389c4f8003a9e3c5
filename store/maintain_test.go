package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/datadir"
	"eventdeck/store/maintain"
	"eventdeck/store/tables"
)

// fillStore makes a closed store with n events of each of two subscriptions and
// a secret.
func fillStore(t *testing.T, n int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s := openTest(t, Options{Dir: dir})
	step := max(1, n/20) // each commit waits for the disk
	for first := 0; first < n; first += step {
		for _, sub := range []event.SubID{"aa", "bb"} {
			var ids []string
			for i := first; i < min(first+step, n); i++ {
				ids = append(ids, fmt.Sprint(i))
			}
			cursor := event.At(text("c" + ids[len(ids)-1]))
			b := eventsBatch(sub, ids...)
			b.Cursor = &cursor
			b.Update = func(s *event.Subscription) {
				s.Key = event.Key{Server: "pager", Type: text("load.tick"), Args: []byte("{}")}
				s.Hook.Secret = event.NewSecret("whsec_recovered")
			}
			store(t, s, b)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// said collects the lines that an operation says.
type said struct{ lines []string }

func (s *said) say(line string) { s.lines = append(s.lines, line) }

func (s *said) has(t *testing.T, words string) {
	t.Helper()
	if !strings.Contains(strings.Join(s.lines, "\n"), words) {
		t.Errorf("%q is not said in:\n%s", words, strings.Join(s.lines, "\n"))
	}
}

// A snapshot is a store without its log.
func TestSnapshotIsAStore(t *testing.T) {
	dir := fillStore(t, 3)
	s := openTest(t, Options{Dir: dir})
	at := time.Date(2026, 2, 19, 15, 0, 0, 0, time.UTC)
	for i := range snapshotsKept + 2 {
		if err := takeSnapshot(s.db, dir, at.Add(time.Duration(i)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	want := s.Subscriptions()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := datadir.Snapshots(dir)
	if err != nil || len(names) != snapshotsKept || names[0] != "snapshot-20260219T210000Z.db" {
		t.Fatal(names, err)
	}
	if err := os.Rename(filepath.Join(dir, names[0]), filepath.Join(dir, datadir.DB)); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, Options{Dir: dir})
	equal(t, s.Subscriptions(), want)
	equal(t, s.Info().Records, 0)
	equal(t, store(t, s, eventsBatch("aa", "next")).Last, 7)
}

func TestSnapshotIsMadeWhenItIsDue(t *testing.T) {
	clock := newWallClock()
	s := openTest(t, Options{Dir: fillStore(t, 1), Now: clock.now})
	expect := func(n int) {
		t.Helper()
		if names, err := datadir.Snapshots(s.dir); err != nil || len(names) != n {
			t.Errorf("%d are expected: %v %v", n, names, err)
		}
	}
	last := s.snapshotAfter(0)
	expect(1)
	store(t, s, eventsBatch("aa", "x"))
	last = s.snapshotAfter(last)
	expect(1)
	clock.advance(snapshotEvery)
	last = s.snapshotAfter(last)
	expect(2)
	clock.advance(snapshotEvery)
	s.snapshotAfter(last)
	expect(2) // nothing was committed
}

// harmRecord makes one stored record unreadable, as a damaged page does.
func harmRecord(t *testing.T, dir string, seq uint64) {
	t.Helper()
	putMeta(t, dir, func(tx *boltfile.Tx) error { return tx.Bucket(tables.Events).Put(tables.SeqKey(seq), []byte{0xff}) })
}

func TestRecoverKeepsWhatCanBeRead(t *testing.T) {
	dir := fillStore(t, 20)
	s := openTest(t, Options{Dir: dir})
	if err := takeSnapshot(s.db, dir, newEvent("").ReceivedAt); err != nil {
		t.Fatal(err)
	}
	cursor := event.At(text("after the snapshot"))
	for _, sub := range []event.SubID{"aa", "bb"} {
		store(t, s, event.Batch{Sub: sub, Cursor: &cursor})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	harmRecord(t, dir, 15)
	harmRecord(t, dir, 30) // of this one the page before the change is found

	now := newEvent("").ReceivedAt.Add(time.Hour)
	var out said
	if err := maintain.Recover(t.Context(), dir, now, out.say); err != nil {
		t.Fatal(err, out.lines)
	}
	for _, words := range []string{"39 records are kept", "lost: records 15\n", "those of the file, but for 1 subscription that lost records: as in snapshot-20260219T153000Z.db", "1 subscription has a gap record", "state.db.damaged-"} {
		out.has(t, words)
	}
	s = openTest(t, Options{Dir: dir})
	equal(t, s.Subscriptions()[0].Cursor, event.At(text("c19")))
	equal(t, s.Subscriptions()[1].Cursor, cursor)
	equal(t, s.Last(), 41)
	gap, err := s.Get(41)
	if err != nil || gap.Gap == nil || gap.Gap.Cause != event.CauseDamaged || !gap.Gap.Certain || !gap.Gap.To.Equal(now) {
		t.Errorf("the gap is %+v, %v", gap.Gap, err)
	}
	// What was lost may come again, what was kept may not come twice.
	equal(t, store(t, s, eventsBatch("aa", "0", "7", "19")).Stored, 1) // the fifteenth record
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := maintain.Check(t.Context(), dir, out.say); err != nil {
		t.Error(err)
	}
}

// recoverEmptied empties the database of a closed store, recovers it and opens it.
func recoverEmptied(t *testing.T, dir string) *Store {
	t.Helper()
	mustDo(t, os.Truncate(filepath.Join(dir, datadir.DB), 0))
	var out said
	if err := maintain.Recover(t.Context(), dir, time.Now(), out.say); err != nil {
		t.Fatal(err, out.lines)
	}
	out.has(t, "lost: records 1 and later")
	return openTest(t, Options{Dir: dir})
}

func TestRecoverFromASnapshotAlone(t *testing.T) {
	dir := fillStore(t, 4)
	s := openTest(t, Options{Dir: dir})
	if err := takeSnapshot(s.db, dir, time.Now()); err != nil {
		t.Fatal(err)
	}
	mustDo(t, s.Close())
	s = recoverEmptied(t, dir)
	equal(t, len(s.Subscriptions()), 2)
	equal(t, s.Last(), 10)
	equal(t, s.Subscriptions()[0].Hook.Secret, event.NewSecret("whsec_recovered"))
}

// On a read-only medium the refusal names the file once, and does not speak of removing.
func TestReadOnlyMediumIsNamed(t *testing.T) {
	dir := fillStore(t, 3)
	unmount, err := mountReadOnly(dir)
	if err != nil {
		t.Skip("no read-only file system: ", err)
	}
	t.Cleanup(func() { mustDo(t, unmount()) })
	path := filepath.Join(dir, datadir.DB)
	_, _, compact := maintain.Compact(dir)
	if want := "compact the store: open " + path + ".new: read-only file system"; compact == nil || compact.Error() != want {
		t.Errorf("got  %v\nwant %s", compact, want)
	}
	_, opened := Open(t.Context(), Options{Dir: dir})
	if want := "open the store: open " + path + ": read-only file system"; opened == nil || opened.Error() != want {
		t.Errorf("got  %v\nwant %s", opened, want)
	}
}
