package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/datadir"
	"eventdeck/store/maintain"
	"eventdeck/store/tables"
)

// flipKey changes the number of a record in the file, as damage would.
func flipKey(t *testing.T, dir string, seq uint64, to uint64) {
	t.Helper()
	path := filepath.Join(dir, datadir.DB)
	content, err := os.ReadFile(path)
	mustDo(t, err)
	newest, _, err := boltfile.MetaPages(bytes.NewReader(content))
	mustDo(t, err)
	changed := false
	inLog := func(table []byte) bool { return bytes.Equal(table, tables.Events) }
	_, err = boltfile.ReadPages(bytes.NewReader(content)).Walk(t.Context(), newest.Root, inLog, func(_ []byte, entries []boltfile.Entry) error {
		for _, e := range entries {
			if binary.BigEndian.Uint64(e.Key) == seq {
				binary.BigEndian.PutUint64(content[e.Offset-8:], to)
				changed = true
			}
		}
		return nil
	})
	mustDo(t, err)
	if !changed {
		t.Fatalf("there is no record %d", seq)
	}
	mustDo(t, os.WriteFile(path, content, 0o600))
}

// The damaged number of a record is corrected, no number is above the last one given, and
// events that a server sends again are duplicates.
func TestRecoverCorrectsDamagedNumbers(t *testing.T) {
	for _, seq := range []uint64{1, 17, 40} {
		for _, to := range []uint64{0, seq ^ 4, seq | 1<<33, seq | 1<<50, ^uint64(0)} {
			t.Run(fmt.Sprintf("%d became %d", seq, to), func(t *testing.T) {
				dir := fillStore(t, 20)
				flipKey(t, dir, seq, to)
				if err := maintain.Check(t.Context(), dir, func(string) {}); err == nil {
					t.Error("the check finds nothing")
				}
				var out said
				if err := maintain.Recover(t.Context(), dir, time.Now(), out.say); err != nil {
					t.Fatal(err, out.lines)
				}
				mustDo(t, maintain.Check(t.Context(), dir, out.say))
				s := openTest(t, Options{Dir: dir})
				if s.Last() > 43 {
					t.Errorf("the last number is %d", s.Last())
				}
				var again []string
				for i := range 20 {
					again = append(again, fmt.Sprint(i))
				}
				stored := store(t, s, eventsBatch("aa", again...)).Stored + store(t, s, eventsBatch("bb", again...)).Stored
				events := map[string]int{}
				mustDo(t, s.Forward(0, func(r event.Record) bool {
					if r.Kind == event.KindEvent {
						events[string(r.Sub)+r.EventID.Raw()]++
					}
					return true
				}))
				equal(t, len(events), 40)
				for id, n := range events {
					if n != 1 {
						t.Errorf("%s is there %d times", id, n)
					}
				}
				if stored > 0 {
					t.Errorf("%d records were stored again:\n%s", stored, out.lines)
				}
			})
		}
	}
}

// Pruned events are known as duplicates after a recovery as before.
func TestRecoverKeepsIdentitiesOfPrunedEvents(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"sound":    func(*testing.T, string) {},
		"a record": func(t *testing.T, dir string) { flipKey(t, dir, 35, 1<<40) },
	} {
		dir := fillStore(t, 20)
		clock := func() time.Time { return newEvent("").ReceivedAt.Add(time.Hour) }
		s := openTest(t, Options{Dir: dir, Now: clock})
		keep(t, s, event.Retention{Total: event.Limits{Records: 10}})
		mustDo(t, s.Close())
		spoil(t, dir)
		mustDo(t, maintain.Recover(t.Context(), dir, clock(), func(string) {}))
		mustDo(t, maintain.Check(t.Context(), dir, func(string) {}))
		s = openTest(t, Options{Dir: dir, Now: clock})
		if out := store(t, s, eventsBatch("aa", "0", "3", "7")); out.Duplicates != 3 {
			t.Errorf("%s: %+v", name, out)
		}
		mustDo(t, s.Close())
	}
}

// An event that a file has under two numbers is kept under one of them.
func TestRecoverKeepsEachEventOnce(t *testing.T) {
	dir := fillStore(t, 3)
	putMeta(t, dir, func(tx *boltfile.Tx) error {
		events := tx.Bucket(tables.Events)
		value, err := events.Get(tables.SeqKey(2))
		if err != nil {
			return err
		}
		value = bytes.Clone(value)
		if err := events.Append(tables.SeqKey(7), value, boltfile.Sum(value)); err != nil {
			return err
		}
		return events.SetCounter(7)
	})
	var out said
	mustDo(t, maintain.Recover(t.Context(), dir, time.Now(), out.say))
	out.has(t, "1 record was there twice and is kept once")
	s := openTest(t, Options{Dir: dir})
	equal(t, s.Info().Records, uint64(6))
	equal(t, s.Last(), uint64(7))
}

// No writing command changes a store of a newer program.
func TestNothingTouchesAStoreOfANewerProgram(t *testing.T) {
	dir := makeStore(t)
	putMeta(t, dir, func(tx *boltfile.Tx) error { return tx.SetVersion(tables.Newest + 1) })
	was := fingerprint(t, dir)
	say := func(string) {}
	for name, err := range map[string]error{
		"open":    openError(t, dir),
		"check":   maintain.Check(t.Context(), dir, say),
		"recover": maintain.Recover(t.Context(), dir, time.Now(), say),
		"compact": func() error { _, _, err := maintain.Compact(dir); return err }(),
		"restore": func() error {
			_, err := maintain.Restore(t.Context(), t.TempDir(), filepath.Join(dir, datadir.DB), nil, time.Now(), say)
			return err
		}(),
	} {
		text := fmt.Sprint(err)
		if !bytes.Contains([]byte(text), []byte("its layout has version 2 and this program knows versions up to 1")) || name != "restore" && !bytes.Contains([]byte(text), []byte("use a newer eventdeck, or --data DIR")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if now := fingerprint(t, dir); now != was {
		t.Errorf("it changed:\n%s\nbefore\n%s", now, was)
	}
}

// Entries of any table whose checksums do not match are left out, and the others are kept.
func TestRecoverWithADamagedEntryInEachTable(t *testing.T) {
	for _, name := range tables.All {
		dir := fullStore(t)
		_, _, err := maintain.Compact(dir)
		mustDo(t, err)
		putRaw(t, dir, func(tx *bolt.Tx) error {
			b := tx.Bucket(name)
			k, v := b.Cursor().First()
			v = bytes.Clone(v)
			v[len(v)/2] ^= 0x10
			return b.Put(bytes.Clone(k), v)
		})
		if err := maintain.Check(t.Context(), dir, func(string) {}); err == nil {
			t.Errorf("%s: the check finds nothing", name)
		}
		var out said
		err = maintain.Recover(t.Context(), dir, fullNow(), out.say)
		if string(name) == string(tables.Meta) {
			continue // without the hash key and a snapshot there is nothing to begin with
		}
		if err != nil && !errors.Is(err, maintain.ErrUnsure) || errors.Is(err, maintain.ErrUnsure) != (string(name) == string(tables.Subs)) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := maintain.Check(t.Context(), dir, out.say); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out.lines)
		}
		s := openTest(t, Options{Dir: dir, Now: fullNow})
		if n := s.Info().Records; n < 59 {
			t.Errorf("%s: %d records", name, n)
		}
		mustDo(t, s.Close())
	}
}
