package event

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"eventdeck/host/trust"
)

// SubID is the short local id of a subscription. It is derived from the [Key],
// so the same request has the same id in every store.
type SubID string

// Key identifies a subscription.
type Key struct {
	Server string          // configured name, or the address as given
	Type   trust.Text      // event type
	Args   json.RawMessage // canonical JSON of the arguments: see [CanonicalArgs]
}

// ID returns the local id of the key: eight characters of a-z and 2-7.
func (k Key) ID() SubID {
	h := sha256.New()
	for _, part := range []string{k.Server, k.Type.Raw(), string(k.Args)} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return SubID(strings.ToLower(base32.StdEncoding.EncodeToString(h.Sum(nil)[:5])))
}

// Subscription is what the store keeps of a subscription. It is a value.
type Subscription struct {
	ID      SubID
	Key     Key
	Created time.Time
	// Shown are the arguments with what the type's schema calls secret masked; nil
	// where nothing is. See [Subscription.ShownArgs].
	Shown json.RawMessage

	Mode      Mode // the mode it runs in
	Failover  bool // goes on in another mode when its own keeps failing
	Preferred Mode // of a failover: the mode that the operator chose, while another one runs

	MaxAge   time.Duration // replay at most this far back; 0 means no bound
	TTL      time.Duration // lifetime asked of a webhook lease; 0: the server decides
	Ends     time.Time     // when it ends by the operator's will; zero: never
	Cursor   Cursor        // position up to which everything is stored
	Gave     bool          // the server gave a cursor at least once: replay is possible
	LastSeen time.Time     // last sign of life that was stored
	// CompleteUntil is the watermark: every event that is missing up to here lies in a gap
	// of the log. Zero: not known.
	CompleteUntil time.Time
	Paused        bool

	// Before and Newest let the host see that a server really replays: asked to begin at
	// Before, it must send the event Newest again before anything new. Before is invalid
	// while only one position is known.
	Before Cursor
	Newest trust.Text
	// Proved is the checkpoint of webhook mode, in which a server may give up an event and
	// deliver later ones: the last position up to which nothing is missing. ProvedAt is the
	// watermark of that position. See [Subscription.Opening].
	Proved   Cursor
	ProvedAt time.Time
	// After is the first event that was stored since that checkpoint; zero: none is known.
	After trust.Text
	// Settled is the failure that the server reported at the checkpoint; another one is a
	// sign of a loss.
	Settled Failure
	// Proof is what was known of continuity at the last commit; empty before the first opening.
	Proof Proof
	// Received is when the newest delivery that was taken by webhook was sent, by its
	// sender's clock; zero: none was.
	Received time.Time

	// Dialect is the way of saying "events" that the type was listed in: empty for
	// MCP Events, else a name of package dialect.
	Dialect string
	// NoReplay: the type has no cursor, so that events sent while the host does not listen
	// are lost. Each such time is recorded as a gap.
	NoReplay bool

	State    State // last state that was stored
	Evidence string
	Error    trust.Text

	Lease Lease // of webhook mode; its ServerID also of a push subscription that the server holds
	Hook  Hook  // of webhook mode

	Resume Secret // what resumes the open stream on a server that can; see package wire, Resume

	Printed uint64 // tail has written every record up to this sequence number
}

// ShownArgs returns the arguments as they may be shown to everyone. The unmasked ones in
// [Key] are for the wire, the store, and repeating the request.
func (s *Subscription) ShownArgs() json.RawMessage {
	if len(s.Shown) > 0 {
		return s.Shown
	}
	return s.Key.Args
}

// Opening returns the position at which a delivery is opened: the last one up to
// which nothing is missing.
func (s *Subscription) Opening() Cursor {
	if s.Proved.Valid {
		return s.Proved
	}
	return s.Cursor
}

// MoveTo moves the position. newest is the first event between the previous position and
// to; zero if there is none, or it is not known.
func (s *Subscription) MoveTo(to Cursor, newest trust.Text) {
	if !newest.IsZero() && s.Cursor.Valid && !to.Same(s.Cursor) {
		s.Before, s.Newest = s.Cursor, newest
	}
	s.Cursor = to
}

// Checkpoint makes at the proved position: nothing is missing up to it, nor of what occurred
// before complete. newest is an event between the previous proved position and at; zero if
// none is known. after becomes After.
func (s *Subscription) Checkpoint(at Cursor, complete time.Time, newest, after trust.Text) {
	if !newest.IsZero() && s.Proved.Valid && !s.Proved.Same(at) {
		s.Before, s.Newest = s.Proved, newest
	}
	s.Proved, s.ProvedAt, s.After = at, complete, after
}

