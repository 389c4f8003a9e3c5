package detail

import (
	"eventdeck/host/event"
	"eventdeck/host/schema"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
)

// Tab is a way to look at a record.
type Tab uint8

const (
	tabPayload Tab = iota
	tabRaw
	tabSchema
	tabDelivery
	tabSame
	Tabs // the number of tabs
)

// word returns the name of the tab.
func (t Tab) word() string {
	return [...]string{"Payload", "Raw", "Schema", "Delivery", "Same"}[t]
}

// Turn shows the next tab of a record, or for step -1 the previous one.
func (d *Pane) Turn(step int) {
	if d.env.Record() != 0 {
		d.Tab = Tab((int(d.Tab) + step + int(Tabs)) % int(Tabs))
	}
}

func (d *Pane) record(w int) {
	if d.env.Record() == 0 {
		d.Say("", themes.Dim, "The event that is chosen in the stream is shown here in full.")
		return
	}
	r, ok := d.env.Get(d.env.Record())
	switch {
	case ok:
	case d.env.Lost(d.env.Record()):
		d.Say("", themes.Bad, "cannot be read: it is not in the log any more")
		return
	default:
		d.Say("", themes.Dim, "The record is being read.")
		return
	}
	switch d.Tab {
	case tabRaw:
		d.raw(&r, w)
	case tabSchema:
		d.schema(&r)
	case tabDelivery:
		d.delivery(&r)
	case tabSame:
		d.sameRecords(&r)
	default:
		d.content(&r, w)
	}
}

// content writes the first tab: the record and its payload.
func (d *Pane) content(r *event.Record, w int) {
	word, summary, level := d.env.Headline(r)
	d.Headline(r, word, summary, level, d.env.Note(r.Seq))
	if d.env.Outcomes != nil {
		d.Lines = append(d.Lines, d.env.Outcomes(r.Seq)...)
	}
	d.Flags(r.Flags, w)
	width := max(w-1, 1)
	switch {
	case r.Kind == event.KindGap && r.Gap != nil:
		d.Gap(r)
	case r.Kind == event.KindState && r.State != nil:
		d.Say("state   ", evidence.StateRole(r.State.State), string(r.State.State))
		d.Say("evidence", themes.Plain, r.State.Grounds())
		if n, last := d.env.Rows(r.Seq); n > 1 {
			d.Say("repeats ", themes.Plain, cells.Number(uint64(n))+" at "+r.Server+" with no event among them, up to record "+cells.Number(last)+"; in the scope of a subscription each has its row")
		}
		if !r.State.Error.IsZero() {
			d.Quote(r.Server, trust.Block(r.State.Error, width))
		}
	case r.Kind == event.KindRejected:
		d.Say("refused ", themes.Bad, "the payload was kept but not taken")
		d.Quote(r.Server, trust.Block(r.Reason, width))
		d.payload(r, width)
	default:
		d.payload(r, width)
	}
	d.Section("Delivery")
	d.Envelope(r)
}

// payload writes the payload of a record, or its beginning until all of it is laid out.
func (d *Pane) payload(r *event.Record, width int) {
	p := &d.payloads
	data := PayloadOf(r)
	if f := p.found[r.Seq]; f != nil {
		for _, q := range f.problems {
			d.Lines = append(d.Lines, Line{Label: "schema  ", Role: themes.Warn, Text: schemaWords(q)})
		}
	}
	if p.of == (laidOut{r.Seq, p.view, width}) {
		d.Quote(r.Server, nil)
		d.foldable(p.lines, p.folds, p.vals)
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

// schemaWords says where a payload violates its schema.
func schemaWords(p schema.Problem) trust.Rendered {
	at := cells.Sanitize("as a whole")
	if !p.Path.IsZero() {
		at = cells.Join(cells.Sanitize("at "), trust.Line(p.Path))
	}
	return cells.Join(cells.Sanitize("fails its schema "), at, cells.Sanitize(": "), cells.Sanitize(p.Says))
}

// Title names the tabs of a record; the one that is shown is in brackets.
func (d *Pane) Title(room int) string {
	s := append(make([]byte, 0, 96), '3')
	for i := range Tabs {
		s = append(s, ' ')
		if i == d.Tab {
			s = append(append(append(s, '['), i.word()...), ']')
		} else {
			s = append(s, i.word()...)
		}
	}
	if len(s) > room {
		s = append(append(append(s[:0], "3 ["...), d.Tab.word()...), ']')
	}
	if tail := " " + d.Env.Glyphs.Dot + " record " + cells.Number(d.env.Record()) + d.viewTitle(); len(s)+len(tail) <= room {
		s = append(s, tail...)
	}
	return string(s)
}

// viewTitle returns the name of the view for the title, "" for the usual view.
func (d *Pane) viewTitle() string {
	if d.payloads.view == viewRendered || !d.HasPayload() {
		return ""
	}
	return " " + d.Env.Glyphs.Dot + " " + d.payloads.view.Word()
}

// rows returns the number of records that are folded in the row of the record.
func (d *Pane) rows() int {
	n, _ := d.env.Rows(d.env.Record())
	return n
}

func (d *Pane) outcomesGen() int {
	if d.env.OutcomesGen == nil {
		return 0
	}
	return d.env.OutcomesGen()
}
