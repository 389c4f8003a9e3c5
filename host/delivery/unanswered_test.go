package delivery

import (
	"sync/atomic"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// While a poll waits for its answer, the status says since when, and Changed is called.
func TestPollWithoutAnAnswer(t *testing.T) {
	bubble(t, event.ModePoll, func(r *rig) {
		var changed atomic.Int64
		r.deps.Changed = func() { changed.Add(1) }
		var asked time.Time
		r.src.poll = func(n int, _ wire.PollRequest) (wire.PollResult, error) {
			if n == 2 {
				asked = time.Now()
				time.Sleep(time.Minute)
			}
			return wire.PollResult{Cursor: cur("c1")}, nil
		}
		r.start().pass(2 * time.Second)
		if s := r.runner.Status(); asked.IsZero() || !s.Asked.Equal(asked) {
			t.Errorf("asked at %v, want %v", s.Asked, asked)
		}
		before := changed.Load()
		r.pass(UnansweredAfter)
		equal(t, changed.Load(), before+1)
		r.pass(time.Minute)
		if s := r.runner.Status(); !s.Asked.IsZero() {
			t.Errorf("asked at %v", s.Asked)
		}
	})
}
