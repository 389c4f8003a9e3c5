package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// resumed makes the subscription one that was live an hour ago at cursor c7.
func (r *rig) resumed() time.Time {
	seen := time.Now().Add(-time.Hour).UTC()
	r.sub.Cursor, r.sub.Gave, r.sub.LastSeen, r.sub.CompleteUntil = event.At(cur("c7").Text), true, seen, seen
	r.sub.Before, r.sub.Newest = event.At(cur("c6").Text), trust.Untrusted("e7")
	r.store.mu.Lock()
	r.store.ids["e7"] = true
	r.store.mu.Unlock()
	return seen
}

// again replays the newest event of a subscription that was [rig.resumed].
func (s *stream) again() {
	s.note(wire.NoteEvent, occurrence("e7", time.Now().Add(-time.Hour), "c7"))
}

func TestPushConfirmation(t *testing.T) {
	for name, script := range map[string]func(s *stream){
		"active":               func(s *stream) { s.active("c1"); s.event("e1") },
		"several active":       func(s *stream) { s.active("c0"); s.active("c1"); s.event("e1"); s.active("e1") },
		"none":                 func(s *stream) { s.event("e1") },
		"events before it":     func(s *stream) { s.event("e1"); s.active("e1") },
		"only a heartbeat":     func(s *stream) { s.heartbeat("c1"); s.event("e1") },
		"an active of {}":      func(s *stream) { s.active(""); s.event("e1") },
		"an unreadable active": func(s *stream) { s.note(wire.NoteActive, `[]`); s.event("e1") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModePush, func(r *rig) {
				r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error { script(s); return s.stay() }
				r.start()
				if err := r.runner.Confirmed(r.t.Context()); err != nil {
					t.Error(err)
				}
				r.wantState(event.StateLive)
				r.wantLog("e1")
				r.wantCursor("=e1")
				equal(t, r.log(true), "<live> e1")
			})
		})
	}
}

// Some servers never say that a stream is active (field notes 8): callers that wait get
// ErrUnconfirmed, and the state stays starting until something comes.
func TestSilentStreamIsUnconfirmed(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		spoken := make(chan struct{})
		r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
			<-spoken
			s.event("e1")
			return s.stay()
		}
		r.start().pass(3*time.Second - time.Millisecond)
		select {
		case <-r.runner.confirmed:
			t.Error("told too early")
		default:
		}
		r.pass(time.Millisecond)
		if err := r.runner.Confirmed(r.t.Context()); !errors.Is(err, ErrUnconfirmed) {
			t.Errorf("silence counts as accepted: %v", err)
		}
		if s := r.runner.Status(); s.State != event.StateStarting || !s.Opened.IsZero() {
			t.Errorf("state %s, opened %v", s.State, s.Opened)
		}
		close(spoken) // the first event is a confirmation
		r.pass(time.Millisecond)
		r.wantState(event.StateLive)
	})
}

func TestConfirmedEndsWithTheRunner(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		gone := errors.New("the server was removed")
		r.src.ready = func(context.Context) error { return gone }
		r.start().wantEnded(true)
		if err := r.runner.Confirmed(r.t.Context()); !errors.Is(err, gone) {
			t.Errorf("%v", err)
		}
	})
}

func TestTransientErrorLeavesTheStreamOpen(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
			s.active("c1")
			s.note(wire.NoteError, `{"error":{"code":-32025,"message":"slow down"}}`)
			s.event("e1")
			return s.stay()
		}
		r.start()
		r.wantState(event.StateLive)
		r.wantLog("e1")
		s := r.runner.Status()
		if e := s.Error.Raw(); !strings.Contains(e, "slow down") {
			t.Error(e)
		}
		if e := s.Fault.Raw(); !strings.Contains(e, "slow down") || s.FaultAt.IsZero() {
			t.Errorf("%q at %v: who was not looking never hears of it", e, s.FaultAt)
		}
	})
}

