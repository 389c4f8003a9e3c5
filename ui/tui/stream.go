package tui

import (
	"math"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/query"
)

// stream is the pane of arriving records. Its places are sequence numbers, so
// that arrivals, folding and reading on move nothing that is being read.
type stream struct {
	window
	follow   bool // the newest row is chosen and shown
	paused   bool // the view is frozen; arrivals are counted
	waiting  int  // paused: arrivals that match
	pan      int  // cells of the summaries that are left of the pane
	selected selection
	at       uint64 // chosen record, 0 if there is none
	top      uint64 // record in the first row
	height   int

	labels labelSet // of the rows that were drawn in this scope

	formed map[uint64]*row
	plan   plan
	draws  cells.Canvas
	one    cells.Canvas
	lines  []string
	drawn  streamKey
}

// streamKey is what the drawn rows were made from.
type streamKey struct {
	cols    columns
	h       int
	at, top uint64
	end     uint64
	rows    int
	gen     int
	focus   bool
	more    bool
	marks   int
	picked  selection
}

// formedMax bounds the rows that are kept formed.
const formedMax = 2_048

func newStream() stream {
	return stream{follow: true, formed: map[uint64]*row{}}
}

// show changes what the stream shows. What is chosen stays if it still matches.
func (s *stream) show(log *eventlog.Log, q query.Query) error {
	err := s.reset(log, q)
	s.paused, s.waiting = false, 0
	s.settle()
	return err
}

// settle puts choice and top on rows that exist.
func (s *stream) settle() {
	n := len(s.seqs)
	if n == 0 {
		s.at, s.top = 0, 0
		return
	}
	if s.follow {
		s.at = s.seqs[n-1]
		s.top = s.seqs[max(0, n-max(s.height, 1))]
		return
	}
	s.at = s.seqs[min(s.index(s.at), n-1)]
	s.reveal()
}

// reveal scrolls as little as needed to show the choice.
func (s *stream) reveal() {
	n, h := len(s.seqs), max(s.height, 1)
	if n == 0 {
		return
	}
	at, top := s.index(s.at), s.index(s.top)
	if at < top {
		top = at
	}
	if at >= top+h {
		top = at - h + 1
	}
	top = max(0, min(top, n-h))
	s.top = s.seqs[top]
}

// arrive takes what the log has got since the last time; what a window that is
// frozen or cut does not take is counted. It reports whether there is more to take.
func (s *stream) arrive(log *eventlog.Log) (more bool, err error) {
	if s.cut || s.paused {
		n, more, err := s.count(log)
		if s.paused {
			s.waiting += n
		}
		return more, err
	}
	if behind := log.Last() - s.seen; s.follow && behind > 2*catchUpMax {
		err := s.reset(log, s.query)
		s.settle()
		return false, err
	}
	left := catchUpMax
	var record event.Record // one for all: what is matched is on the heap
	err = log.After(s.seen, func(r event.Record) bool {
		if left == 0 {
			more = true
			return false
		}
		left--
		s.seen, record = r.Seq, r
		if s.query.Matches(&record) {
			s.seqs = append(s.seqs, r.Seq)
		}
		return true
	})
	s.level()
	if s.follow {
		s.trimFront()
		s.settle()
		return more, err
	}
	s.cutEnd()
	if s.at == 0 {
		s.settle()
	}
	return more, err
}

// pause freezes the view or lets it go on.
func (s *stream) pause() {
	s.paused, s.waiting = !s.paused, 0
}

// toNewest follows the stream from its newest row.
func (s *stream) toNewest(log *eventlog.Log) error {
	s.follow = true
	if s.paused {
		s.pause()
	}
	if s.cut {
		if err := s.reset(log, s.query); err != nil {
			return err
		}
	}
	s.settle()
	return nil
}

// by moves the choice by n rows. Moving up ends following; reaching the newest
// row by hand does not begin it.
func (s *stream) by(n int) {
	if len(s.seqs) == 0 || n == 0 {
		return
	}
	if n < 0 {
		s.follow = false
	}
	i := max(0, min(s.index(s.at)+n, len(s.seqs)-1))
	s.at = s.seqs[i]
	s.reveal()
}

// first chooses the oldest row that is held.
func (s *stream) first() { s.by(-len(s.seqs)) }

// wants tells whether rows beyond an end of the window are needed.
func (s *stream) wants() (older, newer bool) {
	if s.fetching || s.height == 0 {
		return false, false
	}
	at, top := s.index(s.at), s.index(s.top)
	older = !s.oldest && (len(s.seqs) < s.height || top == 0 || at < s.height) && !(s.follow && len(s.seqs) >= s.height)
	older = older || !s.oldest && !s.cut && s.query.Filters() && len(s.seqs) < pageRows
	newer = s.cut && !s.paused && at+s.height >= len(s.seqs)
	return older, newer && !older
}

