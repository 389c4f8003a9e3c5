package delivery

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// remarksOf returns the remarks in the log.
func (r *rig) remarksOf(about string) (out []string) {
	for _, rec := range r.store.all() {
		if rec.Kind == event.KindState && strings.Contains(rec.State.Evidence, about) {
			out = append(out, rec.State.Evidence)
		}
	}
	return out
}

// A malformed event in every page is stored once.
func TestRepeatedMalformedEventIsStoredOnce(t *testing.T) {
	bubble(t, event.ModePoll, func(r *rig) {
		began, failing := time.Now(), true
		r.store.failWith(func(b event.Batch) error {
			if failing && slices.ContainsFunc(b.Records, func(rec event.Record) bool { return rec.Kind == event.KindRejected }) {
				failing = false
				return errors.New("the disk is full")
			}
			return nil
		})
		r.src.poll = func(n int, _ wire.PollRequest) (wire.PollResult, error) {
			if n == 1 {
				return wire.PollResult{Cursor: cur("0")}, nil
			}
			page := raw(`{"eventId":7}`, `{"eventId":"x","eventId":"y"}`)
			if time.Since(began) > 61*time.Second {
				page = raw(`{"eventId":8}`)
			}
			return wire.PollResult{Events: page, Cursor: cur("0")}, nil
		}
		r.start().pass(time.Minute)
		if failing || r.src.calls() < 30 {
			t.Fatalf("%d polls, the disk was full: %v", r.src.calls(), !failing)
		}
		r.wantLog("rejected rejected")
		r.pass(10 * time.Second)
		r.wantLog("rejected rejected rejected")
		if n := r.runner.Status().Duplicates; n < 30 {
			t.Errorf("%d are counted as dropped", n)
		}
	})
}

func TestMemoryOfMalformedEventsIsBounded(t *testing.T) {
	var m malformed
	for i := range maxMalformed + 5 {
		_, sums, dropped := m.split([]event.Record{{Kind: event.KindRejected, Raw: fmt.Append(nil, i)}})
		if len(sums) != 1 || dropped != 0 {
			t.Fatalf("%d: %d new, %d dropped", i, len(sums), dropped)
		}
		m.remember(sums)
	}
	if len(m.known) != maxMalformed || len(m.order) != maxMalformed {
		t.Errorf("%d and %d are remembered", len(m.known), len(m.order))
	}
	left, _, dropped := m.split([]event.Record{
		{Kind: event.KindEvent}, {Kind: event.KindRejected, Raw: []byte("1004")}, {Kind: event.KindRejected, Raw: []byte("0")},
	})
	if dropped != 1 || len(left) != 2 {
		t.Errorf("%d dropped, %d left", dropped, len(left))
	}
}

// A server that always has more and sends nothing is reported, and not asked without a pause.
func TestEndlessEmptyPagesAreReported(t *testing.T) {
	bubble(t, event.ModePoll, func(r *rig) {
		r.src.poll = func(int, wire.PollRequest) (wire.PollResult, error) {
			return wire.PollResult{HasMore: true, Cursor: cur("0")}, nil
		}
		r.start().pass(50 * time.Minute)
		if got := r.remarksOf("brings nothing"); len(got) != 1 {
			t.Errorf("told in 50 minutes: %q", got)
		}
		r.pass(20 * time.Minute)
		if got := r.remarksOf("brings nothing"); len(got) != 2 {
			t.Errorf("told in 70 minutes: %q", got)
		}
	})
}

func TestRemarksAreBounded(t *testing.T) {
	var m remarks
	now, told := time.Now(), 0
	for i := range 1000 {
		if m.due(fmt.Sprint(i), now) {
			told++
		}
	}
	if told != maxRemarks+1 {
		t.Errorf("%d of 1,000 kinds are told", told)
	}
}

// Changed data under a stored id are reported, in every mode.
func TestChangedDataInEveryModeAreReported(t *testing.T) {
	data := func(id string, n int) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"eventId":%q,"name":"t","timestamp":"2026-01-01T00:00:00Z","data":{"n":%d}}`, id, n))
	}
	bubble(t, event.ModePoll, func(r *rig) {
		told := make(chan int, 10)
		r.deps.Altered = func(n int) { told <- n }
		r.src.poll = func(n int, _ wire.PollRequest) (wire.PollResult, error) {
			return wire.PollResult{Cursor: cur("0"), Events: []json.RawMessage{data("a", n/2), data("b", 0)}}, nil
		}
		r.start().pass(90 * time.Second)
		if len(told) != 2 {
			t.Fatalf("told %d times in 90 s", len(told))
		}
		if first, second := <-told, <-told; first != 1 || second < 50 {
			t.Errorf("told of %d, then %d", first, second)
		}
		r.wantLog("a b")
	})
	bubble(t, event.ModePush, func(r *rig) {
		told := make(chan int, 10)
		r.deps.Altered = func(n int) { told <- n }
		r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
			s.active("0")
			for n := range 2 {
				s.note(wire.NoteEvent, string(data("a", n)))
			}
			return s.stay()
		}
		r.start().pass(time.Second)
		if len(told) != 1 {
			t.Errorf("push: told %d times", len(told))
		}
	})
}

// A delivery with an unknown id of the subscription is taken; the id is stored, and the event has a
// flag.
func TestServerIDOfADeliveryIsLearned(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.src.subscribe = func(int, wire.SubscribeRequest) (wire.SubscribeResult, error) { return grant("s", time.Hour), nil }
		r.start()
		for i, id := range []string{"s", "", "other", "other"} {
			d := delivered(fmt.Sprintf("e%d", i), time.Now(), "")
			d.ServerID = trust.Untrusted(id)
			r.mustDeliver(d)
		}
		var learned []string
		for _, rec := range r.store.all() {
			for _, f := range rec.Flags {
				if f == event.FlagIDLearned {
					learned = append(learned, rec.EventID.Raw())
				}
			}
		}
		equal(t, learned, []string{"e2"})
		equal(t, r.saved().Lease.ServerID.Raw(), "other")
	})
}

// What a server says in an error is shown with its control characters escaped once.
func TestErrorsOfServersAreEscapedOnce(t *testing.T) {
	bubble(t, event.ModePoll, func(r *rig) {
		r.src.poll = func(int, wire.PollRequest) (wire.PollResult, error) {
			return wire.PollResult{}, &wire.Error{Code: -32025, Message: trust.Untrusted("full\x1b[2J")}
		}
		r.start()
		if got := trust.Line(r.runner.Status().Error).Plain(); !strings.Contains(got, `full\x1b[2J`) || strings.Contains(got, `\\x1b`) {
			t.Errorf("the state: %s", got)
		}
		if got := r.saved().Error.Raw(); !strings.Contains(got, "full\x1b[2J") {
			t.Errorf("stored: %q", got)
		}
	})
}
