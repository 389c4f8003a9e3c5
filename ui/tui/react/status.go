package react

import (
	"fmt"
	"strconv"

	"eventdeck/host/react"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// Headline returns lines of w cells to show above the tables: that reactions are stopped, held or
// blocked, and what is wrong in the file of rules. There are none if all is well.
func (p *Pane) Headline(w int) []string {
	v := &p.view
	var c cells.Canvas
	c.Begin(&p.env.Theme, w)
	line := func(chip, text string) {
		c.Put(themes.Alarm, " "+chip+" ")
		c.Put(themes.Plain, " ")
		c.Safe(themes.Plain, cells.Sanitize(text).Clip(c.Room))
		c.End()
	}
	switch {
	case v.Stopped:
		line("STOPPED", "nothing starts; "+p.env.Screen.KeyOf("react.stop")+" ends what runs or lets it go on")
	case v.Held != "":
		line("HELD", v.Held+"; "+p.env.Screen.KeyOf("react.go")+" lets it go on")
	}
	if v.Blocked != "" {
		line("BLOCKED", v.Blocked+"; it is tried again")
	}
	if v.Fault != "" {
		line("RULES", v.Fault+"; "+v.InForce())
	}
	return c.All()
}

// Announcement returns a line about the runs that began to wait for the operator since the last call,
// "" for none. It contains no text of a server.
func (p *Pane) Announcement() string {
	if p.revision == p.view.Revision {
		return ""
	}
	p.revision = p.view.Revision
	var fresh []string
	waits := map[react.RunID]bool{}
	for i := range p.view.Waiting {
		r := &p.view.Waiting[i]
		waits[r.ID] = true
		if !p.announced[r.ID] {
			fresh = append(fresh, r.Rule)
		}
	}
	p.announced = waits
	switch len(fresh) {
	case 0:
		return ""
	case 1:
		if n := len(p.view.Waiting); n > 1 {
			return fmt.Sprintf("1 more reaction waits for you: %s; %d in all", fresh[0], n)
		}
		return "a reaction waits for you: " + fresh[0]
	}
	return cells.Count(len(fresh), "reaction") + " wait for you, the newest: " + fresh[len(fresh)-1]
}

// DrawChips writes the part of the status line about reactions: questions to the operator, running
// acts, and cost.
func (p *Pane) DrawChips(c *cells.Canvas) {
	v := &p.view
	switch {
	case v.Stopped:
		c.Put(themes.Alarm, " STOPPED ")
		c.Put(themes.Plain, " ")
	case v.Held != "":
		c.Put(themes.Alarm, " HELD ")
		c.Put(themes.Plain, " ")
	case v.Blocked != "":
		c.Put(themes.Alarm, " BLOCKED ")
		c.Put(themes.Plain, " ")
	}
	p.drawQuestion(c)
	sep := " "
	for _, x := range [...]struct {
		n    int
		word string
		role themes.Role
	}{{v.Asking, "ask", themes.Warn}, {v.Running, "run", themes.Busy}} {
		if x.n > 0 {
			c.Put(themes.Rule, sep)
			c.Put(x.role, strconv.Itoa(x.n)+" "+x.word)
			sep = " " + p.env.Glyphs.Dot + " "
		}
	}
	if v.Spent > 0 {
		c.Put(themes.Rule, sep)
		c.Put(themes.Dim, "$"+dollars(v.Spent))
		sep = " " + p.env.Glyphs.Dot + " "
	}
	if sep != " " {
		c.Put(themes.Rule, " "+p.env.Glyphs.Divider)
	}
}

// dollars formats an amount in millionths of a dollar as dollars and cents, rounded up.
func dollars(micro int64) string {
	const cent = 10_000
	cents := micro / cent
	if micro%cent > 0 {
		cents++
	}
	return fmt.Sprintf("%d.%02d", cents/100, cents%100)
}
