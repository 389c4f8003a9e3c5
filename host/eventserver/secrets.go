package eventserver

import (
	"time"

	"eventdeck/host/event"
)

// DualSign is how long both secrets sign after a rotation.
const DualSign = time.Hour

// Secrets are the secrets of one webhook subscription. The caller synchronizes access.
type Secrets struct {
	current, previous event.Secret
	until             time.Time // when previous stops signing
}

// NewSecrets returns the secrets of a new subscription.
func NewSecrets(s event.Secret) Secrets { return Secrets{current: s} }

// Rotate makes another secret sign deliveries. The one before signs too, for [DualSign]. The
// current secret changes nothing.
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
