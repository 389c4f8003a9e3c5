package detail

import (
	"fmt"
	"slices"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/reading"
	"eventdeck/host/trust"
	"eventdeck/host/trust/scan"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// Env is what the pane needs.
type Env struct {
	*cells.Env
	Screen   widget.Screen
	Log      func() eventlog.Records
	Snap     *host.Snapshot
	Record   func() uint64                         // the record to show; 0 for none
	Get      func(seq uint64) (event.Record, bool) // a record, if the stream holds it
	Lost     func(seq uint64) bool                 // the record is no longer in the log
	Other    func() Other                          // what to show instead of a record; the zero value for nothing
	Room     func() int                            // width of the pane in cells
	Focused  func() bool                           // the pane has the focus
	Moves    func() bool                           // the stream follows the newest record
	Found    func() string                         // the searched text
	Demo     func(server string) bool
	Headline func(*event.Record) (severity, summary trust.Rendered, level reading.Level) // as the stream shows it
	Note     func(seq uint64) string                                                     // the operator's note on a record; "" for none
	// Rows returns how many changes of state are folded in the row of a record, and the newest.
	Rows func(seq uint64) (n int, last uint64)
	// Outcomes returns lines about the reactions to a record, and OutcomesGen changes with them; both
	// may be nil.
	Outcomes    func(seq uint64) []Line
	OutcomesGen func() int
}

// Other is something to show that is not a record: a node of the tree, a row of a table.
type Other struct {
	Name    any // a comparable value; when it changes the pane scrolls to the first line
	Changes int // the text is written again when this, the snapshot or the second changes
	Write   func(*Text)
	// Drawn is called for each frame with the range of visible lines and their width; may be nil.
	Drawn func(from, to, width int)
}

// Pane shows a record on several tabs, or an [Other]. Its methods are called on the event loop.
type Pane struct {
	Text
	Tab    Tab
	At     int // the chosen line, marked while the pane has the focus
	Top    int // the first visible line
	Height int
	Shown  int // the number of visible lines: Height, without a last row that explains a span

	env      *Env
	moved    bool         // the operator chose a line
	span     int          // the span that is explained, from 1; 0 for none
	folded   map[int]bool // the closed folds of the payload, by their first line
	payloads payloads
	same     same
	before   before
	of       linesKey
	drawn    drawn
	draws    cells.Canvas
	out      []string
}

// New returns an empty pane.
func New(env *Env) Pane {
	return Pane{env: env, Text: Text{Env: env.Env, Demo: env.Demo}, payloads: payloads{found: map[uint64]*findings{}}}
}

// linesKey has what the lines depend on.
type linesKey struct {
	seq     uint64
	held    bool
	lost    bool
	other   any
	changes int
	version uint64
	second  int64
	w       int
	tab     Tab
	view    View
	gen     int
	folds   int
	clock   cells.TimeView
	note    string
}

// drawn has what the drawn rows depend on in addition to the lines.
type drawn struct {
	valid            bool
	style, h         int
	at, top, span    int
	focused, noticed bool
	found            string
}

// Forget makes the next Draw write and draw all lines again. It must be called after a change of
// theme, glyphs or keys.
func (d *Pane) Forget() { d.of, d.drawn = linesKey{}, drawn{} }

// By moves the choice by n lines.
func (d *Pane) By(n int) {
	d.moved = d.moved || n != 0
	d.At = max(0, min(d.At+n, len(d.Lines)-1))
	d.reveal()
}

// reveal scrolls so that the chosen line is visible.
func (d *Pane) reveal() {
	if d.At < d.Top {
		d.Top = d.At
	}
	if d.At >= d.Top+d.Shown {
		d.Top = d.At - d.Shown + 1
	}
	d.Top = max(0, min(d.Top, len(d.Lines)-d.Shown))
}

// Page scrolls by n lines and moves the choice with them.
func (d *Pane) Page(n int) {
	d.Top = max(0, min(d.Top+n, len(d.Lines)-d.Shown))
	d.By(n)
}

// Chosen returns the chosen line, nil if there is none.
func (d *Pane) Chosen() *Line {
	if d.At >= len(d.Lines) {
		return nil
	}
	return &d.Lines[d.At]
}

// source returns what the lines depend on now.
func (d *Pane) source(other *Other, w int) linesKey {
	of := linesKey{w: w, clock: d.Env.Times, other: other.Name}
	if other.Name != nil {
		of.changes, of.version, of.second = other.Changes, d.env.Snap.Version, d.Env.Clock().Unix()
		return of
	}
	of.seq, of.tab, of.view, of.gen, of.folds = d.env.Record(), d.Tab, d.payloads.view, d.payloads.gen+d.same.gen+d.before.gen+d.outcomesGen()+d.rows(), len(d.folded)
	_, of.held = d.env.Get(of.seq)
	of.lost, of.note = d.env.Lost(of.seq), d.env.Note(of.seq)
	if d.Tab == tabDelivery || d.Tab == tabPayload { // these tabs show ages
		of.second = d.Env.Clock().Unix()
	}
	return of
}

// fill writes the lines again if something has changed. It returns what is shown instead of a
// record.
func (d *Pane) fill(w int) Other {
	other := d.env.Other()
	of := d.source(&other, w)
	if of == d.of {
		return other
	}
	if of.seq != d.of.seq || of.other != d.of.other || of.tab != d.of.tab {
		d.Top, d.At, d.span, d.moved = 0, 0, 0, false
	}
	if of.seq != d.of.seq {
		clear(d.folded)
		of.folds = 0
	}
	d.of, d.drawn = of, drawn{}
	d.Begin(w)
	if other.Name != nil {
		other.Write(&d.Text)
	} else {
		d.record(w)
	}
	return other
}

// ToValue chooses the first line of the payload with a value, on which actions for values can be
// used. It does nothing without the focus and after the operator chose a line.
func (d *Pane) ToValue() {
	if w := d.env.Room(); w > 0 && d.env.Focused() {
		d.fill(w)
		d.toValue()
	}
}

// toValue is [Pane.ToValue] for the present lines.
func (d *Pane) toValue() {
	if d.moved || !d.env.Focused() {
		return
	}
	if i := slices.IndexFunc(d.Lines, func(l Line) bool { return l.value > 0 }); i >= 0 {
		d.At = i
	}
}

// Draw returns exactly h rows of w cells. They are valid until the next call.
func (d *Pane) Draw(w, h int) []string {
	other := d.fill(w)
	d.Height, d.Shown = h, h
	f := d.findings()
	if f != nil && d.Tab == tabPayload && len(f.report.Spans) > 0 && h > 3 {
		d.Shown--
	}
	d.toValue()
	d.Top = max(0, min(d.Top, len(d.Lines)-d.Shown))
	d.At = max(0, min(d.At, len(d.Lines)-1))
	d.reveal()
	if other.Drawn != nil {
		other.Drawn(d.Top, min(d.Top+d.Shown, len(d.Lines)), w)
	}
	now := drawn{true, d.Env.Style, h, d.At, d.Top, d.span, d.env.Focused(), d.Shown < h, d.env.Found()}
	if now == d.drawn {
		return d.out
	}
	d.drawn = now
	c := &d.draws
	c.Begin(&d.Env.Theme, w)
	c.Span, c.Found, c.Pins = now.span, now.found, d.Env.Pins
	for i := d.Top; i < d.Top+d.Shown; i++ {
		if i >= len(d.Lines) {
			c.End()
			continue
		}
		if i == now.at && now.focused {
			c.Only(themes.Cursor)
		}
		d.Lines[i].Draw(c, d.Env.Glyphs)
	}
	if d.Shown < h {
		d.drawSpan(c, f.report.Spans)
	}
	d.out = c.Rows(h, d.out)
	return d.out
}

// drawSpan writes the last row: an explanation of the span that [Pane.ToSpan] chose, or the keys for
// spans.
func (d *Pane) drawSpan(c *cells.Canvas, spans []scan.Span) {
	if d.span == 0 || d.span > len(spans) {
		c.Put(themes.Key, " "+d.env.Screen.KeyOf("match.next"))
		c.Put(themes.Dim, " to the "+cells.Count(len(spans), "place")+" noticed ")
		c.Put(themes.Key, " "+d.env.Screen.KeyOf("why"))
		c.Put(themes.Dim, " why")
		c.End()
		return
	}
	s := &spans[d.span-1]
	c.Put(themes.Key, fmt.Sprintf(" %d/%d ", d.span, len(spans)))
	c.Put(themes.Strong, string(s.Flag)+" ")
	c.Put(themes.Plain, s.Reason+" ")
	c.Safe(themes.Dim, cells.Join(cells.Sanitize("at "), trust.Line(s.Path)).Clip(c.Room))
	c.End()
}
