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

// How long the secret before a rotation is accepted: rotationGrace after the first delivery
// that was signed with the new one, and rotationLimit at most. Servers switch at once, sign
// with both, or lag (field notes 12).
const (
	rotationGrace = 10 * time.Minute
	rotationLimit = 24 * time.Hour
)

// ActionRotate is the audit log's word for a new secret.
const ActionRotate = "rotate secret"

// ErrRotating: the last rotation is not over; another one now would refuse
// deliveries that the server signs with the secret before it.
var ErrRotating = errors.New("a rotation is under way")

// Rotate makes a secret from random (nil: the system's source) and gives it to a hook, as
// [Replace] does.
//
// Errors: [ErrRotating], [event.ErrSecret].
func Rotate(h *event.Hook, random io.Reader, now time.Time) error {
	secret, err := event.NewWebhookSecret(random)
	if err != nil {
		return err
	}
	return Replace(h, secret, now)
}

// Replace gives a hook another secret; the previous one is accepted for 24 h at most.
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

// rotating reports whether no delivery was signed with the newest secret yet.
func rotating(h event.Hook, now time.Time) bool {
	return !h.Previous.IsZero() && h.Until.After(now.Add(rotationGrace))
}

// rotateIfDue gives the hook a new secret when its secret is [Deps.RotateEvery] old, and drops
// a previous one that is no longer accepted.
func (r *Runner) rotateIfDue(h *event.Hook, now time.Time) (rotated bool, err error) {
	if !h.Previous.IsZero() && !h.Until.After(now) {
		h.Previous, h.Until = event.Secret{}, time.Time{}
	}
	every := r.deps.RotateEvery
	if every <= 0 || r.deps.ServerSecret || now.Sub(h.Since) < every || rotating(*h, now) {
		return false, nil
	}
	return true, Rotate(h, r.deps.Random, now)
}

// auditEntry returns the entry of the audit log for an act on the subscription that was done.
func (r *Runner) auditEntry(actor event.Actor, action string) event.AuditEntry {
	return event.Act(r.deps.Now(), actor, action, event.Subscription{ID: r.id, Key: r.key})
}

// noteSecret shortens the grace of the previous secret, in the batch of the first delivery that was
// signed with the new one.
func (r *Runner) noteSecret(b *event.Batch, previous bool, now time.Time) {
	sub, err := r.deps.Store.Subscription(r.id)
	if err != nil || previous || !rotating(sub.Hook, now) {
		return
	}
	r.mu.Lock()
	first := r.seenSecret != sub.Hook.Secret
	r.seenSecret = sub.Hook.Secret
	r.mu.Unlock()
	if first { // several deliveries may be under way at once
		b.Audit = append(b.Audit, r.auditEntry(event.ActorSecurity, "new secret seen"))
	}
	addUpdate(b, func(s *event.Subscription) {
		if rotating(s.Hook, now) {
			s.Hook.Until = now.Add(rotationGrace).UTC()
		}
	})
}

// givenGrace is how long the previous secret is accepted where the server makes them.
const givenGrace = 10 * time.Minute

// keepGiven stores the secret that the server made in the hook; nil: it made none.
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

// heldServerID returns the server's id of the subscription, to continue with it. It is empty, so
// that a new one is asked for, where the secret that the server made is lost.
func (r *Runner) heldServerID(sub event.Subscription) trust.Text {
	if r.deps.ServerSecret && sub.Hook.Secret.IsZero() && sub.Hook.Scheme != event.SchemeNone {
		return trust.Text{}
	}
	return sub.Lease.ServerID
}
