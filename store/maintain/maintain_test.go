package maintain_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/store"
	"eventdeck/store/boltfile"
	"eventdeck/store/datadir"
	"eventdeck/store/maintain"
	"eventdeck/store/seal"
	"eventdeck/store/tables"
)

// received is when the events of these tests were received.
var received = time.Date(2026, 2, 19, 15, 30, 0, 0, time.UTC)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens a store whose clock stands still, until the end of the test or until it is
// closed.
func open(t *testing.T, dir string, now time.Time) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: dir, Keyring: seal.NoKeyring(), Now: func() time.Time { return now }})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

// add stores events of a subscription, and moves its cursor behind the last of them.
func add(t *testing.T, s *store.Store, sub event.SubID, ids ...string) event.Outcome {
	t.Helper()
	type result struct {
		out event.Outcome
		err error
	}
	done := make(chan result, 1)
	cursor := event.At(trust.Untrusted("c" + ids[len(ids)-1]))
	b := event.Batch{
		Sub: sub, Cursor: &cursor, Done: func(o event.Outcome, err error) { done <- result{o, err} },
		Update: func(s *event.Subscription) {
			s.Key = event.Key{Server: "pager", Type: trust.Untrusted("load.tick"), Args: []byte("{}")}
			s.Hook.Secret = event.NewSecret("whsec_recovered")
		},
	}
	for _, id := range ids {
		b.Records = append(b.Records, event.Record{Kind: event.KindEvent, Server: "pager", ReceivedAt: received, EventID: trust.Untrusted(id), Raw: []byte(`{"n":1}`)})
	}
	must(t, s.Submit(t.Context(), b))
	r := <-done
	must(t, r.err)
	return r.out
}

// filled makes a closed store with n events of each of two subscriptions, aa and bb.
func filled(t *testing.T, n int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s := open(t, dir, received)
	var ids []string
	for i := range n {
		ids = append(ids, fmt.Sprint(i))
	}
	add(t, s, "aa", ids...)
	add(t, s, "bb", ids...)
	must(t, s.Close())
	return dir
}

// harm changes the database of a closed store.
func harm(t *testing.T, dir string, change func(*boltfile.Tx) error) {
	t.Helper()
	db, err := bolt.Open(filepath.Join(dir, datadir.DB), 0o600, nil)
	must(t, err)
	must(t, errors.Join(boltfile.Update(db, change), db.Close()))
}

func removeSnapshots(t *testing.T, dir string) {
	t.Helper()
	names, err := datadir.Snapshots(dir)
	must(t, err)
	for _, name := range names {
		must(t, os.Remove(filepath.Join(dir, name)))
	}
}

// report collects the lines that an operation says.
type report struct{ lines []string }

func (r *report) add(line string) { r.lines = append(r.lines, line) }

func (r *report) has(t *testing.T, words string) {
	t.Helper()
	if !strings.Contains(strings.Join(r.lines, "\n"), words) {
		t.Errorf("%q is not said in:\n%s", words, strings.Join(r.lines, "\n"))
	}
}

func TestCheckOfASoundStore(t *testing.T) {
	dir := filled(t, 50)
	var out report
	must(t, maintain.Check(t.Context(), dir, out.add))
	out.has(t, "100 records of 2 subscriptions")
	open(t, dir, received)
	if err := maintain.Check(t.Context(), dir, out.add); !errors.Is(err, boltfile.ErrLocked) {
		t.Errorf("a store in use: %v", err)
	}
}

func TestCheckFindsWhatIsWrong(t *testing.T) {
	for says, change := range map[string]func(*boltfile.Tx) error{
		"record 3":                   func(tx *boltfile.Tx) error { return tx.Bucket(tables.Events).Put(tables.SeqKey(3), []byte("x")) },
		"newer than the last number": func(tx *boltfile.Tx) error { return tx.Bucket(tables.Events).SetCounter(1) },
		"1 of 1 are noted": func(tx *boltfile.Tx) error {
			return tx.Bucket(tables.Usage).Put(tables.UsageKey("aa"), tables.EncodeUsage(tables.Amount{Records: 1, Bytes: 1}))
		},
		"entry 1 of dedup":   func(tx *boltfile.Tx) error { return tx.Bucket(tables.Dedup).Put(tables.SeqKey(1), []byte{9}) },
		`entry "aa" of subs`: func(tx *boltfile.Tx) error { return tx.Bucket(tables.Subs).Put([]byte("aa"), []byte("{")) },
		"of servers":         func(tx *boltfile.Tx) error { return tx.Bucket(tables.Servers).Put([]byte("pager"), []byte("{")) },
	} {
		dir := filled(t, 5)
		harm(t, dir, change)
		var out report
		if err := maintain.Check(t.Context(), dir, out.add); !errors.Is(err, event.ErrDamaged) {
			t.Errorf("%s: the check says %v", says, err)
		}
		out.has(t, says)
	}
}

// A check lists twenty findings, and counts the others.
func TestCheckBoundsItsReport(t *testing.T) {
	dir := filled(t, 50)
	harm(t, dir, func(tx *boltfile.Tx) error {
		for seq := range uint64(30) {
			if err := tx.Bucket(tables.Events).Put(tables.SeqKey(seq+1), []byte("x")); err != nil {
				return err
			}
		}
		return nil
	})
	var out report
	err := maintain.Check(t.Context(), dir, out.add)
	if named := strings.Count(strings.Join(out.lines, "\n"), "\n") + 1; named > 21 || err == nil || !strings.Contains(err.Error(), " findings") {
		t.Errorf("%d lines: %v", named, err)
	}
}

