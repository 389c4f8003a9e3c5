package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// tell sends a note as a dialect does.
func (s *stream) tell(n wire.Note) {
	s.byte()
	s.sink(n)
}

// translated is an event that a dialect has read.
func translated(id string) wire.Note {
	raw := json.RawMessage(fmt.Sprintf(`{"id":%q,"data":{"a":1}}`, id))
	return wire.Note{Method: wire.NoteEvent, Params: raw, Event: &wire.Occurrence{
		EventID: text(id), Name: text("a.b"), Data: raw[len(raw)-8 : len(raw)-1], Raw: raw,
		Priority: text("high"), Tags: []trust.Text{text("ci")}, Batch: text("b-1"),
	}}
}

func TestEventsReadByADialectAreStored(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.src.stream = func(_ int, q wire.StreamRequest, s *stream) error {
			s.tell(wire.Note{Method: wire.NoteActive, ServerID: text("s1")})
			s.tell(translated("e1"))
			s.tell(wire.Note{Method: wire.NoteEvent, Params: json.RawMessage(`{"x":1}`), Refused: errors.New("makes no sense")})
			return s.stay()
		}
		r.start().pass(0)
		r.wantLog("e1 rejected")
		rec := r.store.all()[1]
		l := rec.Labels
		if l == nil || l.Name.Raw() != "a.b" || l.Priority.Raw() != "high" || l.Batch.Raw() != "b-1" || len(l.Tags) != 1 || string(rec.Data) != `{"a":1}` {
			t.Errorf("record %+v, labels %+v", rec, l)
		}
		if got := r.store.all()[2]; string(got.Raw) != `{"x":1}` || got.Reason.Raw() != "makes no sense" {
			t.Errorf("rejected %+v", got)
		}
		if got := r.saved().Lease.ServerID.Raw(); got != "s1" {
			t.Errorf("the server's id is %q", got)
		}
	})
}

func TestServerIDIsSentBack(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.sub.Lease.ServerID = text("s1")
		r.src.stream = func(_ int, q wire.StreamRequest, s *stream) error {
			equal(t, q.Held.Raw(), "s1")
			return s.stay()
		}
		r.start().pass(0)
	})
}

func TestAnInterruptionLeavesAGap(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
			s.tell(wire.Note{Method: wire.NoteActive})
			s.tell(translated("e1"))
			s.wait(time.Minute)
			s.tell(wire.Note{Method: wire.NoteInterrupt})
			s.tell(translated("e2"))
			return s.stay()
		}
		r.start().pass(time.Minute)
		r.wantLog("e1 gap:no-replay e2")
		if g := r.gaps()[0]; g.To.Sub(g.From) != time.Minute || g.Certain {
			t.Errorf("gap %+v", g)
		}
	})
}

func TestGapBeginsAtTheLastSignOfLife(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
			s.tell(wire.Note{Method: wire.NoteActive})
			since := time.Now()
			s.wait(time.Minute)
			s.tell(wire.Note{Method: wire.NoteHeartbeat, Apart: true}) // the server lives, the way of its events is dead
			s.wait(time.Second)
			s.tell(wire.Note{Method: wire.NoteInterrupt, Since: since})
			return s.stay()
		}
		r.start().pass(2 * time.Minute)
		if g := r.gaps()[0]; g.To.Sub(g.From) != time.Minute+time.Second {
			t.Errorf("gap %+v", g)
		}
		if !r.runner.Status().Apart {
			t.Error("the heartbeat counts for the stream of the events")
		}
	})
}

func token() *wire.Resume { return &wire.Resume{Stream: "st", Token: "secret", Request: "1"} }

func TestAResumableStreamIsKeptAndForgotten(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
			s.active("c1")
			s.tell(wire.Note{Method: wire.NoteResumable, Resume: token()})
			if !s.wait(time.Second) {
				return nil
			}
			s.tell(wire.Note{Method: wire.NoteResumed})
			s.event("e1")
			s.wait(time.Second)
			s.tell(wire.Note{Method: wire.NoteAbandoned})
			return s.stay()
		}
		r.start().pass(0)
		if got, ok := wire.ParseResume(r.saved().Resume.Reveal()); !ok || got != *token() {
			t.Errorf("kept %+v", got)
		}
		r.pass(2 * time.Second)
		equal(t, r.log(true), "<live> <resumed> e1 <abandoned>")
		if !r.saved().Resume.IsZero() {
			t.Error("an abandoned stream is still kept")
		}
	})
}

// The server believes that it sent the events that a crash lost: only the cursor is safe then. After a
// stream that ended by itself nothing is lost.
func TestEarlierStreamIsResumedOnlyIfIntact(t *testing.T) {
	for name, c := range map[string]struct {
		cursor bool // there is a position
		want   []string
		log    string
	}{
		"with a cursor, after a restart and then a cut": {true, []string{"", token().Text()}, ""},
		"without a cursor": {false, []string{token().Text(), token().Text()}, "gap:no-replay"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModePush, func(r *rig) {
				if c.cursor {
					r.resumed()
				} else {
					r.sub.LastSeen = time.Now().Add(-time.Hour).UTC()
				}
				r.sub.Resume = event.NewSecret(token().Text())
				var sent []string
				r.src.stream = func(n int, q wire.StreamRequest, s *stream) error {
					sent = append(sent, q.Resume)
					if n == 2 {
						s.tell(wire.Note{Method: wire.NoteResumed})
						return s.stay()
					}
					if q.Resume != "" {
						s.tell(wire.Note{Method: wire.NoteResumed})
					} else {
						s.active("c7")
					}
					return errors.New("cut")
				}
				r.start().pass(time.Minute)
				equal(t, sent, c.want)
				r.wantLog(c.log)
			})
		})
	}
}

