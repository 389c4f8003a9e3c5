package delivery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// When the loss of the history cuts a replay, everything is missing since the newest event occurred, not
// since it arrived.
func TestGapBeginsWhereTheReplayStopped(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.resumed()
		at := time.Now().Add(-30 * time.Minute).UTC().Truncate(time.Millisecond)
		r.src.stream = func(n int, _ wire.StreamRequest, s *stream) error {
			if n == 1 {
				s.active("c6")
				s.again()
				s.note(wire.NoteEvent, occurrence("e8", at, "c8"))
				return errors.New("cut")
			}
			s.note(wire.NoteActive, `{"cursor":"d1","truncated":true}`)
			return s.stay()
		}
		r.start().pass(10 * time.Second)
		r.wantLog("e8 gap:truncated!")
		if g := r.gaps()[0]; !g.From.Equal(at) {
			t.Errorf("the gap begins at %v, want %v", g.From, at)
		}
	})
}

// A doubt outlives the stream on which it arose.
func TestDoubtOutlivesTheStream(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		seen := r.resumed()
		r.src.stream = func(n int, _ wire.StreamRequest, s *stream) error {
			s.active("c8")
			if n == 1 {
				return errors.New("cut")
			}
			s.note(wire.NoteEvent, occurrence("e9", time.Now().Add(-time.Minute), "c9"))
			return s.stay()
		}
		r.start().pass(10 * time.Second)
		equal(t, r.src.cursors(), "=c6 =c6")
		r.wantLog("gap:unproved e9")
		r.wantCursor("=c9")
		if g := r.gaps()[0]; !g.From.Equal(seen) {
			t.Errorf("the gap begins at %v, want %v", g.From, seen)
		}
	})
}

// A page with more to come does not show that nothing is missing until now.
func TestPollGapBeginsWhereThePagesStopped(t *testing.T) {
	bubble(t, event.ModePoll, func(r *rig) {
		r.sub.Cursor, r.sub.Gave, r.sub.LastSeen = event.At(cur("c7").Text), true, time.Now().Add(-time.Hour).UTC()
		at := time.Now().Add(-30 * time.Minute).UTC().Truncate(time.Millisecond)
		r.src.poll = func(n int, _ wire.PollRequest) (wire.PollResult, error) {
			switch n {
			case 1:
				return wire.PollResult{Cursor: cur("c8"), HasMore: true, Events: raw(occurrence("e8", at, "c8"))}, nil
			case 2:
				return wire.PollResult{Cursor: cur("d1"), Truncated: true}, nil
			}
			return wire.PollResult{Cursor: cur("d1")}, nil
		}
		r.start().pass(10 * time.Second)
		if g := r.gaps(); len(g) != 1 || !g[0].From.Equal(at) {
			t.Errorf("%+v, want one from %v", g, at)
		}
	})
}

// Deliveries overtake each other: a delayed one holds the watermark back.
func TestWatermarkOfDeliveries(t *testing.T) {
	var w watermark
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(n int) time.Time { return began.Add(time.Duration(n) * time.Second) }
	place := func(n int) *event.Cursor {
		at := event.At(trust.Untrusted(fmt.Sprint(n)))
		return &at
	}
	for n := 1; n <= 9; n++ {
		w.noteDelivery(at(n), place(n))
	}
	if till := w.at(); !till.Equal(at(8)) { // what moved the first position is not known
		t.Fatalf("%v after nine in order, want %v", till, at(8))
	}
	before := w.at()
	for n := 11; n <= 300; n++ { // 10 is held up
		w.noteDelivery(at(n), place(9))
	}
	w.noteDelivery(at(3), place(2)) // one of before comes again
	w.noteDelivery(at(301), place(9))
	if till := w.at(); till != before {
		t.Errorf("%v, want %v: event 10 is missing", till, before)
	}
	w.noteDelivery(at(10), place(301))
	if till := w.at(); till != before && till.After(at(10)) {
		t.Errorf("%v, want at most %v: what moved the position is not known", till, at(10))
	}
}

