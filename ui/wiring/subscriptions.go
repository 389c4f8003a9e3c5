package wiring

import (
	"context"
	"errors"
	"slices"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/react/act"
)

// subscriptions carries out client requests on a host.
type subscriptions struct{ api host.API }

var _ act.Subscriptions = subscriptions{}

// Subscribe implements [act.Subscriptions]. An existing subscription stays as it is, in any mode.
func (s subscriptions) Subscribe(ctx context.Context, key event.Key, mode event.Mode) (event.SubID, error) {
	if id, ok := s.find(key); ok {
		return id, nil
	}
	sub, err := s.api.Subscribe(ctx, host.Request{Server: key.Server, Type: key.Type, Args: key.Args, Mode: mode, From: host.From{Saved: true}})
	if err == nil {
		return sub.ID, nil
	}
	if id, ok := s.find(key); ok { // it exists, though the server has not confirmed it yet
		return id, nil
	}
	return "", err
}

// find returns the subscription of a key, unless it is over.
func (s subscriptions) find(key event.Key) (event.SubID, bool) {
	subs := s.api.Snapshot().Subs
	i := slices.IndexFunc(subs, func(v host.SubscriptionView) bool {
		return v.Key.ID() == key.ID() && !v.State.Over()
	})
	if i < 0 {
		return "", false
	}
	return subs[i].ID, true
}

// Unsubscribe implements [act.Subscriptions].
func (s subscriptions) Unsubscribe(ctx context.Context, id event.SubID) error {
	err := s.api.Unsubscribe(ctx, id)
	if errors.Is(err, event.ErrNotFound) {
		return nil
	}
	return err
}
