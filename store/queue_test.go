package store

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"eventdeck/host/event"
)

func jobOf(records, bytes int) *job { return &job{entries: make([]entry, records), bytes: bytes} }

func TestQueueHasALeadingEdge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(queueRecords, queueBytes)
		start := time.Now()
		put := func(records int) {
			if err := q.put(t.Context(), jobOf(records, 0)); err != nil {
				t.Error(err)
			}
		}
		next := func(due time.Time, jobs int, at time.Duration) {
			t.Helper()
			if got := len(q.next(pace{due: due, soon: due}, time.Time{})); got != jobs || time.Since(start) != at {
				t.Errorf("%d jobs at %v, want %d at %v", got, time.Since(start), jobs, at)
			}
		}
		put(1)
		next(time.Time{}, 1, 0)

		due := start.Add(commitEvery)
		go func() {
			for range 3 {
				put(1)
				time.Sleep(time.Millisecond)
			}
		}()
		next(due, 3, 5*time.Millisecond) // gathered until it was due

		go func() {
			time.Sleep(20 * time.Millisecond)
			put(1)
		}()
		next(start.Add(10*time.Millisecond), 1, 25*time.Millisecond) // long due: at once

		due = time.Now().Add(commitEvery)
		go func() {
			time.Sleep(time.Millisecond)
			put(groupRecords - 24)
			time.Sleep(time.Millisecond)
			put(24)
			put(1)
		}()
		next(due, 2, 27*time.Millisecond) // a whole group does not wait

		synctest.Wait() // until the rest is there
		q.close()
		next(time.Now().Add(time.Hour), 1, 27*time.Millisecond) // nor does the rest at the end
		if q.next(pace{}, time.Time{}) != nil {
			t.Error("a closed and empty queue has a next group")
		}
	})
}

func TestAwaitedJobsAreCommittedSooner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(queueRecords, queueBytes)
		start := time.Now()
		put := func(awaited bool) {
			if err := q.put(t.Context(), &job{batch: event.Batch{Awaited: awaited}}); err != nil {
				t.Error(err)
			}
		}
		next := func(p pace, jobs int, at time.Duration) {
			t.Helper()
			if got := len(q.next(p, time.Time{})); got != jobs || time.Since(start) != at {
				t.Errorf("%d jobs at %v, want %d at %v", got, time.Since(start), jobs, at)
			}
		}
		p := paceAfter(start, start.Add(400*time.Microsecond))
		go func() {
			put(false)
			time.Sleep(time.Millisecond)
			put(true) // takes along what is queued
		}()
		next(p, 2, 1400*time.Microsecond)
		if q.awaited != 0 {
			t.Errorf("%d awaited jobs are left", q.awaited)
		}
		put(false)
		next(paceAfter(start, start), 1, commitEvery)
	})
	began := time.Unix(0, 0)
	for _, c := range []struct {
		took, soon time.Duration
	}{
		{0, awaitedEvery},
		{time.Millisecond, 2 * time.Millisecond},
		{2 * time.Millisecond, 4 * time.Millisecond},
		{4 * time.Millisecond, commitEvery},
		{time.Second, commitEvery},
	} {
		if got := paceAfter(began, began.Add(c.took)).soon.Sub(began); got != c.soon {
			t.Errorf("after a commit of %v: %v, want %v", c.took, got, c.soon)
		}
	}
}

func TestQueueIsBounded(t *testing.T) {
	for name, c := range map[string]struct{ held, more *job }{
		"records":           {jobOf(queueRecords-1, 0), jobOf(2, 0)},
		"bytes":             {jobOf(1, queueBytes), jobOf(1, 1)},
		"larger than all":   {jobOf(1, 1), jobOf(queueRecords*2, queueBytes*2)},
		"jobs of no record": {jobOf(queueRecords, 0), jobOf(0, 0)},
	} {
		synctest.Test(t, func(t *testing.T) {
			q := newQueue(queueRecords, queueBytes)
			if err := q.put(t.Context(), c.held); err != nil {
				t.Fatal(err)
			}
			var order []*job
			done := make(chan *job, 2)
			put := func(j *job) {
				if err := q.put(t.Context(), j); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				done <- j
			}
			go put(c.more)
			synctest.Wait()
			behind := jobOf(1, 0)
			go put(behind) // may fit, and must not overtake
			synctest.Wait()
			if len(done) != 0 {
				t.Fatalf("%s: put does not wait", name)
			}
			for len(order) < 3 {
				order = append(order, q.next(pace{due: time.Now().Add(time.Hour)}, time.Time{})...)
			}
			if order[0] != c.held || order[1] != c.more || order[2] != behind || q.records != 0 || q.bytes != 0 {
				t.Errorf("%s: order %p, left %d records and %d bytes", name, order, q.records, q.bytes)
			}
		})
	}
}

func TestWaitingEndsWithTheContextAndTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(queueRecords, queueBytes)
		if err := q.put(t.Context(), jobOf(queueRecords, 0)); err != nil {
			t.Fatal(err)
		}
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		errs := make(chan error, 2)
		go func() { errs <- q.put(ctx, jobOf(1, 0)) }()
		synctest.Wait()
		cancel(cause)
		if err := <-errs; err != cause {
			t.Errorf("cancelled: %v", err)
		}
		if err := q.put(ctx, jobOf(1, 0)); err != cause {
			t.Errorf("cancelled before: %v", err)
		}
		go func() { errs <- q.put(t.Context(), jobOf(1, 0)) }()
		synctest.Wait()
		q.close()
		if err := <-errs; err != event.ErrClosed {
			t.Errorf("closed: %v", err)
		}
		if got := len(q.next(pace{}, time.Time{})); got != 1 {
			t.Errorf("%d jobs are left, want the first one", got)
		}
	})
}

func TestLeavingTheLineLetsOthersIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(queueRecords, queueBytes)
		if err := q.put(t.Context(), jobOf(queueRecords-1, 0)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		errs := make(chan error, 2)
		go func() { errs <- q.put(ctx, jobOf(2, 0)) }()
		synctest.Wait()
		go func() { errs <- q.put(t.Context(), jobOf(1, 0)) }()
		synctest.Wait()
		cancel()
		a, b := <-errs, <-errs
		if (a == nil) == (b == nil) {
			t.Errorf("%v and %v, want one to leave and the other to enter", a, b)
		}
	})
}

// The queue takes up to the bounds that an operator has set: below, at and above them.
func TestQueueTakesUpToItsBounds(t *testing.T) {
	for name, c := range map[string]struct {
		more *job
		fits bool
	}{
		"records below": {jobOf(2, 1), true}, "records at": {jobOf(3, 1), true}, "records above": {jobOf(4, 1), false},
		"bytes below": {jobOf(1, 49), true}, "bytes at": {jobOf(1, 50), true}, "bytes above": {jobOf(1, 51), false},
	} {
		q := newQueue(10, 100)
		if err := q.put(t.Context(), jobOf(7, 50)); err != nil {
			t.Fatal(err)
		}
		if got := q.fits(c.more); got != c.fits {
			t.Errorf("%s: %v", name, got)
		}
	}
	s := openTest(t, Options{Dir: t.TempDir()})
	if l := s.Info().Load; l.QueuedMax != queueRecords || l.QueuedBytesMax != queueBytes {
		t.Errorf("%+v", l)
	}
}
