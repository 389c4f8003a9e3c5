package store

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/seal"
	"eventdeck/store/tables"
)

// heard is a batch that says no more than that a subscription is heard of.
func heard(id event.SubID, at time.Time) event.Batch {
	cursor := event.At(text("c1"))
	return event.Batch{Sub: id, IfKept: true, Cursor: &cursor, Update: func(s *event.Subscription) { s.LastSeen, s.CompleteUntil = at.UTC(), at.UTC() }}
}

// inFile returns a subscription as the file has it.
func inFile(t *testing.T, s *Store, id event.SubID) (sub event.Subscription) {
	t.Helper()
	mustDo(t, boltfile.View(s.db, func(tx *boltfile.Tx) error {
		value, err := tx.Bucket(tables.Subs).Get([]byte(id))
		if err != nil {
			return err
		}
		kept, err := tables.ReadSub(id, value)
		sub = kept.Sub
		return err
	}))
	return sub
}

// Signs of life of all subscriptions share one commit in 30 s. Readers see them at once, and the
// last ones are stored at the end.
func TestSignsOfLifeShareACommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s, err := Open(t.Context(), Options{Dir: dir, Keyring: seal.NoKeyring()})
		mustDo(t, err)
		ids := make([]event.SubID, 24)
		for i := range ids {
			ids[i] = event.SubID(fmt.Sprintf("sub%02d", i))
			b := heard(ids[i], time.Now())
			b.IfKept = false
			store(t, s, b)
		}
		before, began := s.Info().Load.Commits, time.Now()
		var last time.Time
		for time.Since(began) < 10*time.Minute {
			time.Sleep(time.Second)
			last = time.Now().UTC()
			for _, id := range ids {
				store(t, s, heard(id, last))
				if sub, err := s.Subscription(id); err != nil || !sub.LastSeen.Equal(last) {
					t.Fatalf("%s was seen at %v, not %v: %v", id, sub.LastSeen, last, err)
				}
			}
			if sub := inFile(t, s, ids[7]); last.Sub(sub.LastSeen) > signsEvery+time.Second {
				t.Fatalf("stored is %v, seen was %v", sub.LastSeen, last)
			}
		}
		if n := s.Info().Load.Commits - before; n < 19 || n > 20 {
			t.Errorf("%d commits in 10 minutes", n)
		}
		mustDo(t, s.Close())
		s = openTest(t, Options{Dir: dir})
		for _, sub := range s.Subscriptions() {
			if !sub.LastSeen.Equal(last) || !sub.CompleteUntil.Equal(last) {
				t.Errorf("%s was seen last at %v, and stored is %v", sub.ID, last, sub.LastSeen)
			}
		}
		mustDo(t, s.Close())
	})
}

