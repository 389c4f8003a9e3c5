package edges

import (
	"fmt"
	"strconv"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/host"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
)

// Head is the line above the panes.
type Head struct {
	env  *Env
	line cells.Canvas
}

// NewHead returns a line above the panes.
func NewHead(env *Env) Head { return Head{env: env} }

// Draw draws in w cells the scope, filter and search of the stream, and whether it follows. A wide
// line has more numbers.
func (h *Head) Draw(w int, wide bool) string {
	c, s := &h.line, h.env.Stream
	c.Begin(&h.env.Theme, w)
	c.Put(themes.Brand, " eventdeck")
	if h.env.Demo {
		c.Put(themes.Dim, " demo")
	}
	c.Put(themes.Dim, "  ")
	tail := h.Following() + h.env.Rates.Head(wide)
	room := c.Room
	c.Room -= ansi.StringWidth(tail) + 2
	kept := c.Room
	h.path(c)
	if seq := h.env.Comparing(); seq != 0 {
		c.Put(themes.Busy, "  comparing #"+cells.Number(seq)+", "+h.env.KeyOf("compare")+" on another")
	}
	h.filter(c)
	c.Room += room - kept
	role := themes.Good
	if !s.Follow || s.Paused {
		role = themes.Warn
	}
	c.Right(role, tail+" ")
	c.End()
	return c.Top()
}

// filter draws the search, then the filter with its name if it is saved.
func (h *Head) filter(c *cells.Canvas) {
	if searched := h.env.Searched(); searched != "" {
		c.Put(themes.Dim, "  search ")
		c.Safe(themes.SpanOn, cells.Sanitize(searched).Clip(c.Room))
	}
	q := &h.env.Stream.Query
	if q.Text == "" {
		return
	}
	word, role := "  filter ", themes.Key
	if q.Off {
		word, role = "  filter off ", themes.Off
	}
	c.Put(themes.Dim, word)
	text, far := q.Text, h.env.Stream.Searched()
	if far != "" {
		far = "  " + far
	}
	c.Safe(role, cells.Sanitize(text).Clip(max(c.Room-len(far), leastFilter)))
	c.Put(themes.Dim, far)
}

// leastFilter is the least width of the filter beside the progress of its search, in cells.
const leastFilter = 12

// path draws the scope: the node of the tree that the stream is limited to.
func (h *Head) path(c *cells.Canvas) {
	n := h.env.Stream.Query.Node
	if n.Level() == 0 {
		c.Safe(themes.Plain, cells.Sanitize("all servers").Clip(c.Room))
		return
	}
	c.Safe(themes.Server, cells.Sanitize(n.Server).Clip(c.Room))
	if !n.Type.IsZero() {
		c.Put(themes.Dim, " "+h.env.Glyphs.Path+" ")
		c.Safe(themes.Type, trust.Line(n.Type).Clip(c.Room))
	}
	if v := query.FindSub(h.env.Snap, n.Sub); v != nil {
		c.Put(themes.Dim, " "+h.env.Glyphs.Path+" ")
		c.Put(themes.Plain, string(v.Mode)+" ")
		if !evidence.NoArgs(v.Key.Args) {
			c.Safe(themes.Dim, cells.Sanitize(string(v.ShownArgs())).Clip(c.Room))
		}
	}
}

// Following returns in words whether the stream follows.
func (h *Head) Following() string {
	switch {
	case h.env.Stream.Paused:
		return fmt.Sprintf("FROZEN (%s waiting)", cells.Number(uint64(h.env.Stream.Waiting)))
	case h.env.Stream.Follow:
		return "FOLLOW"
	}
	if words := h.env.Stream.BelowWords(); words != "" {
		return "READING (" + words + ")"
	}
	return "READING"
}

// Scope lists the servers in w cells on screens without a pane for the tree: those that fit, in the
// order of the tree, then the number of the others.
func (h *Head) Scope(w int) string {
	var c cells.Canvas
	c.Begin(&h.env.Theme, w)
	c.Put(themes.Key, " 1 ")
	servers := h.env.Servers()
	if len(servers) == 0 {
		c.Put(themes.Dim, "no servers")
	}
	for i, s := range servers {
		role := themes.Busy
		word := evidence.Reach(*s, h.env.Clock())
		switch s.Reach {
		case host.ReachReady:
			role = themes.Good
			if n := evidence.Failing(h.env.Snap.Subs, s.Name); n > 0 {
				role = themes.Warn
				word = strconv.Itoa(n) + " in trouble"
			}
		case host.ReachBackoff, host.ReachRefused, host.ReachSignIn, host.ReachFault, evidence.ReachMissing:
			role = themes.Warn
		}
		name := cells.Sanitize(s.Name).Clip(20)
		need, more := name.Width+len(word)+1, fmt.Sprintf("+%d ", len(servers)-i)
		if i < len(servers)-1 {
			need += 2 + len(more) // room for the number of the others
		}
		if i > 0 && c.Room < need {
			c.Put(themes.Dim, more)
			break
		}
		c.Safe(themes.Server, name.Clip(c.Room))
		c.Put(role, " "+word+"  ")
	}
	c.End()
	return c.Top()
}
