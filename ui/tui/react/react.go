// Package react is the screen of reactions: waiting requests, runs, and rules. It shows the state of
// an engine and passes on the operator's decisions.
package react

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/eventlog"
	"eventdeck/host/react"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/form"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/table"
	"eventdeck/ui/tui/widget"
)

// Env has what the pane needs from the screen.
type Env struct {
	*cells.Env
	Screen widget.Screen
	// Engine is used in the background only; nil: there is none.
	Engine  react.Control
	Masked  bool                    // with --present: nothing is approved or armed here
	Writer  Writer                  // of rules; the zero value: rules cannot be written
	Log     func() eventlog.Records // used in the background only
	Last    func() uint64           // the number of the newest record
	Stream  *stream.Stream
	Detail  *detail.Pane
	Panes   *layout.Screen
	Forms   *form.Env             // for the form of a rule
	Covered func() bool           // a dialog or a prompt is open
	Chosen  func() (uint64, bool) // the record that is chosen in the stream
}

// Pane shows the tables of reactions and carries out the operator's decisions. Its methods are called
// on the event loop, except [Pane.Read].
type Pane struct {
	Board table.Board

	env       *Env
	guard     guard
	ticking   bool // [Pane.Tick] is due
	view      react.View
	known     bool  // view was read
	busy      bool  // view is being read
	readAt    int64 // the second in which view was read
	stale     bool  // view must be read again at once
	waiting   *waiting
	runs      *runs
	rules     *rules
	block     block
	approved  string        // the text of the block that was approved last: it is not approved again
	question  modelQuestion // the zero value once its answer was shown
	outcomes  outcomes
	stopped   time.Time            // when the operator stopped reactions here
	announced map[react.RunID]bool // the waiting runs that were announced
	revision  uint64               // of the view at the last announcement
}

// New returns the pane for an engine.
func New(env *Env) *Pane {
	p := &Pane{env: env, announced: map[react.RunID]bool{}}
	p.waiting = &waiting{viewList: viewList[react.Run]{
		list: list[react.Run]{name: runName}, pane: p, part: func(v *react.View) []react.Run { return v.Waiting },
	}}
	p.runs = &runs{list: list[react.Run]{name: runName}, pane: p, conversation: conversation{pane: p, open: map[string]bool{}}}
	p.rules = &rules{viewList: viewList[react.RuleView]{
		list: list[react.RuleView]{name: func(r *react.RuleView) string { return r.Rule.Name }}, pane: p,
		part: func(v *react.View) []react.RuleView { return v.Rules },
	}}
	focused := func() bool { return env.Panes.Focus == layout.React }
	p.Board = table.Board{Number: "6", Tabs: []*table.Table{
		table.New(env.Env, focused, "Waiting", p.waiting, false),
		table.New(env.Env, focused, "Runs", p.runs, false),
		table.New(env.Env, focused, "Rules", p.rules, false),
	}}
	return p
}

// On reports whether there is an engine.
func (p *Pane) On() bool { return p.env.Engine != nil }

// View returns the state of the engine as it was read last.
func (p *Pane) View() *react.View { return &p.view }

// Read reads the state of the engine, for [Pane.Take]. It is called in the background.
func (p *Pane) Read() react.View {
	if !p.On() {
		return react.View{}
	}
	return p.env.Engine.Reactions()
}

// Take stores the state of the engine.
func (p *Pane) Take(v react.View) { p.view, p.known = v, p.On() }

// Work returns a command that reads the state of the engine once a second, and other data that is
// shown. It is called after every message.
func (p *Pane) Work() tea.Cmd {
	if !p.On() {
		return nil
	}
	return tea.Batch(p.readView(), p.readOutcomes(), p.rules.readTools(), p.readQuestion())
}

func (p *Pane) readView() tea.Cmd {
	now := p.env.Clock().Unix()
	if p.busy || now == p.readAt && !p.stale {
		return nil
	}
	p.busy, p.readAt, p.stale = true, now, false
	return p.env.Screen.Do(func(context.Context) tea.Msg {
		v := p.Read()
		return widget.Then(func() tea.Cmd {
			p.busy = false
			p.Take(v)
			return nil
		})
	})
}

