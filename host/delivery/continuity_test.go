package delivery

import (
	"errors"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

func TestPushContinuity(t *testing.T) {
	tests := map[string]struct {
		script func(r *rig, s *stream)
		want   string
	}{
		"the cursor is confirmed": {func(r *rig, s *stream) { s.active("c7"); s.event("e8") }, "e8"},
		"history is replayed": {func(r *rig, s *stream) {
			s.active("c9")
			s.note(wire.NoteEvent, occurrence("e8", time.Now().Add(-time.Minute), "c8"))
			s.note(wire.NoteEvent, occurrence("e9", time.Now(), "c9"))
			s.event("e10")
		}, "e8 e9 e10"},
		"history is replayed from another position, an event comes": {func(r *rig, s *stream) {
			s.active("c8")
			s.note(wire.NoteEvent, occurrence("e9", time.Now().Add(-time.Minute), "c9"))
			s.event("e10")
		}, "e9 gap:silent e10"},
		"history is replayed from another position, nothing comes": {func(r *rig, s *stream) {
			s.active("c8")
			s.note(wire.NoteEvent, occurrence("e9", time.Now().Add(-time.Minute), "c9"))
			s.heartbeat("c9")
			s.heartbeat("c9")
		}, "e9 gap:silent"},
		"history is replayed up to the confirmed position, nothing comes": {func(r *rig, s *stream) {
			s.active("c9")
			s.note(wire.NoteEvent, occurrence("e8", time.Now().Add(-time.Minute), "c8"))
			s.note(wire.NoteEvent, occurrence("e9", time.Now().Add(-time.Minute), "c9"))
			s.heartbeat("c9")
			s.event("e10")
		}, "e8 e9 e10"},
		"history is replayed from another position, out of order": {func(r *rig, s *stream) {
			s.active("c8")
			s.note(wire.NoteEvent, occurrence("e10", time.Now().Add(-time.Minute), "c8"))
			s.note(wire.NoteEvent, occurrence("e9", time.Now().Add(-time.Minute), "c10"))
			s.event("e11")
		}, "e10 gap:silent e9 e11"},
		"history is replayed, and its end twice": {func(r *rig, s *stream) {
			s.active("c9")
			s.note(wire.NoteEvent, occurrence("e8", time.Now().Add(-time.Minute), "c8"))
			s.note(wire.NoteEvent, occurrence("e9", time.Now().Add(-time.Minute), "c9"))
			s.wait(time.Second)
			s.note(wire.NoteEvent, occurrence("e8", time.Now().Add(-time.Minute), "c10"))
			s.event("e11")
		}, "e8 e9 e11"},
		"the last event is repeated": {func(r *rig, s *stream) {
			r.store.mu.Lock()
			r.store.ids["e7"] = true
			r.store.mu.Unlock()
			s.active("")
			s.event("e7")
			s.event("e8")
		}, "e8"},
		"the server says truncated": {func(r *rig, s *stream) {
			s.note(wire.NoteActive, `{"cursor":"c9","truncated":true}`)
			s.event("e9")
		}, "gap:truncated! e9"},
		"the cursor is ignored, an event comes": {func(r *rig, s *stream) {
			s.active("c9")
			s.wait(time.Second)
			s.event("e10")
		}, "gap:silent e10"},
		"the cursor is ignored, nothing comes": {func(r *rig, s *stream) {
			s.active("c9")
			s.wait(time.Second)
			s.heartbeat("c9")
			s.heartbeat("c9")
		}, "gap:silent"},
		"no cursor at all": {func(r *rig, s *stream) { s.event("e9"); s.event("e10") }, "gap:silent e9 e10"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModePush, func(r *rig) {
				seen := r.resumed()
				r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error { tt.script(r, s); return s.stay() }
				r.start().pass(2 * time.Second)
				equal(t, r.src.cursors(), "=c7")
				r.wantLog(tt.want)
				for _, g := range r.gaps() {
					if !g.From.Equal(seen) || g.Certain != (g.Cause == event.CauseTruncated) {
						t.Errorf("%+v, want it to begin at %v", g, seen)
					}
				}
				if got := r.log(true); !strings.HasPrefix(got, "<resumed>") {
					t.Errorf("no marker of the resumption: %s", got)
				}
			})
		})
	}
}

// A server may confirm its newest position first and replay up to it afterwards:
// a cut between the two must not pass the replay over.
func TestCutBeforeTheReplayKeepsThePosition(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.resumed()
		r.src.stream = func(n int, _ wire.StreamRequest, s *stream) error {
			s.active("c9")
			if n == 1 {
				return errors.New("cut")
			}
			s.note(wire.NoteEvent, occurrence("e8", time.Now().Add(-time.Minute), "c8"))
			s.event("c9")
			return s.stay()
		}
		r.start().pass(10 * time.Second)
		equal(t, r.src.cursors(), "=c7 =c7")
		r.wantLog("e8 c9")
		r.wantCursor("=c9")
	})
}

func TestFirstLifeHasNoGap(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
			s.event("e1")
			s.heartbeat("c2")
			return s.stay()
		}
		r.start()
		r.wantLog("e1")
	})
}

func TestTruncatedMidStream(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		began := time.Now().UTC()
		r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
			s.active("c1")
			s.wait(5 * time.Second)
			s.note(wire.NoteActive, `{"cursor":"c9","truncated":true}`)
			return s.stay()
		}
		r.start().pass(5 * time.Second)
		equal(t, r.gaps(), []event.Gap{{Cause: event.CauseTruncated, From: began, To: began.Add(5 * time.Second), Certain: true}})
		r.wantCursor("=c9")
		equal(t, r.src.calls(), 1)
	})
}