// PassGap moves the watermarks past a gap that is in the log, unless something else is missing
// before the gap.
func (s *Subscription) PassGap(g *Gap) {
	s.CompleteUntil = g.Continue(s.CompleteUntil)
	if s.Proved.Valid {
		s.ProvedAt = g.Continue(s.ProvedAt)
	}
}

// DropCheckpoint drops the proved position, as the stored one is proved too.
func (s *Subscription) DropCheckpoint() {
	s.Checkpoint(Cursor{}, time.Time{}, trust.Text{}, trust.Text{})
}

// Reset sets another position, and drops everything that was known of the previous one.
func (s *Subscription) Reset(to Cursor) {
	s.Cursor, s.Before, s.Newest = to, Cursor{}, trust.Text{}
	s.DropCheckpoint()
	s.CompleteUntil = time.Time{}
	s.Settled, s.Proof = Failure{}, ""
}

// Lease is what a server granted to a webhook subscription.
type Lease struct {
	ServerID      trust.Text // the server's id of the subscription; may change on a refresh
	GrantedAt     time.Time
	RefreshBefore time.Time // zero: no expiry was granted
	Status        *DeliveryStatus
	Delivered     bool // a delivery was taken since the server made it
}

// DeliveryStatus is what the server says of its deliveries (SEP-3415, webhook
// subscribe result). Absent members are zero.
type DeliveryStatus struct {
	Active         bool          `json:"active"`
	LastDeliveryAt trust.Text    `json:"lastDeliveryAt,omitzero"`
	LastError      trust.Text    `json:"lastError,omitzero"`
	FailedSince    trust.Text    `json:"failedSince,omitzero"`
	Throttled      bool          `json:"throttled,omitempty"`
	RetryAfter     time.Duration `json:"retryAfter,omitempty"`
}

// Failure returns what the status tells of failed deliveries; zero for nil.
func (s *DeliveryStatus) Failure() Failure {
	if s == nil {
		return Failure{}
	}
	return Failure{s.LastError, s.FailedSince}
}

// Failure is what a server reports of deliveries that failed; zero: none failed.
type Failure struct{ Error, Since trust.Text }

// Hook is the address at which a subscription takes deliveries, and the secrets
// that sign them. It is stored before the server is told of it.
type Hook struct {
	URL      string    // complete callback URL
	Path     string    // unguessable path, the key of the receiver's table
	Secret   Secret    // whsec_…; in other schemes any text that the server made
	Scheme   Scheme    // how Secret proves that a delivery is genuine
	Previous Secret    // the secret before the last rotation
	Until    time.Time // Previous is accepted until then
	Since    time.Time // when Secret was made; zero: not known

	// NewPath is a path with the same secrets that is being proved beside this one, and
	// NewURL its address; empty: none is. Tried is when the newest one was made.
	NewPath string
	NewURL  string
	Tried   time.Time

	// OldPath is the path before this one, with the same secrets, on which late deliveries
	// are taken until OldUntil. OldURL is its address, empty once the server was told to end
	// it.
	OldPath  string
	OldURL   string
	OldUntil time.Time
}

// Paths returns the old path, the present one and the new one, as far as there are any.
func (h *Hook) Paths() []string {
	return slices.DeleteFunc([]string{h.OldPath, h.Path, h.NewPath}, func(path string) bool { return path == "" })
}

// Promote makes the new path the present one. The present one becomes the old one, until then.
func (h *Hook) Promote(until time.Time) {
	h.OldPath, h.OldURL, h.OldUntil = h.Path, h.URL, until
	h.Path, h.URL, h.NewPath, h.NewURL = h.NewPath, h.NewURL, "", ""
}

// Scheme is how a secret proves that a delivery is genuine.
type Scheme string

// The schemes. Those beside the standard one belong to servers that make the
// secret themselves (SEP-1803, WebhookSecret).
const (
	SchemeStandard Scheme = ""     // Standard Webhooks: a signature by the decoded key
	SchemeRaw      Scheme = "raw"  // a shared text: it signs as it stands, or is shown in a header
	SchemeNone     Scheme = "none" // nothing proves it; the operator allowed that
)

// Ended says why deliveries to a webhook path are no longer taken.
type Ended struct {
	Path    string
	At      time.Time
	Removed bool // removed here by the operator: 410; otherwise it ended abnormally
}

// Type is an event type as a server describes it.
type Type struct {
	Name          trust.Text
	Title         trust.Text
	Description   trust.Text
	Modes         []Mode // those the host knows, in the server's order
	OtherModes    []trust.Text
	InputSchema   json.RawMessage // as sent; nil if there is none
	PayloadSchema json.RawMessage
	Cursorless    bool   // the type has no replay, as the server says or its dialect knows
	Dialect       string // as in [Subscription]
}

// Offers reports whether the type lists the mode.
func (t Type) Offers(m Mode) bool { return slices.Contains(t.Modes, m) }