// Positions that were moved by deliveries to an earlier run prove nothing.
func TestWatermarkIgnoresDeliveriesOfEarlierRuns(t *testing.T) {
	w := watermark{began: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	for n := range 20 {
		at := event.At(trust.Untrusted(fmt.Sprint(n)))
		w.noteDelivery(w.began.Add(time.Duration(n-20)*time.Second), &at)
	}
	if till := w.at(); !till.IsZero() {
		t.Errorf("%v", till)
	}
}

// A recorded gap is not recorded again. A gap begins after the deliveries before the last answer without
// a sign of a loss: later deliveries do not show that none between them was given up.
func TestGapBeginsAfterThePreviousOne(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		life := 0
		r.src.subscribe = func(_ int, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
			res := grant("sub_1", time.Hour)
			own := fmt.Sprint("r", life, ".")
			known := strings.HasPrefix(q.At.Cursor.Raw(), own)
			if res.Cursor = cur(own + "0"); known {
				res.Cursor = cur(q.At.Cursor.Raw())
			}
			res.Truncated = q.At.Valid && !known
			return res, nil
		}
		var events []time.Time
		for life = 1; life <= 4; life++ { // the server loses its history with each process
			r.start().pass(40 * time.Second)
			for n := 1; n <= life*2-2; n++ {
				events = append(events, time.Now())
				r.mustDeliver(delivered(fmt.Sprint("e", life, "-", n), time.Now(), fmt.Sprint("r", life, ".", n)))
				r.pass(10 * time.Second)
			}
			if life == 3 {
				r.runner.Nudge()
				r.pass(time.Second)
			}
			r.stop()
			r.pass(time.Minute)
		}
		gaps := r.gaps()
		if len(gaps) != 3 {
			t.Fatalf("gaps %+v", gaps)
		}
		equal(t, gaps[0].To.Sub(gaps[0].From) < 2*time.Minute, true)
		equal(t, gaps[1].From, gaps[0].To) // the lease was not refreshed
		equal(t, gaps[2].From, events[3].UTC())
	})
}

// When an answer that reports a gap is lost, the positions of deliveries after the gap must not hide it
// from the next subscribe.
func TestLostAnswerDoesNotHideAGap(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.sub.Cursor, r.sub.Gave, r.sub.LastSeen = event.At(cur("c7").Text), true, time.Now().Add(-time.Hour).UTC()
		r.src.subscribe = func(n int, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
			if n == 1 {
				if err := r.runner.Deliver(context.Background(), delivered("e1", time.Now(), "d1")); err != nil {
					t.Error(err)
				}
				return wire.SubscribeResult{}, errors.New("cut")
			}
			res := grant("sub_1", time.Hour)
			res.Cursor, res.Truncated = cur("d1"), q.At.Cursor.Raw() == "c7"
			return res, nil
		}
		r.start().pass(10 * time.Second)
		equal(t, r.src.cursors(), "=c7 =c7")
		r.wantLog("e1 gap:truncated!")
		r.mustDeliver(delivered("e2", time.Now(), "d2"))
		r.wantCursor("=d2")
	})
}

// After a position that the operator set, the first event does not show that all earlier ones came: they
// may have been delayed and then dropped.
func TestGapAfterAGivenPositionHasNoStart(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.sub.Cursor = event.At(cur("c7").Text)
		lost := false
		r.src.subscribe = func(int, wire.SubscribeRequest) (wire.SubscribeResult, error) {
			res := grant("sub_1", time.Hour)
			res.Cursor, res.Truncated = cur("c7"), lost
			return res, nil
		}
		r.start()
		r.mustDeliver(delivered("e9", time.Now(), "c7")) // e8 is held up
		r.stop()
		lost = true
		r.start().pass(time.Second)
		r.wantLog("e9 gap:truncated!")
		if g := r.gaps()[0]; !g.From.IsZero() {
			t.Errorf("the gap begins at %v, and what is lost may lie before", g.From)
		}
	})
}

// When the answer to the first subscribe is lost and a delivery came before it, the next subscribe asks
// for everything after the delivery.
func TestDeliveryAheadOfTheFirstAnswerIsAPosition(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.src.subscribe = func(n int, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
			if n == 1 {
				if err := r.runner.Deliver(context.Background(), delivered("e1", time.Now(), "c1")); err != nil {
					t.Error(err)
				}
				return wire.SubscribeResult{}, errors.New("cut")
			}
			res := grant("sub_1", time.Hour)
			res.Cursor = cur(q.At.Cursor.Raw())
			return res, nil
		}
		r.start().pass(10 * time.Second)
		equal(t, r.src.cursors(), "- =c1")
		r.wantLog("e1")
		r.wantCursor("=c1")
	})
}
