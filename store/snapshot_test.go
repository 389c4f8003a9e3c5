package store

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/datadir"
	"eventdeck/store/seal"
	"eventdeck/store/tables"
)

// inSnapshot returns a subscription as the newest snapshot has it.
func inSnapshot(t *testing.T, dir string, id event.SubID) (sub event.Subscription, ok bool) {
	t.Helper()
	names, err := datadir.Snapshots(dir)
	mustDo(t, err)
	if len(names) == 0 {
		return sub, false
	}
	db, err := datadir.OpenReadOnly(dir, names[0])
	mustDo(t, err)
	defer db.Close()
	mustDo(t, boltfile.View(db, func(tx *boltfile.Tx) error {
		value, err := tx.Bucket(tables.Subs).Get([]byte(id))
		if err != nil || value == nil {
			return err
		}
		kept, err := tables.ReadSub(id, value)
		sub, ok = kept.Sub, true
		return err
	}))
	return sub, ok
}

// What was decided of a subscription is in a snapshot within seconds; a moved position is not a
// reason to make one.
func TestSnapshotSoonAfterADecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(t.Context(), Options{Dir: t.TempDir(), Keyring: seal.NoKeyring()})
		mustDo(t, err)
		defer func() { mustDo(t, s.Close()) }()
		decide := func(change func(*event.Subscription)) {
			t.Helper()
			store(t, s, event.Batch{Sub: "aa", Update: change})
			time.Sleep(snapshotSoon + time.Second)
			synctest.Wait()
		}
		for what, change := range map[string]func(*event.Subscription){
			"subscribed":      func(*event.Subscription) {},
			"another mode":    func(s *event.Subscription) { s.Mode = event.ModeWebhook },
			"paused":          func(s *event.Subscription) { s.Paused = true },
			"another path":    func(s *event.Subscription) { s.Hook.Path = "/path" },
			"with a lifetime": func(s *event.Subscription) { s.TTL = time.Hour },
		} {
			decide(change)
			want, err := s.Subscription("aa")
			mustDo(t, err)
			if got, ok := inSnapshot(t, s.dir, "aa"); !ok || decidedAnew(&got, &want) {
				t.Errorf("%s: the snapshot has %v, %+v", what, ok, got)
			}
		}
		before, err := datadir.Snapshots(s.dir)
		mustDo(t, err)
		equal(t, len(before), 1) // of one hour
		decide(func(s *event.Subscription) { s.Hook.Secret = event.NewSecret("whsec_rotated") })
		rotated, err := datadir.Snapshots(s.dir)
		mustDo(t, err)
		if slices.Equal(before, rotated) {
			t.Error("no snapshot has the new secret")
		}
		cursor := event.At(text("c7"))
		store(t, s, event.Batch{Sub: "aa", Cursor: &cursor})
		time.Sleep(snapshotSoon + time.Second)
		if after, err := datadir.Snapshots(s.dir); !slices.Equal(after, rotated) {
			t.Errorf("a moved position made one: %v, %v", after, err)
		}
		store(t, s, event.Batch{Sub: "aa", Remove: true})
		time.Sleep(snapshotSoon + time.Second)
		synctest.Wait()
		if _, ok := inSnapshot(t, s.dir, "aa"); ok {
			t.Error("the snapshot has the subscription that was removed")
		}
	})
}

// A store that is closed at once after a decision has it in a snapshot.
func TestSnapshotOfADecisionAtTheEnd(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []event.SubID{"aa", "bb"} {
		s, err := Open(t.Context(), Options{Dir: dir, Keyring: seal.NoKeyring()})
		mustDo(t, err)
		store(t, s, event.Batch{Sub: id, Update: func(*event.Subscription) {}})
		mustDo(t, s.Close())
		if _, ok := inSnapshot(t, dir, id); !ok {
			t.Errorf("no snapshot has %s", id)
		}
	}
}

// The newest snapshot is found as such although the clock was set back.
func TestSnapshotAfterTheClockWasSetBack(t *testing.T) {
	dir := fillStore(t, 1)
	s := openTest(t, Options{Dir: dir})
	now := newEvent("").ReceivedAt
	mustDo(t, takeSnapshot(s.db, dir, now))
	store(t, s, event.Batch{Sub: "cc", Update: func(*event.Subscription) {}})
	mustDo(t, takeSnapshot(s.db, dir, now.Add(-48*time.Hour)))
	if _, ok := inSnapshot(t, dir, "cc"); !ok {
		t.Error("the newest snapshot is taken for an older one")
	}
	if _, err := os.Stat(filepath.Join(dir, datadir.SnapshotName(now))); err == nil {
		t.Error("an older one of the same hour is kept")
	}
}
