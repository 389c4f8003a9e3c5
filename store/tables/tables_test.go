package tables_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/store/boltfile"
	"eventdeck/store/seal"
	"eventdeck/store/tables"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openFile(t *testing.T) *bolt.DB {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "state.db"), 0o600, &bolt.Options{NoSync: true})
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return db
}

// newFile makes a file of the newest layout.
func newFile(t *testing.T) *bolt.DB {
	t.Helper()
	db := openFile(t)
	isNew, err := tables.Prepare(db, rand.Reader)
	if must(t, err); !isNew {
		t.Error("it was not empty")
	}
	return db
}

func update(t *testing.T, db *bolt.DB, fn func(*boltfile.Tx) error) {
	t.Helper()
	must(t, boltfile.Update(db, fn))
}

func view(t *testing.T, db *bolt.DB, fn func(*boltfile.Tx)) {
	t.Helper()
	must(t, boltfile.View(db, func(tx *boltfile.Tx) error { fn(tx); return nil }))
}

func encoded(t *testing.T, sub event.SubID, id string) []byte {
	t.Helper()
	e, err := tables.EncodeRecord(&event.Record{Kind: event.KindEvent, Sub: sub, Server: "pager", EventID: trust.Untrusted(id), Raw: []byte(`{"n":1}`)})
	must(t, err)
	return e.Value
}

// unreleased makes a file as a program wrote it before the first release.
func unreleased(t *testing.T, layout uint64) *bolt.DB {
	t.Helper()
	db := openFile(t)
	must(t, db.Update(func(tx *bolt.Tx) error {
		meta, err := tx.CreateBucket(tables.Meta)
		if err != nil {
			return err
		}
		return meta.Put([]byte("version"), tables.SeqKey(layout))
	}))
	return db
}

// A file that is prepared already is not written.
func TestPrepareWritesAnEmptyFileAlone(t *testing.T) {
	db := newFile(t)
	commits := func() (id int) {
		view(t, db, func(tx *boltfile.Tx) { id = tx.ID() })
		return id
	}
	before := commits()
	if isNew, err := tables.Prepare(db, nil); isNew || err != nil {
		t.Errorf("it counts as new: %v, %v", isNew, err)
	}
	if after := commits(); after != before {
		t.Errorf("commit %d follows %d", after, before)
	}
}

// An empty file gets a generation and a hash key of its own; without randomness it stays empty.
func TestPrepareAnEmptyFile(t *testing.T) {
	db := openFile(t)
	if _, err := tables.Prepare(db, strings.NewReader("too short")); err == nil {
		t.Fatal("it was initialised without randomness")
	}
	if version, err := boltfile.Version(db); version != 0 || err != nil {
		t.Fatalf("its version is %d, %v", version, err)
	}
	_, err := tables.Prepare(db, bytes.NewReader(bytes.Repeat([]byte{0xab}, 48)))
	must(t, err)
	view(t, db, func(tx *boltfile.Tx) {
		must(t, tables.QuickCheck(tx))
		generations, err := tables.LoadGenerations(tx)
		hash, hashErr := tx.Bucket(tables.Meta).Get(tables.KeyHash)
		if len(generations) != 1 || generations.Of(1) != strings.Repeat("ab", 16) || !bytes.Equal(hash, bytes.Repeat([]byte{0xab}, 32)) {
			t.Errorf("generations %v, hash key %x: %v, %v", generations, hash, err, hashErr)
		}
	})
}