// perform returns a command that runs fn, shows what was done or what failed, and reads the view again.
// after is called on the event loop if fn succeeded; it may be nil.
func (p *Pane) perform(what string, after func(), fn func(ctx context.Context) error) tea.Cmd {
	return p.env.Screen.Do(func(ctx context.Context) tea.Msg {
		err := fn(ctx)
		return widget.Then(func() tea.Cmd {
			p.stale = true
			if err != nil {
				p.approved, p.rules.read.of = "", ruleVersion{} // the operator may try again with the present state
			} else if after != nil {
				after()
			}
			return func() tea.Msg { return widget.Done{What: what, Err: err} }
		})
	})
}

// performUndoable is perform with an offer to undo: undo then shows the text undone.
func (p *Pane) performUndoable(what string, fn func(ctx context.Context) error, undone string, undo func(ctx context.Context) error) tea.Cmd {
	return p.perform("", func() {
		p.env.Screen.OfferUndo(what, func() tea.Cmd { return p.perform(undone, nil, undo) })
	}, fn)
}

// Disturb is called on a paste, a mouse event, a change of focus or of size. It restarts the time until
// a key may approve.
func (p *Pane) Disturb() { p.guard.disturb(p.env.Now()) }

// Key is called for each key press before it is handled.
func (p *Pane) Key(k tea.KeyPressMsg) { p.guard.key(p.env.Now(), k.IsRepeat) }

// Tick is called after [Pane.WantsTick].
func (p *Pane) Tick() {
	p.ticking = false
	p.guard.ticked(p.env.Now())
}

// WantsTick reports whether [Pane.Tick] must be called after [TickEvery]. After it has reported true it
// reports false until that call.
func (p *Pane) WantsTick() bool {
	if p.ticking || !p.guard.waits() {
		return false
	}
	p.ticking = true
	return true
}

// BeginFrame is called before the panes of a frame are drawn, EndFrame after that: between them
// the pane learns which lines of the detail are visible.
func (p *Pane) BeginFrame() { p.guard.beginFrame() }

// EndFrame ends what [Pane.BeginFrame] begins.
func (p *Pane) EndFrame() { p.guard.endFrame() }

// Other returns the chosen row for the detail pane.
func (p *Pane) Other() detail.Other {
	t := p.Board.Table()
	return detail.Other{Name: t.At, Changes: t.Gen, Write: func(d *detail.Text) { p.block = block{}; t.Describe(d) }, Drawn: p.drawn}
}

// block is the part of the detail that the operator approves or arms, of which all lines must have been
// visible.
type block struct {
	kind  blockKind
	name  string // of the run or the rule
	title string
	hash  string
	lines int
	text  string // of all lines
}

type blockKind uint8

const (
	noBlock blockKind = iota
	toApprove
	toArm
)

// drawn notes which lines of the detail are visible in a frame.
func (p *Pane) drawn(from, to, _ int) {
	if b := &p.block; b.kind != noBlock && b.text != p.approved && !p.env.Covered() {
		p.guard.shows(p.env.Now(), b.text, b.lines, from, to)
	}
}

// The smallest size of a terminal on which something can be approved, in cells.
const (
	MinWidth  = 60
	MinHeight = 16
)

func (p *Pane) belowMinSize() bool {
	w, h := p.env.Panes.W, p.env.Panes.H
	return w < MinWidth || h < MinHeight
}

// tooSmall reports whether the terminal is too small to approve; then it writes that, and the command
// to use instead.
func (p *Pane) tooSmall(d *detail.Text, instead string) bool {
	if !p.belowMinSize() {
		return false
	}
	w, h := p.env.Panes.W, p.env.Panes.H
	d.Say("", themes.Warn, "The terminal is too small to decide here.")
	d.Say("", themes.Plain, "needed  "+cells.Number(MinWidth)+" columns and "+cells.Number(MinHeight)+" lines")
	d.Say("", themes.Plain, "has     "+cells.Number(uint64(w))+" columns and "+cells.Number(uint64(h))+" lines")
	d.Say("", themes.Plain, "Make it larger, or: "+instead)
	return true
}

