package react

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/table"
)

// runsMax bounds the runs that are listed.
const runsMax = 500

// states are the states of runs, for filters and completions.
var states = []react.State{react.Gathering, react.Asking, react.Ready, react.Running, react.Done, react.Failed, react.Suppressed,
	react.Denied, react.Expired, react.Dead, react.Parked, react.Killed, react.WouldRun}

// StateNames returns the names of the states of runs.
func StateNames() []string {
	names := make([]string, len(states))
	for i, s := range states {
		names[i] = string(s)
	}
	return names
}

// runs lists runs, the newest first.
type runs struct {
	list[react.Run] // the runs of all that match the text and the states
	pane            *Pane
	all             []react.Run
	fetchedAll      fetched[runsVersion]
	err             error // of the last reading
	changed         bool  // the rows must be updated
	text            string
	states          []react.State

	full        react.Run // the chosen run with its result
	fetchedFull fetched[runVersion]

	conversation conversation
	want         table.RowID // the run to choose as soon as it is listed
}

// runsVersion identifies a list of runs.
type runsVersion struct {
	viewVersion
	states string
}

// The columns of runs.
const (
	runAt = iota
	runState
	runRule
	runGroup
	runEvents
	runTook
	runWhy
)

func (t *runs) Columns() []table.Column {
	return []table.Column{
		runAt:     {Title: "CREATED", Width: 15, Rank: 3},
		runState:  {Title: "STATE", Width: 12},
		runRule:   {Title: "RULE", Width: 12, Grow: 1, Max: 30},
		runGroup:  {Title: "GROUP", Width: 10, Grow: 1, Max: 30, Rank: 4},
		runEvents: {Title: "EVENTS", Width: 6, Right: true, Rank: 5},
		runTook:   {Title: "TOOK", Width: 7, Right: true, Rank: 6},
		runWhy:    {Title: "WHY", Width: 16, Grow: 4, Rank: 2},
	}
}

// Filter shows only runs with these words. The name of a state selects the runs in that state.
func (t *runs) Filter(text string) {
	t.states = nil
	var words []string
	for _, w := range strings.Fields(strings.ToLower(text)) {
		if slices.Contains(states, react.State(w)) {
			t.states = append(t.states, react.State(w))
		} else {
			words = append(words, w)
		}
	}
	t.text = strings.Join(words, " ")
	t.changed = true
}

func (t *runs) Load() bool {
	if !t.changed {
		return false
	}
	t.changed, t.rows = false, t.rows[:0]
	for i := range t.all {
		if t.matches(&t.all[i]) {
			t.rows = append(t.rows, t.all[i])
		}
	}
	if t.Find(t.want) >= 0 {
		t.pane.Board.Tabs[Runs].At, t.want = t.want, table.RowID{}
	}
	return true
}

func (t *runs) matches(r *react.Run) bool {
	if len(t.states) > 0 && !slices.Contains(t.states, r.State) {
		return false
	}
	for _, w := range strings.Fields(t.text) {
		if !slices.ContainsFunc([]string{string(r.ID), r.Rule, string(r.Key), r.Why, string(r.NS), r.Reason, requestText(r.Request)}, func(s string) bool { return cells.HasText(s, w) }) {
			return false
		}
	}
	return true
}

// Work reads the runs, and the result and steps of the chosen one.
func (t *runs) Work() tea.Cmd {
	return tea.Batch(t.readAll(), t.readFull(), t.conversation.read(t.row(t.pane.Board.Tabs[Runs].At)))
}

func (t *runs) readAll() tea.Cmd {
	p := t.pane
	if !p.known {
		return nil
	}
	want := runsVersion{viewVersion{p.view.Revision, p.known}, fmt.Sprint(t.states)}
	q := react.Query{States: slices.Clone(t.states), Limit: runsMax}
	return fetch(p, &t.fetchedAll, want, func(ctx context.Context) ([]react.Run, error) {
		return p.env.Engine.Runs(ctx, q)
	}, func(all []react.Run, err error) {
		if t.err, t.changed = err, true; err == nil {
			t.all = all
		}
	})
}

