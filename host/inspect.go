package host

import (
	"eventdeck/host/event"
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
}

// Inspect reads the exact bytes of one event as their delivery would.
func Inspect(raw []byte) Inspection {
	in := Inspection{Report: scan.Scan(raw)}
	o, err := wire.ParseOccurrence(raw, strict.Limits{})
	in.Refused = err
	in.Lines = trust.Detail(raw, in.Report.Places(), 0)
	in.Row = trust.Line(Headline(event.Record{Raw: raw, Data: o.Data}))
	return in
}

// headlineBytes bounds the one-line form of a record.
const headlineBytes = 512

// Headline returns the text for the row of a record in a list: from the data of an event, else
// from the bytes as they came.
func Headline(r event.Record) trust.Text {
	if len(r.Data) > 0 {
		return strict.Summary(r.Data, headlineBytes)
	}
	return strict.Summary(r.Raw, headlineBytes)
}