// write writes the lines of a block and makes it the one that keys approve. In a masked pane keys
// approve nothing.
func (p *Pane) write(d *detail.Text, b block, lines []react.BlockLine) {
	var all strings.Builder
	label := 0
	if p.env.Masked {
		lines = slices.DeleteFunc(lines, func(l react.BlockLine) bool { return slices.Contains(unmaskable, l.Label) })
	}
	for _, l := range lines {
		label = max(label, len(l.Label))
	}
	for _, l := range lines {
		role, sign := themes.Plain, " "
		if l.Warn {
			role, sign = themes.Warn, "!"
		}
		name := sign + cells.Pad(l.Label, min(label, labelMax))
		for _, part := range cells.Fold(l.Text, d.Width-len(name)-2) {
			d.Lines = append(d.Lines, detail.Line{Label: name, Role: role, Text: part})
			all.WriteString(name + part.Plain() + "\n")
			name = strings.Repeat(" ", len(name))
		}
	}
	if p.env.Masked {
		d.Say("", themes.Warn, "Values are masked for the audience. "+decideElsewhere(b))
		return
	}
	b.lines, b.text = len(d.Lines), b.name+"\n"+b.hash+"\n"+all.String()
	p.block = b
}

// unmaskable has the labels of lines that are computed from the whole request, and would be wrong for a
// masked one.
var unmaskable = []string{"input", "before", "hash"}

// decideElsewhere says how to approve or arm a block that is masked here.
func decideElsewhere(b block) string {
	switch b.kind {
	case toApprove:
		return "It is approved elsewhere: eventdeck approve " + b.name
	case toArm:
		return "It is armed elsewhere: eventdeck rules arm " + b.name
	}
	return ""
}

// labelMax is the largest width of the labels of a block, in cells.
const labelMax = 16

// Title returns text for the title of the detail: the number of the shown waiting run, and whether a
// key may approve or arm it. It may be "".
func (p *Pane) Title() string {
	which := ""
	if i := p.waiting.Find(p.Board.Tabs[Waiting].At); p.Tab() == Waiting && i >= 0 && p.waiting.Len() > 1 {
		which = fmt.Sprintf("%d of %d", i+1, p.waiting.Len())
	}
	return cells.Commas(which, p.guardState())
}

// guardState describes whether a key may approve or arm the block, or what is missing; "" if there is
// nothing to approve.
func (p *Pane) guardState() string {
	g := &p.guard
	verb := "approves it once"
	if p.block.kind == toArm {
		verb = "arms it"
	}
	switch n := g.unseen(); {
	case g.what == "":
		return ""
	case g.ready:
		return p.env.Screen.KeyOf(ApproveAction) + " " + verb
	case n > 0 && g.below():
		return "read on (" + p.env.Screen.KeyOf("detail") + ", " + p.env.Screen.KeyOf("half.down") + "): " + cells.Count(n, "line") + " below"
	case n > 0 && g.above():
		return "read back (" + p.env.Screen.KeyOf("detail") + ", " + p.env.Screen.KeyOf("half.up") + "): " + cells.Count(n, "line") + " above"
	}
	return "a moment"
}

// ApproveAction is the id of the action that approves and arms.
const ApproveAction = "react.approve"

// notAvailable is the text of an empty table while the view is not known or no engine runs,
// nil otherwise.
func (p *Pane) notAvailable() []string {
	switch {
	case p.On() && !p.known:
		return []string{"The reactions are being read."}
	case p.On() && p.view.On:
		return nil
	}
	return []string{
		"No engine of reactions runs here, so no event starts anything.", "",
		"It runs with a screen on a store that is kept, and with: eventdeck react run",
		"Rules are in rules.json beside servers.json.",
	}
}