func TestPrepareRefusesForeignFiles(t *testing.T) {
	newer := newFile(t)
	update(t, newer, func(tx *boltfile.Tx) error { return tx.SetVersion(tables.Newest + 1) })
	foreign := openFile(t)
	must(t, foreign.Update(func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("mine")); return err }))
	damaged := newFile(t)
	must(t, damaged.Update(func(tx *bolt.Tx) error { return tx.Bucket(tables.Meta).Put([]byte("layout"), tables.SeqKey(7)) }))
	for _, c := range []struct {
		db   *bolt.DB
		want error
	}{{newer, boltfile.ErrNewer}, {foreign, boltfile.ErrForeign}, {damaged, event.ErrDamaged}, {unreleased(t, 5), boltfile.ErrUnreleased}} {
		before, _ := boltfile.Version(c.db)
		if _, err := tables.Prepare(c.db, nil); !errors.Is(err, c.want) {
			t.Errorf("%v: %v", c.want, err)
		}
		if after, _ := boltfile.Version(c.db); after != before {
			t.Errorf("%v: version %d became %d", c.want, before, after)
		}
	}
}

func TestCheckEntryKnowsTheEntriesOfEachTable(t *testing.T) {
	kept := tables.KeptSub{Sub: event.Subscription{ID: "aa"}}
	sub, err := kept.Encode()
	must(t, err)
	good := map[string][]byte{
		string(tables.Events): encoded(t, "aa", "evt_1"),
		string(tables.Gone):   encoded(t, "aa", "evt_1"),
		string(tables.Dedup):  tables.AppendHash(nil, 1, 2),
		string(tables.Usage):  tables.EncodeUsage(tables.Amount{Records: 1, Bytes: 2}),
		string(tables.Subs):   sub,
	}
	for _, name := range [][]byte{tables.Marks, tables.Servers, tables.Refusals, tables.Ended, tables.Audit} {
		good[string(name)] = []byte(`{}`)
	}
	for name, value := range good {
		if err := tables.CheckEntry([]byte(name), tables.SeqKey(7), value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		err := tables.CheckEntry([]byte(name), tables.SeqKey(7), value[:len(value)/2])
		if !errors.Is(err, event.ErrDamaged) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s, cut: %v", name, err)
		}
	}
	for _, name := range [][]byte{tables.Events, tables.Dedup, tables.Gone, tables.Audit} {
		if err := tables.CheckEntry(name, tables.SeqKey(7), []byte("x")); err == nil || !strings.Contains(err.Error(), "entry 7 of") {
			t.Errorf("%s does not name the entry: %v", name, err)
		}
	}
	for _, name := range tables.Journal {
		if err := tables.CheckEntry(name, []byte("key"), []byte{0xff}); err != nil {
			t.Errorf("%s: values of the journal are the caller's: %v", name, err)
		}
	}
}

func TestQuickCheckFindsWhatIsWrongWithTheNewestRecord(t *testing.T) {
	for says, harm := range map[string]func(*boltfile.Tx) error{
		"newer than the last number given, 1": func(tx *boltfile.Tx) error { return tx.Bucket(tables.Events).SetCounter(1) },
		"the newest record, 2": func(tx *boltfile.Tx) error {
			return tx.Bucket(tables.Events).Put(tables.SeqKey(2), []byte("x"))
		},
		"has the key": func(tx *boltfile.Tx) error {
			return tx.Bucket(tables.Events).Put([]byte("zzzzzzzzz"), encoded(t, "aa", "evt_3"))
		},
	} {
		db := newFile(t)
		update(t, db, func(tx *boltfile.Tx) error {
			b := tx.Bucket(tables.Events)
			return errors.Join(b.Put(tables.SeqKey(1), encoded(t, "aa", "evt_1")), b.Put(tables.SeqKey(2), encoded(t, "aa", "evt_2")), b.SetCounter(2))
		})
		view(t, db, func(tx *boltfile.Tx) { must(t, tables.QuickCheck(tx)) })
		update(t, db, harm)
		view(t, db, func(tx *boltfile.Tx) {
			if err := tables.QuickCheck(tx); !errors.Is(err, event.ErrDamaged) || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v", says, err)
			}
		})
	}
	db := newFile(t)
	must(t, db.Update(func(tx *bolt.Tx) error { return tx.DeleteBucket(tables.Marks) }))
	view(t, db, func(tx *boltfile.Tx) {
		if err := tables.QuickCheck(tx); !errors.Is(err, event.ErrDamaged) || !strings.Contains(err.Error(), "marks is missing") {
			t.Error(err)
		}
	})
}

