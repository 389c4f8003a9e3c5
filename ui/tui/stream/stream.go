package stream

import (
	"math"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
)

// Stream is the pane of arriving records. Its positions are sequence numbers, so that arrivals,
// folding and reading further do not move what is being read.
type Stream struct {
	env *Env
	Window
	Follow   bool // the newest row is chosen and shown
	Paused   bool // the rows stay as they are; new ones are counted
	Waiting  int  // the number of new matching records while Paused
	Pan      int  // how far summaries are scrolled to the right, in cells
	Selected Selection
	At       uint64 // the chosen record, 0 for none
	Top      uint64 // the record in the first row
	Height   int

	shown     uint64 // the chosen record when the rows were drawn last
	held      bool   // Follow is suspended: the chosen row stays chosen
	anchor    uint64 // the record to choose as soon as it is shown; 0: none
	anchorRow int    // the row of the pane for the anchor

	Labels   LabelSet // the kinds of labels of rows that were drawn in this scope
	Columns  *Choice  // shared by all streams of a screen
	Marks    *Marks   // shared by all streams of a screen
	widest   widest
	measured query.Query // the query that widest belongs to
	several  []event.Key // types with several subscriptions

	records records
	Formed  map[uint64]*row
	plan    Plan
	draws   cells.Canvas
	one     cells.Canvas
	lines   []string
	drawn   streamKey
}

// streamKey has what the drawn rows depend on.
type streamKey struct {
	cols    layoutKey
	h       int
	at, top uint64
	end     uint64
	rows    int
	gen     int
	got     int
	focus   bool
	more    bool
	marks   int
	folds   int
	picked  Selection
}

// formedMax bounds the formed rows that are kept.
const formedMax = 2_048

// New returns an empty stream that follows.
func New(env *Env) Stream {
	return Stream{env: env, Follow: true, Columns: &Choice{}, Marks: &Marks{}, Formed: map[uint64]*row{}, records: newRecords()}
}

// Settle moves the choice and the first row to rows that exist.
func (s *Stream) Settle() {
	n := len(s.Seqs)
	if n == 0 {
		s.At, s.Top = 0, 0
		return
	}
	if s.Follow && !s.held {
		s.At = s.Seqs[n-1]
		s.Top = s.Seqs[max(0, n-max(s.Height, 1))]
		return
	}
	if s.anchor != 0 {
		s.land()
		return
	}
	s.At = s.Seqs[min(s.Index(s.At), n-1)]
	s.Reveal()
}

// Reveal scrolls as little as needed to show the chosen row.
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

// Hold suspends following while the operator is asked about the chosen row, or ends that.
func (s *Stream) Hold(on bool) {
	s.held = on
	if s.Follow && !on && s.Loaded {
		s.Settle()
	}
}

// ToShown chooses the row that was under the cursor when the rows were drawn last: a key press is
// meant for that one, not for a row that arrived since. [Stream.Hold] ends that.
func (s *Stream) ToShown() {
	if i := s.Index(s.shown); s.Follow && i < len(s.Seqs) && s.Seqs[i] == s.shown {
		s.At = s.shown
	}
}

// Pause pauses the stream or ends a pause.
func (s *Stream) Pause() {
	s.Paused, s.Waiting = !s.Paused, 0
}

// By moves the choice by n rows. Moving up ends following; reaching the newest
// row by hand does not begin it.
func (s *Stream) By(n int) {
	if len(s.Seqs) == 0 || n == 0 {
		return
	}
	if s.anchor = 0; n < 0 {
		s.Follow = false
	}
	i := max(0, min(s.Index(s.At)+n, len(s.Seqs)-1))
	s.At = s.Seqs[i]
	s.Reveal()
}

// columnsFor returns the layoutKey for rows of w cells.
func (s *Stream) columnsFor(w int) layoutKey {
	env := s.env
	cols := layoutKey{width: w, look: env.Style, pan: s.Pan, clock: env.Times, mark: " ", found: env.Found()}
	cols.plan = s.planFor(w).gen
	if env.Times == cells.TimeRelative {
		cols.now = env.Clock().Unix()
	}
	return cols
}

// widest has the width of the longest names in the rows that were drawn for this query. It shrinks
// only when the query changes, so that columns do not move.
type widest struct {
	server, typ int
	dated       bool // there are rows of other days
}

// measureNames updates widest with the names of a row.
func (s *Stream) measureNames(r *row, w int) {
	s.widest.server = max(s.widest.server, min(r.Server.Width, serverMax(w)))
	s.widest.typ = max(s.widest.typ, min(r.Type.Width, typeMax(w)))
	s.widest.dated = s.widest.dated || !r.at.IsZero() && s.env.Times.Day(r.at) != s.plan.of.today
}

// severalOf returns the event types with several subscriptions.
func severalOf(snap *host.Snapshot) (types []event.Key) {
	seen := make(map[typeOfServer]int, len(snap.Subs))
	for i := range snap.Subs {
		key := &snap.Subs[i].Key
		of := typeOfServer{key.Server, key.Type}
		if seen[of]++; seen[of] == 2 {
			types = append(types, event.Key{Server: key.Server, Type: key.Type})
		}
	}
	return types
}

