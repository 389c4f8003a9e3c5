package stream

import (
	"maps"
	"slices"

	"eventdeck/host"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
)

// Pair has the streams of a screen: the embedded one is active, which means that keys act on it; a
// second one is shown while Two. Each has its own query, position and selection; columns and marks
// are shared. [Pair.Switch] exchanges the two, so that a pointer to the embedded stream always
// points to the active one.
type Pair struct {
	Stream
	Other Stream // the inactive stream, while Two
	Two   bool
}

// NewPair returns a pair with one empty stream that follows.
func NewPair(env *Env) Pair {
	p := Pair{Stream: New(env)}
	aside := *env
	aside.Focused, aside.DrawEmpty = func() bool { return false }, nil
	p.Other = Stream{env: &aside, Window: Window{id: 1}}
	return p
}

// Open shows a second stream, which begins as a copy of the first and becomes active.
func (p *Pair) Open() {
	if p.Two {
		return
	}
	s, before := p.Stream, &p.Other
	s.env, s.id, s.Gen = before.env, before.id, before.Gen+1 // answers to requests of the closed stream are stale
	s.Seqs, s.folds, s.Stop, s.Fetching = slices.Clone(p.Seqs), maps.Clone(p.folds), nil, false
	s.records = newRecords()
	s.records.held, s.records.bytes = maps.Clone(p.records.held), p.records.bytes
	s.Formed, s.Selected = map[uint64]*row{}, Selection{}
	s.plan, s.draws, s.one, s.lines, s.drawn = Plan{}, cells.Canvas{}, cells.Canvas{}, nil, streamKey{}
	p.Other, p.Two = s, true
	p.Switch()
}

// Switch makes the other stream active, if there is one.
func (p *Pair) Switch() {
	if !p.Two {
		return
	}
	p.Hold(false)
	p.Stream, p.Other = p.Other, p.Stream
	p.env, p.Other.env = p.Other.env, p.env // the env of the embedded stream knows the focus
}

// Close closes the inactive stream.
func (p *Pair) Close() {
	p.Other.cancel()
	p.Other = Stream{env: p.Other.env, Window: Window{id: p.Other.id, Gen: p.Other.Gen}}
	p.Two = false
}

// Shown returns the streams that are shown, the active one first.
func (p *Pair) Shown() []*Stream {
	if p.Two {
		return []*Stream{&p.Stream, &p.Other}
	}
	return []*Stream{&p.Stream}
}

// AllArrivals returns the requests for arrivals of the streams that are shown; see [Stream.Arrivals].
func (p *Pair) AllArrivals() (all []query.Request) {
	for _, s := range p.Shown() {
		all = append(all, s.Arrivals())
	}
	return all
}

// Requester returns the stream that made a request, nil if it was closed meanwhile.
func (p *Pair) Requester(r *query.Request) *Stream {
	switch {
	case r.Stream == p.id:
		return &p.Stream
	case p.Two:
		return &p.Other
	}
	return nil
}

// Take gives a page to the stream that asked for it; see [Stream.Take].
func (p *Pair) Take(page query.Page) (again bool) {
	s := p.Requester(&page.Request)
	return s != nil && s.Take(page)
}

// SetSeverity sets the JSON pointers of the severity in the payloads of event types, which are named
// SERVER/TYPE. Rows are formed again.
func (p *Pair) SetSeverity(pointers map[string]string) {
	p.Columns.SeverityPaths = pointers
	p.Reform()
}

// Reform forms the rows again. It must be called when the schemas of types have changed.
func (p *Pair) Reform() {
	clear(p.Columns.Picks)
	for _, s := range p.Shown() {
		clear(s.Formed)
	}
}

// Measure updates from a snapshot which types have several subscriptions. It forms the rows again when
// servers list other types, since their schemas decide what rows show.
func (p *Pair) Measure(snap *host.Snapshot) {
	n := 0
	for i := range snap.Servers {
		n = n*31 + len(snap.Servers[i].Types) + int(snap.Servers[i].Since.Unix()&0xffff)
	}
	if n != p.Columns.Seen {
		p.Columns.Seen = n
		p.Reform()
	}
	p.several = severalOf(snap)
	p.Other.several = p.several
}

// Caption describes the query of a stream and whether it follows, in at most room cells. It is shown
// while there are two streams.
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

// QueryWords describes a query: the place in the tree, and the filter as it was typed.
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

// PlaceWords describes a place in the tree.
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

// drawEmptyAside writes the text of an empty inactive stream.
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
