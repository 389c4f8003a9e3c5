package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// palette finds everything by name: actions that work now, places, saved
// filters, marks, themes. A line that begins with a command's name is that
// command.
type palette struct {
	app *app
	widget.Picker
	problem string
	lines   []string // whole lines that the typed command may become
	row     int      // the line that is chosen, from 1; 0 is what was typed
	past    []string
	back    int
}

func (a *app) openPalette() {
	d := &palette{app: a, Picker: widget.NewPicker(a.everything()), past: a.memo.Commands}
	a.Show(d)
}

// everything lists what the palette finds.
func (a *app) everything() []widget.Pick {
	var all []widget.Pick
	add := func(kind string, text trust.Rendered, keys string, run func() tea.Cmd) {
		all = append(all, widget.Pick{Kind: kind, Text: text, Keys: keys, Find: widget.Findable(text.Plain(), kind), Run: run})
	}
	for i := range a.actions {
		if x := &a.actions[i]; x.works(a) && x.id != "palette" {
			add(strings.ToLower(x.group), cells.Sanitize(x.title), strings.Join(x.keys, ", "), func() tea.Cmd { return a.perform(x) })
			all[len(all)-1].Find = widget.Findable(x.id, x.title, x.group)
		}
	}
	for i := range a.commands {
		if c := &a.commands[i]; !c.dangerous || !a.readOnly {
			add("command", cells.Sanitize(":"+c.name+" "+c.usage), "", func() tea.Cmd { a.typeCommand(c.name + " "); return nil })
			all[len(all)-1].Find = widget.Findable(c.name, c.title)
		}
	}
	all = append(all, a.places()...)
	for _, name := range sortedNames(a.filters) {
		add("filter", cells.Join(cells.Sanitize(name), cells.Sanitize("  "+a.filters[name])), "", func() tea.Cmd { return a.said(a.useFilter(name)) })
	}
	for _, m := range a.stream.Marks.List() {
		add("mark", a.markWords(m), "", func() tea.Cmd { a.gotoSeq(m.Seq); return nil })
	}
	for _, t := range a.themes() {
		name := t.Name
		add("theme", cells.Sanitize(name), "", func() tea.Cmd { cmd, err := a.useTheme(name); return tea.Batch(cmd, a.said(err)) })
	}
	return all
}

// typeCommand opens the palette with the beginning of a command.
func (a *app) typeCommand(text string) {
	a.openPalette()
	d := a.dialog.(*palette)
	d.Field.Set(text)
	d.typed()
}

func (d *palette) Title() string { return "Commands" }

func (d *palette) Size(sw, sh int) (int, int) {
	return min(90, max(40, sw*3/4)), min(22, sh-4)
}

// commanding tells whether the line is a command.
func (d *palette) commanding() *command {
	a := d.app

	text := d.Field.Text()
	name, _, more := strings.Cut(strings.TrimLeft(text, " "), " ")
	if c := a.command(name); c != nil && (more || len(d.Found) == 0) {
		return c
	}
	return nil
}

func (d *palette) Draw(c *cells.Canvas, h int) {
	a := d.app

	d.DrawField(c, ":")
	cmd := d.commanding()
	switch {
	case d.problem != "":
		c.Put(themes.Bad, " ")
		c.Safe(themes.Bad, cells.Sanitize(d.problem).Clip(c.Room))
	case cmd != nil:
		c.Put(themes.Dim, " "+cmd.name+" ")
		c.Put(themes.Key, cmd.usage+"  ")
		c.Put(themes.Dim, cmd.title)
	case len(d.Found) == 0:
		c.Put(themes.Dim, " nothing has this name; esc clears the line")
	default:
		c.Put(themes.Dim, " "+cells.Count(len(d.Found), "thing")+" to do or to go to")
	}
	c.End()
	if cmd != nil {
		d.drawLines(c, h-2)
		return
	}
	d.DrawList(a.Glyphs, c, h-2, func(c *cells.Canvas, x *widget.Pick) {
		c.Safe(themes.Plain, x.Text.Clip(max(0, c.Room-len(x.Kind)-len(x.Keys)-4)))
		end := x.Kind + " "
		if x.Keys != "" {
			end = x.Keys + "  " + end
		}
		c.Right(themes.Dim, end)
	})
}

// drawLines shows what the command may become.
func (d *palette) drawLines(c *cells.Canvas, h int) {
	a := d.app

	top := max(0, d.row-h)
	for i := top; i < len(d.lines) && i < top+h; i++ {
		mark := " "
		if i == d.row-1 {
			c.Only(themes.Cursor)
			mark = a.Glyphs.Cursor
		}
		c.Put(themes.Plain, mark)
		c.Safe(themes.Plain, cells.Sanitize(d.lines[i]).Clip(c.Room))
		c.End()
	}
}

