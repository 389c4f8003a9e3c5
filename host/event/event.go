// Package event holds the types that the packages of the host share: what a
// subscription is, what the log keeps, and what a store must promise.
//
// The package is a leaf: values and rules, no I/O.
package event

import (
	"encoding/json"
	"strings"
	"time"

	"eventdeck/host/trust"
)

// Kind says what a [Record] of the log is.
type Kind string

// The kinds of log records.
const (
	KindEvent    Kind = "event"    // an occurrence
	KindGap      Kind = "gap"      // continuity could not be shown: see [Gap]
	KindState    Kind = "state"    // a subscription changed its state: see [StateChange]
	KindRejected Kind = "rejected" // a payload that strict parsing refused
)

// Mode is the way in which events reach the host.
type Mode string

// The delivery modes. ModeAuto is asked for, never what a subscription runs in.
const (
	ModeAuto    Mode = "auto"
	ModePoll    Mode = "poll"
	ModePush    Mode = "push"
	ModeWebhook Mode = "webhook"
)

// Cursor is a position in a server's history, opaque to the host: stored as it
// came and sent back as it came. The zero Cursor means "no position": it is sent
// as null and starts from now. An empty string is a position like any other.
type Cursor struct {
	Text  trust.Text
	Valid bool
	// Number: it came as a number, Text is how that was spelled, and it goes back as
	// one. SEP-3415 knows strings only, and some servers do not keep to that.
	Number bool
}

// At returns the cursor that a server gave as text.
func At(text trust.Text) Cursor { return Cursor{Text: text, Valid: true} }

// Same reports whether both are the same position, whether spelled as a string or as a
// number.
func (c Cursor) Same(other Cursor) bool { return c.Valid == other.Valid && c.Text == other.Text }

// AppendJSON appends the cursor as it came, for output: null, a string that cannot act
// on a terminal, or a number.
func (c Cursor) AppendJSON(b []byte) []byte {
	switch text := c.Text.Raw(); {
	case !c.Valid:
		return append(b, "null"...)
	case c.Number && isNumber(text):
		return append(b, text...)
	default:
		return trust.AppendJSONString(b, text)
	}
}

// isNumber reports whether s is a number in JSON, and nothing else.
func isNumber(s string) bool {
	const digits = "0123456789"
	return s != "" && strings.IndexByte("-"+digits, s[0]) >= 0 && strings.IndexByte(digits, s[len(s)-1]) >= 0 && json.Valid([]byte(s))
}

// Record is one entry of the log. Records are values: a reader may keep one,
// and must not change the bytes it refers to.
type Record struct {
	Seq        uint64 // assigned by the store at commit, from 1, without holes
	Kind       Kind
	Sub        SubID
	Server     string     // the operator's name or URL for the server
	Type       trust.Text // event type of the subscription; see [Record.Name]
	Mode       Mode       // the mode it arrived in
	ReceivedAt time.Time  // UTC

	// Of events and rejected payloads.
	EventID   trust.Text
	Timestamp trust.Text // when it occurred, as the server spelled it
	Cursor    Cursor     // position after this event, if it carried one
	WebhookID trust.Text // the delivery's id, when it came by webhook
	Raw       []byte     // the exact bytes as received
	Data      []byte     // the occurrence's data: a part of Raw, or nil
	Meta      []byte     // the occurrence's _meta, where it says more than the protocol: as Data
	Replayed  bool       // the server sent it from its history
	Flags     []string   // what was noticed on arrival, e.g. FlagIDLearned
	Labels    *Labels    // what the server says of the event beside its data; nil: nothing

	Gap    *Gap         // of gaps
	State  *StateChange // of state changes
	Reason trust.Text   // of rejected payloads: what strict parsing refused
}

// ResourceUpdated is the event type that the host makes of the updates of plain resources.
const ResourceUpdated = "resource.updated"

// Occurred returns when an event occurred by the server's clock, or when it was received if that
// cannot be read.
func (r *Record) Occurred() time.Time {
	if at, ok := r.Timestamp.Time(); ok {
		return at
	}
	return r.ReceivedAt
}

// Name returns the event name, in every dialect: what the server calls this event. Events of a
// filtered stream and of a resource's sub-resources have names of their own; all other records
// have the name of the type that was subscribed to.
func (r *Record) Name() trust.Text {
	if r.Labels != nil && !r.Labels.Name.IsZero() {
		return r.Labels.Name
	}
	return r.Type
}

// Subscribed returns the type that was subscribed to where it is not the event name, else the
// zero text.
func (r *Record) Subscribed() trust.Text {
	if r.Name() == r.Type {
		return trust.Text{}
	}
	return r.Type
}

// Below returns what the event name has beyond the resource that was subscribed to (SEP-1803,
// sub-resources); "" for all other events.
func (r *Record) Below() string {
	root, _, _ := strings.Cut(r.Type.Raw(), "{") // the variables of a template
	below, ok := strings.CutPrefix(r.Name().Raw(), root)
	if !ok || r.Name() == r.Type || !strings.Contains(root, "://") {
		return ""
	}
	return below
}

// Family returns the name that events of one sort share: the event name, or for a sub-resource,
// whose address a single event may have, the type that was subscribed to.
func (r *Record) Family() trust.Text {
	if r.Below() != "" {
		return r.Type
	}
	return r.Name()
}

// Named reports whether a name is the event name or the type that was subscribed to.
func (r *Record) Named(name string) bool { return r.Type.Raw() == name || r.Name().Raw() == name }

// Tags returns what the server calls the kinds of the event, nil for none.
func (r *Record) Tags() []trust.Text {
	if r.Labels == nil {
		return nil
	}
	return r.Labels.Tags
}

