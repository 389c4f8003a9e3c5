package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"eventdeck/host/event"
)

func TestFailedCommitLeavesNoTrace(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, Options{Dir: dir, MaxSize: 256 << 10})
	<-s.loaded
	store(t, s, eventsBatch("aa", "1"))

	watched := 0
	defer s.Watch(func(rs []event.Record) { watched += len(rs) })()
	big := eventsBatch("aa", "2", "3")
	big.Records[1].Raw = make([]byte, 1<<20)
	big.Cursor = &event.Cursor{Valid: true}
	big.Update = set(fullSub(t))
	r := <-submit(t, s, big)
	if !errors.Is(r.err, event.ErrFull) || !errors.Is(s.Info().Err, event.ErrFull) || r.out != (event.Outcome{}) {
		t.Fatalf("%+v, Info %v", r, s.Info().Err)
	}
	if s.HasEvent("aa", text("2")) || len(s.Subscriptions()) != 0 || s.Last() != 1 || watched != 0 {
		t.Error("the failed batch left something behind")
	}

	equal(t, store(t, s, eventsBatch("aa", "1", "2")), event.Outcome{Stored: 1, Duplicates: 1, Last: 2})
	if err := s.Info().Err; err != nil {
		t.Errorf("after a good commit: %v", err)
	}
	equal(t, ids(t, s), []string{"1", "2"})

	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, Options{Dir: dir})
	equal(t, store(t, s, big), event.Outcome{Stored: 1, Duplicates: 1, Last: 3})
}

func TestBatchesBehindABrokenFence(t *testing.T) {
	s := openTest(t, Options{MaxSize: 256 << 10})
	var fence event.Fence
	fenced := func(ids ...string) event.Batch {
		b := eventsBatch("aa", ids...)
		b.Fence = &fence
		return b
	}
	store(t, s, fenced("1"))
	big := fenced("2")
	big.Records[0].Raw = make([]byte, 1<<20)
	if r := <-submit(t, s, big); !errors.Is(r.err, event.ErrFull) {
		t.Fatal(r.err)
	}
	if r := <-submit(t, s, fenced("3")); !errors.Is(r.err, event.ErrFenced) {
		t.Errorf("behind the failed batch: %+v", r)
	}
	store(t, s, eventsBatch("aa", "4")) // others are not held up
	equal(t, ids(t, s), []string{"1", "4"})
}

func TestCommitThatFailedButLanded(t *testing.T) {
	broken := errors.New("sync failed")
	fail := true
	s := openTest(t, Options{Hooks: Hooks{FailAfter: func() error {
		if fail {
			return broken
		}
		return nil
	}}})
	b := eventsBatch("aa", "1")
	b.Update = set(fullSub(t))
	if r := <-submit(t, s, b); !errors.Is(r.err, broken) || errors.Is(r.err, event.ErrFull) {
		t.Errorf("%+v", r)
	}
	s.Submit(t.Context(), event.Batch{Update: func(*event.Subscription) { fail = false }, Sub: "x"})
	equal(t, store(t, s, eventsBatch("aa", "1", "2")), event.Outcome{Stored: 1, Duplicates: 1, Last: 2})
	equal(t, ids(t, s), []string{"1", "2"})
}

func TestPanicOfAnUpdateIsNotSwallowed(t *testing.T) {
	s := openTest(t, Options{})
	<-s.loaded
	c := &commit{store: s}
	defer func() {
		if r := recover(); r != "mistake" {
			t.Errorf("recovered %v", r)
		}
	}()
	_ = c.write([]*job{{batch: event.Batch{Sub: "aa", Update: func(*event.Subscription) { panic("mistake") }}}})
	t.Error("no panic")
}

func TestChangeEndsWithItsContext(t *testing.T) {
	hold := make(chan struct{})
	began := make(chan struct{}, 9)
	s := openTest(t, Options{Hooks: Hooks{BeforeCommit: func() { began <- struct{}{}; <-hold }}})
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error, 1)
	go func() { errs <- s.SetSetting(ctx, "k", "v") }()
	<-began
	cancel()
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(hold)
}

func TestSubmitWaitsWhileTheQueueIsFull(t *testing.T) {
	hold := make(chan struct{})
	began := make(chan struct{}, 99)
	s := openTest(t, Options{Hooks: Hooks{BeforeCommit: func() { began <- struct{}{}; <-hold }}})
	first := submit(t, s, event.Batch{})
	<-began
	full := event.Batch{Sub: "aa"}
	for i := range queueRecords {
		full.Records = append(full.Records, newEvent(fmt.Sprint(i)))
	}
	second := submit(t, s, full)
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error, 1)
	go func() { errs <- s.Submit(ctx, eventsBatch("aa", "late")) }()
	select {
	case err := <-errs:
		t.Fatalf("Submit returned %v while the queue was full", err)
	default:
	}
	cancel()
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(hold)
	<-first
	equal(t, (<-second).out.Stored, queueRecords)
	if s.HasEvent("aa", text("late")) {
		t.Error("a batch that was not taken is stored")
	}
}

// TestDiskFull fills a file system of its own, for which it needs the right to mount one;
// elsewhere the bound of TestFailedCommitLeavesNoTrace stands in for it.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	unmount, err := mountSmall(dir, "24m")
	if err != nil {
		t.Skip("no small file system: ", err)
	}
	t.Cleanup(func() {
		if err := unmount(); err != nil {
			t.Error(err)
		}
	})
	ballast := dir + "/ballast"
	s := openTest(t, Options{Dir: dir + "/data"})
	store(t, s, eventsBatch("aa", "0"))
	if err := os.WriteFile(ballast, make([]byte, 5<<20), 0o600); err != nil {
		t.Fatal(err)
	}

	acked := []string{"0"}
	var failed event.Batch
	for i := 1; failed.Records == nil; i++ {
		b := eventsBatch("aa", fmt.Sprint(i))
		b.Records[0].Raw = make([]byte, 1<<20)
		switch r := <-submit(t, s, b); {
		case r.err == nil:
			acked = append(acked, fmt.Sprint(i))
		case errors.Is(r.err, event.ErrFull):
			failed = b
		default:
			t.Fatal(r.err)
		}
	}
	if len(acked) < 3 {
		t.Errorf("full after %d events", len(acked))
	}
	equal(t, ids(t, s), acked)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	equal(t, store(t, s, failed).Stored, 1)
	if err := s.Info().Err; err != nil {
		t.Error(err)
	}
}
