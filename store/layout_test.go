package store

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/datadir"
	"eventdeck/store/maintain"
	"eventdeck/store/seal"
	"eventdeck/store/tables"
)

// makeOlder turns a closed store into one of an older layout, which has no checksums.
func makeOlder(t *testing.T, dir string, version uint64) {
	t.Helper()
	type entry struct{ k, v []byte }
	content, counters := map[string][]entry{}, map[string]uint64{}
	withDB(t, dir, func(db *bolt.DB) error {
		return boltfile.View(db, func(tx *boltfile.Tx) error {
			for _, name := range tables.All {
				b := tx.Bucket(name)
				counters[string(name)] = b.Counter()
				if string(name) == string(tables.Gone) {
					counters[string(name)] = b.Entries()
				}
				if err := b.Each(func(k, v []byte) error {
					content[string(name)] = append(content[string(name)], entry{bytes.Clone(k), bytes.Clone(v)})
					return nil
				}); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err := os.Remove(filepath.Join(dir, datadir.DB)); err != nil {
		t.Fatal(err)
	}
	putRaw(t, dir, func(tx *bolt.Tx) error {
		for _, name := range tables.All {
			older := version < tables.FirstJournal && tables.IsJournal(event.JournalTable(name)) || version == 2 && (string(name) == string(tables.Usage) || string(name) == string(tables.Gone)) ||
				version == 1 && (string(name) == string(tables.Usage) || string(name) == string(tables.Gone) || string(name) == string(tables.Audit) || string(name) == string(tables.Marks))
			if older {
				continue
			}
			b, err := tx.CreateBucket(name)
			if err != nil {
				return err
			}
			if err := b.SetSequence(counters[string(name)]); err != nil {
				return err
			}
			for _, e := range content[string(name)] {
				if err := b.Put(e.k, e.v); err != nil {
					return err
				}
			}
		}
		return tx.Bucket(tables.Meta).Put([]byte("version"), tables.SeqKey(version))
	})
}

// layout3 returns a store that was written by the release before checksums: 198 of 242
// records are kept, and every table has entries.
func layout3(t *testing.T) (dir string) { return fixture(t, "layout3") }

// layout4 is layout3 as the last release before the journal kept it.
func layout4(t *testing.T) (dir string) { return fixture(t, "layout4") }

func fixture(t *testing.T, name string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	from := filepath.Join("testdata", name)
	for _, name := range []string{seal.FileKey, datadir.Generation} {
		content, err := os.ReadFile(filepath.Join(from, name))
		mustDo(t, err)
		mustDo(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	packed, err := os.Open(filepath.Join(from, datadir.DB+".gz"))
	mustDo(t, err)
	defer packed.Close()
	in, err := gzip.NewReader(packed)
	mustDo(t, err)
	content, err := io.ReadAll(in)
	mustDo(t, err)
	mustDo(t, os.WriteFile(filepath.Join(dir, datadir.DB), content, 0o600))
	return dir
}

// inFixture checks the content of layout3.
func inFixture(t *testing.T, s *Store) {
	t.Helper()
	equal(t, len(ids(t, s)), 198)
	equal(t, s.Last(), uint64(242))
	if subs := s.Subscriptions(); len(subs) != 2 || subs[1].Cursor != event.At(text("c119")) || subs[0].Hook.Secret.IsZero() {
		t.Errorf("subscriptions: %+v", subs)
	}
	theme, err := s.Setting("theme")
	equal(t, theme, "night")
	mustDo(t, err)
	token, err := s.Credential("pager")
	equal(t, token.Reveal(), "token-of-the-fixture")
	mustDo(t, err)
	equal(t, len(s.Servers()), 1)
	equal(t, len(s.Refusals()), 1)
	equal(t, len(s.EndedHooks()), 1)
	equal(t, len(s.Marks()), 1)
	equal(t, len(audit(t, s, 0)), 120)
	equal(t, s.Info().Records, uint64(198))
	// The first of them was pruned, and is known all the same.
	equal(t, store(t, s, eventsBatch("aa", "2", "100", "119")).Duplicates, 3)
}

// fixtureNow is shortly after the records of layout3 were made.
func fixtureNow() time.Time { return newEvent("").ReceivedAt.Add(2 * time.Hour) }

func TestStoresOfEarlierReleasesOpenUnchanged(t *testing.T) {
	for _, name := range []string{"layout3", "layout4"} {
		t.Run(name, func(t *testing.T) { opensUnchanged(t, fixture(t, name)) })
	}
}

func opensUnchanged(t *testing.T, dir string) {
	mustDo(t, maintain.Check(t.Context(), dir, func(string) {}))
	s := openTest(t, Options{Dir: dir, Now: fixtureNow})
	inFixture(t, s)
	waitSummed(t, s)
	inFixture(t, s)
	mustDo(t, s.Close())
	var out said
	if err := maintain.Check(t.Context(), dir, out.say); err != nil {
		t.Fatal(err, out.lines)
	}
	s = openTest(t, Options{Dir: dir, Now: fixtureNow})
	inFixture(t, s)
	equal(t, s.Info().Unsummed, uint64(0))
}

// waitSummed waits until every entry has its checksum.
func waitSummed(t *testing.T, s *Store) {
	t.Helper()
	select {
	case <-s.backfilled:
	case <-time.After(time.Minute):
		t.Fatal("the entries have no checksums")
	}
	equal(t, s.Info().Unsummed, uint64(0))
	equal(t, s.Info().Damage, nil)
}

// halfway returns layout3 in the middle of its migration: of each large table some
// entries have checksums and others have none.
func halfway(t *testing.T) (dir string) {
	t.Helper()
	dir = layout3(t)
	withDB(t, dir, func(db *bolt.DB) error {
		if err := tables.Migrate(db, nil); err != nil {
			return err
		}
		return boltfile.Update(db, func(tx *boltfile.Tx) error {
			for _, name := range tables.Numbered {
				if _, err := tx.BackfillBucket(name, 2000, tables.CheckEntry); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return dir
}

// The migration may be interrupted at any moment, and resumes.
func TestMigrationResumes(t *testing.T) {
	dir := halfway(t)
	var out said
	if err := maintain.Check(t.Context(), dir, out.say); err != nil {
		t.Fatal(err, out.lines)
	}
	out.has(t, "have no checksum of their own yet")
	s := openTest(t, Options{Dir: dir, Now: fixtureNow})
	inFixture(t, s)
	waitSummed(t, s)
	inFixture(t, s)
	mustDo(t, s.Close())
	mustDo(t, maintain.Check(t.Context(), dir, out.say))
}

// During the migration records are added, pruned and forgotten as usual.
func TestPruningDuringMigration(t *testing.T) {
	dir := halfway(t)
	now := fixtureNow()
	s := openTest(t, Options{Dir: dir, Now: func() time.Time { return now }, noBackfill: true})
	store(t, s, eventsBatch("aa", "new"))
	keep(t, s, event.Retention{PerSub: event.Limits{Records: 30}})
	equal(t, s.Info().Records, uint64(60))
	equal(t, store(t, s, eventsBatch("aa", "100", "new")).Duplicates, 2)
	mustDo(t, s.Close())
	var out said
	if err := maintain.Check(t.Context(), dir, out.say); err != nil {
		t.Fatal(err, out.lines)
	}
	now = now.Add(48 * time.Hour)
	s = openTest(t, Options{Dir: dir, Now: func() time.Time { return now }})
	keep(t, s, event.Retention{PerSub: event.Limits{Records: 20}})
	waitSummed(t, s)
	mustDo(t, s.Close())
	if err := maintain.Check(t.Context(), dir, out.say); err != nil {
		t.Fatal(err, out.lines)
	}
}

func TestCompactAddsMissingChecksums(t *testing.T) {
	for name, make := range map[string]func(*testing.T) string{"before": layout3, "in the middle": halfway} {
		dir := make(t)
		if _, _, err := maintain.Compact(dir); err != nil {
			t.Fatal(name, err)
		}
		withDB(t, dir, func(db *bolt.DB) error {
			return boltfile.View(db, func(tx *boltfile.Tx) error {
				if !tx.Checked() || tx.Unsummed() > 0 {
					t.Errorf("%s: %d entries have no checksum", name, tx.Unsummed())
				}
				return nil
			})
		})
		mustDo(t, maintain.Check(t.Context(), dir, func(string) {}))
		inFixture(t, openTest(t, Options{Dir: dir, Now: fixtureNow}))
	}
}

// The check detects a change of each byte of each entry in each table, before the entry has
// its checksum and after.
func TestCheckFindsEachChangedEntry(t *testing.T) {
	whole := layout3(t)
	_, _, err := maintain.Compact(whole)
	mustDo(t, err)
	for name, dir := range map[string]string{"migrated": whole, "in the middle": halfway(t)} {
		good, err := os.ReadFile(filepath.Join(dir, datadir.DB))
		mustDo(t, err)
		changed := 0
		for _, place := range entryPlaces(t, dir) {
			bad := bytes.Clone(good)
			bad[place.at] ^= 1 << (place.at % 8)
			mustDo(t, os.WriteFile(filepath.Join(dir, datadir.DB), bad, 0o600))
			if err := maintain.Check(t.Context(), dir, func(string) {}); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewer) {
				t.Errorf("%s: byte %d of %s is another one: %v", name, place.at, place.table, err)
			}
			changed++
		}
		if changed < 300 {
			t.Errorf("%s: only %d bytes were changed", name, changed)
		}
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
	_, err = boltfile.ReadPages(f).Walk(t.Context(), newest.Root, all, func(table []byte, _ uint64, entries []boltfile.Entry) error {
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
	for _, name := range tables.Of(4) { // fixtures have no journal
		if seen[string(name)] == 0 {
			t.Errorf("the table %s has no entries", name)
		}
	}
	return places
}

// A version that was changed by damage must not start a migration.
func TestDamagedVersionIsNotMigrated(t *testing.T) {
	for _, version := range []uint64{0, 1, 2, 3, 4, 6, 1 << 40} {
		dir := makeStore(t)
		putRaw(t, dir, func(tx *bolt.Tx) error {
			return tx.Bucket(tables.Meta).Put([]byte("version"), binary.BigEndian.AppendUint64(nil, version))
		})
		if err := openError(t, dir); !errors.Is(err, ErrDamaged) {
			t.Errorf("%d: %v", version, err)
		}
		if err := maintain.Check(t.Context(), dir, func(string) {}); !errors.Is(err, ErrDamaged) {
			t.Errorf("%d: the check says %v", version, err)
		}
	}
}
