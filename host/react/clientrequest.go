package react

import (
	"encoding/json"
	"errors"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// ClientRule stands in place of a rule in runs of [Control.ClientRequest]. No rule can have this
// name.
const ClientRule = "@client"

// Bounds of client requests.
const (
	MaxClientRequests   = 20 // of all clients, waiting for the operator or being carried out
	MaxRequestsOfClient = 5  // the same, of one client
	// AnswerStands is how long an answer of the operator stands: until then the same request
	// gets that answer, and the operator is not asked again.
	AnswerStands = time.Hour
	// doneStands is the same for a request that was carried out. It is short, as the effect
	// can be seen: within a moment also through another process.
	doneStands = 10 * time.Second
)

// ErrClientRequests: too many client requests wait already; the text says whose.
var ErrClientRequests = errors.New("too many client requests wait for the operator")

// ClientAct is what a client asks for.
type ClientAct string

// The acts of a [ClientRequest].
const (
	ClientBegin  ClientAct = "begin"
	ClientEnd    ClientAct = "end"
	ClientPause  ClientAct = "pause"
	ClientResume ClientAct = "resume"
	ClientChange ClientAct = "change"
)

// ClientRequest is the request of a client of eventdeck's own MCP server to begin a subscription, or
// to end, pause, resume or change one. Nothing happens before the operator approves it.
//
// Where it is stored, printed or sent to another process it is called a wish.
type ClientRequest struct {
	// Client is how the client is connected, and the name it gives itself, which is not
	// verified.
	Client trust.Text  `json:"client"`
	Act    ClientAct   `json:"act"`
	Sub    event.SubID `json:"sub,omitempty"` // what the act is about; "" for ClientBegin
	Server string      `json:"server"`
	Type   trust.Text  `json:"type"`
	// Args of ClientBegin and ClientChange are those that the subscription is to have, canonical
	// ([event.CanonicalArgs]); of ClientChange nil if they stay. Otherwise those that it has, as
	// they are shown; of ClientChange these are Was.
	Args json.RawMessage `json:"arguments,omitempty"`
	Was  json.RawMessage `json:"was,omitempty"`
	// Asked is the mode that the client wants, Mode the one in which the subscription begins or
	// continues.
	Asked event.Mode `json:"asked,omitempty"`
	Mode  event.Mode `json:"mode,omitempty"`
}

// Run returns the id of the run of a request. The same request of the same client has the same
// run. Mode does not count: it may be unknown until the server was asked.
func (w *ClientRequest) Run() RunID {
	parts := []string{"wish", w.Client.Raw(), string(w.Act), string(w.Sub)}
	switch w.Act {
	case ClientBegin:
		parts = append(parts, w.Server, w.Type.Raw(), string(w.Args), string(w.Asked))
	case ClientChange:
		parts = append(parts, string(w.Args), string(w.Asked))
	}
	return NewRunID(parts...)
}

// Subscription returns the id of the subscription that the request is about, or that it begins.
func (w *ClientRequest) Subscription() event.SubID {
	if w.Act == ClientBegin || w.Act == ClientChange && w.Args != nil {
		return event.Key{Server: w.Server, Type: w.Type, Args: w.Args}.ID()
	}
	return w.Sub
}

// Stands reports whether a run still answers its client request: it is under way, or ended not
// long ago.
func (r *Run) Stands(now time.Time) bool {
	switch {
	case !r.State.Over():
		return true
	case r.State == Done:
		return now.Sub(r.Ended) < doneStands
	}
	return now.Sub(r.Ended) < AnswerStands
}

// clientRequest shows what a client asks for.
func (b *block) clientRequest(w *ClientRequest) {
	b.value("client", w.Client.Raw(), ", by its own word")
	switch w.Act {
	case ClientEnd:
		b.value("end", string(w.Sub), ", a subscription; its records stay")
	case ClientPause:
		b.value("pause", string(w.Sub), ", a subscription; its position is kept")
	case ClientResume:
		b.value("resume", string(w.Sub), ", a paused subscription")
	case ClientChange:
		what := ", a subscription, to another mode at the same position"
		if w.Args != nil {
			what = ", a subscription: one with other arguments begins, from now on, and this one ends"
		}
		b.value("change", string(w.Sub), what)
		b.value("so far", string(w.Was), ", its arguments")
	default:
		b.text("begin", "a subscription, from now on", false)
	}
	b.value("of server", w.Server, "")
	b.value("type", w.Type.Raw(), "")
	b.arguments(w.Args, nil)
	if w.Mode != "" {
		b.text("mode", string(w.Mode), false)
	}
}