func TestTerminated(t *testing.T) {
	gone := fmt.Errorf("%w: not listed", ErrGone)
	tests := map[string]struct {
		params string
		relist error
		want   event.State // "" means that it begins again
	}{
		"forbidden":                  {`{"error":{"code":-32012}}`, nil, event.StateDenied},
		"without an error":           {`{}`, nil, event.StateEnded},
		"only a reason":              {`{"reason":"quota"}`, nil, event.StateEnded},
		"flat":                       {`{"code":-32024}`, nil, event.StateDenied},
		"type is gone":               {`{"error":{"code":-32023,"data":{"kind":"event"}}}`, gone, event.StateEnded},
		"type is there again":        {`{"error":{"code":-32011,"data":{"kind":"event"}}}`, nil, ""},
		"schema still fits":          {`{"error":{"code":-32026,"data":{"reason":"schema_changed"}}}`, nil, ""},
		"schema does not fit":        {`{"error":{"code":-32014,"data":{"reason":"schema_changed"}}}`, gone, event.StateEnded},
		"types cannot be listed now": {`{"error":{"code":-32011,"data":{"kind":"event"}}}`, errors.New("connection reset"), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModePush, func(r *rig) {
				r.deps.Relist = func(context.Context, event.Key, event.Mode) error { return tt.relist }
				r.src.stream = func(n int, _ wire.StreamRequest, s *stream) error {
					s.active("c1")
					if n == 1 {
						s.event("e1")
						s.note(wire.NoteTerminated, tt.params)
						return nil
					}
					return s.stay()
				}
				r.start().pass(time.Minute)
				r.wantLog("e1")
				if tt.want == "" {
					r.wantState(event.StateLive)
					equal(t, r.src.cursors(), "- =c1")
					return
				}
				r.wantEnded(true)
				r.wantState(tt.want)
				equal(t, r.saved().State, tt.want)
				equal(t, r.src.calls(), 1)
			})
		})
	}
}

func TestShutdownWhileListingAgainIsNoEnd(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.deps.Relist = func(ctx context.Context, _ event.Key, _ event.Mode) error { <-ctx.Done(); return ctx.Err() }
		r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
			s.active("c1")
			s.note(wire.NoteTerminated, `{"error":{"code":-32011,"data":{"kind":"event"}}}`)
			return nil
		}
		r.start()
		r.stop()
		if s := r.saved().State; s == event.StateEnded {
			t.Error("stored as ended")
		}
	})
}

func TestRefusalAtTheOpening(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.src.open = func(int) error { return fault(-32012, "") }
		r.start().wantEnded(true)
		r.wantState(event.StateDenied)
	})
}

func TestServerThatClosesAtOnceIsRetriedWithBackoff(t *testing.T) {
	for name, script := range map[string]func(s *stream){
		"at once":                  func(*stream) {},
		"after its confirmation":   func(s *stream) { s.active("c1") },
		"after repeating an event": func(s *stream) { s.active("c1"); s.event("e1") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModePush, func(r *rig) {
				r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error { script(s); return nil }
				r.start().pass(time.Hour)
				if n := r.src.calls(); n > 70 {
					t.Errorf("%d streams in an hour", n)
				}
				r.wantState(event.StateBackoff)
			})
		})
	}
}

// A server that is unreachable from the beginning is in the history once, for any number of attempts,
// and so is its first answer.
func TestUnreachableFromTheBeginningIsInTheHistoryOnce(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.src.stream = func(n int, _ wire.StreamRequest, s *stream) error {
			if n < 4 {
				return errors.New("connection refused")
			}
			s.active("c1")
			return s.stay()
		}
		r.start().pass(time.Minute)
		equal(t, r.log(true), "<backoff> <live>")
		if c := r.store.all()[0].State; c.Evidence != "it could not begin" || c.Error.Raw() != "connection refused" {
			t.Errorf("the history says %q: %q", c.Evidence, c.Error.Raw())
		}
	})
}

func TestLongStreamResetsTheBackoff(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.src.stream = func(n int, _ wire.StreamRequest, s *stream) error {
			if n < 5 {
				return errors.New("cut")
			}
			s.active("c1")
			s.wait(10 * time.Second)
			return errors.New("cut")
		}
		r.start().pass(time.Minute)
		equal(t, r.src.pause(4), 8*time.Second)
		equal(t, r.src.pause(5), 11*time.Second)
	})
}

