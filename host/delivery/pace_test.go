package delivery

import (
	"errors"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// A server that delivers less than there is says so with a lease, or in an error of a stream.
func TestThrottledUntilTheServerSays(t *testing.T) {
	for name, tt := range map[string]struct {
		status wire.DeliveryStatus
		want   time.Duration
	}{
		"a lease with a time":        {wire.DeliveryStatus{Active: true, Throttled: true, RetryAfter: 20 * time.Second}, 20 * time.Second},
		"until the lease is renewed": {wire.DeliveryStatus{Active: true, Throttled: true}, 45 * time.Minute},
		"a time beyond all bounds":   {wire.DeliveryStatus{Active: true, Throttled: true, RetryAfter: 9 * time.Hour}, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModeWebhook, func(r *rig) {
				r.src.subscribe = func(n int, _ wire.SubscribeRequest) (wire.SubscribeResult, error) {
					res := grant("s", time.Hour)
					if n == 1 {
						res.Status = &tt.status
					}
					return res, nil
				}
				r.start()
				equal(t, r.runner.Status().Throttled, time.Now().Add(tt.want))
				r.runner.Nudge() // the next answer says no more of it
				r.pass(0)
				equal(t, r.runner.Status().Throttled, time.Time{})
			})
		})
	}
	t.Run("a stream", func(t *testing.T) {
		bubble(t, event.ModePush, func(r *rig) {
			r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
				s.active("c1")
				s.note(wire.NoteError, `{"code":-32025,"message":"slow down","data":{"retryAfterMs":20000}}`)
				return s.stay()
			}
			r.start()
			equal(t, r.runner.Status().Throttled, time.Now().Add(20*time.Second))
		})
	})
}

// A stream that is lost again and again is no healthy one in between.
func TestStreamLostThreeTimesFlaps(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.deps.Timing.Watchdog = time.Hour
		held := []time.Duration{30 * time.Second, 30 * time.Second, 30 * time.Second, 270 * time.Second, 6 * time.Minute}
		r.src.stream = func(n int, _ wire.StreamRequest, s *stream) error {
			s.active("c0")
			if n > len(held) {
				return s.stay()
			}
			time.Sleep(held[n-1])
			return errors.New("cut")
		}
		r.start()
		for i, want := range []int{0, 0, 3, 2, 0} {
			r.pass(held[i] + 5*time.Second) // with the pause before the next stream
			s := r.runner.Status()
			if s.State != event.StateLive || s.Losses != want || s.LostAt.IsZero() {
				t.Errorf("loss %d: %s, %d losses", i+1, s.State, s.Losses)
			}
		}
	})
}

// Requests that are refused for their number are no losses.
func TestThrottlingIsNoFlapping(t *testing.T) {
	bubble(t, event.ModePoll, func(r *rig) {
		r.deps.ReasonOf = func(error) event.Reason { return event.ReasonQuota }
		r.src.poll = func(n int, _ wire.PollRequest) (wire.PollResult, error) {
			if n%2 == 0 {
				return wire.PollResult{}, errors.New("too many requests")
			}
			return wire.PollResult{NextPoll: time.Second}, nil
		}
		r.start().pass(time.Minute)
		if s := r.runner.Status(); s.Losses != 0 {
			t.Errorf("%d losses", s.Losses)
		}
	})
}