// Whatever is more than a sign of life is in the file before its batch is answered, and so is what
// was seen before of the same subscription.
func TestMoreThanASignOfLifeIsStoredAtOnce(t *testing.T) {
	s := openTest(t, Options{})
	start := newEvent("").ReceivedAt
	store(t, s, event.Batch{Sub: "aa", Update: func(*event.Subscription) {}})
	at := start
	for _, tt := range []struct {
		what   string
		change func(*event.Batch)
	}{
		{"seen for the first time", func(*event.Batch) {}},
		{"a record", func(b *event.Batch) { b.Records = []event.Record{newEvent("1")} }},
		{"another position", func(b *event.Batch) { b.Cursor = &event.Cursor{Text: text("c2"), Valid: true} }},
		{"back at the position", func(*event.Batch) {}},
		{"a proof", func(b *event.Batch) { b.Update = also(b, func(s *event.Subscription) { s.Proof = event.ProofProved }) }},
		{"a checkpoint", func(b *event.Batch) {
			b.Update = also(b, func(s *event.Subscription) { s.Checkpoint(event.At(text("c1")), start, text(""), text("")) })
		}},
		{"a state", func(b *event.Batch) {
			b.Update = also(b, func(s *event.Subscription) { s.State = event.StateSuspended })
		}},
		{"a lease", func(b *event.Batch) {
			b.Update = also(b, func(s *event.Subscription) { s.Lease.Status = &event.DeliveryStatus{Active: true} })
		}},
		{"an act", func(b *event.Batch) {
			b.Audit = []event.AuditEntry{event.Act(start, event.ActorOperator, "refresh", event.Subscription{ID: "aa"})}
		}},
	} {
		at = at.Add(time.Second)
		before := s.Info().Load.Commits
		if tt.what != "seen for the first time" {
			store(t, s, heard("aa", at))
			if n := s.Info().Load.Commits - before; n != 0 && tt.what != "back at the position" {
				t.Fatalf("%s: a sign of life is a commit", tt.what)
			}
		}
		at = at.Add(time.Second)
		b := heard("aa", at)
		tt.change(&b)
		store(t, s, b)
		if tt.what == "back at the position" {
			continue // the sign of life was it
		}
		if n := s.Info().Load.Commits - before; n != 1 {
			t.Errorf("%s: %d commits", tt.what, n)
		}
		want, err := s.Subscription("aa")
		mustDo(t, err)
		if got := inFile(t, s, "aa"); !got.LastSeen.Equal(at.UTC()) || got.Proof != want.Proof || got.Cursor != want.Cursor || got.State != want.State {
			t.Errorf("%s: the file has %+v", tt.what, got)
		}
	}
}

func also(b *event.Batch, change func(*event.Subscription)) func(*event.Subscription) {
	before := b.Update
	return func(s *event.Subscription) { before(s); change(s) }
}

// Code of a batch is called once, whether or not it is a sign of life, in the order of the batches.
func TestUpdatesAreCalledOnceInOrder(t *testing.T) {
	s := openTest(t, Options{})
	b := heard("aa", newEvent("").ReceivedAt)
	b.IfKept = false
	store(t, s, b)
	var calls []int
	var answers []<-chan result
	for i := range 30 {
		b := heard("aa", newEvent("").ReceivedAt.Add(time.Duration(i)*time.Second))
		b.Update = also(&b, func(s *event.Subscription) {
			calls = append(calls, i)
			if i%3 == 1 {
				s.Mode = event.Mode(fmt.Sprint("mode", i))
			}
		})
		answers = append(answers, submit(t, s, b))
	}
	for _, a := range answers {
		<-a
	}
	for i, n := range calls {
		if n != i {
			t.Fatalf("called are %v", calls)
		}
	}
	equal(t, len(calls), 30)
	sub, err := s.Subscription("aa")
	mustDo(t, err)
	equal(t, sub.Mode, event.Mode("mode28"))
	equal(t, sub.LastSeen, newEvent("").ReceivedAt.Add(29*time.Second).UTC())
}

// While the store cannot be written a sign of life shows it, and the first one that can be stored
// shows that too.
func TestSignsOfLifeShowAFailingStore(t *testing.T) {
	var fails bool
	s := openTest(t, Options{Hooks: Hooks{FailBefore: func() error {
		if fails {
			return syscall.ENOSPC
		}
		return nil
	}}})
	b := heard("aa", newEvent("").ReceivedAt)
	b.IfKept = false
	store(t, s, b)
	fails = true
	if r := <-submit(t, s, eventsBatch("aa", "1")); !errors.Is(r.err, event.ErrFull) {
		t.Fatal(r.err)
	}
	if r := <-submit(t, s, heard("aa", newEvent("").ReceivedAt.Add(time.Second))); !errors.Is(r.err, event.ErrFull) {
		t.Errorf("a sign of life is answered with %v", r.err)
	}
	fails = false
	if r := <-submit(t, s, heard("aa", newEvent("").ReceivedAt.Add(time.Second))); r.err != nil || s.Info().Err != nil {
		t.Errorf("then: %v, %v", r.err, s.Info().Err)
	}
}
