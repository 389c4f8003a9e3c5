package react

import (
	"encoding/json"
	"errors"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// ClientRule stands for the rule of runs that carry out client requests
// ([Control.ClientRequest]). It is no name of a rule.
const ClientRule = "@client"

// Bounds of client requests.
const (
	MaxClientRequests   = 20 // of all clients: that wait for the operator, or are being carried out
	MaxRequestsOfClient = 5  // of them, of one client
	// AnswerStands is how long an answer of the operator stands: for so long the same
	// request is told it, and is not asked again.
	AnswerStands = time.Hour
	// doneStands is that for a request that was carried out: what it did can be seen, a moment
	// later also through another process.
	doneStands = 10 * time.Second
)

// ErrClientRequests: so many client requests wait already that no further one is taken; the text
// says whose.
var ErrClientRequests = errors.New("too many client requests wait for the operator")

// ClientRequest is what a client of this host as an MCP server asks for: that a subscription
// begins, or that one ends. Nothing comes of it until the operator approves it.
//
// Where it is stored, printed or sent to another process it is called a wish.
type ClientRequest struct {
	// Client is how it reached the server, and how it calls itself, which nothing proves.
	Client trust.Text `json:"client"`
	// Ends is the subscription that is to end; "": one is to begin.
	Ends   event.SubID     `json:"ends,omitempty"`
	Server string          `json:"server"`
	Type   trust.Text      `json:"type"`
	Args   json.RawMessage `json:"arguments"` // canonical ([event.CanonicalArgs])
	// Asked is the mode that the client named, Mode the one in which the subscription begins.
	Asked event.Mode `json:"asked,omitempty"`
	Mode  event.Mode `json:"mode,omitempty"`
}

// Run returns the id of the run of a request. One client that asks for the same has one run. Mode
// does not count: it may not be known before the server was asked.
func (w *ClientRequest) Run() RunID {
	parts := []string{"wish", w.Client.Raw(), string(w.Ends)}
	if w.Ends == "" {
		parts = append(parts, w.Server, w.Type.Raw(), string(w.Args), string(w.Asked))
	}
	return NewRunID(parts...)
}

// Stands reports whether a run is the answer to its client request: it is under way, or what became of
// it is not long ago.
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
	if w.Ends != "" {
		b.value("end", string(w.Ends), ", a subscription; its records stay")
	} else {
		b.text("begin", "a subscription, from now on", false)
	}
	b.value("of server", w.Server, "")
	b.value("type", w.Type.Raw(), "")
	b.arguments(w.Args, nil)
	if w.Mode != "" {
		b.text("mode", string(w.Mode), false)
	}
}
