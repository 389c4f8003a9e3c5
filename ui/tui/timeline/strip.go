package timeline

import (
	"context"
	"slices"
	"sort"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/reading"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// StripRows is the height of a [Strip].
const StripRows = 2

// Strip draws the records that the stream holds over time, with their severities and the visible
// rows. It reads records in the background.
type Strip struct {
	env    *cells.Env
	of     source
	points []point
	busy   bool
	grown  int // grows with every answer
	drawn  stripKey
	draws  cells.Canvas
	rows   []string
	cols   []column
	most   uint64 // the highest count of a column
	count  counted
	ends   ends
}

// counted has what the counts of columns depend on. Moving the cursor changes none of it.
type counted struct {
	of                    source
	span                  span
	w, grown, marks, rows int
	first                 uint64
	begins                bool
}

// ends has the formatted times at both ends of the axis.
type ends struct {
	of         span
	w          int
	clock      cells.TimeView
	begin, end string
}

// source identifies the stream and the query of rows.
type source struct{ stream, gen int }

// point is a record as the strip needs it.
type point struct {
	seq      uint64
	at       time.Time // zero if the record is no longer in the log
	level    reading.Level
	gap      bool
	from, to time.Time // of a gap
}

// Rows describes the rows of a stream.
type Rows struct {
	Stream      int      // which one of two
	Gen         int      // of its query
	Loaded      bool     // the rows are those of its query, not of the one before
	Begins      bool     // there is no row before the first one
	Seqs        []uint64 // all rows, ascending; used on the caller's goroutine only
	Top, Bottom uint64   // the first and the last visible row
	At          uint64   // the chosen row
	Follow      bool
	Marks       int // changes with the marks
	Marked      Marks
}

// Marks finds the marks of records.
type Marks interface {
	Find(seq uint64) (event.Mark, bool)
}

// stripKey has what the drawn rows depend on.
type stripKey struct {
	of                     source
	loaded, begins         bool
	w, grown, style, marks int
	rows                   int
	top, bottom, at        uint64
	second                 int64
	clock                  cells.TimeView
}

// pointsRead bounds the records that are read at a time.
const pointsRead = 2_000

// NewStrip returns an empty strip.
func NewStrip(env *cells.Env) Strip { return Strip{env: env} }

// Work reads records of rows that were not read yet, the newest first; nil if there are none.
func (s *Strip) Work(screen widget.Screen, r Rows, get func(seq uint64) (event.Record, error)) tea.Cmd {
	if s.busy || !r.Loaded {
		return nil
	}
	want := s.missing(r)
	if len(want) == 0 {
		return nil
	}
	s.busy = true
	want = slices.Clone(want)
	of := s.of
	return screen.Do(func(ctx context.Context) tea.Msg {
		points := make([]point, 0, len(want))
		for _, seq := range want {
			if ctx.Err() != nil {
				break
			}
			rec, err := get(seq)
			if err != nil { // pruned meanwhile
				rec = event.Record{Seq: seq}
			}
			points = append(points, pointOf(&rec))
		}
		return widget.Then(func() tea.Cmd { s.take(of, points); return nil })
	})
}

// missing returns adjacent rows that were not read yet: newer ones, else older ones.
func (s *Strip) missing(r Rows) []uint64 {
	of := r.of()
	if len(r.Seqs) == 0 {
		s.of, s.points = of, s.points[:0]
		return nil
	}
	first, last := r.Seqs[0], r.Seqs[len(r.Seqs)-1]
	if n := len(s.points); of != s.of || n > 0 && (s.points[0].seq > last || s.points[n-1].seq < first) {
		s.of, s.points = of, nil
	}
	known := sort.Search(len(s.points), func(i int) bool { return s.points[i].seq >= first })
	s.points = s.points[known:] // the stream has dropped older rows
	if len(s.points) == 0 {
		return r.Seqs[max(0, len(r.Seqs)-pointsRead):]
	}
	newer := sort.Search(len(r.Seqs), func(i int) bool { return r.Seqs[i] > s.points[len(s.points)-1].seq })
	if newer < len(r.Seqs) {
		return r.Seqs[newer:min(len(r.Seqs), newer+pointsRead)]
	}
	older := sort.Search(len(r.Seqs), func(i int) bool { return r.Seqs[i] >= s.points[0].seq })
	return r.Seqs[max(0, older-pointsRead):older]
}

func (r *Rows) of() source { return source{r.Stream, r.Gen} }

func pointOf(r *event.Record) point {
	p := point{seq: r.Seq, at: r.ReceivedAt}
	switch {
	case r.Kind == event.KindGap && r.Gap != nil:
		p.gap, p.from, p.to = true, r.Gap.From, r.Gap.To
	case r.Kind == event.KindEvent:
		p.level = reading.Rate(r)
	}
	return p
}

// take adds points that were read.
func (s *Strip) take(of source, points []point) {
	s.busy = false
	if of != s.of || len(points) == 0 {
		return
	}
	s.grown++
	if n := len(s.points); n > 0 && points[0].seq > s.points[n-1].seq {
		s.points = append(s.points, points...)
		return
	}
	s.points = append(points, s.points...)
}

// at returns when a record was received; the zero time if that is not known.
func (s *Strip) at(seq uint64) time.Time {
	i := sort.Search(len(s.points), func(i int) bool { return s.points[i].seq >= seq })
	if i < len(s.points) {
		return s.points[i].at
	}
	if i > 0 {
		return s.points[i-1].at
	}
	return time.Time{}
}

// column has the counts of the records in the time of one column.
type column struct {
	severe
	open      bool // some of its records may not be counted
	all       uint64
	gap, mark bool
	peak      bool // the letter of its worst severity is shown
}

// role returns the role of the column's bar.
func (c *column) role() themes.Role {
	switch {
	case 4*c.errors >= c.all:
		return themes.Bad
	case 4*(c.errors+c.warnings) >= c.all:
		return themes.Warn
	}
	return themes.Chart
}

// Draw returns [StripRows] rows of w cells: bars, and an axis with times, gaps, marks, the visible
// rows and the chosen one.
func (s *Strip) Draw(w int, r Rows) []string {
	now := s.env.Clock()
	key := stripKey{r.of(), r.Loaded, r.Begins, w, s.grown, s.env.Style, r.Marks, len(r.Seqs), r.Top, r.Bottom, r.At, now.Unix(), s.env.Times}
	if key == s.drawn {
		return s.rows
	}
	s.drawn = key
	c := &s.draws
	c.Begin(&s.env.Theme, w)
	switch {
	case w <= 2:
	case !r.Loaded || r.of() != s.of || len(s.points) == 0 && len(r.Seqs) > 0:
		c.Put(themes.Dim, " not counted yet "+s.env.Glyphs.More)
		c.End()
	case len(s.points) > 0:
		span := s.span(w-2, r, now)
		if of := (counted{s.of, span, w, s.grown, r.Marks, len(r.Seqs), s.points[0].seq, r.Begins}); of != s.count {
			s.cols, s.most = s.columns(span, w-2, r)
			s.count = of
		}
		s.bars(c, s.cols, s.most)
		s.axis(c, span, s.cols, r)
	}
	s.rows = c.Rows(StripRows, s.rows)
	return s.rows
}

// span is the range of time that is drawn.
type span struct {
	from time.Time
	each time.Duration // of a column
}

func (p span) column(t time.Time) int {
	if t.Before(p.from) {
		return -1
	}
	return int(t.Sub(p.from) / p.each)
}

// steps are the possible durations of a column.
var steps = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}

