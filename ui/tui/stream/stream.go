package stream

import (
	"math"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
)

// Stream is the pane of arriving records. Its places are sequence numbers, so
// that arrivals, folding and reading on move nothing that is being read.
type Stream struct {
	env *Env
	Window
	Follow   bool // the newest row is chosen and shown
	Paused   bool // the view is frozen; arrivals are counted
	Waiting  int  // paused: arrivals that match
	Pan      int  // cells of the summaries that are left of the pane
	Selected Selection
	At       uint64 // chosen record, 0 if there is none
	Top      uint64 // record in the first row
	Height   int

	Labels  LabelSet // of the rows that were drawn in this scope
	Columns Choice
	Marks   Marks
	Widest  Widest

	Formed map[uint64]*row
	plan   Plan
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
	picked  Selection
}

// formedMax bounds the rows that are kept formed.
const formedMax = 2_048

// New is an empty stream that follows.
func New(env *Env) Stream {
	return Stream{env: env, Follow: true, Formed: map[uint64]*row{}}
}

// Show changes what the stream shows. What is chosen stays if it still matches.
func (s *Stream) Show(log *eventlog.Log, q query.Query) error {
	err := s.reset(log, q)
	s.Paused, s.Waiting = false, 0
	s.Settle()
	return err
}

// Settle puts choice and top on rows that exist.
func (s *Stream) Settle() {
	n := len(s.Seqs)
	if n == 0 {
		s.At, s.Top = 0, 0
		return
	}
	if s.Follow {
		s.At = s.Seqs[n-1]
		s.Top = s.Seqs[max(0, n-max(s.Height, 1))]
		return
	}
	s.At = s.Seqs[min(s.Index(s.At), n-1)]
	s.Reveal()
}

// Reveal scrolls as little as needed to show the choice.
func (s *Stream) Reveal() {
	n, h := len(s.Seqs), max(s.Height, 1)
	if n == 0 {
		return
	}
	at, top := s.Index(s.At), s.Index(s.Top)
	if at < top {
		top = at
	}
	if at >= top+h {
		top = at - h + 1
	}
	top = max(0, min(top, n-h))
	s.Top = s.Seqs[top]
}

// Arrive takes what the log has got since the last time; what a window that is
// frozen or cut does not take is counted. It reports whether there is more to take.
func (s *Stream) Arrive(log *eventlog.Log) (more bool, err error) {
	if s.Cut || s.Paused {
		n, more, err := s.count(log)
		if s.Paused {
			s.Waiting += n
		}
		return more, err
	}
	if behind := log.Last() - s.Seen; s.Follow && behind > 2*CatchUpMax {
		err := s.reset(log, s.Query)
		s.Settle()
		return false, err
	}
	left := CatchUpMax
	var record event.Record // one for all: what is matched is on the heap
	err = log.After(s.Seen, func(r event.Record) bool {
		if left == 0 {
			more = true
			return false
		}
		left--
		s.Seen, record = r.Seq, r
		if s.Query.Matches(&record) {
			s.Seqs = append(s.Seqs, r.Seq)
		}
		return true
	})
	s.level()
	if s.Follow {
		s.trimFront()
		s.Settle()
		return more, err
	}
	s.cutEnd()
	if s.At == 0 {
		s.Settle()
	}
	return more, err
}

// Pause freezes the view or lets it go on.
func (s *Stream) Pause() {
	s.Paused, s.Waiting = !s.Paused, 0
}

// ToNewest follows the stream from its newest row.
func (s *Stream) ToNewest(log *eventlog.Log) error {
	s.Follow = true
	if s.Paused {
		s.Pause()
	}
	if s.Cut {
		if err := s.reset(log, s.Query); err != nil {
			return err
		}
	}
	s.Settle()
	return nil
}

// By moves the choice by n rows. Moving up ends following; reaching the newest
// row by hand does not begin it.
func (s *Stream) By(n int) {
	if len(s.Seqs) == 0 || n == 0 {
		return
	}
	if n < 0 {
		s.Follow = false
	}
	i := max(0, min(s.Index(s.At)+n, len(s.Seqs)-1))
	s.At = s.Seqs[i]
	s.Reveal()
}

// First chooses the oldest row that is held.
func (s *Stream) First() { s.By(-len(s.Seqs)) }

// Wants tells whether rows beyond an end of the window are needed.
func (s *Stream) Wants() (older, newer bool) {
	if s.Fetching || s.Height == 0 {
		return false, false
	}
	at, top := s.Index(s.At), s.Index(s.Top)
	older = !s.Oldest && (len(s.Seqs) < s.Height || top == 0 || at < s.Height) && !(s.Follow && len(s.Seqs) >= s.Height)
	older = older || !s.Oldest && !s.Cut && s.Query.Filters() && len(s.Seqs) < PageRows
	newer = s.Cut && !s.Paused && at+s.Height >= len(s.Seqs)
	return older, newer && !older
}

// row returns the formed row of a record.
func (s *Stream) row(seq uint64) *row {
	env := s.env
	if r, ok := s.Formed[seq]; ok {
		return r
	}
	rec, err := env.Log().Get(seq)
	if err != nil {
		return &row{marker: true, role: themes.Bad, Text: cells.Sanitize("cannot be read: " + err.Error())}
	}
	if len(s.Formed) >= formedMax {
		clear(s.Formed)
	}
	s.plan.clock = env.Times
	r := Row(rec, s.pick(&rec), &s.plan)
	s.Formed[seq] = r
	return r
}