// The secrets of a stored subscription are sealed, and open only with the key; its texts need
// not be UTF-8.
func TestSubscriptionsAreStoredSealed(t *testing.T) {
	sealer, err := seal.NewSealer(bytes.Repeat([]byte("k"), 32), rand.Reader)
	must(t, err)
	want := event.Subscription{
		ID: "aa", Key: event.Key{Server: "pager", Type: trust.Untrusted("load.\xff"), Args: []byte(`{"n":1}`)}, Cursor: event.At(trust.Untrusted("c1")),
		Hook: event.Hook{Secret: event.NewSecret("hook-secret"), Previous: event.NewSecret("previous-secret")}, Resume: event.NewSecret("resume-secret"),
	}
	var kept tables.KeptSub
	before := kept.Secrets()
	kept.Sub = want
	must(t, kept.Seal(before, sealer))
	value, err := kept.Encode()
	must(t, err)
	for _, secret := range []event.Secret{want.Hook.Secret, want.Hook.Previous, want.Resume} {
		if bytes.Contains(value, []byte(secret.Reveal())) {
			t.Errorf("%q is stored in clear", secret.Reveal())
		}
	}
	db := newFile(t)
	update(t, db, func(tx *boltfile.Tx) error { return tx.Bucket(tables.Subs).Put([]byte(want.ID), value) })
	view(t, db, func(tx *boltfile.Tx) {
		subs, err := tables.LoadSubs(tx, sealer)
		must(t, err)
		if got := subs[want.ID]; !reflect.DeepEqual(got.Sub, want) || !got.Sealed() {
			t.Errorf("got  %+v\nwant %+v", got.Sub, want)
		}
	})
	locked, err := tables.ReadSub(want.ID, value)
	must(t, err)
	if !locked.Sealed() || !locked.Sub.Hook.Secret.IsZero() || locked.Sub.Key.Server != want.Key.Server {
		t.Errorf("without a key: %+v", locked.Sub)
	}
	other, err := seal.NewSealer(bytes.Repeat([]byte("o"), 32), rand.Reader)
	must(t, err)
	if locked.Open(other); !locked.Sub.Hook.Secret.IsZero() {
		t.Error("another key opens it")
	}
	locked.Open(sealer)
	if !reflect.DeepEqual(locked.Sub, want) {
		t.Errorf("unlocked: %+v", locked.Sub)
	}
	must(t, locked.Reseal(other))
	value, err = locked.Encode()
	must(t, err)
	again, err := tables.ReadSub(want.ID, value)
	must(t, err)
	if again.Open(other); !reflect.DeepEqual(again.Sub, want) {
		t.Errorf("with another key: %+v", again.Sub)
	}
}

// An unchanged secret is not sealed again, and a removed one is gone.
func TestSecretsAreSealedOnce(t *testing.T) {
	sealer, err := seal.NewSealer(bytes.Repeat([]byte("k"), 32), rand.Reader)
	must(t, err)
	kept := tables.KeptSub{Sub: event.Subscription{ID: "aa"}}
	store := func(change func(*event.Subscription)) string {
		t.Helper()
		before := kept.Secrets()
		change(&kept.Sub)
		must(t, kept.Seal(before, sealer))
		value, err := kept.Encode()
		must(t, err)
		return string(value)
	}
	without := store(func(*event.Subscription) {})
	first := store(func(s *event.Subscription) { s.Hook.Secret = event.NewSecret("one") })
	if again := store(func(*event.Subscription) {}); again != first {
		t.Error("it was sealed anew")
	}
	if other := store(func(s *event.Subscription) { s.Hook.Secret = event.NewSecret("two") }); other == first {
		t.Error("another secret is stored as the one before")
	}
	if gone := store(func(s *event.Subscription) { s.Hook.Secret = event.Secret{} }); gone != without {
		t.Errorf("a secret that was taken away is stored: %s", gone)
	}
}

