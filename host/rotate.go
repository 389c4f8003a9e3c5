package host

import (
	"context"
	"fmt"

	"eventdeck/host/delivery"
	"eventdeck/host/dialect"
	"eventdeck/host/event"
)

// RotateSecret implements [API].
func (h *Host) RotateSecret(ctx context.Context, id event.SubID) error {
	sub, err := h.newSecret(ctx, id)
	if err != nil {
		return h.failed(ctx, delivery.ActionRotate, sub, err)
	}
	l := h.life(id)
	if l == nil {
		return nil // the next subscribe carries it
	}
	if err := l.runner.Refresh(ctx); err != nil {
		return fmt.Errorf("the new secret is stored, and the server is told at the next attempt: %w", explain(err))
	}
	return nil
}

// newSecret stores another secret beside the present one.
func (h *Host) newSecret(ctx context.Context, id event.SubID) (event.Subscription, error) {
	sub, t, err := h.hold(ctx, id)
	if err != nil {
		return sub, err
	}
	defer t.give()
	switch {
	case sub.Mode != event.ModeWebhook:
		return sub, fmt.Errorf("%w: subscription %s runs in mode %s, which has no secret", ErrMode, id, sub.Mode)
	case dialect.KindOf(sub.Dialect).ServerSecret:
		return sub, fmt.Errorf("%w: subscription %s has a secret that its server makes; subscribe anew for another one", ErrMode, id)
	}
	hook := sub.Hook
	if err := delivery.Rotate(&hook, h.opts.Random, h.opts.Now()); err != nil {
		return sub, fmt.Errorf("subscription %s: %w", id, err)
	}
	return sub, h.update(ctx, id, nil, h.act(event.ActorOperator, delivery.ActionRotate, sub, ""), func(s *event.Subscription) {
		s.Hook.Secret, s.Hook.Since = hook.Secret, hook.Since
		s.Hook.Previous, s.Hook.Until = hook.Previous, hook.Until
	})
}