// around is the smallest ratio of the drawn time to that of the visible rows.
const around = 4

// span returns the range of time around the visible rows. It ends now while the stream follows,
// otherwise the visible rows are in its middle.
func (s *Strip) span(w int, r Rows, now time.Time) span {
	top, bottom := s.at(r.Top), s.at(r.Bottom)
	each := steps[len(steps)-1]
	for _, d := range steps {
		if time.Duration(w)*d >= around*bottom.Sub(top) {
			each = d
			break
		}
	}
	end := s.points[len(s.points)-1].at
	if r.Follow && now.After(end) && now.Sub(end) < time.Duration(w)*each/2 {
		end = now
	}
	if half := bottom.Add(time.Duration(w) * each / 2); !r.Follow && half.Before(end) {
		end = half
	}
	return span{end.Truncate(each).Add(each - time.Duration(w)*each), each}
}

func (s *Strip) columns(p span, w int, r Rows) (columns []column, most uint64) {
	s.cols = slices.Grow(s.cols[:0], w)[:w]
	columns = s.cols
	clear(columns)
	for i := range s.points {
		x := &s.points[i]
		if x.gap {
			from, to := x.from, x.to
			if from.IsZero() || to.IsZero() {
				from, to = x.at, x.at
			}
			for k := max(0, p.column(from)); k <= p.column(to) && k < w; k++ {
				columns[k].gap = true
			}
			continue
		}
		k := p.column(x.at)
		if k < 0 || k >= w {
			continue
		}
		c := &columns[k]
		c.all++
		switch {
		case x.level >= reading.Critical:
			c.critical++
			c.errors++
		case x.level == reading.Error:
			c.errors++
		case x.level == reading.Warning:
			c.warnings++
		}
		if !c.mark {
			_, c.mark = r.Marked.Find(x.seq)
		}
		most = max(most, c.all)
	}
	for k := range columns[:max(0, min(s.countedFrom(p, r), w))] {
		columns[k].open = true
	}
	markPeaks(columns)
	return columns, most
}

