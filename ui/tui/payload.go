package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/schema"
	"eventdeck/host/trust"
	"eventdeck/host/trust/scan"
	"eventdeck/ui/tui/layout"
)

// Bounds of what is shown of one payload, in bytes.
const (
	payloadMax = 256 << 10 // laid out at all
	payloadNow = 8 << 10   // laid out at once, while the rest is looked at beside
)

// findingsMax bounds the findings that are kept.
const findingsMax = 64

// payloadView is a way to show a payload.
type payloadView uint8

const (
	viewRendered payloadView = iota // indented, with what was noticed
	viewEscaped                     // ASCII only, every other character by its number
	viewHex                         // bytes
	viewSource                      // JSON as it came
	payloadViews
)

func (v payloadView) word() string {
	return [...]string{"rendered", "escaped", "hex", "raw JSON"}[v]
}

// lay lays a payload out.
func (v payloadView) lay(data []byte, places []trust.Place, width int) []trust.Rendered {
	switch v {
	case viewEscaped:
		return trust.Escaped(trust.Untrusted(string(data)), width)
	case viewHex:
		return fold(trust.Hex(data, width), width)
	case viewSource:
		return trust.Block(trust.Untrusted(string(data)), width)
	}
	return trust.Detail(data, places, width)
}

// fold wraps lines that are wider than a very narrow pane.
func fold(lines []trust.Rendered, width int) []trust.Rendered {
	var out []trust.Rendered
	for _, l := range lines {
		if l.Width <= width {
			out = append(out, l)
			continue
		}
		out = append(out, trust.Block(trust.Untrusted(l.Plain()), width)...)
	}
	return out
}

// payloadOf returns the bytes of a record that a server wrote: the data of an
// event, all of a refused payload.
func payloadOf(r *event.Record) []byte {
	if len(r.Data) > 0 {
		return r.Data
	}
	return r.Raw
}

// findings are what was noticed in the payload of a record.
type findings struct {
	report   scan.Report
	problems []schema.Problem
}

// laidOut names the lines of a payload.
type laidOut struct {
	seq  uint64
	view payloadView
	w    int
}

// payloads has payloads looked at beside the program, one at a time: a quarter
// of a megabyte takes long enough to be felt.
type payloads struct {
	view  payloadView
	found map[uint64]*findings
	of    laidOut // what lines show
	lines []trust.Rendered
	folds []trust.Fold
	busy  bool
	last  time.Time // when one was looked at last, while the stream moves on by itself
	rests bool      // lookAgainMsg is on its way
	gen   int       // grows with every answer
}

// lookEvery is the time between two looks at the payloads of a stream that is
// followed: nobody reads what was there for a moment.
const lookEvery = 100 * time.Millisecond

// lookAgainMsg: lookEvery is over.
type lookAgainMsg struct{}

// lookedMsg: a payload was looked at.
type lookedMsg struct {
	of    laidOut
	found *findings
	lines []trust.Rendered
	folds []trust.Fold
}

// look has the payload of the detail looked at, unless that was done, runs, or is
// to wait for lookEvery.
func (a *app) look() tea.Cmd {
	p := &a.payloads
	want := laidOut{a.stream.At, p.view, a.payloadWidth()}
	if p.busy || want == p.of || want.seq == 0 || want.w <= 0 {
		return nil
	}
	r, ok := a.payload()
	if !ok {
		return nil
	}
	if a.stream.Follow && want.view == p.of.view && want.w == p.of.w {
		if p.rests {
			return nil
		}
		if wait := lookEvery - time.Since(p.last); wait > 0 {
			p.rests = true
			return a.Do(func(ctx context.Context) tea.Msg { pause(ctx, wait); return lookAgainMsg{} })
		}
		p.last = time.Now()
	}
	typ, known := a.typeOf(&r), p.found[want.seq]
	p.busy = true
	return a.Do(func(context.Context) tea.Msg { return examine(want, typ, payloadOf(&r), known) })
}

// examine scans a payload, checks it against its schema and lays it out.
func examine(of laidOut, typ event.Type, data []byte, known *findings) lookedMsg {
	if known == nil {
		known = &findings{report: scan.Scan(data), problems: schema.CheckPayload(typ, data)}
	}
	msg := lookedMsg{of: of, found: known}
	if of.view == viewRendered {
		msg.lines, msg.folds = trust.Outline(capped(data), known.report.Places(), of.w)
	} else {
		msg.lines = of.view.lay(capped(data), known.report.Places(), of.w)
	}
	return msg
}

// looked takes an answer. Lines that nobody waits for any more are dropped; what
// was noticed stays true.
func (a *app) looked(msg lookedMsg) {
	p := &a.payloads
	p.busy = false
	p.gen++
	if len(p.found) >= findingsMax {
		clear(p.found)
	}
	p.found[msg.of.seq] = msg.found
	if msg.of == (laidOut{a.stream.At, p.view, a.payloadWidth()}) {
		p.of, p.lines, p.folds = msg.of, msg.lines, msg.folds
	}
}

// payloadWidth is the room for a payload's lines in the detail.
func (a *app) payloadWidth() int {
	if w := layout.Arrange(a.shape()).Detail.W; w > 1 {
		return w - 1
	}
	return 80
}

// payload returns the chosen record, if a server wrote a payload of it.
func (a *app) payload() (event.Record, bool) {
	if !a.showsRecord() {
		return event.Record{}, false
	}
	r, err := a.api.Log().Get(a.stream.At)
	return r, err == nil && (r.Kind == event.KindEvent || r.Kind == event.KindRejected)
}

func (a *app) onPayload() bool { _, ok := a.payload(); return ok }

// findingsHere returns what was noticed in the chosen payload, nil as long as
// that is not known.
func (a *app) findingsHere() *findings {
	if !a.showsRecord() {
		return nil
	}
	return a.payloads.found[a.stream.At]
}

// typeOf returns the type of an event as its server lists it now.
func (a *app) typeOf(r *event.Record) event.Type {
	for i := range a.snap.Servers {
		s := &a.snap.Servers[i]
		for j := range s.Types {
			if s.Name == r.Server && s.Types[j].Name == r.Type {
				return s.Types[j]
			}
		}
	}
	return event.Type{Name: r.Type}
}

func (a *app) nextView() { a.payloads.view = (a.payloads.view + 1) % payloadViews }

// toSpan goes on to the next place at which something was noticed.
func (a *app) toSpan(step int) {
	f := a.findingsHere()
	if f == nil || len(f.report.Spans) == 0 {
		a.Tell("no place in this payload was noticed")
		return
	}
	n := len(f.report.Spans)
	d := &a.detail
	d.tab = tabPayload
	d.unfoldAll()
	d.fill(a, d.Width)
	switch {
	case d.span == 0 && step < 0:
		d.span = n
	default:
		d.span = (d.span-1+step+n)%n + 1
	}
	for i := range d.Lines {
		for _, s := range d.Lines[i].Text.Segments {
			if s.Span == d.span {
				if i < d.top || i >= d.top+d.shown {
					d.page(i - d.shown/3 - d.top)
				}
				d.at = i
				return
			}
		}
	}
}

func capped(b []byte) []byte { return b[:min(len(b), payloadMax)] }