// columnsFor says for what rows are laid out now.
func (s *Stream) columnsFor(w int) columns {
	env := s.env
	cols := columns{width: w, look: env.Style, pan: s.Pan, clock: env.Times, mark: " ", found: env.Found()}
	cols.plan = s.planFor(w).gen
	if env.Times == cells.TimeRelative {
		cols.now = env.Clock().Unix()
	}
	return cols
}

// Widest is the room that names would like to have.
type Widest struct{ Server, Typ int }

// Measure returns the room that the names in a snapshot would like to have.
func Measure(snap *host.Snapshot) Widest {
	var w Widest
	if len(snap.Subs) == 0 && snap.Last > 0 {
		w = Widest{10, 18} // of records whose subscriptions are gone
	}
	for i := range snap.Servers {
		w.Server = max(w.Server, cells.Sanitize(snap.Servers[i].Name).Width)
	}
	for i := range snap.Subs {
		w.Typ = max(w.Typ, trust.Line(snap.Subs[i].Key.Type).Width)
	}
	return w
}

// Draw returns exactly h rows of w cells.
func (s *Stream) Draw(w, h int) []string {
	if s.Height != h {
		s.Height = h
		s.Settle()
	}
	s.drawRows(w, h)
	if s.plan.of.labels != s.Labels {
		s.drawRows(w, h) // with the columns for them
	}
	return s.lines
}

func (s *Stream) drawRows(w, h int) {
	env := s.env
	key := streamKey{cols: s.columnsFor(w), h: h, at: s.At, top: s.Top, rows: len(s.Seqs), gen: s.Gen, focus: env.Focused(), more: s.Fetching, marks: s.Marks.Gen, picked: s.Selected}
	if n := len(s.Seqs); n > 0 {
		key.end = s.Seqs[n-1]
	}
	if key == s.drawn && len(s.Seqs) > 0 {
		return
	}
	s.drawn = key
	c := &s.draws
	c.Begin(&env.Theme, w)
	c.Found = env.Found()
	for i := s.topFor(&s.Marks, h); i < len(s.Seqs) && c.Height() < h; i++ {
		s.drawRow(c, i, key)
		for _, m := range s.Marks.lines(s.Seqs[i], s.after(i)) {
			drawLine(c, env.Glyphs, m, env.Times)
		}
	}
	if len(s.Seqs) == 0 {
		env.Teach(c, h)
	}
	s.lines = c.Rows(h, s.lines)
}

func (s *Stream) drawRow(c *cells.Canvas, i int, key streamKey) {
	env := s.env
	seq, cols := s.Seqs[i], key.cols
	r := s.row(seq)
	if env.Times == cells.TimeDelta && i > 0 {
		cols.before = s.row(s.Seqs[i-1]).at
	}
	if r.labels != nil {
		s.Labels |= r.labels.Set
		cols.joint = s.jointOf(i)
	}
	_, marked := s.Marks.Find(seq)
	switch {
	case marked:
		cols.mark = env.Glyphs.Mark
	case seq == s.At:
		cols.mark = env.Glyphs.Cursor
	case s.in(seq):
		cols.mark = env.Glyphs.Picked
	}
	if seq == s.At || s.in(seq) {
		c.Only(themes.CursorOff)
		if key.focus && seq == s.At {
			c.Only(themes.Cursor)
		}
		c.Put(themes.Plain, cols.mark)
		r.lay(c, env.Glyphs, cols, &s.plan)
		c.End()
		return
	}
	if r.line == "" || r.key != cols {
		s.one.Begin(&env.Theme, cols.width)
		s.one.Found = cols.found
		s.one.Put(themes.Key, cols.mark)
		r.lay(&s.one, env.Glyphs, cols, &s.plan)
		s.one.End()
		r.line, r.key = s.one.Top(), cols
	}
	c.Row(r.line)
}

// after is the record at which the lines behind row i end: the next row's, or
// the end of the log.
func (s *Stream) after(i int) uint64 {
	if i+1 < len(s.Seqs) {
		return s.Seqs[i+1]
	}
	return math.MaxUint64
}

// topFor is the first row to draw, so that the chosen one shows although lines
// take rows, too. Following, the newest lines show as well.
func (s *Stream) topFor(m *Marks, h int) int {
	top, at := s.Index(s.Top), s.Index(s.At)
	if len(m.all) == 0 || len(s.Seqs) == 0 {
		return top
	}
	end := s.Seqs[min(at, len(s.Seqs)-1)]
	if s.Follow {
		end = math.MaxUint64
	}
	for top < at && at-top+1+len(m.lines(s.Seqs[top], end)) > h {
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

// Scroll moves what is shown by n rows; the choice goes along.
func (s *Stream) Scroll(n int) {
	if len(s.Seqs) == 0 {
		return
	}
	h := max(s.Height, 1)
	if n < 0 {
		s.Follow = false
	}
	top := max(0, min(s.Index(s.Top)+n, len(s.Seqs)-h))
	s.Top = s.Seqs[top]
	s.At = s.Seqs[max(top, min(s.Index(s.At), top+h-1, len(s.Seqs)-1))]
}