// row returns the formed row of a record.
func (s *stream) row(a *app, seq uint64) *row {
	if r, ok := s.formed[seq]; ok {
		return r
	}
	rec, err := a.api.Log().Get(seq)
	if err != nil {
		return &row{marker: true, role: themes.Bad, text: cells.Sanitize("cannot be read: " + err.Error())}
	}
	if len(s.formed) >= formedMax {
		clear(s.formed)
	}
	s.plan.clock = a.Times
	r := formRow(rec, a.pick(&rec), &s.plan)
	s.formed[seq] = r
	return r
}

// columnsFor says for what rows are laid out now.
func (s *stream) columnsFor(a *app, w int) columns {
	cols := columns{width: w, look: a.Style, pan: s.pan, clock: a.Times, mark: " ", found: a.search.text}
	cols.plan = s.planFor(a, w).gen
	if a.Times == cells.TimeRelative {
		cols.now = a.Clock().Unix()
	}
	return cols
}

// widest is the room that names would like to have.
type widest struct{ server, typ int }

func measure(snap *host.Snapshot) widest {
	var w widest
	if len(snap.Subs) == 0 && snap.Last > 0 {
		w = widest{10, 18} // of records whose subscriptions are gone
	}
	for i := range snap.Servers {
		w.server = max(w.server, cells.Sanitize(snap.Servers[i].Name).Width)
	}
	for i := range snap.Subs {
		w.typ = max(w.typ, trust.Line(snap.Subs[i].Key.Type).Width)
	}
	return w
}

// draw returns exactly h rows of w cells.
func (s *stream) draw(a *app, w, h int) []string {
	if s.height != h {
		s.height = h
		s.settle()
	}
	s.drawRows(a, w, h)
	if s.plan.of.labels != s.labels {
		s.drawRows(a, w, h) // with the columns for them
	}
	return s.lines
}

func (s *stream) drawRows(a *app, w, h int) {
	key := streamKey{cols: s.columnsFor(a, w), h: h, at: s.at, top: s.top, rows: len(s.seqs), gen: s.gen, focus: a.focus == layout.Stream, more: s.fetching, marks: a.marks.gen, picked: s.selected}
	if n := len(s.seqs); n > 0 {
		key.end = s.seqs[n-1]
	}
	if key == s.drawn && len(s.seqs) > 0 {
		return
	}
	s.drawn = key
	c := &s.draws
	c.Begin(&a.Theme, w)
	c.Found = a.search.text
	for i := s.topFor(&a.marks, h); i < len(s.seqs) && c.Height() < h; i++ {
		s.drawRow(a, c, i, key)
		for _, m := range a.marks.lines(s.seqs[i], s.after(i)) {
			drawLine(c, a.Glyphs, m, a.Times)
		}
	}
	if len(s.seqs) == 0 {
		a.teach(c, h)
	}
	s.lines = c.Rows(h, s.lines)
}

func (s *stream) drawRow(a *app, c *cells.Canvas, i int, key streamKey) {
	seq, cols := s.seqs[i], key.cols
	r := s.row(a, seq)
	if a.Times == cells.TimeDelta && i > 0 {
		cols.before = s.row(a, s.seqs[i-1]).at
	}
	if r.labels != nil {
		s.labels |= r.labels.set
		cols.joint = s.jointOf(a, i)
	}
	_, marked := a.marks.find(seq)
	switch {
	case marked:
		cols.mark = a.Glyphs.Mark
	case seq == s.at:
		cols.mark = a.Glyphs.Cursor
	case s.in(seq):
		cols.mark = a.Glyphs.Picked
	}
	if seq == s.at || s.in(seq) {
		c.Only(themes.CursorOff)
		if key.focus && seq == s.at {
			c.Only(themes.Cursor)
		}
		c.Put(themes.Plain, cols.mark)
		r.lay(c, a.Glyphs, cols, &s.plan)
		c.End()
		return
	}
	if r.line == "" || r.key != cols {
		s.one.Begin(&a.Theme, cols.width)
		s.one.Found = cols.found
		s.one.Put(themes.Key, cols.mark)
		r.lay(&s.one, a.Glyphs, cols, &s.plan)
		s.one.End()
		r.line, r.key = s.one.Top(), cols
	}
	c.Row(r.line)
}

// after is the record at which the lines behind row i end: the next row's, or
// the end of the log.
func (s *stream) after(i int) uint64 {
	if i+1 < len(s.seqs) {
		return s.seqs[i+1]
	}
	return math.MaxUint64
}

// topFor is the first row to draw, so that the chosen one shows although lines
// take rows, too. Following, the newest lines show as well.
func (s *stream) topFor(m *marks, h int) int {
	top, at := s.index(s.top), s.index(s.at)
	if len(m.all) == 0 || len(s.seqs) == 0 {
		return top
	}
	end := s.seqs[min(at, len(s.seqs)-1)]
	if s.follow {
		end = math.MaxUint64
	}
	for top < at && at-top+1+len(m.lines(s.seqs[top], end)) > h {
		top++
	}
	return top
}

// drawLine writes a line that says when it was drawn.
func drawLine(c *cells.Canvas, g *cells.Glyphs, m event.Mark, clock cells.TimeView) {
	c.Put(themes.Key, g.Rule+g.Rule)
	c.Put(themes.Key, lineWords(m, clock))
	c.Rule(themes.Key, g.Rule)
	c.End()
}
