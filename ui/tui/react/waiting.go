package react

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/table"
)

// waiting lists the runs that wait for the operator, the oldest first, so that new ones move none.
type waiting struct {
	viewList[react.Run]
	input renderedInput
}

// renderedInput is the input of a request, laid out.
type renderedInput struct {
	of    string // hash of the request
	width int    // in cells
	lines []trust.Rendered
}

// The columns of waiting runs.
const (
	waitAge = iota
	waitRule
	waitGroup
	waitEvents
	waitAct
	waitCaution
	waitEnds
)

func (t *waiting) Columns() []table.Column {
	return []table.Column{
		waitAge:     {Title: "WAITED", Width: 8, Rank: 2},
		waitRule:    {Title: "RULE", Width: 12, Grow: 1, Max: 30},
		waitGroup:   {Title: "GROUP", Width: 10, Grow: 1, Max: 30, Rank: 3, Empty: t.none(func(r *react.Run) bool { return r.Key != "" })},
		waitEvents:  {Title: "EVENTS", Width: 6, Right: true, Rank: 4},
		waitAct:     {Title: "WANTS TO", Width: 14, Grow: 4},
		waitCaution: {Title: "CAUTION", Width: 13, Rank: 5, Empty: t.none(func(r *react.Run) bool { return caution(r) != "" })},
		waitEnds:    {Title: "EXPIRES", Width: 8, Right: true, Rank: 1, Empty: t.none(func(r *react.Run) bool { return !r.Due.IsZero() })},
	}
}

// none reports whether there are runs and has is false for all of them.
func (t *waiting) none(has func(*react.Run) bool) bool {
	return len(t.rows) > 0 && !slices.ContainsFunc(t.rows, func(r react.Run) bool { return has(&r) })
}

// ofRule returns a copy of the runs of a rule that wait now.
func (t *waiting) ofRule(rule string) []react.Run {
	return slices.DeleteFunc(slices.Clone(t.rows), func(r react.Run) bool { return r.Rule != rule })
}

func (t *waiting) Cell(i, col int) table.Cell {
	r, now := &t.rows[i], t.pane.env.Clock()
	switch col {
	case waitAge:
		return table.Say(themes.Dim, cells.Span(now.Sub(r.Created)))
	case waitRule:
		return table.Say(themes.Strong, r.Rule)
	case waitGroup:
		return table.Cell{Role: themes.Plain, Text: group(r.Key)}
	case waitEvents:
		return table.Say(themes.Dim, cells.Number(r.Members.Count))
	case waitAct:
		return table.Say(themes.Plain, requestText(r.Request))
	case waitCaution:
		return table.Say(themes.Warn, caution(r))
	}
	if r.Due.IsZero() {
		return table.Cell{}
	}
	left := r.Due.Sub(now)
	role := themes.Dim
	if left < 5*time.Minute {
		role = themes.Warn
	}
	return table.Say(role, cells.Span(left))
}

// caution says why a run needs a closer look, "" for no reason.
func caution(r *react.Run) string {
	word := ""
	if r.Flagged {
		word = "! noticed"
	}
	if r.Stale {
		word = cells.Commas(word, "late")
	}
	return word
}

func (t *waiting) Describe(d *detail.Text, id table.RowID) {
	p, r := t.pane, t.row(id)
	switch {
	case r == nil:
		d.Say("", themes.Dim, "It does not wait any more; the tab Runs tells what became of it.")
		return
	case r.Request == nil:
		d.Say("", themes.Dim, "The engine prepares what it would do.")
		return
	case p.tooSmall(d, "eventdeck approve "+string(r.ID)):
		return
	}
	rule := p.rule(r.Rule)
	p.write(d, block{kind: toApprove, name: string(r.ID), title: r.Rule, hash: r.Request.Hash()}, react.Block(*r, rule, rule.Approved))
	if r.Request.Wish != nil { // it has no input and no events
		return
	}
	d.Lines = append(d.Lines, detail.Line{})
	t.writeInput(d, r)
	d.Lines = append(d.Lines, detail.Line{})
	members(d, &r.Members)
}

// inputShownMax bounds the part of an input that is shown, in bytes.
const inputShownMax = 32 << 10

// writeInput writes the input of the act behind the gutter.
func (t *waiting) writeInput(d *detail.Text, r *react.Run) {
	in := r.Request.Input
	if len(in) == 0 {
		d.Say("", themes.Dim, "The act gets no input.")
		return
	}
	if of := r.Request.Hash(); t.input.of != of || t.input.width != d.Width {
		t.input = renderedInput{of, d.Width, trust.Block(trust.Untrusted(string(in[:min(len(in), inputShownMax)])), max(1, d.Width-1))}
	}
	d.Quote(t.sender(r)+": input of the act", t.input.lines)
	if rest := len(in) - inputShownMax; rest > 0 {
		d.Say("", themes.Warn, "+"+cells.Count(rest, "byte")+" not shown; eventdeck runs show "+string(r.ID)+" has them all")
	}
}

// sender names the source of the input of an act.
func (t *waiting) sender(r *react.Run) string {
	if r.Began != nil {
		return speaker(r.Began)
	}
	return cmp.Or(t.pane.rule(r.Rule).Rule.On.Server, "a server")
}

// members writes the records of a run, each on a line that leads to it.
func members(d *detail.Text, m *react.Members) {
	d.Say("", themes.Title, cells.Count(m.Count, "event")+"; enter on a line shows it")
	for i, part := range [][]uint64{m.First, m.Last} {
		if gap := m.Count - uint64(len(m.First)) - uint64(len(m.Last)); i == 1 && gap > 0 && m.Count > uint64(len(m.First)) {
			d.Say("", themes.Dim, "  "+cells.Number(gap)+" between them are summed up only")
		}
		for _, seq := range part {
			d.Lines = append(d.Lines, detail.Line{Label: "  record", Text: cells.Sanitize(cells.Number(seq)), Seq: seq})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(m.Top)) {
		counts := m.Top[path]
		for i, c := range counts[:min(len(counts), 3)] {
			label := "  " + quoted(path)
			if i > 0 {
				label = ""
			}
			d.Lines = append(d.Lines, detail.Line{Label: label, Gutter: true, Text: cells.Join(trust.Line(c.Value), cells.Sanitize(inEvents(c.N, m.Count)))})
		}
	}
}

// inEvents says in how many of all events of a run a value occurs, "" if there is only one event.
func inEvents(n, all uint64) string {
	switch {
	case all == 1:
		return ""
	case n == all:
		return ", in all of them"
	}
	return ", in " + cells.Number(n) + " of them"
}

func (t *waiting) EmptyText() []string {
	p := t.pane
	switch {
	case p.notAvailable() != nil:
		return p.notAvailable()
	case len(p.view.Rules) == 0 && p.view.Fault != "":
		return noneInForce()
	case len(p.view.Rules) == 0:
		return []string{"Nothing waits: there are no rules.", "", p.env.Screen.KeyOf("react.new") + " on an event makes one from it; or write them into", p.view.Path}
	}
	return []string{"Nothing waits for you.", "", "Rules in mode ask put here what they want to do; [ ] shows runs and rules."}
}

// rule returns a rule in force, the zero value if there is none of that name.
func (p *Pane) rule(name string) react.RuleView {
	for _, r := range p.view.Rules {
		if r.Rule.Name == name {
			return r
		}
	}
	return react.RuleView{}
}