func (t *runs) readFull() tea.Cmd {
	p := t.pane
	want := runVersion{react.RunID(p.Board.Tabs[Runs].At.Name), p.view.Revision}
	if want.id == "" {
		return nil
	}
	return fetch(p, &t.fetchedFull, want, func(ctx context.Context) (react.Run, error) {
		return p.env.Engine.Run(ctx, want.id)
	}, func(r react.Run, err error) {
		if t.full = r; err != nil {
			t.full = react.Run{ID: want.id} // without it the run of the list is shown
		}
		p.Board.Tabs[Runs].Gen++
	})
}

func (t *runs) Cell(i, col int) table.Cell {
	r, e := &t.rows[i], t.pane.env
	switch col {
	case runAt:
		above := time.Time{}
		if i > 0 {
			above = t.rows[i-1].Created
		}
		return table.Say(themes.Dim, e.When(r.Created, above, cells.StampDay))
	case runState:
		sign, role := stateSign(e.Glyphs, r.State)
		return table.Say(role, sign+" "+string(r.State))
	case runRule:
		return table.Say(themes.Strong, r.Rule)
	case runGroup:
		return table.Cell{Role: themes.Plain, Text: group(r.Key)}
	case runEvents:
		return table.Say(themes.Dim, cells.Number(r.Members.Count))
	case runTook:
		return table.Say(themes.Dim, took(r))
	}
	return table.Say(themes.Plain, cells.Commas(r.Why, r.Reason))
}

// took returns how long an act ran, "" if it did not run.
func took(r *react.Run) string {
	if r.Started.IsZero() || r.Ended.IsZero() {
		return ""
	}
	return cells.ShortSpan(r.Ended.Sub(r.Started))
}

// stateSign returns the sign and the role of a state. They must be shown with the word of the state.
func stateSign(g *cells.Glyphs, s react.State) (sign string, role themes.Role) {
	switch s {
	case react.Done:
		return g.Live, themes.Good
	case react.Asking, react.Parked:
		return "?", themes.Warn
	case react.Failed, react.Dead, react.Killed:
		return g.Bad, themes.Bad
	case react.Gathering, react.Ready, react.Running:
		return g.Busy, themes.Busy
	case react.Denied, react.Expired:
		return g.Ended, themes.Off
	}
	return g.Quiet, themes.Dim
}

func (t *runs) Describe(d *detail.Text, id table.RowID) {
	r := t.row(id)
	if r == nil {
		return
	}
	if t.full.ID == r.ID && t.full.State != "" {
		r = &t.full
	}
	t.head(d, r)
	t.conversation.write(d, r)
	t.timeline(d, r)
	t.result(d, r)
	d.Lines = append(d.Lines, detail.Line{})
	members(d, &r.Members)
}

// head writes the name of a run, its state with the reason, and possible actions.
func (t *runs) head(d *detail.Text, r *react.Run) {
	e := t.pane.env
	sign, role := stateSign(e.Glyphs, r.State)
	d.Say("", themes.Strong, r.Rule+" "+string(r.ID))
	d.Say("state   ", role, sign+" "+string(r.State))
	d.Say("why     ", themes.Plain, r.Why)
	d.Say("line    ", themes.Dim, r.Line)
	d.Say("reason  ", themes.Plain, r.Reason)
	if r.Key != "" {
		d.Lines = append(d.Lines, detail.Line{Label: "group   ", Text: group(r.Key)})
	}
	d.Say("did     ", themes.Plain, requestText(r.Request))
	switch r.NS {
	case react.Manual:
		d.Say("made    ", themes.Plain, "by the operator, not by an event that came")
	case react.Client:
		d.Say("made    ", themes.Plain, "by a client of this host as an MCP server")
	}
	d.Say("care    ", themes.Warn, caution(r))
	switch {
	case r.State == react.Parked:
		d.Say("next    ", themes.Key, e.Screen.KeyOf("react.settle")+" says what became of it; "+e.Screen.KeyOf("react.again")+" has it done again")
	case r.State.Over():
		d.Say("next    ", themes.Key, e.Screen.KeyOf("react.again")+" has the rule act on these events again; it asks first")
	case r.State == react.Asking:
		d.Say("next    ", themes.Key, "it waits for you in the tab Waiting")
	}
}