// The confirmation of a stream is stored before the gap that it shows. When the gap
// cannot be stored, the next one begins where the last one would have.
func TestGapThatCannotBeStoredIsRecordedLater(t *testing.T) {
	for name, script := range map[string]func(s *stream){
		"active":    func(s *stream) { s.note(wire.NoteActive, `{"cursor":null}`) },
		"heartbeat": func(s *stream) { s.note(wire.NoteHeartbeat, `{}`) },
		"event":     func(s *stream) { s.note(wire.NoteEvent, occurrence("e1", time.Now(), "")) },
		"resumed":   func(s *stream) { s.tell(wire.Note{Method: wire.NoteResumed}) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModePush, func(r *rig) {
				before := r.resumed()
				r.sub.Cursor, r.sub.Gave = event.Cursor{}, false
				r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error { script(s); return s.stay() }
				lost := 0
				r.store.failWith(func(b event.Batch) error {
					if lost == 0 && slices.ContainsFunc(b.Records, func(r event.Record) bool { return r.Kind == event.KindGap }) {
						lost++
						return errors.New("no space")
					}
					return nil
				})
				r.start().pass(time.Minute)
				if g := r.gaps(); lost != 1 || len(g) != 1 || !g[0].From.Equal(before) {
					t.Errorf("%d lost, gaps %+v, want one from %v", lost, g, before)
				}
			})
		})
	}
}

// An event that finds no room in the store before its stream is given up is lost without replay. Later
// events of the same stream are not stored either, so that the gap of the next stream covers them all.
func TestEventThatCannotBeStoredLeavesAGap(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		hold, lost := make(chan struct{}), time.Time{}
		r.src.stream = func(n int, _ wire.StreamRequest, s *stream) error {
			event := func(id string) { s.note(wire.NoteEvent, occurrence(id, time.Now(), "")) }
			s.note(wire.NoteActive, `{}`)
			if n > 1 {
				event("last")
				return s.stay()
			}
			event("first")
			s.wait(time.Second) // the disk hangs from now on
			for i := 0; s.ctx.Err() == nil; i++ {
				lost = time.Now()
				event(fmt.Sprint("e", i)) // up to the one that finds no room
			}
			close(hold)
			time.Sleep(time.Second) // and now there is some
			event("behind")
			return s.ctx.Err()
		}
		r.start().pass(time.Second / 2)
		r.store.mu.Lock()
		r.store.hold = hold
		r.store.mu.Unlock()
		r.pass(time.Second)
		r.runner.Nudge()
		r.pass(time.Minute)
		log := r.log(false)
		if !strings.HasSuffix(log, " gap:no-replay last") || strings.Contains(log, "behind") {
			t.Error(log)
		}
		if g := r.gaps(); len(g) != 1 || g[0].From.After(lost) {
			t.Errorf("gaps %+v, and one was lost at %v", g, lost)
		}
	})
}

func TestPushOfATypeWithoutReplay(t *testing.T) {
	for name, script := range map[string]func(s *stream){
		"active first": func(s *stream) { s.note(wire.NoteActive, `{"cursor":null}`); s.event("e1") },
		"event first":  func(s *stream) { s.note(wire.NoteEvent, occurrence("e1", time.Now(), "")) },
		"event of the subscription before": func(s *stream) {
			s.note(wire.NoteEvent, occurrence("e1", time.Now(), ""))
			s.note(wire.NoteActive, `{}`) // e2 was between the two
			s.note(wire.NoteEvent, occurrence("e3", time.Now(), ""))
			s.note(wire.NoteActive, `{}`)
		},
		"truncated": func(s *stream) { s.note(wire.NoteActive, `{"truncated":true}`); s.event("e1") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModePush, func(r *rig) {
				r.resumed()
				r.sub.Cursor, r.sub.Gave = event.Cursor{}, false
				r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error { script(s); return s.stay() }
				r.start()
				want := "gap:no-replay e1"
				switch name {
				case "truncated":
					want = "gap:truncated! e1"
				case "event of the subscription before":
					want = "gap:no-replay e1 gap:no-replay e3"
				}
				r.wantLog(want)
			})
		})
	}
}

