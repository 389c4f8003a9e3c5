package delivery

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

func TestRefreshAsksAtOnce(t *testing.T) {
	for _, mode := range allModes {
		t.Run(string(mode), func(t *testing.T) {
			bubble(t, mode, func(r *rig) {
				_, _, _ = failing(r)
				r.src.poll = func(int, wire.PollRequest) (wire.PollResult, error) {
					return wire.PollResult{NextPoll: 5 * time.Minute, Cursor: cur("0")}, nil
				}
				r.start().pass(4 * time.Second)
				before := r.src.calls()
				at := time.Now()
				if err := r.runner.Refresh(context.Background()); err != nil {
					t.Fatal(err)
				}
				if n := r.src.calls(); n != before+1 || time.Since(at) > 0 {
					t.Errorf("%d more calls after %v", n-before, time.Since(at))
				}
				r.wantLog("")
				if got := r.log(true); got != "<live>" && got != "<polling>" {
					t.Errorf("log %s", got)
				}
			})
		})
	}
}

func TestRefreshEndsAPauseAndReturnsTheFailure(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		push, _, _ := failing(r)
		r.sub.Failover = false
		push.Store(true)
		r.start().pass(2 * time.Minute)
		n := r.src.calls()
		if err := r.runner.Refresh(context.Background()); err == nil || err.Error() != "cut" {
			t.Errorf("got %v", err)
		}
		if r.src.calls() != n+1 {
			t.Errorf("%d calls", r.src.calls()-n)
		}
		push.Store(false)
		if err := r.runner.Refresh(context.Background()); err != nil {
			t.Error(err)
		}
		r.wantState(event.StateLive)
		r.stop()
		if err := r.runner.Refresh(context.Background()); !errors.Is(err, ErrStopped) {
			t.Errorf("after the end: %v", err)
		}
		synctest.Wait()
	})
}

// A refresh by the operator does not count as a failure of the mode.
func TestRefreshDoesNotFailOver(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		_, _, _ = failing(r)
		r.start()
		for range 10 {
			if err := r.runner.Refresh(context.Background()); err != nil {
				t.Fatal(err)
			}
			r.pass(time.Second)
		}
		r.wantSwitches("")
		r.wantState(event.StateLive)
	})
}

// The server counts events that were under way when the stream was given up as sent.
func TestRefreshDoesNotResumeTheStreamThatItEnds(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.resumed()
		var sent []string
		r.src.stream = func(_ int, q wire.StreamRequest, s *stream) error {
			sent = append(sent, q.Resume)
			s.active(q.At.Cursor.Raw())
			s.tell(wire.Note{Method: wire.NoteResumable, Resume: token()})
			return s.stay()
		}
		r.start().pass(time.Minute)
		if err := r.runner.Refresh(context.Background()); err != nil {
			t.Fatal(err)
		}
		equal(t, sent, []string{"", ""})
	})
}
