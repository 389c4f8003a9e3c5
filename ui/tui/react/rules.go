package react

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/react"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/table"
)

// rules lists the rules in force, in the order of their file.
type rules struct {
	viewList[react.RuleView]

	read    fetched[ruleVersion]
	tools   []react.Pinned // the tools of the rule, as their servers describe them
	toolErr error          // why they are not known
}

// ruleVersion identifies a version of a rule.
type ruleVersion struct {
	rule string
	hash react.Hash
}

// needsTools reports whether the tools of a rule must be read before it can be armed.
func (t *rules) needsTools(r *react.RuleView) bool {
	tools, _ := r.Rule.Do.Tools()
	return !r.Armed && len(tools) > 0 && !t.pane.env.Masked
}

// readTools reads how servers describe the tools of the chosen rule.
func (t *rules) readTools() tea.Cmd {
	p := t.pane
	r := p.chosenRule()
	if r == nil || !t.needsTools(r) {
		t.read.of = ruleVersion{} // they are read again when the rule is chosen again
		return nil
	}
	want := ruleVersion{r.Rule.Name, r.Hash}
	return fetch(p, &t.read, want, func(ctx context.Context) (react.RuleView, error) {
		return p.env.Engine.Rule(ctx, want.rule)
	}, func(v react.RuleView, err error) {
		t.tools, t.toolErr = v.Tools, err
		p.Board.Tabs[Rules].Gen++
	})
}

// The columns of rules.
const (
	ruleName = iota
	ruleMode
	ruleNow
	ruleArmed
	ruleInvolves
	ruleMatched
	ruleSuppressed
	ruleLast
	ruleWhy
)

func (t *rules) Columns() []table.Column {
	return []table.Column{
		ruleName:       {Title: "RULE", Width: 12, Grow: 1, Max: 40},
		ruleMode:       {Title: "MODE", Width: 6, Rank: 3},
		ruleNow:        {Title: "NOW", Width: 8},
		ruleArmed:      {Title: "ARMED", Width: 6, Rank: 1},
		ruleInvolves:   {Title: "INVOLVES", Width: 13, Rank: 6},
		ruleMatched:    {Title: "MATCHED", Width: 8, Right: true, Rank: 4},
		ruleSuppressed: {Title: "SUPPRESSED", Width: 10, Right: true, Rank: 5},
		ruleLast:       {Title: "LAST RUN", Width: 9, Right: true, Rank: 7},
		ruleWhy:        {Title: "WHY", Width: 16, Grow: 4, Rank: 2},
	}
}

func (t *rules) Cell(i, col int) table.Cell {
	r, now := &t.rows[i], t.pane.env.Clock()
	switch col {
	case ruleName:
		return table.Say(themes.Strong, r.Rule.Name)
	case ruleMode:
		return table.Say(themes.Plain, string(r.Rule.Mode))
	case ruleNow:
		return table.Say(nowRole(r, now), nowWord(r, now))
	case ruleArmed:
		if r.Armed {
			return table.Say(themes.Good, "armed")
		}
		if granted(r, now) {
			return table.Say(themes.Warn, "grant")
		}
		return table.Say(themes.Dim, "no")
	case ruleInvolves:
		return table.Say(themes.Plain, involves(r.Letters))
	case ruleMatched:
		return table.Say(themes.Dim, cells.Number(r.Matched))
	case ruleSuppressed:
		return table.Say(themes.Dim, cells.Number(suppressed(r)))
	case ruleLast:
		if r.Last.IsZero() {
			return table.Cell{}
		}
		return table.Say(themes.Dim, cells.Ago(now, r.Last))
	}
	return table.Say(themes.Plain, r.Why)
}

// involves describes in words what an act involves by the Rule of Two; see [react.Capabilities].
func involves(letters string) string {
	return strings.NewReplacer("A", "input", "B", "private", "C", "effects").Replace(letters)
}

// suppressed returns the number of records that a rule matched without acting.
func suppressed(r *react.RuleView) (n uint64) {
	for _, of := range r.Suppressed {
		n += of
	}
	return n
}

// silenced reports whether a rule is silenced now.
func silenced(r *react.RuleView, now time.Time) bool { return r.Silenced.After(now) }

