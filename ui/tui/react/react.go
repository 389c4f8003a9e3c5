// Package react is the screen of reactions: what waits for the operator, the runs, the
// rules. It shows what an engine tells and hands on what the operator decides.
package react

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/table"
	"eventdeck/ui/tui/widget"
)

// Env is what the part is made from.
type Env struct {
	*cells.Env
	Screen Screen
	// Engine is asked by commands only, never on the event loop; nil: there is none.
	Engine  react.Control
	Masked  bool                  // it is shown to others: nothing is approved or armed here
	Writer  Writer                // of rules; the zero value: none can be written
	Log     func() Log            // is read by commands only
	Focused func() bool           // the tables have the keys
	Size    func() (w, h int)     // of the terminal
	Covered func() bool           // something is shown over the panes
	Chosen  func() (uint64, bool) // the record that is chosen in the stream
}

// Screen is what shows the part.
type Screen interface {
	widget.Screen
	KeyOf(action string) string
	// OfferUndo tells what was done and how it is undone for a while.
	OfferUndo(did string, run func() tea.Cmd)
}

// Pane is the screen of reactions.
type Pane struct {
	Board table.Board

	env      *Env
	guard    guard
	ticking  bool // [Pane.Tick] is due
	view     react.View
	known    bool  // view was read
	busy     bool  // it is being read
	asked    int64 // second in which it was read
	again    bool  // something was done: read it anew
	waiting  *waiting
	runs     *runs
	rules    *rules
	block    block
	question asked  // to a model, whose answer was not shown yet
	spent    string // what was approved last: it is not approved again
	outcomes outcomes
	stopped  time.Time            // when the operator stopped everything here
	told     map[react.RunID]bool // what waits, as it was told
	newsOf   uint64               // revision of that
}

// New is the screen of an engine.
func New(env *Env) *Pane {
	p := &Pane{env: env, told: map[react.RunID]bool{}}
	p.waiting, p.runs, p.rules = &waiting{pane: p}, &runs{pane: p, conversation: conversation{pane: p, open: map[string]bool{}}}, &rules{pane: p}
	of := &table.Env{Env: env.Env, Focused: env.Focused}
	p.Board = table.Board{Number: "6", Tabs: []*table.Table{
		table.New(of, "Waiting", p.waiting, false),
		table.New(of, "Runs", p.runs, false),
		table.New(of, "Rules", p.rules, false),
	}}
	return p
}

// On tells whether there is an engine.
func (p *Pane) On() bool { return p.env.Engine != nil }

// View is what the engine told last.
func (p *Pane) View() *react.View { return &p.view }

// Read asks the engine how things are. It is called beside the event loop; what it returns
// is for [Pane.Take].
func (p *Pane) Read() react.View {
	if !p.On() {
		return react.View{}
	}
	return p.env.Engine.Reactions()
}

// Take takes how things are.
func (p *Pane) Take(v react.View) { p.view, p.known = v, p.On() }

// Work reads what follows from that, and each second how things are.
func (p *Pane) Work() tea.Cmd {
	if !p.On() {
		return nil
	}
	return tea.Batch(p.readView(), p.readOutcomes(), p.rules.readTools(), p.readAsked())
}

func (p *Pane) readView() tea.Cmd {
	now := p.env.Clock().Unix()
	if p.busy || now == p.asked && !p.again {
		return nil
	}
	p.busy, p.asked, p.again = true, now, false
	return p.env.Screen.Do(func(context.Context) tea.Msg {
		v := p.Read()
		return widget.Then(func() tea.Cmd {
			p.busy = false
			p.Take(v)
			return nil
		})
	})
}

// perform has the engine do something, tells what was done or what failed, and reads anew.
func (p *Pane) perform(what string, after func(), fn func(ctx context.Context) error) tea.Cmd {
	return p.env.Screen.Do(func(ctx context.Context) tea.Msg {
		err := fn(ctx)
		return widget.Then(func() tea.Cmd {
			p.again = true
			if err != nil {
				p.spent, p.rules.read = "", toolsOf{} // it may be tried again, as it is now
			} else if after != nil {
				after()
			}
			return func() tea.Msg { return widget.Done{What: what, Err: err} }
		})
	})
}

// performUndoable is perform for what can be undone.
func (p *Pane) performUndoable(what string, fn func(ctx context.Context) error, undone string, undo func(ctx context.Context) error) tea.Cmd {
	return p.perform("", func() {
		p.env.Screen.OfferUndo(what, func() tea.Cmd { return p.perform(undone, nil, undo) })
	}, fn)
}

