package delivery

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// Without poll a stream is opened one position back: a stored event must come again before any later
// one.
func TestOverlapProvesAStream(t *testing.T) {
	old := func(id, cursor string) string { return occurrence(id, time.Now().Add(-time.Minute), cursor) }
	tests := map[string]struct {
		script func(r *rig, s *stream)
		want   string
		proof  event.Proof
	}{
		"the known event comes again": {func(r *rig, s *stream) {
			s.active("c6")
			s.again()
			s.event("e8")
		}, "e8", event.ProofProved},
		"the known event comes again, nothing is new": {func(r *rig, s *stream) {
			s.again()
			s.active("c7")
		}, "", event.ProofProved},
		"history is replayed behind it": {func(r *rig, s *stream) {
			s.active("c9")
			s.again()
			s.note(wire.NoteEvent, old("e8", "c8"))
			s.event("e9")
		}, "e8 e9", event.ProofProved},
		"a new event overtakes it": {func(r *rig, s *stream) {
			s.active("c6")
			s.note(wire.NoteEvent, old("e8", "c6"))
			s.again()
			s.event("e9")
		}, "e8 e9", event.ProofProved},
		"the position is echoed, an event comes": {func(r *rig, s *stream) {
			s.active("c6")
			s.event("e10")
		}, "gap:unproved e10", event.ProofPossibleGap},
		"the position is echoed, heartbeats come": {func(r *rig, s *stream) {
			s.active("c6")
			s.heartbeat("c6")
			s.heartbeat("c9")
		}, "gap:unproved", event.ProofPossibleGap},
		"the position is echoed, one heartbeat comes": {func(r *rig, s *stream) {
			s.active("c6")
			s.heartbeat("c6")
		}, "", event.ProofProving},
		"part of the history is replayed": {func(r *rig, s *stream) {
			s.active("c8")
			s.note(wire.NoteEvent, old("e9", "c9"))
			s.event("e10")
		}, "gap:unproved e9 e10", event.ProofPossibleGap},
		"no cursor at all": {func(r *rig, s *stream) {
			s.event("e9")
			s.event("e10")
		}, "gap:unproved e9 e10", event.ProofPossibleGap},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModePush, func(r *rig) {
				seen := r.resumed()
				r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error { tt.script(r, s); return s.stay() }
				r.start().pass(2 * time.Second)
				equal(t, r.src.cursors(), "=c6")
				r.wantLog(tt.want)
				equal(t, r.runner.Status().Proof, tt.proof)
				for _, g := range r.gaps() {
					if !g.From.Equal(seen) || g.Certain {
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

// A server that no longer holds the position one back is asked for the stored one; then only a sign of
// a loss leaves a gap.
func TestPositionOneBackIsTooOld(t *testing.T) {
	truncated := func(s *stream) { s.note(wire.NoteActive, `{"cursor":"c9","truncated":true}`) }
	tests := map[string]struct {
		script func(s *stream)
		want   string
	}{
		"and nothing is new":                  {func(s *stream) { s.active("c7"); s.heartbeat("c7") }, ""},
		"and the next event comes":            {func(s *stream) { s.active("c7"); s.event("e8") }, "e8"},
		"and it goes on elsewhere":            {func(s *stream) { s.active("c9"); s.event("e10") }, "gap:unproved e10"},
		"and a heartbeat shows that it is on": {func(s *stream) { s.active("c7"); s.heartbeat("c9") }, "gap:unproved"},
		"and the stored position is, too":     {truncated, "gap:truncated!"},
		"and old events come behind another position": {func(s *stream) {
			s.active("c9")
			s.note(wire.NoteEvent, occurrence("e8", time.Now().Add(-time.Minute), "c8"))
		}, "gap:unproved e8"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModePush, func(r *rig) {
				r.resumed()
				r.src.stream = func(n int, _ wire.StreamRequest, s *stream) error {
					if n == 1 {
						truncated(s)
					} else {
						tt.script(s)
					}
					return s.stay()
				}
				r.start().pass(2 * time.Second)
				equal(t, r.src.cursors(), "=c6 =c7")
				r.wantLog(tt.want)
			})
		})
	}
}

// While only one position is known, a heartbeat with the same cursor shows that nothing happened.
func TestStreamWithOneKnownPosition(t *testing.T) {
	for name, tt := range map[string]struct {
		script func(s *stream)
		want   string
	}{
		"nothing is new":       {func(s *stream) { s.active("c7"); s.heartbeat("c7"); s.event("e8") }, "e8"},
		"an event comes":       {func(s *stream) { s.active("c7"); s.event("e8") }, "gap:unproved e8"},
		"a heartbeat leads on": {func(s *stream) { s.active("c7"); s.heartbeat("c8") }, "gap:unproved"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModePush, func(r *rig) {
				r.resumed()
				r.sub.Before, r.sub.Newest = event.Cursor{}, trust.Text{}
				r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error { tt.script(s); return s.stay() }
				r.start().pass(2 * time.Second)
				equal(t, r.src.cursors(), "=c7")
				r.wantLog(tt.want)
			})
		})
	}
}

// A server may confirm its newest position first and replay up to it afterwards:
// a cut between the two must not skip the replay.
func TestCutBeforeTheReplayKeepsThePosition(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.resumed()
		r.src.stream = func(n int, _ wire.StreamRequest, s *stream) error {
			s.active("c9")
			if n == 1 {
				return errors.New("cut")
			}
			s.again()
			s.note(wire.NoteEvent, occurrence("e8", time.Now().Add(-time.Minute), "c8"))
			s.event("c9")
			return s.stay()
		}
		r.start().pass(10 * time.Second)
		equal(t, r.src.cursors(), "=c6 =c6")
		r.wantLog("e8 c9")
		r.wantCursor("=c9")
	})
}

func TestFirstRunHasNoGap(t *testing.T) {
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

// A server that closes its streams before the stored event comes again does not keep
// the proof open for ever.
func TestStreamsThatCloseBeforeTheirProofAreAPossibleGap(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.resumed()
		var opened atomic.Int64
		r.src.stream = func(_ int, q wire.StreamRequest, s *stream) error {
			opened.Add(1)
			s.active(q.At.Cursor.Raw())
			s.wait(10 * time.Second)
			return nil
		}
		r.start().pass(10 * time.Minute)
		r.wantLog("gap:unproved")
		if opened.Load() < maxUnprovedStreams {
			t.Errorf("after %d streams", opened.Load())
		}
		r.pass(2 * time.Hour) // no stored event can come again, and nothing else shows anything
		r.wantLog("gap:unproved gap:unproved gap:unproved")
		for i, g := range r.gaps()[1:] {
			equal(t, g.From, r.gaps()[i].To)
		}
	})
}
