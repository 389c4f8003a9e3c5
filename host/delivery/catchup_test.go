package delivery

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// offersPoll says that the type offers poll, and lets the server hold events up to
// last, of which a poll sees none that is younger than lag.
func (r *rig) offersPoll(last int, lag time.Duration) *polled {
	p := &polled{last: last, lag: lag, at: map[int]time.Time{}}
	r.deps.Modes = func(event.Key) []event.Mode { return []event.Mode{event.ModePush, event.ModePoll, event.ModeWebhook} }
	r.src.poll = p.poll
	return p
}

// polled is a server that keeps every event and can be polled: event n leads to the
// position cn.
type polled struct {
	mu    sync.Mutex
	last  int
	lag   time.Duration
	at    map[int]time.Time
	asked []string
	ages  []time.Duration
	when  []time.Time
}

// happened adds events up to n, newest returns n.
func (p *polled) happened(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = n
}

func (p *polled) newest() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// positions returns the positions that were asked for.
func (p *polled) positions() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

func (p *polled) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = nil
}

func (p *polled) poll(_ int, q wire.PollRequest) (wire.PollResult, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, q.At.Cursor.Raw())
	p.ages = append(p.ages, q.At.MaxAge)
	p.when = append(p.when, time.Now())
	var from int
	if _, err := fmt.Sscanf(q.At.Cursor.Raw(), "c%d", &from); err != nil {
		return wire.PollResult{Truncated: true, Cursor: cur("c0")}, nil
	}
	res := wire.PollResult{Cursor: cur(q.At.Cursor.Raw())}
	for n := from + 1; n <= p.last && len(res.Events) < 2; n++ {
		if at, known := p.at[n]; known && time.Since(at) < p.lag {
			break
		}
		res.Events = append(res.Events, json.RawMessage(occurrence(fmt.Sprint("e", n), time.Now().Add(-time.Minute), "")))
		res.Cursor = cur(fmt.Sprint("c", n))
		res.HasMore = n < p.last
	}
	return res, nil
}

// When a server accepts the position and replays nothing, events that a poll returns are not lost.
func TestCatchUpBringsWhatWasNotReplayed(t *testing.T) {
	for name, script := range map[string]func(s *stream){
		"the position is echoed":   func(s *stream) { s.active("c7"); s.heartbeat("c11") },
		"a later one is confirmed": func(s *stream) { s.active("c11"); s.heartbeat("c11") },
		"it is echoed, an event comes": func(s *stream) {
			s.active("c7")
			s.wait(time.Second)
			s.note(wire.NoteEvent, occurrence("e12", time.Now(), "c12"))
		},
		"nothing is said for a while": func(s *stream) { s.wait(4 * time.Second); s.heartbeat("c11") },
		"part of the history is replayed": func(s *stream) {
			s.active("c7")
			s.note(wire.NoteEvent, occurrence("e10", time.Now().Add(-time.Minute), "c10"))
			s.note(wire.NoteEvent, occurrence("e11", time.Now().Add(-time.Minute), "c11"))
			s.heartbeat("c11")
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModePush, func(r *rig) {
				r.resumed()
				r.sub.MaxAge = time.Hour
				p := r.offersPoll(11, 0)
				r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
					script(s)
					p.happened(12)
					return s.stay()
				}
				r.start().pass(10 * time.Second)
				for n := 8; n <= 11; n++ {
					if !r.store.HasEvent(subID, text(fmt.Sprint("e", n))) {
						t.Errorf("e%d is lost: %s", n, r.log(false))
					}
				}
				if len(r.gaps()) > 0 {
					t.Errorf("gaps %+v", r.gaps())
				}
				r.pass(40 * time.Second)
				equal(t, r.runner.Status().Proof, event.ProofProved)
				equal(t, r.runner.Status().Reason, "")
				equal(t, p.positions()[0], "c7")
				equal(t, p.ages[0], time.Hour)
				if c := r.saved().Cursor.Text.Raw(); c != "c11" && c != "c12" {
					t.Errorf("stored position %s", c)
				}
			})
		})
	}
}