// Disturb takes that the operator or the terminal did something that is no key: it takes
// its time again until a key may approve.
func (p *Pane) Disturb() { p.guard.disturb(p.env.Now()) }

// Key takes that a key was pressed, before anything is done by it.
func (p *Pane) Key(k tea.KeyPressMsg) { p.guard.key(p.env.Now(), k.IsRepeat) }

// Tick takes that time went by.
func (p *Pane) Tick() {
	p.ticking = false
	p.guard.tick(p.env.Now())
}

// WantsTick tells whether [Pane.Tick] is to be called after a [TickEvery]. It is true once until
// that call.
func (p *Pane) WantsTick() bool {
	if p.ticking || !p.guard.waits() {
		return false
	}
	p.ticking = true
	return true
}

// Frame begins a frame, Framed ends it.
func (p *Pane) Frame() { p.guard.frame() }

// Framed is told with [Pane.Frame].
func (p *Pane) Framed() { p.guard.framed() }

// Other is what the detail shows of the chosen row.
func (p *Pane) Other() detail.Other {
	t := p.Board.Table()
	return detail.Other{Name: t.At, Changes: t.Gen, Write: func(d *detail.Text) { p.block = block{}; t.Describe(d) }, Drawn: p.drawn}
}

// block is our own part of what the detail shows, which can be approved or armed.
type block struct {
	kind  blockKind
	name  string // of the run or the rule
	title string
	hash  string
	lines int
	text  string // all that is shown of it
}

type blockKind uint8

const (
	noBlock blockKind = iota
	toApprove
	toArm
)

// drawn is told what a frame shows of the detail.
func (p *Pane) drawn(from, to, _ int) {
	if b := &p.block; b.kind != noBlock && b.text != p.spent && !p.env.Covered() {
		p.guard.shows(p.env.Now(), b.text, b.lines, from, to)
	}
}

// Least is the smallest terminal on which something can be approved.
const (
	LeastWidth  = 60
	LeastHeight = 16
)

// tooSmall says that the terminal is, and reports whether it is.
func (p *Pane) tooSmall(d *detail.Text, instead string) bool {
	w, h := p.env.Size()
	if w >= LeastWidth && h >= LeastHeight {
		return false
	}
	d.Say("", themes.Warn, "The terminal is too small to decide here.")
	d.Say("", themes.Plain, "needed  "+cells.Number(LeastWidth)+" columns and "+cells.Number(LeastHeight)+" lines")
	d.Say("", themes.Plain, "has     "+cells.Number(uint64(w))+" columns and "+cells.Number(uint64(h))+" lines")
	d.Say("", themes.Plain, "Make it larger, or: "+instead)
	return true
}

// write writes a block, and notes that it is what the keys are about.
func (p *Pane) write(d *detail.Text, b block, lines []react.BlockLine) {
	var all strings.Builder
	label := 0
	if p.env.Masked {
		lines = slices.DeleteFunc(lines, func(l react.BlockLine) bool { return slices.Contains(ofTheWhole, l.Label) })
	}
	for _, l := range lines {
		label = max(label, len(l.Label))
	}
	for _, l := range lines {
		role, sign := themes.Plain, " "
		if l.Warn {
			role, sign = themes.Warn, "!"
		}
		name := sign + cells.Pad(l.Label, min(label, labelMost))
		for _, part := range cells.Fold(l.Text, d.Width-len(name)-2) {
			d.Lines = append(d.Lines, detail.Line{Label: name, Role: role, Text: part})
			all.WriteString(name + part.Plain() + "\n")
			name = strings.Repeat(" ", len(name))
		}
	}
	if p.env.Masked {
		d.Say("", themes.Warn, "Values are masked for the audience. "+unread(b))
		return
	}
	b.lines, b.text = len(d.Lines), b.name+"\n"+b.hash+"\n"+all.String()
	p.block = b
}

// ofTheWhole are the lines of a block that are made from all of a request: made from a
// masked one they would not be true.
var ofTheWhole = []string{"input", "before", "hash"}

// unread says where to read and decide what is masked here.
func unread(b block) string {
	switch b.kind {
	case toApprove:
		return "It is approved elsewhere: eventdeck approve " + b.name
	case toArm:
		return "It is armed elsewhere: eventdeck rules arm " + b.name
	}
	return ""
}

// labelMost bounds the cells of the labels of a block.
const labelMost = 16

