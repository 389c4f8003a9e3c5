package host

import (
	"context"
	"fmt"

	"eventdeck/host/delivery"
	"eventdeck/host/dialect"
	"eventdeck/host/event"
)

// RotateSecret implements [API].
func (subs *subscriptions) RotateSecret(ctx context.Context, id event.SubID) error {
	sub, err := subs.newSecret(ctx, id)
	if err != nil {
		return subs.auditFailure(ctx, delivery.ActionRotate, sub, err)
	}
	l := subs.running(id)
	if l == nil {
		return nil // the next subscribe carries it
	}
	if err := l.runner.Refresh(ctx); err != nil {
		return fmt.Errorf("the new secret is stored, and the server is told at the next attempt: %w", explain(err))
	}
	return nil
}

// newSecret stores a new secret beside the present one.
func (subs *subscriptions) newSecret(ctx context.Context, id event.SubID) (event.Subscription, error) {
	sub, unlock, err := subs.lockSub(ctx, id)
	if err != nil {
		return sub, err
	}
	defer unlock()
	switch {
	case sub.Mode != event.ModeWebhook:
		return sub, fmt.Errorf("%w: subscription %s runs in mode %s, which has no secret", ErrMode, id, sub.Mode)
	case dialect.KindOf(sub.Dialect).ServerSecret:
		return sub, fmt.Errorf("%w: subscription %s has a secret that its server makes; subscribe anew for another one", ErrMode, id)
	}
	if _, why := subs.locked(); why != nil {
		return sub, fmt.Errorf("subscription %s: %w", id, why)
	}
	secret, err := event.NewWebhookSecret(subs.opts.Random)
	if err != nil {
		return sub, fmt.Errorf("subscription %s: %w", id, err)
	}
	now, hook := subs.opts.Now(), sub.Hook
	if err := delivery.Replace(&hook, secret, now); err != nil {
		return sub, fmt.Errorf("subscription %s: %w", id, err)
	}
	// The runner may have stored another secret since, and told the server of it: then that
	// one becomes the previous secret.
	var late error
	err = subs.commitChange(ctx, id, nil, subs.auditEntry(event.ActorOperator, delivery.ActionRotate, sub, ""), func(s *event.Subscription) {
		late = delivery.Replace(&s.Hook, secret, now)
	})
	if err == nil && late != nil {
		err = fmt.Errorf("subscription %s: %w", id, late)
	}
	return sub, err
}
