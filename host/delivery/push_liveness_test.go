package delivery

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

func TestHeartbeatsMoveTheCursor(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
			s.active("c1")
			for i := 2; s.wait(10 * time.Second); i++ {
				s.heartbeat(fmt.Sprint("c", i))
			}
			return nil
		}
		r.start().pass(35 * time.Second)
		r.wantCursor("=c4")
		s := r.runner.Status()
		equal(t, s.Interval, 10*time.Second)
		equal(t, s.LastHeartbeat, time.Now().Add(-5*time.Second))
		equal(t, r.saved().LastSeen, time.Now().Add(-5*time.Second).UTC())
	})
}

func TestPushLiveness(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
			s.active("c1")
			for range 3 { // at 10, 20, 30 s
				if s.wait(10 * time.Second) {
					s.heartbeat("c1")
				}
			}
			return s.stay()
		}
		r.start().pass(49 * time.Second)
		r.wantState(event.StateLive)
		r.pass(time.Second) // two intervals
		r.wantState(event.StateStale)
		r.pass(5*time.Second - time.Millisecond)
		equal(t, r.src.calls(), 1)
		r.pass(time.Millisecond) // two and a half
		r.wantState(event.StateBackoff)
		r.pass(time.Second)
		equal(t, r.src.cursors(), "- =c1")
	})
}

// The learned interval has milliseconds; the error that an operator reads has none.
func TestSilenceIsToldInSeconds(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
			s.active("c1")
			for range 3 {
				if s.wait(5630 * time.Millisecond) {
					s.heartbeat("c1")
				}
			}
			return s.stay()
		}
		r.start().pass(31 * time.Second)
		r.wantState(event.StateBackoff)
		if e := r.runner.Status().Error.Raw(); !strings.Contains(e, "no sign of life on the stream for 14s") {
			t.Error(e)
		}
	})
}

func TestCommentsKeepAStaleStreamOpen(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
			s.active("c1")
			s.heartbeat("c1")
			for i := 1; s.wait(10 * time.Second); i++ {
				switch {
				case i == 1:
					s.heartbeat("c1")
				case i == 12:
					s.event("e1") // at 120 s
				default:
					s.byte()
				}
			}
			return nil
		}
		r.start().pass(115 * time.Second)
		equal(t, r.src.calls(), 1)
		r.wantState(event.StateStale)
		if s := r.runner.Status(); s.LastByte.Before(time.Now().Add(-25 * time.Second)) {
			t.Errorf("last byte %v ago", time.Since(s.LastByte))
		}
		r.pass(6 * time.Second)
		r.wantState(event.StateLive)
		r.pass(18 * time.Second) // 139 s
		r.wantState(event.StateLive)
		r.pass(time.Second)
		r.wantState(event.StateStale)
	})
}

func TestWatchdogBeforeAnIntervalIsLearned(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error { return s.stay() }
		r.start().pass(65*time.Second - time.Millisecond)
		r.wantState(event.StateStarting)
		r.pass(time.Millisecond)
		r.wantState(event.StateBackoff)
		if e := r.runner.Status().Error.Raw(); !strings.Contains(e, "no sign of life") {
			t.Error(e)
		}
	})
}

func TestBurstOfHeartbeatsTeachesNothing(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
			s.active("c1")
			s.heartbeat("c1")
			s.wait(time.Millisecond)
			s.heartbeat("c1")
			for s.wait(30 * time.Second) {
				s.heartbeat("c1")
			}
			return nil
		}
		r.start().pass(10 * time.Minute)
		r.wantState(event.StateLive)
		equal(t, r.src.calls(), 1)
		equal(t, r.runner.Status().Interval, longestInterval)
	})
}
