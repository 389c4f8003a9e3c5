// Package receiver takes webhook deliveries (SEP-3415, webhook; Standard
// Webhooks): an HTTPS server that uses nothing of a body before the signature over
// its bytes is verified, and acknowledges nothing before it is committed.
//
// The host gives it a [Book], which knows the paths and their secrets, and a
// [Sink], which commits what arrived. The receiver itself keeps no state of
// subscriptions: it drops no duplicates and remembers no ids. [CA] is the local
// certificate authority under which it serves on loopback.
package receiver

import (
	"context"
	"crypto/ed25519"
	"errors"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// PathState says what the [Book] knows of a path.
type PathState int

// The states of a path.
const (
	PathUnknown PathState = iota // never given out, or forgotten: 404
	PathKnown                    // a subscription takes deliveries here
	PathEnded                    // its subscription ended abnormally less than a day ago: 503
	PathRemoved                  // its subscription was removed here: 410
)

// Entry is what the [Book] knows of the subscription behind a path.
type Entry struct {
	Sub           event.SubID
	Current       event.Secret
	Previous      event.Secret // the secret before the last rotation; zero: none
	PreviousUntil time.Time    // Previous is accepted until then; zero: no more
	// Scheme is how Current and Previous prove a delivery.
	Scheme event.Scheme
	// KeyRequired: besides the secret, a key of the server must have signed. Keys are
	// those that it publishes. KeysFresh: they were read just now, so that a signature
	// by another key is wrong, and not by one that was published since.
	KeyRequired bool
	Keys        []ed25519.PublicKey
	KeysFresh   bool
	// Awaited: there is no secret yet. The server makes it, and the answer that holds it has
	// not been stored, or the store is locked. Senders are told to retry at once.
	Awaited bool
	// Foreign: bodies are no envelopes of MCP Events; each is an event.
	Foreign bool
	// InFlight: a subscribe, refresh or rotation was opened on the path within
	// the last 60 s. Only then is a verification challenge answered.
	InFlight bool
	// Old and New: the path is the one before the present one, or the one that is being
	// proved beside it; see [event.Hook].
	Old, New bool
}

// Book finds the subscription behind a path.
type Book interface {
	// Lookup returns what is known of the path of a request, e.g. /hooks/ab12.
	// It is called by many goroutines at once and must not block. For
	// [PathRemoved] the Entry may hold the last secret; then only a well-signed
	// delivery learns that the subscription is gone, and others get 401.
	Lookup(path string) (Entry, PathState)
}

// Type says what the body of a delivery is.
type Type string

// The types of deliveries that reach a [Sink].
const (
	TypeEvent      Type = "event"      // an occurrence: no top-level "type"
	TypeGap        Type = "gap"        // control envelope
	TypeTerminated Type = "terminated" // control envelope
	TypeControl    Type = "control"    // control envelope of a type that is not known here
	TypeMalformed  Type = "malformed"  // strict parsing refused the body: see Delivery.Refused
)

// Delivery is a request whose signature and time were verified.
type Delivery struct {
	Sub          event.SubID
	WebhookID    trust.Text // may differ from the event's id; empty only where the scheme is not the standard one
	ServerID     trust.Text // X-MCP-Subscription-Id, the server's id of the subscription; empty if absent
	At           time.Time  // of receipt, UTC
	SentAt       time.Time  // of the attempt, as the sender signed it, UTC
	Body         []byte     // exact bytes, the Sink's own
	Type         Type
	Control      trust.Text // of TypeControl: the top-level "type"
	Refused      error      // of TypeMalformed: wraps [strict.ErrRefused]
	UsedPrevious bool       // signed with the previous secret
	Old, New     bool       // as in [Entry]
}

// Errors of a [Sink].
var (
	// ErrRejected: the payload was refused and is committed as rejected. The
	// answer is 400.
	ErrRejected = errors.New("payload rejected")
	// ErrChanged: an event with this id is stored with other data, which are kept. The
	// answer is a success, and the refusal is reported to the operator.
	ErrChanged = errors.New("known id with other data")
	// ErrBusy: nothing was committed; the sender should retry. The answer is 503 with
	// Retry-After, as for every error that is none of these.
	ErrBusy = errors.New("busy")
)

// Sink commits deliveries.
type Sink interface {
	// Deliver returns nil only after the commit: the delivery is acknowledged then. A
	// duplicate is nil too. A delivery of [TypeMalformed] is committed as rejected, and nil
	// means the same as [ErrRejected]. It is called by many goroutines at once, and must
	// return when ctx ends.
	//
	// Errors: [ErrRejected], [ErrChanged], [ErrBusy], [event.ErrFull], the cause of ctx; any
	// other is answered like ErrBusy.
	Deliver(ctx context.Context, d Delivery) error
}