// timeline writes the times of a run.
func (t *runs) timeline(d *detail.Text, r *react.Run) {
	d.Section("Course")
	at := func(label string, when time.Time, more string) {
		if !when.IsZero() {
			d.Say(label, themes.Plain, cells.Commas(cells.TimeText(when, d.Zone(), cells.StampFull), more))
		}
	}
	at("created ", r.Created, "")
	due := map[react.State]string{react.Gathering: "then it is decided", react.Asking: "then it expires", react.Ready: "not before"}[r.State]
	if due != "" {
		at("due     ", r.Due, due)
	}
	if r.Approved != "" {
		d.Say("approved", themes.Plain, "by "+r.By+", hash "+r.Approved)
	}
	try := ""
	if r.Attempt > 1 {
		try = fmt.Sprintf("attempt %d", r.Attempt)
	}
	at("started ", r.Started, try)
	at("ended   ", r.Ended, took(r))
	if r.Spend > 0 {
		d.Say("spent   ", themes.Plain, "$"+react.Money(r.Spend))
	}
}

// result writes the outcome of the last attempt and, behind the gutter, its output.
func (t *runs) result(d *detail.Text, r *react.Run) {
	x := r.Result
	if x == nil {
		return
	}
	d.Section("Result")
	d.Say("outcome ", themes.Plain, cells.Commas(string(x.Outcome), x.Why))
	switch {
	case x.Status != 0:
		d.Say("answered", themes.Plain, fmt.Sprintf("HTTP %d", x.Status))
	case r.Request != nil && r.Request.Kind == react.RequestCommand && x.Exit >= 0:
		d.Say("exit    ", themes.Plain, fmt.Sprint(x.Exit))
	case x.Exit < 0:
		d.Say("exit    ", themes.Plain, "ended by a signal")
	}
	d.Say("boundary", themes.Plain, x.Boundary)
	printed(d, "what it printed", &x.Output.Stdout)
	printed(d, "what it printed as errors", &x.Output.Stderr)
}

// printed writes the head and the tail of the output of an act.
func printed(d *detail.Text, what string, s *react.Stream) {
	if s.Bytes == 0 {
		return
	}
	lines := trust.Block(s.Head, max(1, d.Width-1))
	d.Quote(what+", "+cells.Count(uint64(s.Bytes), "byte"), lines)
	if s.Tail.IsZero() {
		return
	}
	if gap := s.Bytes - int64(s.Head.Len()) - int64(s.Tail.Len()); gap > 0 {
		d.Say("", themes.Warn, cells.Count(uint64(gap), "byte")+" between were not kept")
	}
	for _, l := range trust.Block(s.Tail, max(1, d.Width-1)) {
		d.Lines = append(d.Lines, detail.Line{Gutter: true, Text: l})
	}
}

func (t *runs) EmptyText() []string {
	switch {
	case t.pane.notAvailable() != nil:
		return t.pane.notAvailable()
	case t.err != nil:
		return []string{"The runs cannot be read: " + cells.Sanitize(t.err.Error()).Plain()}
	case t.fetchedAll.of == (runsVersion{}):
		return []string{"The runs are being read."}
	case t.text != "" || len(t.states) > 0:
		return []string{"No run has these words or is in that state.", "", "esc takes them away."}
	}
	return []string{"No rule has met an event yet.", "", "A run is made when events meet a rule: what it did, or why it did nothing, stands here."}
}