func TestUsageIsReadAsWritten(t *testing.T) {
	want := tables.Amount{Records: 1 << 40, Bytes: 300}
	value := tables.EncodeUsage(want)
	if got, err := tables.DecodeUsage(value); got != want || err != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	for n := range value {
		if _, err := tables.DecodeUsage(value[:n]); !errors.Is(err, tables.ErrInvalidRecord) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
	if _, err := tables.DecodeUsage(append(value, 0)); !errors.Is(err, tables.ErrInvalidRecord) {
		t.Errorf("with a byte more: %v", err)
	}
}

// A snapshot has every table, the content of all tables but those of the log, and the last
// numbers of all.
func TestSnapshotHoldsAllButTheLog(t *testing.T) {
	from, to := newFile(t), openFile(t)
	update(t, from, func(tx *boltfile.Tx) error {
		for i, name := range tables.All {
			b := tx.Bucket(name)
			if err := errors.Join(b.Put([]byte("key"), []byte("value")), b.SetCounter(uint64(i+1))); err != nil {
				return err
			}
		}
		return nil
	})
	must(t, boltfile.View(from, func(src *boltfile.Tx) error {
		return boltfile.Update(to, func(dst *boltfile.Tx) error { return tables.CopyControl(dst, src) })
	}))
	empty := map[string]bool{"events": true, "dedup": true, "usage": true, "gone": true, "audit": true, "refusals": true}
	view(t, to, func(tx *boltfile.Tx) {
		for i, name := range tables.All {
			value, err := tx.Bucket(name).Get([]byte("key"))
			if err != nil || (value == nil) != empty[string(name)] || tables.InSnapshot(name) == empty[string(name)] {
				t.Errorf("%s holds %q: %v", name, value, err)
			}
			if n := tx.Bucket(name).Counter(); n != uint64(i+1) {
				t.Errorf("the counter of %s is %d, not %d", name, n, i+1)
			}
		}
		must(t, tx.Verify(t.Context(), func(err error) { t.Error(err) }))
	})
}

func TestFileIDAndLagAreKept(t *testing.T) {
	db := newFile(t)
	if id, err := tables.StoredFileID(db); id != "" || err != nil {
		t.Errorf("a new file has the id %q, %v", id, err)
	}
	update(t, db, func(tx *boltfile.Tx) error {
		return errors.Join(tables.PutFileID(tx, "made 7"), tables.PutLag(tx, "restored"))
	})
	if id, err := tables.StoredFileID(db); id != "made 7" || err != nil {
		t.Errorf("got %q, %v", id, err)
	}
	view(t, db, func(tx *boltfile.Tx) {
		if why, err := tx.Bucket([]byte(event.TableReact)).Get([]byte(event.KeyLag)); string(why) != "restored" {
			t.Errorf("the journal says %q, %v", why, err)
		}
	})
}

func TestIdentifiedFindsPrunedRecordsToo(t *testing.T) {
	db := newFile(t)
	update(t, db, func(tx *boltfile.Tx) error {
		events, gone := tx.Bucket(tables.Events), tx.Bucket(tables.Gone)
		return errors.Join(events.Put(tables.SeqKey(2), []byte("kept")), gone.Put(tables.SeqKey(2), []byte("older")), gone.Put(tables.SeqKey(1), []byte("pruned")))
	})
	view(t, db, func(tx *boltfile.Tx) {
		for seq, want := range map[uint64]string{1: "pruned", 2: "kept", 3: ""} {
			if got, err := tables.Identified(tx.Bucket(tables.Events), tx.Bucket(tables.Gone), seq); string(got) != want || err != nil {
				t.Errorf("%d: %q, %v", seq, got, err)
			}
		}
	})
}
