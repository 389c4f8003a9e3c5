package tui

import (
	"eventdeck/host/event"
	"eventdeck/host/schema"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/evidence"
)

// detailTab is a way to look at a record.
type detailTab uint8

const (
	tabPayload detailTab = iota
	tabRaw
	tabSchema
	tabDelivery
	tabSame
	detailTabs
)

func (t detailTab) word() string {
	return [...]string{"Payload", "Raw", "Schema", "Delivery", "Same"}[t]
}

// turn shows another tab.
func (d *shownDetail) turn(a *app, step int) {
	if a.showsRecord() {
		d.tab = detailTab((int(d.tab) + step + int(detailTabs)) % int(detailTabs))
	}
}

// showsRecord tells whether the detail is about a record.
func (a *app) showsRecord() bool { return a.table() == nil && !a.onNode() && a.stream.At != 0 }

func (d *shownDetail) record(a *app, w int) {
	if a.stream.At == 0 {
		d.Say("", themes.Dim, "The event that is chosen in the stream is shown here in full.")
		return
	}
	r, err := a.api.Log().Get(a.stream.At)
	if err != nil {
		d.Say("", themes.Bad, "cannot be read: "+err.Error())
		return
	}
	switch d.tab {
	case tabRaw:
		d.raw(&r, w)
	case tabSchema:
		d.schema(a, &r)
	case tabDelivery:
		d.delivery(a, &r)
	case tabSame:
		d.sameRecords(a, &r)
	default:
		d.content(a, &r, w)
	}
}

// content is the first tab: the record's own words and its payload.
func (d *shownDetail) content(a *app, r *event.Record, w int) {
	d.Envelope(r)
	d.Flags(r.Flags, w)
	width := max(w-1, 1)
	switch {
	case r.Kind == event.KindGap && r.Gap != nil:
		d.Gap(r)
	case r.Kind == event.KindState && r.State != nil:
		d.Say("state   ", evidence.StateRole(r.State.State), string(r.State.State))
		d.Say("evidence", themes.Plain, r.State.Evidence)
		if !r.State.Error.IsZero() {
			d.Quote(r.Server, trust.Block(r.State.Error, width))
		}
	case r.Kind == event.KindRejected:
		d.Say("refused ", themes.Bad, "the payload was kept but not taken")
		d.Quote(r.Server, trust.Block(r.Reason, width))
		d.payload(a, r, width)
	default:
		d.payload(a, r, width)
	}
}

// payload shows what a server wrote: as it was laid out beside the program, and
// until then a beginning of it.
func (d *shownDetail) payload(a *app, r *event.Record, width int) {
	p := &a.payloads
	data := payloadOf(r)
	if f := p.found[r.Seq]; f != nil {
		for _, q := range f.problems {
			d.Lines = append(d.Lines, detail.Line{Label: "schema  ", Role: themes.Warn, Text: schemaWords(q)})
		}
	}
	if p.of == (laidOut{r.Seq, p.view, width}) {
		d.Quote(r.Server, nil)
		d.foldable(p.lines, p.folds)
		if rest := len(data) - payloadMax; rest > 0 {
			d.Say("", themes.Warn, "+"+cells.Count(rest, "byte")+" not shown")
		}
		return
	}
	d.Quote(r.Server, p.view.lay(data[:min(len(data), payloadNow)], nil, width))
	if len(data) > payloadNow {
		d.Say("", themes.Dim, "more is on its way")
	}
}

// schemaWords tells where a payload fails its schema.
func schemaWords(p schema.Problem) trust.Rendered {
	at := cells.Sanitize("as a whole")
	if !p.Path.IsZero() {
		at = cells.Join(cells.Sanitize("at "), trust.Line(p.Path))
	}
	return cells.Join(cells.Sanitize("fails its schema "), at, cells.Sanitize(": "), cells.Sanitize(p.Says))
}

// recordTitle names the tabs of a record; the one that is shown is in brackets.
func (a *app) recordTitle(room int) string {
	s := append(make([]byte, 0, 96), '3')
	for i := range detailTabs {
		s = append(s, ' ')
		if i == a.detail.tab {
			s = append(append(append(s, '['), i.word()...), ']')
		} else {
			s = append(s, i.word()...)
		}
	}
	if len(s) > room {
		s = append(append(append(s[:0], "3 ["...), a.detail.tab.word()...), ']')
	}
	if tail := " " + a.Glyphs.Dot + " record " + cells.Number(a.stream.At) + a.viewTitle(); len(s)+len(tail) <= room {
		s = append(s, tail...)
	}
	return string(s)
}
