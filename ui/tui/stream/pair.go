package stream

import (
	"maps"
	"slices"

	"eventdeck/host"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/feed"
	"eventdeck/ui/tui/query"
)

// Pair are the streams of a screen: the one that the keys are about, and a second one while
// two are shown. Each has its own query, place and range; columns and marks are shared.
// Whatever has a pointer to the embedded stream has the one that the keys are about, whichever
// of the two that is.
type Pair struct {
	Stream
	Other Stream // the one without the keys, while Two
	Two   bool
}

// NewPair is one empty stream that follows.
func NewPair(env *Env) Pair {
	p := Pair{Stream: New(env)}
	aside := *env
	aside.Focused, aside.DrawEmpty = func() bool { return false }, nil
	p.Other = Stream{env: &aside, Window: Window{id: 1}}
	return p
}

// Open shows a second stream, which begins as a copy of the first and has the focus.
func (p *Pair) Open() {
	if p.Two {
		return
	}
	s, before := p.Stream, &p.Other
	s.env, s.id, s.Gen = before.env, before.id, before.Gen+1 // answers to what was asked before it was closed are stale
	s.Seqs, s.folds, s.Stop, s.Fetching = slices.Clone(p.Seqs), maps.Clone(p.folds), nil, false
	s.records = newRecords()
	s.records.held, s.records.bytes = maps.Clone(p.records.held), p.records.bytes
	s.Formed, s.Selected = map[uint64]*row{}, Selection{}
	s.plan, s.draws, s.one, s.lines, s.drawn = Plan{}, cells.Canvas{}, cells.Canvas{}, nil, streamKey{}
	p.Other, p.Two = s, true
	p.Switch()
}

// Switch gives the keys to the other stream. Nothing happens while there is one.
func (p *Pair) Switch() {
	if !p.Two {
		return
	}
	p.Hold(false)
	p.Stream, p.Other = p.Other, p.Stream
	p.env, p.Other.env = p.Other.env, p.env // who has the focus is told by the place
}

// Close leaves the stream with the keys as the only one.
func (p *Pair) Close() {
	p.Other.cancel()
	p.Other = Stream{env: p.Other.env, Window: Window{id: p.Other.id, Gen: p.Other.Gen}}
	p.Two = false
}

// Shown are the streams that are shown, the one with the keys first.
func (p *Pair) Shown() []*Stream {
	if p.Two {
		return []*Stream{&p.Stream, &p.Other}
	}
	return []*Stream{&p.Stream}
}

// Requester returns the stream that asked for a page, nil if it was closed meanwhile.
func (p *Pair) Requester(r *feed.Request) *Stream {
	switch {
	case r.Stream == p.id:
		return &p.Stream
	case p.Two:
		return &p.Other
	}
	return nil
}

// Take takes an answer for the stream that asked; see [Stream.Take].
func (p *Pair) Take(page feed.Page) (again bool) {
	s := p.Requester(&page.Request)
	return s != nil && s.Take(page)
}

// SetSeverity takes where the payloads of event types, named as SERVER/TYPE, say how bad
// they are, as JSON pointers. Rows are formed again.
func (p *Pair) SetSeverity(pointers map[string]string) {
	p.Columns.SeverityPaths = pointers
	p.Reform()
}

// Reform forms the rows again: what types say of their payloads has changed.
func (p *Pair) Reform() {
	clear(p.Columns.Picks)
	for _, s := range p.Shown() {
		clear(s.Formed)
	}
}

// Measure takes from a snapshot what tells the rows of subscriptions apart.
func (p *Pair) Measure(snap *host.Snapshot) {
	p.several = severalOf(snap)
	p.Other.several = p.several
}

// Caption tells what a stream shows and whether it follows, in at most so many cells: what the
// line above the panes tells of the only one.
func (s *Stream) Caption(room int) string {
	g := s.env.Glyphs
	text := QueryWords(&s.Query, g)
	state := "reading"
	switch {
	case s.Paused:
		state = "frozen, " + cells.Number(uint64(s.Waiting)) + " waiting"
	case s.Follow:
		state = "following"
	default:
		if below := s.BelowWords(); below != "" {
			state = below
		}
	}
	state = " " + g.Dot + " " + state
	return text.Clip(max(room-len([]rune(state)), 8)).Plain() + state
}

// QueryWords says what a query takes: a place of the tree, and the filter as it was typed.
func QueryWords(q *query.Query, g *cells.Glyphs) trust.Rendered {
	text := PlaceWords(q.Node, g)
	if q.Text == "" {
		return text
	}
	word := " /"
	if q.Off {
		word = " (off) /"
	}
	return cells.Join(text, cells.Sanitize(word+q.Text))
}

// PlaceWords names a place of the tree.
func PlaceWords(n query.Node, g *cells.Glyphs) trust.Rendered {
	switch {
	case n.Level() == 0:
		return cells.Sanitize("all servers")
	case n.Type.IsZero():
		return cells.Sanitize(n.Server)
	case n.Sub == "":
		return cells.Join(cells.Sanitize(n.Server+" "+g.Path+" "), trust.Line(n.Type))
	}
	return cells.Join(cells.Sanitize(n.Server+" "+g.Path+" "), trust.Line(n.Type), cells.Sanitize(" "+g.Path+" "+string(n.Sub)))
}

// drawEmptyAside says on an empty stream without the keys what it is.
func (s *Stream) drawEmptyAside(c *cells.Canvas) {
	text := "Nothing of this has arrived yet."
	switch {
	case s.Searched() != "":
		text = "Nothing matches yet: " + s.Searched() + " of the history."
	case s.Query.Filters():
		text = "Nothing matches the filter."
	}
	c.End()
	c.Put(themes.Dim, "  "+text)
	c.End()
}