// A stream whose events could not be stored must not be resumed: the server would
// not send them again.
func TestAStreamThatWasNotStoredIsNotResumed(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.resumed()
		r.sub.Resume = event.NewSecret(token().Text())
		r.store.failWith(func(b event.Batch) error {
			if slices.ContainsFunc(b.Records, func(rec event.Record) bool { return rec.Kind == event.KindEvent }) {
				return event.ErrFull
			}
			return nil
		})
		var sent []string
		r.src.stream = func(n int, q wire.StreamRequest, s *stream) error {
			sent = append(sent, q.Resume)
			s.active("c7")
			if n > 1 {
				return s.stay()
			}
			s.event("e1")
			return nil
		}
		r.start().pass(time.Minute)
		if len(sent) < 2 || sent[1] != "" {
			t.Errorf("resumed with %q", sent)
		}
	})
}

func TestUnacceptableRequestEndsTheSubscription(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.src.open = func(int) error { return fmt.Errorf("%w: the tool failed", wire.ErrUnacceptable) }
		r.start().wantEnded(true)
		r.wantState(event.StateEnded)
		if err := r.runner.Confirmed(r.t.Context()); !errors.Is(err, wire.ErrUnacceptable) {
			t.Error(err)
		}
	})
}

// foreign makes the rig one of a dialect whose server makes the secret.
func (r *rig) foreign() {
	r.deps.ServerSecret = true
	r.deps.Read = func(body []byte, id trust.Text, at time.Time) (wire.Occurrence, error) {
		if string(body) == "bad" {
			return wire.Occurrence{}, errors.New("makes no sense")
		}
		return wire.Occurrence{EventID: id, Raw: body, Data: body}, nil
	}
}

func TestTheServersSecretIsStoredWithTheGrant(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.foreign()
		given := []wire.GivenSecret{{Type: "raw", Text: "one"}, {Type: "standard", Text: "whsec_two"}, {Type: "none"}}
		var held []string
		r.src.subscribe = func(n int, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
			if q.Secret != "" && n == 1 {
				t.Error("this host made a secret")
			}
			held = append(held, q.Held.Raw())
			if n > len(given) {
				return wire.SubscribeResult{ID: q.Held}, nil
			}
			return wire.SubscribeResult{ID: text(fmt.Sprint("id", n)), Secret: &given[n-1], Anew: n > 1}, nil
		}
		r.start().pass(0)
		hook := r.saved().Hook
		if hook.Secret.Reveal() != "one" || hook.Scheme != event.SchemeRaw || !hook.Previous.IsZero() {
			t.Errorf("%+v", hook)
		}
		if r.saved().Lease.ServerID.Raw() != "id1" {
			t.Error("the id is not kept")
		}
		r.runner.Nudge()
		r.pass(0)
		hook = r.saved().Hook
		if hook.Secret.Reveal() != "whsec_two" || hook.Scheme != event.SchemeStandard || hook.Previous.Reveal() != "one" || hook.Until.IsZero() {
			t.Errorf("%+v", hook)
		}
		r.runner.Nudge()
		r.pass(0)
		if hook = r.saved().Hook; hook.Scheme != event.SchemeNone || !hook.Secret.IsZero() {
			t.Errorf("%+v", hook)
		}
		r.runner.Nudge()
		r.pass(0)
		equal(t, held, []string{"", "id1", "id2", "id3"})
		r.wantLog("gap:lapsed gap:lapsed")
	})
}

func TestForeignDeliveriesAreReadByTheDialect(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.foreign()
		r.src.subscribe = func(int, wire.SubscribeRequest) (wire.SubscribeResult, error) {
			return wire.SubscribeResult{ID: text("id"), Secret: &wire.GivenSecret{Type: "raw", Text: "s"}}, nil
		}
		r.start().pass(0)
		r.mustDeliver(Delivered{WebhookID: text("m1"), Body: []byte(`{"cursor":"not a cursor","type":"gap"}`)})
		if err := r.deliver(Delivered{WebhookID: text("m2"), Body: []byte("bad")}); !errors.Is(err, ErrRejected) {
			t.Error(err)
		}
		r.wantLog("m1 rejected")
		r.wantCursor("-")
	})
}

// suspending is a source that records which subscriptions were suspended.
type suspending struct {
	*source
	asked []wire.UnsubscribeRequest
	err   error
}

func (s *suspending) Pause(_ context.Context, r wire.UnsubscribeRequest) error {
	s.asked = append(s.asked, r)
	return s.err
}

func TestSuspend(t *testing.T) {
	src := &suspending{source: &source{}}
	sub := event.Subscription{Mode: event.ModePush, Lease: event.Lease{ServerID: text("s1")}}
	if err := Suspend(t.Context(), src, sub); err != nil || len(src.asked) != 1 || src.asked[0].Held.Raw() != "s1" {
		t.Errorf("%v, %+v", err, src.asked)
	}
	src.err = fault(-32011, "")
	if err := Suspend(t.Context(), src, sub); err != nil {
		t.Errorf("one that the server does not know is an error: %v", err)
	}
	src.err = errors.New("cut")
	if err := Suspend(t.Context(), src, sub); err == nil {
		t.Error("a lost connection is no error")
	}
	if err := Release(t.Context(), src, sub); err != nil || len(src.ended) != 1 {
		t.Errorf("a push subscription that is held was not released: %v", err)
	}
}
