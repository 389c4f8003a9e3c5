package hooks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/internal/pause"
	"eventdeck/host/receiver"
	"eventdeck/host/trust"
)

// How many refused deliveries wait to be stored, and how often the store is asked. Further ones
// are only counted: any sender can cause refusals, and must not keep the store busy.
const (
	refusalsWaiting = 1024
	noteEvery       = 100 * time.Millisecond
)

// noteRefused handles a refused request. It does not wait for the store.
func (s *Service) noteRefused(r event.Refusal) {
	s.deps.Refused(r)
	s.queueRefusal(r)
}

// queueRefusal queues a refusal for the store, or only counts it when the queue is full.
func (s *Service) queueRefusal(r event.Refusal) {
	select {
	case s.refusals <- r:
	default:
		s.skipped.Add(1)
	}
}

// Altered notes n events that came by poll or push with the id of a stored event and other
// data, as the receiver does for a delivered one. It does not block.
func (s *Service) Altered(id event.SubID, n int) {
	r := event.Refusal{At: s.deps.Now().UTC(), Sub: id, Reason: receiver.ReasonChanged}
	if n > 1 {
		r.Reason += fmt.Sprintf(" (%d events)", n)
	}
	s.queueRefusal(r)
}

// challenged handles a challenge that was answered. It does not wait for the store.
func (s *Service) challenged(id event.SubID, serverID trust.Text) {
	sub, err := s.deps.Store.Subscription(id)
	if err != nil {
		return // removed meanwhile
	}
	if r := s.deps.Runner(id); r != nil {
		r.Challenged()
		if !r.Status().State.Alive() {
			s.deps.Accepted(id) // the refused delivery may have been the challenge of this subscribe
		}
	}
	e := event.Act(s.deps.Now(), event.ActorSecurity, "challenge answered", sub)
	e.Detail = serverID
	select {
	case s.challenges <- e:
	default:
		s.skipped.Add(1)
	}
}

// storeRefusals stores refused deliveries, the states of subscriptions that follow from them,
// and answered challenges until the service's context ends, and then those that still wait, with
// ctx.
func (s *Service) storeRefusals(ctx context.Context) {
	due := time.NewTimer(0) // fires when a state changes without a delivery
	due.Stop()
	keepStates := func() {
		due.Stop()
		if next := s.deps.KeepStates(ctx); next > 0 {
			due.Reset(next)
		}
	}
	for {
		select {
		case r := <-s.refusals:
			s.noteRefusals(ctx, r)
			keepStates()
			_ = pause.For(s.ctx, noteEvery) // the end of the service is seen below
		case <-s.statesDue:
			keepStates()
		case <-due.C:
			keepStates()
			s.deps.Changed()
		case e := <-s.challenges:
			s.deps.Note(ctx, e)
		case <-s.ctx.Done():
			s.noteWaiting(ctx)
			keepStates()
			due.Stop()
			return
		}
	}
}

// noteWaiting stores everything that is queued.
func (s *Service) noteWaiting(ctx context.Context) {
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

// CheckStates has [Deps.KeepStates] called soon. It does not block.
func (s *Service) CheckStates() {
	select {
	case s.statesDue <- struct{}{}:
	default:
	}
}

// noteRefusals stores r and the refusals that wait.
func (s *Service) noteRefusals(ctx context.Context, r event.Refusal) {
	log := s.deps.Log
	list := append(make([]event.Refusal, 0, 1+len(s.refusals)), r)
	for range len(s.refusals) {
		list = append(list, <-s.refusals) // there is no other receiver
	}
	if err := s.deps.Store.Refuse(ctx, list...); err != nil {
		log.Warn("refused deliveries could not be noted", "refused", len(list), "err", err)
	}
	if n := s.skipped.Swap(0); n > 0 {
		s.unreported += n
	}
	if s.unreported > 0 {
		if _, ok := s.damper.pass(auditKind{what: "left out"}, s.deps.Now()); ok {
			log.Warn("more refused deliveries than could be noted", "left_out", s.unreported)
			s.unreported = 0
		}
	}
	for _, r := range list {
		s.auditRefusal(ctx, r)
	}
	s.deps.Changed()
}

// auditRefusal notes a refused delivery in the audit log, but only one of several of a kind,
// and none that was genuine and could not be stored, as during a pause.
func (s *Service) auditRefusal(ctx context.Context, r event.Refusal) {
	if r.Reason == receiver.ReasonNotStored {
		return
	}
	left, ok := s.damper.pass(auditKind{r.Sub, reasonKind(r.Reason)}, r.At)
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

// reasonKind returns the reason of a refusal without details and numbers.
func reasonKind(reason string) string {
	if end := strings.IndexAny(reason, ":0123456789"); end >= 0 {
		return reason[:end]
	}
	return reason
}
