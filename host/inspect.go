package host

import (
	"eventdeck/host/event"
	"eventdeck/host/reading"
	"eventdeck/host/trust"
	"eventdeck/host/trust/scan"
	"eventdeck/host/trust/strict"
	"eventdeck/host/wire"
)

// Inspection is how the host reads the bytes of one event: whether they are accepted, what the
// scanner found, and how they are shown.
type Inspection struct {
	Refused error // why strict parsing refuses it; nil: it is accepted
	Report  scan.Report
	Lines   []trust.Rendered // the detail view, not wrapped
	Row     trust.Rendered   // the one-line form
	Reading reading.Reading  // of an accepted event
}

// Inspect reads the exact bytes of one event as their delivery would.
func Inspect(raw []byte) Inspection {
	in := Inspection{Report: scan.Scan(raw)}
	o, err := wire.ParseOccurrence(raw, strict.Limits{})
	in.Refused = err
	in.Lines = trust.Detail(raw, in.Report.Places(), 0)
	r := event.Record{Kind: event.KindEvent, Type: o.Name, Raw: raw, Data: o.Data}
	if in.Row = trust.Line(Headline(r)); err == nil {
		in.Reading = reading.Read(&r)
	}
	return in
}

// Headline returns the text for the row of a record in a list: what its data says, else the bytes
// as they came.
func Headline(r event.Record) trust.Text {
	raw := r.Data
	if len(raw) == 0 {
		raw = r.Raw
	}
	if t := reading.Headline(&event.Record{Kind: r.Kind, Type: r.Type, Labels: r.Labels, Data: raw}); !t.IsZero() {
		return t
	}
	compact := trust.CompactJSON(raw[:min(len(raw), 4<<10)])
	return trust.Untrusted(string(compact))
}