// countedFrom returns the first column whose records are all counted. Rows before the first point may
// not have been read, or not be in the window of the stream.
func (s *Strip) countedFrom(p span, r Rows) int {
	if r.Begins && s.points[0].seq <= r.Seqs[0] {
		return 0
	}
	return p.column(s.points[0].at) + 1
}

// markPeaks sets peak for the column with the most such records in each run of columns with the same
// worst reading.
func markPeaks(columns []column) {
	for i := 0; i < len(columns); {
		letter, most, _ := columns[i].worst()
		if letter == "" {
			i++
			continue
		}
		peak := i
		for ; i < len(columns); i++ {
			l, n, _ := columns[i].worst()
			if l != letter {
				break
			}
			if n > most {
				peak, most = i, n
			}
		}
		columns[peak].peak = true
	}
}

// bars draws the columns in the roles of their severities.
func (s *Strip) bars(c *cells.Canvas, columns []column, most uint64) {
	c.Put(themes.Plain, " ")
	bars := s.env.Glyphs.Bars
	for i := range columns {
		x := &columns[i]
		switch {
		case x.all == 0 && x.open:
			c.Put(themes.Faint, s.env.Glyphs.Dot)
			continue
		case x.all == 0:
			c.Style(themes.Plain)
			c.Fill(1)
			continue
		}
		role := x.role()
		if x.open {
			role = themes.Faint
		}
		c.Put(role, bars[(x.all*uint64(len(bars))-1)/most])
	}
	c.End()
}

// spell returns the formatted times at both ends of the axis.
func (s *Strip) spell(p span, w int) (begin, end string) {
	if e := &s.ends; e.of != p || e.w != w || e.clock != s.env.Times {
		zone, whole := s.env.Times.Zone(), time.Duration(w)*p.each
		*e = ends{p, w, s.env.Times, " " + moment(p.from.In(zone), whole) + " ", " " + moment(p.from.Add(whole).In(zone), whole)}
	}
	return s.ends.begin, s.ends.end
}

// axis draws the row below the bars.
func (s *Strip) axis(c *cells.Canvas, p span, columns []column, r Rows) {
	g, w := s.env.Glyphs, len(columns)
	top, bottom, at := p.column(s.at(r.Top)), p.column(s.at(r.Bottom)), p.column(s.at(r.At))
	begin, end := s.spell(p, w)
	if max(at, bottom) >= w-len(end) { // the position matters more than its time
		end = ""
	}
	c.Put(themes.Dim, begin)
	for i := len(begin) - 1; i < min(w, w-len(end)+1); i++ {
		switch x := &columns[i]; {
		case i == at:
			c.Put(themes.Key, g.Up)
		case x.mark:
			c.Put(themes.Key, g.Mark)
		case x.gap:
			c.Put(themes.Gap, g.Gap)
		case x.peak:
			letter, _, role := x.worst()
			c.Put(role, letter)
		case i >= top && i <= bottom:
			c.Put(themes.RuleOn, g.RuleOn)
		default:
			c.Put(themes.Backdrop, g.Rule)
		}
	}
	c.Put(themes.Dim, end)
	c.End()
}