func (d *palette) Key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	a := d.app

	switch {
	case name == "esc":
		if d.Field.Text() != "" {
			d.Field.Set("")
			d.Search()
			d.typed()
			return nil
		}
		a.Show(nil)
	case name == "enter":
		return d.enter()
	case name == "tab":
		d.complete()
	case name == "up" && (d.Field.Text() == "" || d.back > 0):
		d.recall(1)
	case name == "down" && d.back > 0:
		d.recall(-1)
	case d.commanding() != nil && (name == "down" || name == "ctrl+n"):
		d.row = min(d.row+1, len(d.lines))
	case d.commanding() != nil && (name == "up" || name == "ctrl+k"):
		d.row = max(d.row-1, 0)
	case d.Picker.Key(k):
		d.back = 0
		d.typed()
	}
	return nil
}

// typed follows a change of the line.
func (d *palette) typed() {
	a := d.app

	d.problem, d.row = "", 0
	d.lines = a.completions(d.Field.Text())
}

// recall shows an earlier command.
func (d *palette) recall(step int) {
	d.back = max(0, min(d.back+step, len(d.past)))
	text := ""
	if d.back > 0 {
		text = d.past[d.back-1]
	}
	d.Field.Set(text)
	d.Search()
	d.typed()
}

// complete takes the chosen line, the first one, or the chosen command.
func (d *palette) complete() {

	text := ""
	switch cmd := d.commanding(); {
	case cmd != nil && d.row > 0:
		text = d.lines[d.row-1]
	case cmd != nil && len(d.lines) > 0:
		text = d.lines[0]
	case cmd == nil && d.Chosen() != nil && d.Chosen().Kind == "command":
		d.Chosen().Run()
		return
	default:
		return
	}
	if !strings.HasSuffix(text, "=") {
		text += " "
	}
	d.Field.Set(text)
	d.Search()
	d.typed()
}

func (d *palette) enter() tea.Cmd {
	a := d.app

	line := strings.TrimSpace(d.Field.Text())
	if d.row > 0 && d.row <= len(d.lines) {
		line = d.lines[d.row-1]
	}
	if x := d.Chosen(); d.commanding() == nil && x != nil {
		a.Show(nil)
		return x.Run()
	}
	if line == "" {
		return nil
	}
	a.Show(nil)
	cmd, err := a.execute(line)
	if err != nil {
		d.problem = err.Error()
		a.Show(d)
		return nil
	}
	a.memo.Commands = widget.Remember(a.memo.Commands, a.memorable(line))
	return cmd
}

func (d *palette) Paste(s string) tea.Cmd {
	d.Insert(s)
	d.typed()
	return nil
}

func (d *palette) Hints() []string {
	return []string{"enter", "do it", "tab", "complete", "up", "history", "esc", "back"}
}

// said tells an error, if there is one.
func (a *app) said(err error) tea.Cmd {
	if err != nil {
		a.note = note{text: err.Error(), bad: true}
	}
	return nil
}

// gotoPlace limits the stream to a place and gives the keys to the tree, which shows
// it and what is below it: what can be done there are the keys of the tree.
func (a *app) gotoPlace(n query.Node) {
	a.scope(n)
	a.tree.Whole = true
	a.size = layout.Normal
	a.enter(layout.Tree)
}

// places lists what the stream can be limited to.
func (a *app) places() []widget.Pick {
	var out []widget.Pick
	add := func(kind string, n query.Node, text trust.Rendered) {
		out = append(out, widget.Pick{Kind: kind, Text: text, Find: widget.Findable(text.Plain(), kind), Run: func() tea.Cmd { a.gotoPlace(n); return nil }})
	}
	for i := range a.snap.Servers {
		s := &a.snap.Servers[i]
		add("server", query.Node{Server: s.Name}, cells.Sanitize(s.Name))
		for j := range s.Types {
			add("type", query.Node{Server: s.Name, Type: s.Types[j].Name}, cells.Join(trust.Line(s.Types[j].Name), cells.Sanitize("  "+s.Name)))
		}
	}
	for i := range a.snap.Subs {
		s := &a.snap.Subs[i].Subscription
		add("subscription", query.Node{Server: s.Key.Server, Type: s.Key.Type, Sub: s.ID}, cells.Sanitize(evidence.SubName(s)))
	}
	return out
}