func TestOperationsNeedAStore(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(t.TempDir(), "copy.db")
	_, _, err := maintain.Compact(dir)
	_, backup := maintain.Backup(dir, file)
	_, restore := maintain.Restore(t.Context(), dir, file, nil, received, func(string) {})
	for what, err := range map[string]error{
		"check the store: ": maintain.Check(t.Context(), dir, func(string) {}), "compact the store: ": err,
		"back up the store: ": backup, "restore the store: ": restore,
		"recover the store: ": maintain.Recover(t.Context(), dir, received, func(string) {}),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), what) {
			t.Errorf("%s%v", what, err)
		}
		if told := "there is no store in " + dir; (what == "check the store: " || what == "compact the store: ") && !strings.Contains(err.Error(), told) {
			t.Errorf("%v; want %s", err, told)
		}
	}
	if left, err := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

func TestCompactFreesSpace(t *testing.T) {
	dir := filled(t, 500)
	s := open(t, dir, received.Add(48*time.Hour))
	must(t, s.SetRetention(t.Context(), event.Retention{Total: event.Limits{Records: 10}}))
	want := s.Info().Records
	must(t, s.Close())
	before, after, err := maintain.Compact(dir)
	if err != nil || after >= before {
		t.Errorf("%d bytes became %d: %v", before, after, err)
	}
	must(t, maintain.Check(t.Context(), dir, func(string) {}))
	s = open(t, dir, received)
	if info := s.Info(); info.Records != want || s.Last() != 1000 {
		t.Errorf("%d records, the last is %d", info.Records, s.Last())
	}
}

func TestBackupAndRestore(t *testing.T) {
	dir := filled(t, 5)
	file := filepath.Join(t.TempDir(), "copy.db")
	n, err := maintain.Backup(dir, file)
	must(t, err)
	if _, err := maintain.Backup(dir, file); !errors.Is(err, os.ErrExist) {
		t.Errorf("over an older copy: %v", err)
	}
	content, err := os.ReadFile(file)
	if err != nil || int64(len(content)) != n || bytes.Contains(content, []byte("whsec_recovered")) {
		t.Errorf("%d bytes of %d; the secret is in the copy, or %v", n, len(content), err)
	}
	s := open(t, dir, received)
	add(t, s, "aa", "later")
	must(t, s.Close())
	var out report
	aside, err := maintain.Restore(t.Context(), dir, file, nil, received, out.add)
	if err != nil || aside != "state.db.before-20260219T153000Z" {
		t.Fatal(aside, err)
	}
	restored := func() {
		t.Helper()
		s := open(t, dir, received)
		if subs := s.Subscriptions(); s.Info().Records != 10 || subs[0].Hook.Secret != event.NewSecret("whsec_recovered") {
			t.Errorf("%d records; %+v", s.Info().Records, subs)
		}
		must(t, s.Close())
	}
	restored()
	must(t, os.WriteFile(file, []byte("no database"), 0o600))
	if _, err := maintain.Restore(t.Context(), dir, file, nil, received, out.add); !errors.Is(err, event.ErrDamaged) || !strings.Contains(err.Error(), file) {
		t.Errorf("a copy that is none: %v", err)
	}
	restored()
}

func TestRecoverOfASoundFile(t *testing.T) {
	dir := filled(t, 20)
	var out report
	must(t, maintain.Recover(t.Context(), dir, received, out.add))
	out.has(t, "40 records are kept")
	if text := strings.Join(out.lines, "\n"); !strings.Contains(text, "the old file is kept as ") || strings.Contains(text, "damaged file") {
		t.Errorf("a sound file is called damaged, or not named:\n%s", text)
	}
	s := open(t, dir, received)
	if cursor := s.Subscriptions()[0].Cursor; s.Info().Records != 40 || cursor != event.At(trust.Untrusted("c19")) {
		t.Errorf("%d records; the cursor is %+v", s.Info().Records, cursor)
	}
	if out := add(t, s, "aa", "0", "19"); out.Duplicates != 2 {
		t.Errorf("stored again: %+v", out)
	}
}

func TestRecoverWithoutAFile(t *testing.T) {
	dir := filled(t, 4)
	removeSnapshots(t, dir)
	path := filepath.Join(dir, datadir.DB)
	must(t, os.WriteFile(path, bytes.Repeat([]byte("damage"), 10_000), 0o600))
	if err := maintain.Recover(t.Context(), dir, received, func(string) {}); !errors.Is(err, event.ErrDamaged) {
		t.Errorf("without a snapshot: %v", err)
	}
	if content, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(content, []byte("damage")) {
		t.Errorf("the damaged file was touched: %v", err)
	}
}

// The other subscriptions are kept as they are if one cannot be read, which is named and paused.
func TestRecoverNamesUnreadableSubscriptions(t *testing.T) {
	dir := filled(t, 3)
	removeSnapshots(t, dir)
	harm(t, dir, func(tx *boltfile.Tx) error {
		return tx.Bucket(tables.Subs).Put([]byte("aa"), []byte(`{"v":1,"server":"=="}`))
	})
	var out report
	if err := maintain.Recover(t.Context(), dir, received, out.add); !errors.Is(err, maintain.ErrUnsure) {
		t.Errorf("it ends with %v", err)
	}
	out.has(t, "of subs, what cannot be read is left out")
	out.has(t, "subscription aa, ")
	s := open(t, dir, received)
	if n := s.Info().Records; n != 7 {
		t.Errorf("%d records, with the gap", n)
	}
	for _, sub := range s.Subscriptions() {
		if sub.Paused != (sub.ID == "aa") {
			t.Errorf("%s is paused: %v", sub.ID, sub.Paused)
		}
	}
	if _, err := s.Subscription("bb"); err != nil {
		t.Error(err)
	}
}