func TestPushCursorRejected(t *testing.T) {
	refuse := fault(wire.CodeInvalidParams, `{"field":"cursor"}`)
	for name, atOpen := range map[string]bool{"as the answer": true, "as the end of the stream": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModePush, func(r *rig) {
				r.resumed()
				if atOpen {
					r.src.open = func(n int) error {
						if n < 3 {
							return refuse
						}
						return nil
					}
				}
				r.src.stream = func(n int, _ wire.StreamRequest, s *stream) error {
					if n < 3 {
						return refuse
					}
					s.active("d0")
					return s.stay()
				}
				r.start()
				equal(t, r.src.cursors(), "=c6 =c7 -")
				r.wantLog("gap:cursor-rejected!")
				r.wantCursor("=d0")
				r.wantState(event.StateLive)
			})
		})
	}
}

func TestPushRejectedPayload(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
			s.active("c1")
			s.note(wire.NoteEvent, `{"name":"t","cursor":"c2","data":{}}`)
			return s.stay()
		}
		r.start()
		r.wantLog("rejected")
		r.wantCursor("=c2")
	})
}

func TestPushFailedCommitSkipsNothing(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.src.stream = func(_ int, q wire.StreamRequest, s *stream) error {
			at := 0
			if q.At.Valid {
				fmt.Sscanf(q.At.Cursor.Raw(), "c%d", &at)
			}
			s.active(fmt.Sprint("c", at))
			for i := at + 1; i <= 20; i++ {
				s.note(wire.NoteEvent, occurrence(fmt.Sprint("e", i), time.Now(), fmt.Sprint("c", i)))
			}
			return s.stay()
		}
		r.store.delay = time.Millisecond
		failed := false
		r.store.failWith(func(b event.Batch) error {
			if !failed && len(b.Records) > 0 && b.Records[0].EventID.Raw() == "e5" {
				failed = true
				return event.ErrFull
			}
			return nil
		})
		r.start().pass(10 * time.Second)
		equal(t, failed, true)
		r.wantLog("e1 e2 e3 e4 e5 e6 e7 e8 e9 e10 e11 e12 e13 e14 e15 e16 e17 e18 e19 e20")
		r.wantCursor("=c20")
		r.wantState(event.StateLive)
	})
}

// An event that waits for room in the store when the host ends is not stored: no later event may move
// the cursor past it.
func TestEndWhileTheStoreIsFull(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.store.close()
		r.store = newMemory(2)
		r.deps.Store = r.store
		hold := make(chan struct{})
		r.store.hold = hold
		r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
			for i := 1; i <= 4; i++ { // the last ones are on their way when it is cancelled
				s.note(wire.NoteEvent, occurrence(fmt.Sprint("e", i), time.Now(), fmt.Sprint("c", i)))
				if s.ctx.Err() != nil && hold != nil {
					close(hold)
					hold = nil
					synctest.Wait()
				}
			}
			return nil
		}
		r.start()
		r.stop()
		if got := r.saved().Cursor.Text.Raw(); got != "" {
			var at int
			fmt.Sscanf(got, "c%d", &at)
			for i := 1; i <= at; i++ {
				if !r.store.HasEvent(subID, trust.Untrusted(fmt.Sprint("e", i))) {
					t.Errorf("the cursor is %s, e%d is not stored", got, i)
				}
			}
		}
	})
}

func TestCutsUnderLoadDoNotSlowTheHostDown(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.store.delay = time.Millisecond
		r.src.stream = func(n int, _ wire.StreamRequest, s *stream) error {
			s.active(fmt.Sprint("e", n-1))
			s.event(fmt.Sprint("e", n))
			return errors.New("cut")
		}
		r.start().pass(10 * time.Second)
		if n := r.src.calls(); n < 9 {
			t.Errorf("%d streams in 10 s, though each brought something new", n)
		}
	})
}

// An unreadable frame leaves a rejected record and a possible gap; the stream goes on.
func TestSkippedFrameLeavesAGap(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
			s.active("c0")
			s.event("e1")
			s.sink(wire.Note{Method: wire.NoteSkipped, Params: json.RawMessage("xxx"), Refused: errors.New("too large")})
			s.event("e2")
			return s.stay()
		}
		r.start().pass(time.Second)
		r.wantLog("e1 rejected gap:silent e2")
		r.wantState(event.StateLive)
		for _, rec := range r.store.all() {
			if rec.Kind == event.KindRejected && (string(rec.Raw) != "xxx" || rec.Reason.Raw() != "too large") {
				t.Errorf("%+v", rec)
			}
		}
		if r.src.calls() != 1 {
			t.Errorf("%d streams", r.src.calls())
		}
	})
}