// Priority returns the priority that the server gives the event, beside its data.
func (r *Record) Priority() trust.Text {
	if r.Labels == nil {
		return trust.Text{}
	}
	return r.Labels.Priority
}

// NameMatches reports whether an event name matches a pattern, part by part between dots: a *
// matches one part, and at the end of the pattern any rest (MCPE, eventTypes).
func NameMatches(pattern, name string) bool {
	for {
		want, wants, more := strings.Cut(pattern, ".")
		if start, open := strings.CutSuffix(want, "*"); open && !more {
			return strings.HasPrefix(name, start)
		}
		have, has, deeper := strings.Cut(name, ".")
		if want != "*" && want != have || more != deeper {
			return false
		}
		if !more {
			return true
		}
		pattern, name = wants, has
	}
}

// Labels are what a server says of an event beside its data. Absent members are
// empty.
type Labels struct {
	Name     trust.Text   // the event's own name, where it is not that of the subscribed type; see [Record.Name]
	Priority trust.Text   // e.g. low, normal, high, critical
	Tags     []trust.Text // in the server's order
	Batch    trust.Text   // events with the same batch came as one
}

// Flags that the delivery sets on a record, beside those of [scan.Scan].
const (
	FlagBadge     = "to-ai"      // the event as a whole addresses an AI: see [scan.Report]
	FlagIDLearned = "id-learned" // the delivery names the subscription by an id that was not known
)

// Cause says why continuity could not be shown.
type Cause string

// The causes of gaps.
const (
	CauseTruncated      Cause = "truncated"       // the server started later than the cursor asked
	CauseGap            Cause = "gap"             // the server sent a gap envelope
	CauseLapsed         Cause = "lapsed"          // a webhook lease ended without a refresh
	CauseCursorRejected Cause = "cursor-rejected" // the server refused the stored cursor
	CauseRestarted      Cause = "restarted"       // the server lost its history in a restart
	CauseSilent         Cause = "silent"          // a part of the stream was lost, and the server did not say so
	CauseNoReplay       Cause = "no-replay"       // the type has no cursor; the host did not listen
	CausePaused         Cause = "paused"          // the operator paused a type without replay
	CauseDamaged        Cause = "damaged"         // records were lost with a damaged store
	CauseRefused        Cause = "refused"         // the receiver refused a delivery that will not come again
	CauseUnproved       Cause = "unproved"        // it could not be proved that nothing is missing; never certain
)

// Gap tells that events may be missing between two moments. A zero time means
// that this end of the window is not known.
type Gap struct {
	Cause   Cause     `json:"cause"`
	From    time.Time `json:"from,omitzero"` // UTC
	To      time.Time `json:"to,omitzero"`   // UTC
	Certain bool      `json:"certain"`       // the server said so; otherwise only possible
}

// Continue returns the watermark after this gap was recorded; at is the watermark before it
// (zero: not known). It moves to the end of the gap, but stays if the gap begins after it:
// events in between may still be missing.
func (g *Gap) Continue(at time.Time) time.Time {
	if g.From.After(at) || !g.To.After(at) {
		return at
	}
	return g.To
}

// State is the state of a subscription.
type State string

// The states of a subscription.
const (
	StateStarting   State = "starting"    // not yet confirmed by the server
	StateVerifying  State = "verifying"   // the server is checking the callback
	StateLive       State = "live"        // confirmed, and something came within two heartbeat intervals
	StateStale      State = "stale"       // no sign of life for two heartbeat intervals
	StatePolling    State = "polling"     // last poll answered; the next is due
	StateDraining   State = "draining"    // the server has more; polling without a pause
	StateBackoff    State = "backoff"     // failed; trying again later
	StateThrottled  State = "throttled"   // derived: the server asks to wait, or delivers less than there is
	StateFlapping   State = "flapping"    // derived: works, and was lost several times in the last minutes
	StateRefreshing State = "refreshing"  // a webhook lease is being renewed
	StateSuspended  State = "suspended"   // the server stopped delivering
	StateRefused    State = "refused"     // the receiver refuses what the server delivers
	StateNotRunning State = "not-running" // no process runs it
	StateDenied     State = "denied"      // the server refuses for lack of rights
	StateEnded      State = "ended"       // terminated; nothing will come
	StatePaused     State = "paused"      // paused by the operator
	StateAbandoned  State = "abandoned"   // in the log only: the server gave up a stream that could have been resumed
	StateSwitched   State = "switched"    // in the log only: went on in another mode
	StateResumed    State = "resumed"     // of a subscription: resumed by the operator, not yet confirmed; in the log: went on from the saved cursor
)

// Alive reports whether a state says that events arrive.
func (s State) Alive() bool {
	switch s {
	case StateLive, StatePolling, StateDraining, StateRefreshing, StateFlapping:
		return true
	}
	return false
}

// Over reports whether the subscription has ended: nothing comes until it is started again.
func (s State) Over() bool { return s == StateEnded || s == StateDenied }

// StateChange is a state with its evidence.
type StateChange struct {
	State    State      `json:"state"`
	Evidence string     `json:"evidence,omitempty"` // our words
	Error    trust.Text `json:"error,omitzero"`     // may hold the server's words
}

// Grounds returns the evidence for a line that continues with the error: "" where the error
// begins with the same words, as "connection ended before the answer" after "the connection
// ended".
func (c *StateChange) Grounds() string {
	if strings.HasPrefix(c.Error.Raw(), strings.TrimPrefix(c.Evidence, "the ")) {
		return ""
	}
	return c.Evidence
}
