package delivery

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// A subscription ends as planned, whether or not its server says so, and that is no error.
func TestPlannedEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		ends  time.Duration // 0: the operator asked for none
		says  bool          // the server says after a minute that it has expired
		after time.Duration
	}{
		"server silent":   {time.Minute, false, time.Minute + endGrace},
		"server says so":  {time.Minute, true, time.Minute},
		"server's own":    {0, true, time.Minute},
		"over long since": {-time.Hour, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModePush, func(r *rig) {
				if tt.ends != 0 {
					r.deps.Ends = time.Now().Add(tt.ends)
				}
				r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
					s.active("c1")
					for range 2 {
						s.wait(30 * time.Second)
						s.note(wire.NoteHeartbeat, `{}`)
					}
					if tt.says {
						s.sink(wire.Note{Method: wire.NoteTerminated, Params: []byte(`{"error":{"message":"expired"}}`), Planned: true})
					}
					return s.stay()
				}
				r.start()
				if tt.after > 0 {
					r.pass(tt.after - time.Second)
					r.wantState(event.StateLive)
				}
				r.pass(time.Second)
				s := r.runner.Status()
				if s.State != event.StateEnded || !s.Error.IsZero() || s.Reason != "" {
					t.Errorf("%s, %v, %s", s.State, s.Error, s.Reason)
				}
				if sub := r.saved(); sub.State != event.StateEnded || sub.Evidence != "it ended as planned" || !sub.Error.IsZero() {
					t.Errorf("stored: %s, %s, %v", sub.State, sub.Evidence, sub.Error)
				}
				r.wantEnded(true)
			})
		})
	}
}

// A caller that waits for the server's answer learns that the subscription is over, not that the
// server refused it.
func TestPlannedEndBeforeAnAnswer(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error { return s.stay() }
		r.start()
		answered := make(chan error, 1)
		go func() { answered <- r.runner.Answered(context.Background()) }()
		r.runner.SetEnd(time.Now().Add(-time.Minute))
		r.pass(time.Second)
		if err := <-answered; !errors.Is(err, ErrStopped) {
			t.Errorf("the caller gets %v", err)
		}
		r.wantEnded(true)
	})
}

// The operator's end can be set while a subscription runs, and it is sent to the server.
func TestEndIsSetWhileItRuns(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		released := 0
		r.deps.Release = func(context.Context, event.SubID) { released++ }
		r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
			s.active("c1")
			for range 20 {
				s.wait(30 * time.Second)
				s.note(wire.NoteHeartbeat, `{}`)
			}
			return s.stay()
		}
		r.start()
		r.runner.SetEnd(time.Now().Add(time.Minute))
		r.runner.SetEnd(time.Now().Add(3 * time.Minute))
		r.pass(2 * time.Minute)
		r.wantState(event.StateLive)
		r.runner.SetEnd(time.Time{})
		r.pass(2 * time.Minute)
		r.wantState(event.StateLive)
		r.runner.SetEnd(time.Now().Add(-time.Minute))
		r.pass(time.Second)
		if s := r.runner.Status().State; s != event.StateEnded || released != 1 || len(r.gaps()) != 0 {
			t.Errorf("%s, ended %d times on the server, gaps %v", s, released, r.gaps())
		}
		r.wantEnded(true)
	})
}

// What came since the last poll is fetched before a planned end.
func TestPlannedEndOfAPollFetchesTheRest(t *testing.T) {
	bubble(t, event.ModePoll, func(r *rig) {
		r.deps.Ends = time.Now().Add(50 * time.Second)
		polls := 0
		r.src.poll = func(_ int, q wire.PollRequest) (wire.PollResult, error) {
			polls++
			return wire.PollResult{Cursor: cur(fmt.Sprint("c", polls)), NextPoll: 45 * time.Second}, nil
		}
		r.start()
		r.pass(50*time.Second + endGrace)
		if s := r.runner.Status().State; s != event.StateEnded || polls != 3 {
			t.Errorf("%s after %d polls", s, polls)
		}
		r.wantCursor("=c3")
		r.wantEnded(true)
	})
}

// An end that came while the host or the server was away: what may have been sent meanwhile is a
// possible gap.
func TestEndWhileAwayIsAGap(t *testing.T) {
	for _, away := range []string{"host", "server"} {
		t.Run(away, func(t *testing.T) {
			bubble(t, event.ModePush, func(r *rig) {
				end := time.Now().Add(time.Hour)
				r.deps.Ends = end
				r.src.stream = func(n int, _ wire.StreamRequest, s *stream) error {
					if n > 1 {
						return errors.New("unreachable")
					}
					s.active("c1")
					s.wait(time.Minute)
					return errors.New("cut")
				}
				r.start()
				r.pass(30 * time.Second)
				if away == "host" {
					r.stop()
					r.pass(2 * time.Hour)
					r.start()
				}
				r.pass(2 * time.Hour)
				gaps := r.gaps()
				if len(gaps) != 1 || gaps[0].Certain || gaps[0].Cause != event.CauseUnproved || !gaps[0].To.Equal(end) || !gaps[0].From.Before(end) {
					t.Errorf("gaps: %+v", gaps)
				}
				r.wantEnded(true)
			})
		})
	}
}
