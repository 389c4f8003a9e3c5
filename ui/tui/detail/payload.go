package detail

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/schema"
	"eventdeck/host/trust"
	"eventdeck/host/trust/scan"
	"eventdeck/ui/tui/widget"
)

// Bounds of what is shown of one payload, in bytes.
const (
	payloadMax = 256 << 10 // laid out at all
	payloadNow = 8 << 10   // laid out at once; the rest follows from the background
)

// findingsMax bounds the findings that are kept.
const findingsMax = 64

// View is a way to show a payload.
type View uint8

const (
	viewRendered View = iota // indented, with what was noticed
	viewEscaped              // ASCII only, every other character by its number
	viewHex                  // bytes
	viewSource               // JSON as it came
	Views                    // how many there are
)

// Word is the name of the view.
func (v View) Word() string {
	return [...]string{"rendered", "escaped", "hex", "raw JSON"}[v]
}

// lay lays a payload out in lines of so many cells.
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

// PayloadOf returns the bytes of a record that a server wrote: the data of an
// event, all of a refused payload.
func PayloadOf(r *event.Record) []byte {
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
	view View
	w    int
}

// payloads has what is known of payloads. They are scanned and laid out in the background, one
// at a time: a quarter of a megabyte takes long enough to be noticed.
type payloads struct {
	view   View
	found  map[uint64]*findings
	of     laidOut // what lines show
	lines  []trust.Rendered
	folds  []trust.Fold
	vals   []int // of the lines; see [trust.Layout]
	busy   bool
	last   time.Time // when one was scanned last while the stream follows
	paused bool      // none is scanned until lookEvery is over
	gen    int       // grows with every answer
}

// scanInterval is the time between two scans while the stream follows: what was shown shorter could
// not be read.
const scanInterval = 100 * time.Millisecond

// scanned is what was found in a payload, and its lines.
type scanned struct {
	of    laidOut
	found *findings
	lines []trust.Rendered
	folds []trust.Fold
	vals  []int
}

// Work returns a command that reads what the tab needs, nil if it has all. It is called after
// every message.
func (d *Pane) Work() tea.Cmd { return tea.Batch(d.scanPayload(), d.findSame(), d.findBefore()) }

// scanPayload scans and lays out the payload, unless that was done, runs, or has to wait for
// lookEvery.
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
	typ, known := d.env.TypeOf(&r), p.found[want.seq]
	p.busy = true
	return d.env.Screen.Do(func(context.Context) tea.Msg {
		x := examine(want, typ, PayloadOf(&r), known)
		return widget.Then(func() tea.Cmd { d.take(x); return nil })
	})
}

// rest waits before payloads are scanned again.
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

// take stores what a scan found. Its lines are dropped if another record or width is shown by
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

// payloadWidth is the room for a payload's lines in the detail.
func (d *Pane) payloadWidth() int {
	if w := d.env.Room(); w > 1 {
		return w - 1
	}
	return 80
}

// Payload returns the record that is shown, if a server wrote a payload of it.
func (d *Pane) Payload() (event.Record, bool) {
	if d.env.Record() == 0 {
		return event.Record{}, false
	}
	r, ok := d.env.Get(d.env.Record())
	return r, ok && (r.Kind == event.KindEvent || r.Kind == event.KindRejected)
}

// HasPayload reports whether what is shown has a payload that a server wrote.
func (d *Pane) HasPayload() bool { _, ok := d.Payload(); return ok }

// findings returns what was noticed in the chosen payload, nil as long as
// that is not known.
func (d *Pane) findings() *findings {
	if d.env.Record() == 0 {
		return nil
	}
	return d.payloads.found[d.env.Record()]
}

// View is how payloads are shown.
func (d *Pane) View() View { return d.payloads.view }

// NextView shows the payload in another way.
func (d *Pane) NextView() { d.payloads.view = (d.payloads.view + 1) % Views }

// ToSpan goes to the next place of the payload that was noticed, or with step -1 to the one
// before.
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
