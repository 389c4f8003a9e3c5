package delivery

import (
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