// Draw returns exactly h rows of w cells.
func (s *Stream) Draw(w, h int) []string {
	if s.Height != h {
		s.Height = h
		s.Settle()
	}
	s.drawRows(w, h)
	if s.plan.of.widest != s.widest {
		s.drawRows(w, h) // again, with the new widths of columns
	}
	return s.lines
}

func (s *Stream) drawRows(w, h int) {
	env := s.env
	s.shown = s.At
	key := streamKey{cols: s.columnsFor(w), h: h, at: s.At, top: s.Top, rows: len(s.Seqs), gen: s.Gen, got: s.records.gen, focus: env.Focused(), more: s.Fetching, marks: s.Marks.Gen, folds: s.joined, picked: s.Selected}
	if n := len(s.Seqs); n > 0 {
		key.end = s.Seqs[n-1]
	}
	if key == s.drawn && len(s.Seqs) > 0 {
		return
	}
	s.drawn = key
	c := &s.draws
	c.Begin(&env.Theme, w)
	c.Found, c.Pins = env.Found(), env.Pins
	for i := s.topFor(s.Marks, h); i < len(s.Seqs) && c.Height() < h; i++ {
		s.drawRow(c, i, key)
		for _, m := range s.Marks.lines(s.Seqs[i], s.after(i)) {
			drawLine(c, env.Glyphs, m, env.Times)
		}
	}
	switch {
	case len(s.Seqs) > 0:
	case env.DrawEmpty == nil:
		s.drawEmptyAside(c)
	default:
		env.DrawEmpty(c, h)
	}
	s.lines = c.Rows(h, s.lines)
}

func (s *Stream) drawRow(c *cells.Canvas, i int, key streamKey) {
	env := s.env
	seq, cols := s.Seqs[i], key.cols
	r := s.row(seq)
	s.measureNames(r, cols.width)
	if i > 0 {
		before := s.row(s.Seqs[i-1])
		if env.Times == cells.TimeDelta {
			cols.before = before.at
		}
		cols.same = s.plan.sameTime(r, before)
	}
	if r.labels != nil {
		s.Labels |= r.labels.Set
		cols.edge = s.batchEdgeOf(i)
	}
	_, marked := s.Marks.Find(seq)
	switch {
	case seq == s.At:
		cols.mark, cols.marked = env.Glyphs.Cursor, marked
	case marked:
		cols.mark = env.Glyphs.Mark
	case s.in(seq):
		cols.mark = env.Glyphs.Picked
	}
	if seq == s.At || s.in(seq) {
		c.Only(themes.CursorOff)
		if key.focus && seq == s.At {
			c.Only(themes.Cursor)
		}
		c.Put(themes.Plain, cols.mark)
		r.draw(c, env.Glyphs, cols, &s.plan)
		c.End()
		return
	}
	if r.line == "" || r.key != cols {
		s.one.Begin(&env.Theme, cols.width)
		s.one.Found, s.one.Pins = cols.found, env.Pins
		s.one.Put(themes.Key, cols.mark)
		r.draw(&s.one, env.Glyphs, cols, &s.plan)
		s.one.End()
		r.line, r.key = s.one.Top(), cols
	}
	c.Row(r.line)
}

// after returns the end of the range of records whose lines follow row i: the next row, or the end
// of the log.
func (s *Stream) after(i int) uint64 {
	if i+1 < len(s.Seqs) {
		return s.Seqs[i+1]
	}
	return math.MaxUint64
}

// topFor returns the first row to draw, so that the chosen row is visible although lines take rows
// too. While the stream follows, lines after it are visible as well.
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

// drawLine writes a line with its time and note.
func drawLine(c *cells.Canvas, g *cells.Glyphs, m event.Mark, clock cells.TimeView) {
	c.Put(themes.Key, g.Rule+g.Rule)
	c.Put(themes.Key, lineWords(m, clock))
	c.Rule(themes.Key, g.Rule)
	c.End()
}

// Choose chooses row i of the window.
func (s *Stream) Choose(i int) {
	s.anchor, s.Follow = 0, false
	s.At = s.Seqs[i]
}

// Click chooses a row that is shown, and reports whether it was chosen already.
func (s *Stream) Click(row int) (again bool) {
	i := s.Index(s.Top) + row
	if i >= len(s.Seqs) {
		return false
	}
	again = s.At == s.Seqs[i]
	s.Choose(i)
	return again
}

// PanStep is how far the stream pans, in cells.
const PanStep = 8

// PanBy scrolls the stream sideways by n cells.
func (s *Stream) PanBy(n int) { s.Pan = max(0, min(s.Pan+n, 4096)) }

// FollowWord returns the hint of the key that follows, "" if it does nothing.
func (s *Stream) FollowWord() string {
	if s.Follow && !s.Paused {
		return ""
	}
	return "follow"
}

// Scroll scrolls by n rows. Another row is chosen if the chosen one would leave the pane.
func (s *Stream) Scroll(n int) {
	if len(s.Seqs) == 0 {
		return
	}
	h := max(s.Height, 1)
	if s.anchor = 0; n < 0 {
		s.Follow = false
	}
	top := max(0, min(s.Index(s.Top)+n, len(s.Seqs)-h))
	s.Top = s.Seqs[top]
	s.At = s.Seqs[max(top, min(s.Index(s.At), top+h-1, len(s.Seqs)-1))]
}