// A replica that lags behind does not hide what was missed.
func TestCatchUpAsksAgainForWhatLags(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.resumed()
		p := r.offersPoll(9, 5*time.Second)
		for n := 8; n <= 10; n++ {
			p.at[n] = time.Now()
		}
		r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
			s.active("c7")
			s.wait(time.Second)
			p.happened(10)
			s.note(wire.NoteEvent, occurrence("e10", time.Now(), "c10"))
			s.wait(9 * time.Second)
			s.heartbeat("c10")
			return s.stay()
		}
		r.start().pass(5 * time.Second)
		r.wantLog("e10")
		r.wantCursor("=c7") // a process that dies now begins here again
		equal(t, r.runner.Status().Proof, event.ProofProving)
		equal(t, r.runner.Status().Reason, event.ReasonProving)
		r.pass(10 * time.Second)
		r.wantLog("e10 e8 e9")
		r.wantCursor("=c10")
		equal(t, r.runner.Status().Proof, event.ProofProved)
	})
}

// A quiet, correct server costs one poll and no gap, whether or not the type's modes are known.
func TestQuietServerLeavesNoGap(t *testing.T) {
	for name, modes := range map[string][]event.Mode{
		"poll is offered": {event.ModePush, event.ModePoll}, "the modes are not known": nil,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModePush, func(r *rig) {
				r.resumed()
				p := r.offersPoll(7, 0)
				r.deps.Modes = func(event.Key) []event.Mode { return modes }
				r.src.stream = func(_ int, q wire.StreamRequest, s *stream) error {
					s.active(q.At.Cursor.Raw())
					if q.At.Cursor.Raw() == "c6" {
						s.again()
					}
					for s.wait(20 * time.Second) {
						s.heartbeat("c7")
					}
					return nil
				}
				r.start().pass(10 * time.Minute)
				r.wantLog("")
				if len(p.positions()) > 2 { // once more after a heartbeat: a replica may lag
					t.Errorf("asked from %q", p.positions())
				}
				equal(t, r.runner.Status().Proof, event.ProofProved)
			})
		})
	}
}

// What a catch-up poll cannot show is a possible gap, never a certain one.
func TestCatchUpThatIsRefused(t *testing.T) {
	cursor := fault(wire.CodeInvalidParams, `{"field":"cursor"}`)
	for name, tt := range map[string]struct {
		answer wire.PollResult
		err    error
		want   string
	}{
		"truncated":       {wire.PollResult{Truncated: true, Cursor: cur("c9")}, nil, "gap:unproved"},
		"refused":         {wire.PollResult{}, cursor, "gap:unproved"},
		"no rights":       {wire.PollResult{}, wire.ErrDenied, "gap:unproved"},
		"cannot be had":   {wire.PollResult{}, wire.ErrUnacceptable, "gap:unproved"},
		"unknown method":  {wire.PollResult{}, fault(wire.CodeMethodNotFound, ""), "gap:unproved"},
		"out of reach":    {wire.PollResult{}, errors.New("reset"), ""},
		"nothing for now": {wire.PollResult{}, fault(-32603, ""), ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModePush, func(r *rig) {
				r.resumed()
				r.offersPoll(7, 0)
				r.src.poll = func(int, wire.PollRequest) (wire.PollResult, error) { return tt.answer, tt.err }
				r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
					s.active("c7")
					s.wait(time.Second)
					s.event("e9")
					return s.stay()
				}
				r.start().pass(10 * time.Second)
				if tt.want == "" {
					r.wantLog("e9")
					equal(t, r.runner.Status().Proof, event.ProofProving)
					r.wantCursor("=c7")
					return
				}
				r.wantLog(tt.want + " e9")
				equal(t, r.gaps()[0].Certain, false)
				equal(t, len(r.remarksOf("cannot be shown by a poll")) == 1, tt.err != nil)
				equal(t, len(r.remarksOf("from a position that it gave")) == 1, errors.Is(tt.err, cursor))
				equal(t, r.runner.Status().Proof, event.ProofPossibleGap)
			})
		})
	}
}

// A server may delay a catch-up for any time.
func TestCatchUpKeepsThePaceOfTheServer(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.resumed()
		p := r.offersPoll(8, time.Hour)
		p.at[8] = time.Now()
		poll := p.poll
		r.src.poll = func(n int, q wire.PollRequest) (wire.PollResult, error) {
			res, err := poll(n, q)
			res.NextPoll = 2 * time.Minute
			return res, err
		}
		r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
			s.active("c7")
			s.note(wire.NoteEvent, occurrence("e8", time.Now(), "c8"))
			for s.wait(20 * time.Second) {
				s.heartbeat("c8")
			}
			return nil
		}
		r.start().pass(10 * time.Minute)
		for i := 1; i < len(p.when); i++ {
			if pause := p.when[i].Sub(p.when[i-1]); pause < 2*time.Minute {
				t.Errorf("asked again after %v", pause)
			}
		}
		equal(t, len(p.positions()), 4)
		r.wantLog("e8 gap:unproved")
	})
}
