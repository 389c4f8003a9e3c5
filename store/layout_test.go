package store

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/datadir"
	"eventdeck/store/maintain"
	"eventdeck/store/tables"
)

// fullNow is shortly after the records of fullStore were made.
func fullNow() time.Time { return newEvent("").ReceivedAt.Add(2 * time.Hour) }

// fullStore makes a closed store with entries in every table: 60 of its 81 records are kept.
func fullStore(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s := openTest(t, Options{Dir: dir, Now: fullNow})
	for i := range 40 {
		for _, sub := range []event.SubID{"aa", "bb"} {
			b := eventsBatch(sub, fmt.Sprint(i))
			cursor := event.At(text(fmt.Sprint("c", i)))
			b.Cursor, b.Update = &cursor, func(s *event.Subscription) { s.Hook.Secret = event.NewSecret("whsec_full") }
			store(t, s, b)
		}
	}
	store(t, s, event.Batch{Sub: "cc", Remove: true, Ended: []event.Ended{{Path: "/gone", At: fullNow(), Removed: true}}})
	mustDo(t, errors.Join(
		s.SetSetting(t.Context(), "theme", "night"),
		s.SetCredential(t.Context(), "pager", event.NewSecret("token-of-the-store")),
		s.Saw(t.Context(), event.ServerSeen{Name: "pager", At: fullNow()}),
		s.Refuse(t.Context(), event.Refusal{At: fullNow(), Reason: "signature wrong"}),
		s.SetMark(t.Context(), event.Mark{Seq: 70, At: fullNow()}),
		s.Journal().Change(t.Context(), allTables("one")),
	))
	keep(t, s, event.Retention{Total: event.Limits{Records: 60}})
	mustDo(t, s.Close())
	return dir
}

// The check detects a change of each byte of each entry in each table.
func TestCheckFindsEachChangedEntry(t *testing.T) {
	dir := fullStore(t)
	_, _, err := maintain.Compact(dir)
	mustDo(t, err)
	good, err := os.ReadFile(filepath.Join(dir, datadir.DB))
	mustDo(t, err)
	changed := 0
	for _, place := range entryPlaces(t, dir) {
		bad := bytes.Clone(good)
		bad[place.at] ^= 1 << (place.at % 8)
		mustDo(t, os.WriteFile(filepath.Join(dir, datadir.DB), bad, 0o600))
		if err := maintain.Check(t.Context(), dir, func(string) {}); !errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d of %s is another one: %v", place.at, place.table, err)
		}
		changed++
	}
	if changed < 200 {
		t.Errorf("only %d bytes were changed", changed)
	}
}

// entryPlace is a byte of a key or a value.
type entryPlace struct {
	table string
	at    int64
}

// entryPlaces returns a few bytes of many entries, of every table.
func entryPlaces(t *testing.T, dir string) (places []entryPlace) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, datadir.DB))
	mustDo(t, err)
	defer f.Close()
	newest, _, err := boltfile.MetaPages(f)
	mustDo(t, err)
	all := func([]byte) bool { return true }
	seen := map[string]int{}
	_, err = boltfile.ReadPages(f).Walk(t.Context(), newest.Root, all, func(table []byte, entries []boltfile.Entry) error {
		for _, e := range entries {
			n := seen[string(table)]
			seen[string(table)]++
			if n%5 != 0 && n > 3 {
				continue
			}
			for _, at := range []int64{-int64(len(e.Key)), -1, 0, int64(len(e.Stored) / 2), int64(len(e.Stored) - 1)} {
				places = append(places, entryPlace{string(table), e.Offset + at})
			}
		}
		return nil
	})
	mustDo(t, err)
	for _, name := range tables.All {
		if seen[string(name)] == 0 {
			t.Errorf("the table %s has no entries", name)
		}
	}
	return places
}

// A version that was changed by damage is not believed.
func TestDamagedVersionIsFound(t *testing.T) {
	for _, version := range []uint64{0, 2, 3, 4, 5, 6, 1 << 40} {
		dir := makeStore(t)
		putRaw(t, dir, func(tx *bolt.Tx) error {
			return tx.Bucket(tables.Meta).Put([]byte("layout"), binary.BigEndian.AppendUint64(nil, version))
		})
		if err := openError(t, dir); !errors.Is(err, ErrDamaged) {
			t.Errorf("%d: %v", version, err)
		}
		if err := maintain.Check(t.Context(), dir, func(string) {}); !errors.Is(err, ErrDamaged) {
			t.Errorf("%d: the check says %v", version, err)
		}
	}
}

// A store from before the first release stays as it is: every command names its layout, and
// what to do with it.
func TestUnreleasedStoreStaysAsItIs(t *testing.T) {
	dir := t.TempDir()
	packed, err := os.Open(filepath.Join("testdata", "unreleased", datadir.DB+".gz"))
	mustDo(t, err)
	defer packed.Close()
	in, err := gzip.NewReader(packed)
	mustDo(t, err)
	content, err := io.ReadAll(in)
	mustDo(t, err)
	mustDo(t, os.WriteFile(filepath.Join(dir, datadir.DB), content, 0o600))
	was := fingerprint(t, dir)
	say := func(string) {}
	for name, err := range map[string]error{
		"open":    openError(t, dir),
		"check":   maintain.Check(t.Context(), dir, say),
		"recover": maintain.Recover(t.Context(), dir, time.Now(), say),
		"compact": func() error { _, _, err := maintain.Compact(dir); return err }(),
		"backup":  func() error { _, err := maintain.Backup(dir, filepath.Join(t.TempDir(), "copy")); return err }(),
		"restore": func() error {
			_, err := maintain.Restore(t.Context(), t.TempDir(), filepath.Join(dir, datadir.DB), nil, time.Now(), say)
			return err
		}(),
	} {
		words := fmt.Sprint(err)
		if !errors.Is(err, ErrUnreleased) || !strings.Contains(words, "its layout has version 4") || name != "restore" && !strings.Contains(words, "`eventdeck export --raw`") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if now := fingerprint(t, dir); now != was {
		t.Errorf("it changed:\n%s\nbefore\n%s", now, was)
	}
}
