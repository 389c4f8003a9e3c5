package hooks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/receiver"
	"eventdeck/host/trust"
)

// How many refused deliveries wait to be noted, and how often that is done: any
// sender can have a delivery refused, and must not keep the store's writer busy by it.
// Beyond that they are only counted.
const (
	refusalsWaiting = 1024
	noteEvery       = 100 * time.Millisecond
)

// badRate allows for ten seconds of bad requests at once.
func badRate(perSecond int) receiver.Rate {
	return receiver.Rate{PerSecond: float64(perSecond), Burst: 10 * perSecond}
}

// refused is told of every refused request. It does not wait for the store.
func (s *Service) refused(r event.Refusal) {
	s.deps.Refused(r)
	s.queue(r)
}

// queue has a refusal noted later, or only counted when too many wait.
func (s *Service) queue(r event.Refusal) {
	select {
	case s.refusals <- r:
	default:
		s.uncounted.Add(1)
	}
}

// Altered notes events that came by poll or push with an id that is stored and other
// data, as the receiver does for one that was delivered.
func (s *Service) Altered(id event.SubID, n int) {
	r := event.Refusal{At: s.deps.Now().UTC(), Sub: id, Reason: receiver.ReasonChanged}
	if n > 1 {
		r.Reason += fmt.Sprintf(" (%d events)", n)
	}
	s.queue(r)
}

// challenged is told of every challenge that was answered. It does not wait for
// the store.
func (s *Service) challenged(id event.SubID, serverID trust.Text) {
	sub, err := s.deps.Store.Subscription(id)
	if err != nil {
		return // removed meanwhile
	}
	if r := s.deps.Runner(id); r != nil {
		r.Challenged()
		if !r.Status().State.Alive() {
			s.deps.Accepted(id) // a new beginning: what was refused may have been its challenge
		}
	}
	e := event.Act(s.deps.Now(), event.ActorSecurity, "challenge answered", sub)
	e.Detail = serverID
	select {
	case s.challenges <- e:
	default:
		s.uncounted.Add(1)
	}
}

// keepRefusals stores for the operator which deliveries were refused, which
// subscriptions receive none therefore, and which challenges were answered, until ctx
// ends, and then those that wait. What it has begun by then has [FinishWithin] to be stored.
func (s *Service) keepRefusals(ctx context.Context) {
	done := ctx.Done()
	kept, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(FinishWithin, cancel) })()
	ctx = kept
	for {
		select {
		case r := <-s.refusals:
			s.noteRefusals(ctx, r)
			s.deps.KeepStates(ctx)
		case <-s.turned:
			s.deps.KeepStates(ctx)
			continue
		case e := <-s.challenges:
			s.deps.Note(ctx, e)
			continue
		case <-done:
			s.noteRest(ctx)
			s.deps.KeepStates(ctx)
			return
		}
		pause := time.NewTimer(noteEvery)
		select {
		case <-pause.C:
		case <-done:
		}
		pause.Stop()
	}
}

func (s *Service) noteRest(ctx context.Context) {
	for {
		select {
		case r := <-s.refusals:
			s.noteRefusals(ctx, r)
		case e := <-s.challenges:
			s.deps.Note(ctx, e)
		default:
			return
		}
	}
}

// Turn has the stored states looked at. It does not wait.
func (s *Service) Turn() {
	select {
	case s.turned <- struct{}{}:
	default:
	}
}

// noteRefusals stores r and those that wait behind it.
func (s *Service) noteRefusals(ctx context.Context, r event.Refusal) {
	log := s.deps.Log
	list := append(make([]event.Refusal, 0, 1+len(s.refusals)), r)
	for range len(s.refusals) {
		list = append(list, <-s.refusals) // there is no other receiver
	}
	if err := s.deps.Store.Refuse(ctx, list...); err != nil {
		log.Warn("refused deliveries could not be noted", "refused", len(list), "err", err)
	}
	if n := s.uncounted.Swap(0); n > 0 {
		s.leftOut += n
	}
	if s.leftOut > 0 {
		if _, ok := s.damper.pass(damped{what: "left out"}, s.deps.Now()); ok {
			log.Warn("more refused deliveries than could be noted", "left_out", s.leftOut)
			s.leftOut = 0
		}
	}
	for _, r := range list {
		s.auditRefusal(ctx, r)
	}
	s.deps.Changed()
}

// auditRefusal notes a refused delivery in the audit log, and of many alike one. A
// delivery that was verified and could not be kept now, as during a pause, is
// nothing that an attacker tried.
func (s *Service) auditRefusal(ctx context.Context, r event.Refusal) {
	if r.Reason == receiver.ReasonNotStored {
		return
	}
	left, ok := s.damper.pass(damped{r.Sub, kindOf(r.Reason)}, r.At)
	if !ok {
		return
	}
	sub, err := s.deps.Store.Subscription(r.Sub)
	if err != nil {
		sub = event.Subscription{ID: r.Sub}
	}
	s.deps.Log.Info("delivery refused", "server", sub.Key.Server, "sub", r.Sub, "status", r.Status, "bytes", r.Bytes, "reason", r.Reason, "more", left)
	e := event.Act(r.At, event.ActorSecurity, "delivery refused", sub)
	e.Result, e.Detail = "kept as it was", trust.Unescaped(r.Reason)
	if r.Status != 0 {
		e.Result = fmt.Sprintf("answered %d", r.Status)
	}
	if left > 0 {
		e.Detail = trust.Unescaped(fmt.Sprintf("%s (and %d more since the last entry)", r.Reason, left))
	}
	s.deps.Note(ctx, e)
}

// kindOf returns what refusals of one kind have in common: their reason without
// details and numbers.
func kindOf(reason string) string {
	if end := strings.IndexAny(reason, ":0123456789"); end >= 0 {
		return reason[:end]
	}
	return reason
}
