package tui

import (
	"fmt"
	"slices"

	"eventdeck/host/trust"
	"eventdeck/host/trust/scan"
	"eventdeck/themes"
	"eventdeck/ui/tui/board"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/query"
)

// newText is an empty text.
func (a *app) newText() detail.Text {
	return detail.Text{Env: &a.Env, Demo: func(server string) bool { return a.demo || slices.Contains(a.passing, server) }}
}

// shownDetail shows one thing in full: a record on several tabs, a node of the tree
// with the evidence for its state, or a row of a table.
type shownDetail struct {
	detail.Text
	at     int // chosen line, shown while the pane has the keys
	top    int
	height int
	shown  int // rows of lines; the last row may tell about a span
	span   int // the span that is explained, from 1; 0 is none
	tab    detailTab
	folded map[int]bool // folds of the payload that are closed, by their first line
	same   same
	of     detailKey
	draws  cells.Canvas
	out    []string
}

// detailKey is what the lines were made from.
type detailKey struct {
	seq     uint64
	node    query.Node
	row     board.RowID
	rows    int // of a table: how often its rows changed
	version uint64
	second  int64
	w       int
	tab     detailTab
	view    payloadView
	gen     int
	folds   int
	clock   cells.TimeView
}

// by moves the chosen line by n.
func (d *shownDetail) by(n int) {
	d.at = max(0, min(d.at+n, len(d.Lines)-1))
	if d.at < d.top {
		d.top = d.at
	}
	if d.at >= d.top+d.shown {
		d.top = d.at - d.shown + 1
	}
	d.top = max(0, min(d.top, len(d.Lines)-d.shown))
}

// page moves what is shown by n lines, and the chosen line with it.
func (d *shownDetail) page(n int) {
	d.top = max(0, min(d.top+n, len(d.Lines)-d.shown))
	d.by(n)
}

// key says what the lines are to be made from now.
func (d *shownDetail) key(a *app, w int) detailKey {
	key := detailKey{w: w, clock: a.Times}
	switch t := a.table(); {
	case t != nil:
		key.row, key.rows, key.version, key.second = t.At, t.Gen, a.snap.Version, a.Clock().Unix()
	case a.onNode():
		key.node, key.version, key.second = a.tree.At, a.snap.Version, a.Clock().Unix()
	default:
		key.seq, key.tab, key.view, key.gen, key.folds = a.stream.At, d.tab, a.payloads.view, a.payloads.gen+d.same.gen, len(d.folded)
		if d.tab == tabDelivery {
			key.second = a.Clock().Unix()
		}
	}
	return key
}

func (d *shownDetail) fill(a *app, w int) {
	key := d.key(a, w)
	if key == d.of {
		return
	}
	if key.seq != d.of.seq || key.node != d.of.node || key.row != d.of.row || key.tab != d.of.tab {
		d.top, d.at, d.span = 0, 0, 0
	}
	if key.seq != d.of.seq {
		clear(d.folded)
		key.folds = 0
	}
	d.of = key
	d.Begin(w)
	switch t := a.table(); {
	case t != nil:
		t.Describe(&d.Text)
	case a.onNode():
		d.node(a)
	default:
		d.record(a, w)
	}
}

// draw returns exactly h rows of w cells.
func (d *shownDetail) draw(a *app, w, h int) []string {
	d.fill(a, w)
	d.height, d.shown = h, h
	f := a.findingsHere()
	if f != nil && d.tab == tabPayload && len(f.report.Spans) > 0 && h > 3 {
		d.shown--
	}
	d.top = max(0, min(d.top, len(d.Lines)-d.shown))
	d.by(0)
	c := &d.draws
	c.Begin(&a.Theme, w)
	c.Span, c.Found = d.span, a.search.text
	for i := d.top; i < d.top+d.shown; i++ {
		if i >= len(d.Lines) {
			c.End()
			continue
		}
		if i == d.at && a.focus == layout.Detail {
			c.Only(themes.Cursor)
		}
		d.Lines[i].Draw(c, a.Glyphs)
	}
	if d.shown < h {
		d.drawSpan(a, c, f.report.Spans)
	}
	d.out = c.Rows(h, d.out)
	return d.out
}

// drawSpan explains the span that n and N lead to.
func (d *shownDetail) drawSpan(a *app, c *cells.Canvas, spans []scan.Span) {
	if d.span == 0 || d.span > len(spans) {
		c.Put(themes.Key, " "+a.KeyOf("match.next"))
		c.Put(themes.Dim, " to the "+cells.Count(len(spans), "place")+" noticed ")
		c.Put(themes.Key, " "+a.KeyOf("why"))
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
