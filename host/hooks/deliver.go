package hooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"eventdeck/host/delivery"
	"eventdeck/host/dialect"
	"eventdeck/host/event"
	"eventdeck/host/receiver"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// Lookup implements [receiver.Book].
func (s *Service) Lookup(path string) (receiver.Entry, receiver.PathState) {
	s.mu.RLock()
	id, known := s.paths[path]
	_, removed := s.removed.get(path)
	s.mu.RUnlock()
	if !known {
		if removed {
			return receiver.Entry{}, receiver.PathRemoved
		}
		return receiver.Entry{}, receiver.PathUnknown
	}
	sub, err := s.deps.Store.Subscription(id)
	if err != nil || !slices.Contains(sub.Hook.Paths(), path) {
		return receiver.Entry{}, receiver.PathRemoved // removed just now, or it has another path
	}
	old := sub.Hook.OldPath == path
	if old && s.deps.Now().After(sub.Hook.OldUntil) {
		return receiver.Entry{}, receiver.PathRemoved
	}
	entry := receiver.Entry{Sub: id, Old: old, New: sub.Hook.NewPath == path, Current: sub.Hook.Secret, Previous: sub.Hook.Previous, PreviousUntil: sub.Hook.Until, Scheme: sub.Hook.Scheme}
	if sub.Hook.Secret.IsZero() && s.deps.Store.Info().Locked != nil {
		entry.Awaited = true
	}
	if kind := dialect.KindOf(sub.Dialect); kind.Read != nil {
		entry.Foreign = true
		entry.Awaited = entry.Awaited || kind.ServerSecret && sub.Hook.Secret.IsZero() && sub.Hook.Scheme != event.SchemeNone
	}
	if spec, err := s.deps.Server(sub.Key.Server); err == nil && spec.RequireServerKey {
		entry.KeyRequired = true
		entry.Keys, entry.KeysFresh = s.keys.get(spec)
	}
	if sub.State.Over() {
		if s.deps.Now().Sub(s.endedAt(path)) < rememberEnded {
			return entry, receiver.PathEnded
		}
		return receiver.Entry{}, receiver.PathUnknown
	}
	if r := s.deps.Runner(id); r != nil && !old {
		entry.InFlight = r.InFlight()
	}
	return entry, receiver.PathKnown
}

// endedAt returns when the subscription of a path ended; zero: not known.
func (s *Service) endedAt(path string) time.Time {
	s.mu.RLock()
	at, known := s.ended.get(path)
	s.mu.RUnlock()
	if known {
		return at
	}
	for _, e := range s.deps.Store.EndedHooks() {
		if e.Path == path {
			s.mu.Lock()
			s.ended.put(path, e.At) // so that the store is asked once
			s.mu.Unlock()
			return e.At
		}
	}
	return time.Time{}
}

// Deliver implements [receiver.Sink].
func (s *Service) Deliver(ctx context.Context, d receiver.Delivery) error {
	r := s.deps.Runner(d.Sub)
	if r == nil {
		return notRunning(d.Sub)
	}
	kind := delivery.DeliveredEvent
	switch d.Type {
	case receiver.TypeGap:
		kind = delivery.DeliveredGap
	case receiver.TypeTerminated:
		kind, d.Body = delivery.DeliveredTerminated, s.deps.Secrets.JSON(d.Body)
	case receiver.TypeMalformed:
		kind = delivery.DeliveredMalformed
	case receiver.TypeControl:
		s.deps.Accepted(d.Sub)
		kind := trust.Line(wire.Clip(s.deps.Secrets.Text(d.Control))).Plain()
		r.Remark(ctx, "control "+kind, "the server sent a signed message of type \""+kind+"\", which is not known here; nothing was done")
		return nil
	}
	err := r.Deliver(ctx, delivery.Delivered{
		Kind: kind, WebhookID: d.WebhookID, ServerID: d.ServerID, Body: d.Body, Refused: s.deps.Secrets.Error(d.Refused), Previous: d.UsedPrevious,
		Old: d.Old, New: d.New, SentAt: d.SentAt,
	})
	if err == nil || errors.Is(err, delivery.ErrChanged) {
		s.deps.Accepted(d.Sub)
	}
	switch {
	case errors.Is(err, delivery.ErrRejected):
		return receiver.ErrRejected
	case errors.Is(err, delivery.ErrChanged):
		return receiver.ErrChanged
	}
	return err
}

// tooLarge records a gap for a delivery that is too large, which its server will not repeat. It
// returns after the commit.
func (s *Service) tooLarge(ctx context.Context, id event.SubID, webhookID trust.Text) error {
	r := s.deps.Runner(id)
	if r == nil {
		return notRunning(id)
	}
	return r.Missed(ctx, webhookID)
}

func notRunning(id event.SubID) error {
	return fmt.Errorf("%w: subscription %s is not running", receiver.ErrBusy, id)
}