// Title says for the pane of the detail which of what waits is shown, and whether a key may
// approve or arm it; "" where there is nothing to say.
func (p *Pane) Title() string {
	which := ""
	if i := p.waiting.Find(p.Board.Tabs[Waiting].At); p.Tab() == Waiting && i >= 0 && p.waiting.Len() > 1 {
		which = fmt.Sprintf("%d of %d", i+1, p.waiting.Len())
	}
	return cells.Commas(which, p.standing())
}

// standing says whether a key may approve or arm what is shown; "" where there is nothing
// to approve.
func (p *Pane) standing() string {
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

// quoted is text of the operator's or of a server, in ASCII only.
func quoted(s string) string {
	var b strings.Builder
	for _, l := range trust.Escaped(trust.Untrusted(s), 0) {
		b.WriteString(l.Plain())
	}
	return b.String()
}

// act is a request in one line.
func act(r *react.Request) string {
	if r == nil {
		return ""
	}
	switch r.Kind {
	case react.RequestCommand:
		args := make([]string, len(r.Argv))
		for i, arg := range r.Argv {
			if args[i] = quoted(arg); strings.ContainsAny(arg, " \"'") || arg == "" {
				args[i] = `"` + args[i] + `"`
			}
		}
		return strings.Join(args, " ")
	case react.RequestWebhook:
		return "send to " + quoted(r.URL)
	case react.RequestModel, react.RequestChoice, react.RequestAgent:
		who := string(r.Kind)
		if r.Model != nil {
			who += " " + quoted(r.Model.Name)
		}
		if len(r.Argv) > 0 {
			who += " " + quoted(r.Argv[0])
		}
		return who + ": " + quoted(r.Task)
	case react.RequestTool:
		return "call " + quoted(r.Server) + "/" + quoted(r.Tool) + " " + quoted(string(r.Input))
	case react.RequestWish:
		return wish(r.Wish)
	case react.RequestPermit:
		return "let an agent go on; it says: " + quoted(r.Title.Raw())
	}
	return string(r.Kind) + " " + quoted(r.Note)
}

// wish is what a client asks for, in one line.
func wish(w *react.Wish) string {
	what := quoted(w.Server) + "/" + quoted(w.Type.Raw())
	if args := string(w.Args); args != "{}" {
		what += " " + quoted(args)
	}
	if w.Ends != "" {
		return "unsubscribe " + what
	}
	return "subscribe " + what + " by " + string(w.Mode)
}

// notAvailable is what each table says where no engine runs, or as long as nothing is known; nil
// otherwise.
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

// group is a group for a row, "" where a rule has none.
func group(k react.Key) trust.Rendered { return trust.Line(trust.Untrusted(string(k))) }

// Headline is what must be known above the tables: that nothing starts, and what is wrong
// in the file of rules.
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
	if v.Fault != "" {
		line("RULES", v.Fault+"; "+v.InForce())
	}
	return c.All()
}

// Announcement tells in one line of what began to wait for the operator since it was asked last,
// "" for nothing. It holds no word of a server.
func (p *Pane) Announcement() string {
	if p.newsOf == p.view.Revision {
		return ""
	}
	p.newsOf = p.view.Revision
	var fresh []string
	waits := map[react.RunID]bool{}
	for i := range p.view.Waiting {
		r := &p.view.Waiting[i]
		waits[r.ID] = true
		if !p.told[r.ID] {
			fresh = append(fresh, r.Rule)
		}
	}
	p.told = waits
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

// DrawChips tells on the line below the panes what reactions want of the operator.
func (p *Pane) DrawChips(c *cells.Canvas) {
	v := &p.view
	switch {
	case v.Stopped:
		c.Put(themes.Alarm, " STOPPED ")
		c.Put(themes.Plain, " ")
	case v.Held != "":
		c.Put(themes.Alarm, " HELD ")
		c.Put(themes.Plain, " ")
	}
	p.drawAsked(c)
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
	if len(v.Models) > 0 {
		c.Put(themes.Rule, sep)
		c.Put(themes.Dim, "$"+dollars(v.Spent))
		sep = " " + p.env.Glyphs.Dot + " "
	}
	if sep != " " {
		c.Put(themes.Rule, " "+p.env.Glyphs.Divider)
	}
}

// dollars is an amount in dollars and cents, rounded up: what was spent is never told as
// less.
func dollars(micro int64) string {
	const cent = 10_000
	cents := micro / cent
	if micro%cent > 0 {
		cents++
	}
	return fmt.Sprintf("%d.%02d", cents/100, cents%100)
}
