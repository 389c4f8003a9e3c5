package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
)

// palette finds everything by name: actions that work now, places, saved
// filters, marks, themes. A line that begins with a command's name is that
// command.
type palette struct {
	picker
	problem string
	lines   []string // whole lines that the typed command may become
	row     int      // the line that is chosen, from 1; 0 is what was typed
	past    []string
	back    int
}

func (a *app) openPalette() {
	d := &palette{picker: newPicker(a.everything()), past: a.memo.Commands}
	a.dialog = d
}

// everything lists what the palette finds.
func (a *app) everything() []pick {
	var all []pick
	add := func(kind string, text trust.Rendered, keys string, run func(*app) tea.Cmd) {
		all = append(all, pick{kind: kind, text: text, keys: keys, find: findable(text.Plain(), kind), run: run})
	}
	for i := range a.actions {
		if x := &a.actions[i]; x.works(a) && x.id != "palette" {
			add(strings.ToLower(x.group), cells.Sanitize(x.title), strings.Join(x.keys, ", "), func(a *app) tea.Cmd { return a.perform(x) })
			all[len(all)-1].find = findable(x.id, x.title, x.group)
		}
	}
	for i := range a.commands {
		if c := &a.commands[i]; !c.dangerous || !a.readOnly {
			add("command", cells.Sanitize(":"+c.name+" "+c.usage), "", func(a *app) tea.Cmd { a.typeCommand(c.name + " "); return nil })
			all[len(all)-1].find = findable(c.name, c.title)
		}
	}
	all = append(all, a.places()...)
	for _, name := range sortedNames(a.filters) {
		add("filter", cells.Join(cells.Sanitize(name), cells.Sanitize("  "+a.filters[name])), "", func(a *app) tea.Cmd { return a.said(a.useFilter(name)) })
	}
	for _, m := range a.marks.list() {
		add("mark", a.markWords(m), "", func(a *app) tea.Cmd { a.gotoSeq(m.Seq); return nil })
	}
	for _, t := range a.themes() {
		name := t.Name
		add("theme", cells.Sanitize(name), "", func(a *app) tea.Cmd { cmd, err := a.useTheme(name); return tea.Batch(cmd, a.said(err)) })
	}
	return all
}

// typeCommand opens the palette with the beginning of a command.
func (a *app) typeCommand(text string) {
	a.openPalette()
	d := a.dialog.(*palette)
	d.field.set(text)
	d.typed(a)
}

func (d *palette) title() string { return "Commands" }

func (d *palette) size(a *app) (int, int) { return min(90, max(40, a.w*3/4)), min(22, a.h-4) }

// commanding tells whether the line is a command.
func (d *palette) commanding(a *app) *command {
	text := d.field.text()
	name, _, more := strings.Cut(strings.TrimLeft(text, " "), " ")
	if c := a.command(name); c != nil && (more || len(d.found) == 0) {
		return c
	}
	return nil
}

func (d *palette) draw(a *app, c *cells.Canvas, h int) {
	d.drawField(c, ":")
	cmd := d.commanding(a)
	switch {
	case d.problem != "":
		c.Put(themes.Bad, " ")
		c.Safe(themes.Bad, cells.Sanitize(d.problem).Clip(c.Room))
	case cmd != nil:
		c.Put(themes.Dim, " "+cmd.name+" ")
		c.Put(themes.Key, cmd.usage+"  ")
		c.Put(themes.Dim, cmd.title)
	case len(d.found) == 0:
		c.Put(themes.Dim, " nothing has this name; esc clears the line")
	default:
		c.Put(themes.Dim, " "+cells.Count(len(d.found), "thing")+" to do or to go to")
	}
	c.End()
	if cmd != nil {
		d.drawLines(a, c, h-2)
		return
	}
	d.drawList(a, c, h-2, func(c *cells.Canvas, x *pick) {
		c.Safe(themes.Plain, x.text.Clip(max(0, c.Room-len(x.kind)-len(x.keys)-4)))
		end := x.kind + " "
		if x.keys != "" {
			end = x.keys + "  " + end
		}
		c.Right(themes.Dim, end)
	})
}

// drawLines shows what the command may become.
func (d *palette) drawLines(a *app, c *cells.Canvas, h int) {
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

func (d *palette) key(a *app, name, text string) tea.Cmd {
	switch {
	case name == "esc":
		if d.field.text() != "" {
			d.field.set("")
			d.search()
			d.typed(a)
			return nil
		}
		a.dialog = nil
	case name == "enter":
		return d.enter(a)
	case name == "tab":
		d.complete(a)
	case name == "up" && (d.field.text() == "" || d.back > 0):
		d.recall(a, 1)
	case name == "down" && d.back > 0:
		d.recall(a, -1)
	case d.commanding(a) != nil && (name == "down" || name == "ctrl+n"):
		d.row = min(d.row+1, len(d.lines))
	case d.commanding(a) != nil && (name == "up" || name == "ctrl+k"):
		d.row = max(d.row-1, 0)
	case d.picker.key(name, text):
		d.back = 0
		d.typed(a)
	}
	return nil
}

// typed follows a change of the line.
func (d *palette) typed(a *app) {
	d.problem, d.row = "", 0
	d.lines = a.completions(d.field.text())
}

// recall shows an earlier command.
func (d *palette) recall(a *app, step int) {
	d.back = max(0, min(d.back+step, len(d.past)))
	text := ""
	if d.back > 0 {
		text = d.past[d.back-1]
	}
	d.field.set(text)
	d.search()
	d.typed(a)
}

// complete takes the chosen line, the first one, or the chosen command.
func (d *palette) complete(a *app) {
	text := ""
	switch cmd := d.commanding(a); {
	case cmd != nil && d.row > 0:
		text = d.lines[d.row-1]
	case cmd != nil && len(d.lines) > 0:
		text = d.lines[0]
	case cmd == nil && d.chosen() != nil && d.chosen().kind == "command":
		d.chosen().run(a)
		return
	default:
		return
	}
	if !strings.HasSuffix(text, "=") {
		text += " "
	}
	d.field.set(text)
	d.search()
	d.typed(a)
}

func (d *palette) enter(a *app) tea.Cmd {
	line := strings.TrimSpace(d.field.text())
	if d.row > 0 && d.row <= len(d.lines) {
		line = d.lines[d.row-1]
	}
	if x := d.chosen(); d.commanding(a) == nil && x != nil {
		a.dialog = nil
		return x.run(a)
	}
	if line == "" {
		return nil
	}
	a.dialog = nil
	cmd, err := a.execute(line)
	if err != nil {
		d.problem = err.Error()
		a.dialog = d
		return nil
	}
	a.memo.Commands = remembered(a.memo.Commands, a.memorable(line))
	return cmd
}

func (d *palette) paste(a *app, s string) tea.Cmd {
	d.insert(s)
	d.typed(a)
	return nil
}

func (d *palette) hints() []string {
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
	a.tree.whole = true
	a.size = sizeNormal
	a.enter(treePane)
}

// places lists what the stream can be limited to.
func (a *app) places() []pick {
	var out []pick
	add := func(kind string, n query.Node, text trust.Rendered) {
		out = append(out, pick{kind: kind, text: text, find: findable(text.Plain(), kind), run: func(a *app) tea.Cmd { a.gotoPlace(n); return nil }})
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