// granted reports whether a rule has a grant now.
func granted(r *react.RuleView, now time.Time) bool { return r.Granted.After(now) }

// nowWord returns what a rule may do now.
func nowWord(r *react.RuleView, now time.Time) string {
	if silenced(r, now) {
		return "silent"
	}
	return string(r.Effective)
}

func nowRole(r *react.RuleView, now time.Time) themes.Role {
	switch {
	case silenced(r, now):
		return themes.Off
	case r.Effective == react.ModeAuto:
		return themes.Busy
	case r.Effective == react.ModeAsk:
		return themes.Good
	}
	return themes.Dim
}

func (t *rules) Describe(d *detail.Text, id table.RowID) {
	p, r := t.pane, t.row(id)
	if r == nil || !r.Armed && p.tooSmall(d, "eventdeck rules arm "+r.Rule.Name) {
		return
	}
	kind, shown := toArm, *r
	if r.Armed {
		kind = noBlock
	}
	if t.needsTools(r) {
		if t.read.of != (ruleVersion{r.Rule.Name, r.Hash}) {
			d.Say("", themes.Dim, "Its servers are asked what they say of its tools.")
			return
		}
		if shown.Tools, shown.Listed = t.tools, t.toolErr == nil; t.toolErr != nil {
			d.Say("", themes.Warn, "What servers say of its tools could not be had: "+t.toolErr.Error())
			kind = noBlock
		}
	}
	p.write(d, block{kind: kind, name: r.Rule.Name, title: r.Rule.Name, hash: string(shown.ArmHash())}, react.RuleBlock(shown))
	d.Section("How it fares")
	t.status(d, r)
}

// status writes what a rule may do now and why, and what it did.
func (t *rules) status(d *detail.Text, r *react.RuleView) {
	e := t.pane.env
	now := e.Clock()
	d.Say("now       ", nowRole(r, now), nowWord(r, now))
	d.Say("why       ", themes.Plain, r.Why)
	d.Say("line      ", themes.Dim, r.Line)
	if silenced(r, now) {
		d.Say("silent    ", themes.Warn, "until "+cells.At(now, r.Silenced)+", "+cells.Span(r.Silenced.Sub(now))+" left")
	}
	switch {
	case r.Armed:
		d.Say("armed     ", themes.Good, "as it stands; "+e.Screen.KeyOf("react.deny")+" disarms it")
	case r.Disarmed != "":
		d.Say("armed     ", themes.Warn, "no more: "+r.Disarmed)
	case r.Rule.Mode == react.ModeAuto:
		d.Say("armed     ", themes.Warn, "no: until it is, it asks; "+e.Screen.KeyOf(ApproveAction)+" arms it as it stands")
	default:
		d.Say("armed     ", themes.Dim, "no; it takes that to act by itself")
	}
	if granted(r, now) {
		d.Say("granted   ", themes.Warn, "an act of it until "+cells.At(now, r.Granted)+"; "+e.Screen.KeyOf("react.deny")+" ends that")
	}
	from := "to all records"
	if r.Since > 1 {
		from = "to records from number " + cells.Number(r.Since) + " on"
	}
	d.Say("applies   ", themes.Plain, from)
	d.Say("matched   ", themes.Plain, cells.Count(r.Matched, "record"))
	for _, why := range slices.Sorted(maps.Keys(r.Suppressed)) {
		d.Say("suppressed", themes.Plain, cells.Number(r.Suppressed[why])+": "+why)
	}
	if !r.Last.IsZero() {
		d.Say("last run  ", themes.Plain, cells.TimeText(r.Last, d.Zone(), cells.StampFull))
	}
}

func (t *rules) EmptyText() []string {
	p := t.pane
	if text := p.notAvailable(); text != nil {
		return text
	}
	if p.view.Fault != "" {
		return noneInForce()
	}
	return []string{"No rules in " + p.view.Path + ".", "", p.env.Screen.KeyOf("react.new") + " on an event makes a rule from it."}
}

// noneInForce returns the lines of an empty table when the file of rules cannot be used.
func noneInForce() []string {
	return []string{"No rule is in force, because their file cannot be used.", "", "The line RULES above says why; eventdeck rules check lists every mistake."}
}
