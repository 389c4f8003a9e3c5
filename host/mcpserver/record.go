package mcpserver

import (
	"fmt"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/export"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// Bounds of the results of tools.
const (
	payloadShort = 4 << 10   // bytes of a payload in a list
	payloadFull  = 64 << 10  // bytes of a single payload
	answerBytes  = 256 << 10 // of all envelopes in a result; the last one may exceed it
)

// recordOut is a record in the result of a tool. Texts of servers besides the payload are cut.
type recordOut struct {
	Seq          uint64       `json:"seq"`
	Kind         event.Kind   `json:"kind"`
	Server       string       `json:"server"`
	Type         trust.Text   `json:"type"`
	Subscribed   trust.Text   `json:"subscribed,omitzero"` // the type of the subscription, where it is another
	Subscription string       `json:"subscription"`
	EventID      trust.Text   `json:"eventId"`
	Timestamp    trust.Text   `json:"timestamp"`
	ReceivedAt   *string      `json:"receivedAt"`
	Mode         event.Mode   `json:"mode"`
	Priority     trust.Text   `json:"priority,omitzero"`
	Tags         []trust.Text `json:"tags,omitempty"`
	Flags        []string     `json:"flags"`
	Bytes        int          `json:"bytes"`
	Cut          bool         `json:"cut"`
	Envelope     string       `json:"envelope,omitempty"`

	State  *stateOut  `json:"state,omitempty"`
	Gap    *gapOut    `json:"gap,omitempty"`
	Reason trust.Text `json:"reason,omitzero"` // why a payload was rejected
}

type stateOut struct {
	State    event.State `json:"state"`
	Evidence string      `json:"evidence"`
	Error    trust.Text  `json:"error"`
}

// gapOut is a gap in the result of a tool.
type gapOut struct {
	Seq          uint64      `json:"seq"`
	Server       string      `json:"server"`
	Type         trust.Text  `json:"type"`
	Subscription string      `json:"subscription"`
	Cause        event.Cause `json:"cause"`
	From         *string     `json:"from"`
	To           *string     `json:"to"`
	Certain      bool        `json:"certain"`
}

// moment returns a time in the format of results; the zero time is null.
func moment(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(time.RFC3339Nano)
	return &text
}

func newGap(r *event.Record) gapOut {
	g := gapOut{Seq: r.Seq, Server: r.Server, Type: wire.Clip(r.Type), Subscription: string(r.Sub)}
	if r.Gap != nil {
		g.Cause, g.From, g.To, g.Certain = r.Gap.Cause, moment(r.Gap.From), moment(r.Gap.To), r.Gap.Certain
	}
	return g
}

// newRecord returns a record with at most most bytes of its payload in an envelope.
//
// Errors: those of [handoff.Envelope].
func (s *Server) newRecord(r *event.Record, most int) (recordOut, error) {
	out := recordOut{Seq: r.Seq, Kind: r.Kind, Server: r.Server, Type: wire.Clip(r.Name()), Subscribed: wire.Clip(r.Subscribed()), Subscription: string(r.Sub), EventID: wire.Clip(r.EventID),
		Timestamp: wire.Clip(r.Timestamp), ReceivedAt: moment(r.ReceivedAt), Mode: r.Mode, Priority: wire.Clip(r.Priority()), Tags: clipped(r.Tags()), Flags: r.Flags}
	if out.Flags == nil {
		out.Flags = []string{}
	}
	if r.State != nil {
		out.State = &stateOut{r.State.State, r.State.Evidence, wire.Clip(r.State.Error)}
	}
	if r.Kind == event.KindGap {
		gap := newGap(r)
		out.Gap = &gap
	}
	out.Reason = wire.Clip(r.Reason)
	payload := r.Data
	if r.Kind == event.KindRejected {
		payload = r.Raw
	}
	if len(payload) == 0 {
		return out, nil
	}
	out.Bytes = len(payload)
	masked := []byte(s.opts.Redact.Frame(payload, false).Raw())
	if len(masked) > most {
		masked, out.Cut = masked[:most], true
	}
	e := export.Envelope(r)
	e.Payload = masked
	sealed, err := e.Seal()
	if err != nil {
		return out, fmt.Errorf("event %d: %w", r.Seq, err)
	}
	out.Envelope = string(sealed)
	return out, nil
}
