package tui

import (
	"slices"

	"eventdeck/host/event"
	"eventdeck/host/schema"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/flags"
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
func (d *detail) turn(a *app, step int) {
	if a.showsRecord() {
		d.tab = detailTab((int(d.tab) + step + int(detailTabs)) % int(detailTabs))
	}
}

// showsRecord tells whether the detail is about a record.
func (a *app) showsRecord() bool { return a.table() == nil && !a.onNode() && a.stream.at != 0 }

func (d *detail) record(a *app, w int) {
	if a.stream.at == 0 {
		d.say("", themes.Dim, "The event that is chosen in the stream is shown here in full.")
		return
	}
	r, err := a.api.Log().Get(a.stream.at)
	if err != nil {
		d.say("", themes.Bad, "cannot be read: "+err.Error())
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
func (d *detail) content(a *app, r *event.Record, w int) {
	d.envelope(r)
	d.flags(r.Flags, w)
	width := max(w-1, 1)
	switch {
	case r.Kind == event.KindGap && r.Gap != nil:
		d.gap(a, r)
	case r.Kind == event.KindState && r.State != nil:
		d.say("state   ", evidence.StateRole(r.State.State), string(r.State.State))
		d.say("evidence", themes.Plain, r.State.Evidence)
		if !r.State.Error.IsZero() {
			d.quote(r.Server, trust.Block(r.State.Error, width))
		}
	case r.Kind == event.KindRejected:
		d.say("refused ", themes.Bad, "the payload was kept but not taken")
		d.quote(r.Server, trust.Block(r.Reason, width))
		d.payload(a, r, width)
	default:
		d.payload(a, r, width)
	}
}

// envelope is what stands around a payload.
func (d *detail) envelope(r *event.Record) {
	d.lines = append(d.lines, detailLine{role: themes.Strong, text: cells.Join(cells.Sanitize(r.Server), cells.Sanitize(" "), trust.Line(r.Type))})
	d.say("received", themes.Plain, cells.TimeText(r.ReceivedAt, d.zone, cells.StampFull)+evidence.Lag(*r))
	d.words("occurred", r.Timestamp)
	d.words("id      ", r.EventID)
	d.labels(r.Labels)
	if r.Cursor.Valid {
		d.lines = append(d.lines, detailLine{label: "cursor  ", text: trust.Line(r.Cursor.Text)})
	}
	d.say("came by ", themes.Plain, cameBy(*r))
}

// words adds a server's words behind our label.
func (d *detail) words(label string, t trust.Text) {
	if !t.IsZero() {
		d.lines = append(d.lines, detailLine{label: label, text: trust.Line(t)})
	}
}

func (d *detail) gap(a *app, r *event.Record) {
	if r.Gap == nil {
		return
	}
	d.say("", themes.Gap, evidence.GapWords(*r.Gap, d.of.clock))
	d.say("cause   ", themes.Plain, evidence.Causes[r.Gap.Cause])
	if a.demo || slices.Contains(a.passing, r.Server) {
		d.say("", themes.Dim, evidence.DemoGaps)
	}
	if !r.Gap.Certain {
		d.say("", themes.Dim, "Nothing says that events were missed; nothing shows that none were.")
	}
}

// flags names every flag of a record.
func (d *detail) flags(raised []string, w int) {
	const label = "flags   "
	line := ""
	for _, f := range flags.GravestFirst(raised) {
		name := flags.Severities[flags.SeverityOf(f)].Sign + cells.Sanitize(f).Plain()
		if line != "" && len(label)+len(line)+len(name)+3 > w {
			d.say(label, themes.Warn, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += name
	}
	d.say(label, themes.Warn, line)
}

// payload shows what a server wrote: as it was laid out beside the program, and
// until then a beginning of it.
func (d *detail) payload(a *app, r *event.Record, width int) {
	p := &a.payloads
	data := payloadOf(r)
	if f := p.found[r.Seq]; f != nil {
		for _, q := range f.problems {
			d.lines = append(d.lines, detailLine{label: "schema  ", role: themes.Warn, text: schemaWords(q)})
		}
	}
	if p.of == (laidOut{r.Seq, p.view, width}) {
		d.quote(r.Server, nil)
		d.foldable(p.lines, p.folds)
		if rest := len(data) - payloadMax; rest > 0 {
			d.say("", themes.Warn, "+"+cells.Count(rest, "byte")+" not shown")
		}
		return
	}
	d.quote(r.Server, p.view.lay(data[:min(len(data), payloadNow)], nil, width))
	if len(data) > payloadNow {
		d.say("", themes.Dim, "more is on its way")
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

func capped(b []byte) []byte { return b[:min(len(b), payloadMax)] }

func cameBy(r event.Record) string {
	s := string(r.Mode)
	if r.Replayed {
		s += ", from the server's history"
	}
	return s
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
	if tail := " " + a.Glyphs.Dot + " record " + cells.Number(a.stream.at) + a.viewTitle(); len(s)+len(tail) <= room {
		s = append(s, tail...)
	}
	return string(s)
}
