package store

import (
	"context"
	"errors"
	"testing"

	"eventdeck/host/event"
)

// A batch behind one that failed must not be stored, or its cursor would pass events that are
// missing.
func TestFenceRefusesBatchesBehindAFailure(t *testing.T) {
	s, err := Open(context.Background(), Options{Temporary: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var fence event.Fence
	submit := func() error {
		done := make(chan error, 1)
		cursor := event.Cursor{Valid: true}
		err := s.Submit(context.Background(), event.Batch{
			Sub: "a", Cursor: &cursor, Fence: &fence,
			Done: func(_ event.Outcome, err error) { done <- err },
		})
		if err != nil {
			t.Fatal(err)
		}
		return <-done
	}
	if err := submit(); err != nil {
		t.Fatalf("a whole fence: %v", err)
	}
	fence.Break()
	if err := submit(); !errors.Is(err, event.ErrFenced) {
		t.Fatalf("behind a broken fence: %v, want ErrFenced", err)
	}
}

func TestFailedCommitBreaksTheFence(t *testing.T) {
	fail := errors.New("no")
	s, err := Open(context.Background(), Options{Temporary: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.hooks.FailAfter = func() error { return fail }
	var fence event.Fence
	done := make(chan error, 1)
	err = s.Submit(context.Background(), event.Batch{
		Sub: "a", Update: func(*event.Subscription) {}, Fence: &fence,
		Done: func(_ event.Outcome, err error) { done <- err },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, fail) {
		t.Fatalf("got %v, want the failure", err)
	}
	if !fence.Broken() {
		t.Fatal("the fence is whole after a failed commit")
	}
}
