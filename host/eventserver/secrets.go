package eventserver

import (
	"time"

	"eventdeck/host/event"
)

// DualSign is how long both secrets sign after a rotation.
const DualSign = time.Hour

// Secrets are those of one webhook subscription. Its owner holds a lock.
type Secrets struct {
	current, previous event.Secret
	until             time.Time // previous signs too
}

// NewSecrets returns those of a subscription that had no secret before.
func NewSecrets(s event.Secret) Secrets { return Secrets{current: s} }

// Rotate has deliveries signed with another secret, and for [DualSign] with the one before too.
// The same secret changes nothing.
func (s *Secrets) Rotate(to event.Secret, now time.Time) {
	if to != s.current {
		*s = Secrets{current: to, previous: s.current, until: now.Add(DualSign)}
	}
}

// At returns the secrets that sign a delivery at now, the newest first.
func (s *Secrets) At(now time.Time) []event.Secret {
	if now.Before(s.until) {
		return []event.Secret{s.current, s.previous}
	}
	return []event.Secret{s.current}
}
