package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"eventdeck/host/event"
	"eventdeck/store/datadir"
	"eventdeck/store/maintain"
	"eventdeck/store/tables"
)

// newSubscriptions makes a closed store whose newest snapshot has the subscriptions aa and bb.
// Later cc was made, and dd, which has no records, and bb was removed.
func newSubscriptions(t *testing.T) (dir string) {
	t.Helper()
	dir = fillStore(t, 40)
	s := openTest(t, Options{Dir: dir})
	mustDo(t, takeSnapshot(s.db, dir, newEvent("").ReceivedAt))
	made := func(id event.SubID) event.Batch {
		key := event.Key{Server: "new \x1b server", Type: text("load.tick"), Args: []byte(`{}`)}
		return event.Batch{
			Sub: id, Update: func(s *event.Subscription) { s.Key, s.Hook.Secret = key, event.NewSecret("whsec_new") },
			Audit: []event.AuditEntry{event.Act(time.Now(), event.ActorOperator, "subscribe", event.Subscription{ID: id, Key: key})},
		}
	}
	store(t, s, made("dd"))
	b := made("cc")
	b.Records = eventsBatch("cc", "1", "2").Records
	store(t, s, b)
	store(t, s, event.Batch{Sub: "bb", Remove: true,
		Audit: []event.AuditEntry{event.Act(time.Now(), event.ActorOperator, "unsubscribe", event.Subscription{ID: "bb"})}})
	mustDo(t, s.Close())
	return dir
}

// spoil damages a stored subscription, so that the table in the file is not whole.
func spoil(t *testing.T, dir string, id event.SubID) {
	t.Helper()
	putRaw(t, dir, func(tx *bolt.Tx) error {
		b := tx.Bucket(tables.Subs)
		v := bytes.Clone(b.Get([]byte(id)))
		v[len(v)/2] ^= 0x10
		return b.Put([]byte(id), v)
	})
}

// Subscriptions that are younger than the snapshot, and one that it has although it was removed,
// are named and paused behind a gap, and the recovery is no plain success.
func TestRecoverNamesSubscriptionsThatTheSnapshotLacks(t *testing.T) {
	dir := newSubscriptions(t)
	spoil(t, dir, "aa")
	var out said
	err := maintain.Recover(t.Context(), dir, time.Now(), out.say)
	if !errors.Is(err, maintain.ErrUnsure) || !strings.Contains(err.Error(), "3 subscriptions are named above") {
		t.Errorf("%v\n%s", err, strings.Join(out.lines, "\n"))
	}
	for _, words := range []string{
		`subscription bb,  of "", was removed after snapshot-20260219T153000Z.db, and comes back paused: `,
		`subscription cc, load.tick of "pager", is not in snapshot-20260219T153000Z.db, and is kept paused`,
		`subscription dd, load.tick of "new \x1b server", is not in`, "`eventdeck subs rm bb`", "`eventdeck subs resume cc`",
	} {
		out.has(t, words)
	}
	s := openTest(t, Options{Dir: dir})
	gaps := map[event.SubID]int{}
	mustDo(t, s.Forward(1, func(r event.Record) bool {
		if r.Kind == event.KindGap && r.Gap.Cause == event.CauseDamaged {
			gaps[r.Sub]++
		}
		return true
	}))
	for _, sub := range s.Subscriptions() {
		if unsure := sub.ID != "aa"; sub.Paused != unsure || (gaps[sub.ID] == 1) != unsure {
			t.Errorf("%s: paused %v, %d gaps", sub.ID, sub.Paused, gaps[sub.ID])
		}
		if sub.Hook.Secret.IsZero() {
			t.Errorf("%s has no secret", sub.ID)
		}
	}
	equal(t, len(s.Subscriptions()), 4)
	mustDo(t, s.Close())
	mustDo(t, maintain.Check(t.Context(), dir, out.say))
}

// A file that is cut anywhere loses no subscription of which a record is kept without a word, and
// brings none back that was removed, unless every trace of that is lost with the end of the file.
func TestRecoverOfACutFileLosesNoSubscriptionInSilence(t *testing.T) {
	whole := newSubscriptions(t)
	spoil(t, whole, "aa") // the table of subscriptions is never whole
	content, err := os.ReadFile(filepath.Join(whole, datadir.DB))
	mustDo(t, err)
	named := 0
	for size := os.Getpagesize() * 2; size < len(content); size += os.Getpagesize() {
		dir := t.TempDir()
		mustDo(t, os.CopyFS(dir, os.DirFS(whole)))
		makePrivate(t, dir)
		mustDo(t, os.WriteFile(filepath.Join(dir, datadir.DB), content[:size], 0o600))
		var out said
		err := maintain.Recover(t.Context(), dir, time.Now(), out.say)
		if err != nil && !errors.Is(err, maintain.ErrUnsure) {
			t.Errorf("cut to %d bytes: %v", size, err)
			continue
		}
		text := strings.Join(out.lines, "\n")
		s := openTest(t, Options{Dir: dir})
		there, gaps, records := map[event.SubID]event.Subscription{}, map[event.SubID]bool{}, map[event.SubID]bool{}
		for _, sub := range s.Subscriptions() {
			there[sub.ID] = sub
		}
		mustDo(t, s.Forward(1, func(r event.Record) bool {
			gaps[r.Sub] = gaps[r.Sub] || r.Kind == event.KindGap
			records[r.Sub] = records[r.Sub] || r.Kind == event.KindEvent
			return true
		}))
		mustDo(t, s.Close())
		for _, id := range []event.SubID{"aa", "cc"} {
			if _, ok := there[id]; records[id] && (!ok && (!strings.Contains(text, "subscription "+string(id)) || !gaps[id] || err == nil)) {
				t.Errorf("cut to %d bytes: %s is missing:\n%s", size, id, text)
			}
		}
		if slices.ContainsFunc([]string{"aa", "bb", "cc", "dd"}, func(id string) bool { return strings.Contains(text, "subscription "+id+", ") }) {
			named++
			if err == nil {
				t.Errorf("cut to %d bytes: a plain success:\n%s", size, text)
			}
		}
	}
	if named == 0 {
		t.Error("no cut left anything to name")
	}
}
