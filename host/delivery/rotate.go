package delivery

import (
	"errors"
	"fmt"
	"io"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// How long the secret before a rotation is accepted: until a delivery was signed
// with the new one and a grace is over, and no longer than the limit. Servers
// switch at once, sign with both, or lag (field notes 12).
const (
	rotationGrace = 10 * time.Minute
	rotationLimit = 24 * time.Hour
)

// ActionRotate is the audit log's word for a new secret.
const ActionRotate = "rotate secret"

// ErrRotating: the last rotation is not over; another one now would refuse
// deliveries that the server signs with the secret before it.
var ErrRotating = errors.New("a rotation is under way")

// Rotate makes a secret and gives it to a hook, as [Replace] does.
//
// Errors: [ErrRotating], [event.ErrSecret].
func Rotate(h *event.Hook, random io.Reader, now time.Time) error {
	secret, err := event.NewWebhookSecret(random)
	if err != nil {
		return err
	}
	return Replace(h, secret, now)
}

// Replace gives a hook another secret, and keeps the one before it for a while.
//
// Error: [ErrRotating].
func Replace(h *event.Hook, secret event.Secret, now time.Time) error {
	if rotating(*h, now) {
		return fmt.Errorf("%w: the server has not signed with the new secret yet; the old one is accepted until %s", ErrRotating, h.Until.Format(time.RFC3339))
	}
	if !h.Secret.IsZero() {
		h.Previous, h.Until = h.Secret, now.Add(rotationLimit).UTC()
	}
	h.Secret, h.Since = secret, now.UTC()
	return nil
}

// rotating reports whether the newest secret was not seen yet.
func rotating(h event.Hook, now time.Time) bool {
	return !h.Previous.IsZero() && h.Until.After(now.Add(rotationGrace))
}

// turnSecret gives the hook a new secret when its time has come, and forgets one
// that is not accepted any more.
func (r *Runner) turnSecret(h *event.Hook, now time.Time) (rotated bool, err error) {
	if !h.Previous.IsZero() && !h.Until.After(now) {
		h.Previous, h.Until = event.Secret{}, time.Time{}
	}
	every := r.deps.RotateEvery
	if every <= 0 || r.deps.ServerSecret || now.Sub(h.Since) < every || rotating(*h, now) {
		return false, nil
	}
	return true, Rotate(h, r.deps.Random, now)
}

// act returns the audit log's entry of something that was done to the subscription.
func (r *Runner) act(actor event.Actor, action string) event.AuditEntry {
	return event.AuditEntry{
		At: r.deps.Now().UTC(), Actor: actor, Action: action,
		Server: r.key.Server, Type: r.key.Type, Sub: r.id, Result: event.ResultOK,
	}
}

// signed takes note of the secret with which a delivery was signed: once the new
// one was seen, the time of the one before it is short.
func (r *Runner) signed(b *event.Batch, previous bool, now time.Time) {
	sub, err := r.deps.Store.Subscription(r.id)
	if err != nil || previous || !rotating(sub.Hook, now) {
		return
	}
	r.mu.Lock()
	first := r.seenSecret != sub.Hook.Secret
	r.seenSecret = sub.Hook.Secret
	r.mu.Unlock()
	if first { // deliveries come at once
		b.Audit = append(b.Audit, r.act(event.ActorSecurity, "new secret seen"))
	}
	update := b.Update
	b.Update = func(s *event.Subscription) {
		if update != nil {
			update(s)
		}
		if rotating(s.Hook, now) {
			s.Hook.Until = now.Add(rotationGrace).UTC()
		}
	}
}

// givenGrace is how long the secret before the present one is accepted, where the
// server makes them.
const givenGrace = 10 * time.Minute

// keepGiven takes over a secret that the server made.
func keepGiven(h *event.Hook, given *wire.GivenSecret, now time.Time) {
	if given == nil {
		return
	}
	secret := event.NewSecret(given.Text)
	if !h.Secret.IsZero() && h.Secret != secret {
		h.Previous, h.Until = h.Secret, now.Add(givenGrace)
	}
	h.Secret = secret
	switch given.Type {
	case "raw":
		h.Scheme = event.SchemeRaw
	case "none":
		h.Scheme = event.SchemeNone
	default:
		h.Scheme = event.SchemeStandard
	}
}

// held returns the server's id of a subscription whose deliveries can still be
// told from forgeries; "" asks for a new one.
func (r *Runner) held(sub event.Subscription) trust.Text {
	if r.deps.ServerSecret && sub.Hook.Secret.IsZero() && sub.Hook.Scheme != event.SchemeNone {
		return trust.Text{}
	}
	return sub.Lease.ServerID
}
