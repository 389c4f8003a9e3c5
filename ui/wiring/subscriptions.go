package wiring

import (
	"context"
	"errors"
	"slices"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/react/act"
)

// subscriptions carries out client requests on a host.
type subscriptions struct{ api host.API }

var _ act.Subscriptions = subscriptions{}

// Carry implements [act.Subscriptions].
func (s subscriptions) Carry(ctx context.Context, w react.ClientRequest) error {
	switch {
	case w.Act == react.ClientEnd:
		return s.end(ctx, w.Sub)
	case w.Act == react.ClientPause:
		return s.api.Pause(ctx, w.Sub)
	case w.Act == react.ClientResume:
		return s.api.Resume(ctx, w.Sub)
	case w.Act == react.ClientChange && w.Subscription() == w.Sub:
		return s.api.SetMode(ctx, w.Sub, w.Mode)
	}
	if err := s.begin(ctx, event.Key{Server: w.Server, Type: w.Type, Args: w.Args}, w.Mode); err != nil || w.Act == react.ClientBegin {
		return err
	}
	return s.end(ctx, w.Sub)
}

// begin begins a subscription. An existing one stays as it is, in any mode.
func (s subscriptions) begin(ctx context.Context, key event.Key, mode event.Mode) error {
	if s.find(key) {
		return nil
	}
	_, err := s.api.Subscribe(ctx, host.Request{Server: key.Server, Type: key.Type, Args: key.Args, Mode: mode, From: host.From{Saved: true}})
	if err != nil && s.find(key) { // it exists, though the server has not confirmed it yet
		return nil
	}
	return err
}

// find reports whether there is a subscription of a key that is not over.
func (s subscriptions) find(key event.Key) bool {
	return slices.ContainsFunc(s.api.Snapshot().Subs, func(v host.SubscriptionView) bool {
		return v.Key.ID() == key.ID() && !v.State.Over()
	})
}

// end ends a subscription, if it is there.
func (s subscriptions) end(ctx context.Context, id event.SubID) error {
	err := s.api.Unsubscribe(ctx, id)
	if errors.Is(err, event.ErrNotFound) {
		return nil
	}
	return err
}
