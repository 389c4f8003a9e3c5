package detail

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/schema"
	"eventdeck/host/trust"
	"eventdeck/host/trust/scan"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// Bounds of the part of a payload that is shown, in bytes.
const (
	payloadMax = 256 << 10
	payloadNow = 8 << 10 // the part that is laid out at once; the background lays out all
)

// findingsMax bounds the payloads whose findings are kept.
const findingsMax = 64

// View is a way to show a payload.
type View uint8

const (
	viewRendered View = iota // indented, with flagged places
	viewEscaped              // ASCII only, other characters escaped
	viewHex                  // bytes
	viewSource               // JSON as it came
	Views                    // the number of views
)

// Word returns the name of the view.
func (v View) Word() string {
	return [...]string{"rendered", "escaped", "hex", "raw JSON"}[v]
}

// lay lays a payload out in lines of width cells.
func (v View) lay(data []byte, places []trust.Place, width int) []trust.Rendered {
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

// fold wraps lines that are wider than width cells.
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

// PayloadOf returns the bytes that a server sent: the data of an event, or a refused payload.
func PayloadOf(r *event.Record) []byte {
	if len(r.Data) > 0 {
		return r.Data
	}
	return r.Raw
}

// findings has what the scanner and the schema found in a payload.
type findings struct {
	report   scan.Report
	problems []schema.Problem
}

// laidOut identifies the laid-out lines of a payload.
type laidOut struct {
	seq  uint64
	view View
	w    int
}

// payloads has the results of scanning payloads and laying them out. That is done in the background,
// one payload at a time, because 256 KiB take noticeably long.
type payloads struct {
	view   View
	found  map[uint64]*findings
	of     laidOut // of lines
	lines  []trust.Rendered
	folds  []trust.Fold
	vals   []int // of the lines; see [trust.Layout]
	busy   bool
	last   time.Time // when the last scan began while the stream follows
	paused bool      // the next scan waits for the end of scanInterval
	gen    int       // grows with every answer
}

// scanInterval is the shortest time between two scans while the stream follows: payloads that are
// shown for a shorter time cannot be read.
const scanInterval = 100 * time.Millisecond

// scanned is the result of scanning a payload and laying it out.
type scanned struct {
	of    laidOut
	found *findings
	lines []trust.Rendered
	folds []trust.Fold
	vals  []int
}

// Work returns a command that reads what the tab needs, nil if nothing is missing. It is called
// after every message.
func (d *Pane) Work() tea.Cmd { return tea.Batch(d.scanPayload(), d.findSame(), d.findBefore()) }

// scanPayload scans the payload and lays it out, unless that is done, is running, or must wait for
// scanInterval.
func (d *Pane) scanPayload() tea.Cmd {
	p := &d.payloads
	want := laidOut{d.env.Record(), p.view, d.payloadWidth()}
	if p.busy || want == p.of || want.seq == 0 || want.w <= 0 {
		return nil
	}
	r, ok := d.Payload()
	if !ok {
		return nil
	}
	if d.env.Moves() && want.view == p.of.view && want.w == p.of.w {
		if p.paused {
			return nil
		}
		if wait := scanInterval - time.Since(p.last); wait > 0 {
			p.paused = true
			return d.rest(wait)
		}
		p.last = time.Now()
	}
	typ, known := query.TypeOf(d.env.Snap, r.Server, r.Type), p.found[want.seq]
	p.busy = true
	return d.env.Screen.Do(func(context.Context) tea.Msg {
		x := examine(want, typ, PayloadOf(&r), known)
		return widget.Then(func() tea.Cmd { d.take(x); return nil })
	})
}

// rest waits before the next scan.
func (d *Pane) rest(wait time.Duration) tea.Cmd {
	return d.env.Screen.Do(func(ctx context.Context) tea.Msg {
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-ctx.Done():
		case <-t.C:
		}
		return widget.Then(func() tea.Cmd { d.payloads.paused = false; return nil })
	})
}

// examine scans a payload, checks it against its schema and lays it out.
func examine(of laidOut, typ event.Type, data []byte, known *findings) scanned {
	if known == nil {
		known = &findings{report: scan.Scan(data), problems: schema.CheckPayload(typ, data)}
	}
	x := scanned{of: of, found: known}
	if of.view == viewRendered {
		l := trust.Lay(capped(data), known.report.Places(), of.w)
		x.lines, x.folds, x.vals = l.Lines, l.Folds, l.Values
	} else {
		x.lines = of.view.lay(capped(data), known.report.Places(), of.w)
	}
	return x
}

// take stores the result of a scan. It drops the lines if another record, view or width is shown by
// now.
func (d *Pane) take(x scanned) {
	p := &d.payloads
	p.busy = false
	p.gen++
	if len(p.found) >= findingsMax {
		clear(p.found)
	}
	p.found[x.of.seq] = x.found
	if x.of == (laidOut{d.env.Record(), p.view, d.payloadWidth()}) {
		p.of, p.lines, p.folds, p.vals = x.of, x.lines, x.folds, x.vals
		d.ToValue()
	}
}

// LaidOut returns the record whose payload is laid out, 0 for none.
func (d *Pane) LaidOut() uint64 { return d.payloads.of.seq }

// payloadWidth returns the width of the lines of payloads, in cells.
func (d *Pane) payloadWidth() int {
	if w := d.env.Room(); w > 1 {
		return w - 1
	}
	return 80
}

// Payload returns the record that is shown; ok is false if it has no payload of a server.
func (d *Pane) Payload() (r event.Record, ok bool) {
	if d.env.Record() == 0 {
		return event.Record{}, false
	}
	r, ok = d.env.Get(d.env.Record())
	return r, ok && (r.Kind == event.KindEvent || r.Kind == event.KindRejected)
}

// ShowsRecord reports whether a record is shown.
func (d *Pane) ShowsRecord() bool { return d.env.Record() != 0 }

// HasPayload reports whether the record that is shown has a payload of a server.
func (d *Pane) HasPayload() bool { _, ok := d.Payload(); return ok }

// findings returns the findings in the payload that is shown, nil until it was scanned.
func (d *Pane) findings() *findings {
	if d.env.Record() == 0 {
		return nil
	}
	return d.payloads.found[d.env.Record()]
}

// View returns the way in which payloads are shown.
func (d *Pane) View() View { return d.payloads.view }

// NextView shows payloads in the next [View].
func (d *Pane) NextView() { d.payloads.view = (d.payloads.view + 1) % Views }

// ToSpan goes to the next flagged place of the payload, or for step -1 to the previous one.
func (d *Pane) ToSpan(step int) {
	f := d.findings()
	if f == nil || len(f.report.Spans) == 0 {
		d.env.Screen.Tell("no place in this payload was noticed")
		return
	}
	n := len(f.report.Spans)
	d.Tab = tabPayload
	d.unfoldAll()
	d.fill(d.Width)
	switch {
	case d.span == 0 && step < 0:
		d.span = n
	default:
		d.span = (d.span-1+step+n)%n + 1
	}
	for i := range d.Lines {
		for _, s := range d.Lines[i].Text.Segments {
			if s.Span == d.span {
				if i < d.Top || i >= d.Top+d.Shown {
					d.Page(i - d.Shown/3 - d.Top)
				}
				d.At, d.moved = i, true
				return
			}
		}
	}
}

func capped(b []byte) []byte { return b[:min(len(b), payloadMax)] }
