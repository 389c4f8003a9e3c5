package form

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/config"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// importer is the dialog to import servers from the files of other MCP clients.
type importer struct {
	env     *Env
	found   []config.Found
	errs    []error
	looking bool
	chosen  map[int]bool
	chooser widget.Chooser
	problem string
	busy    bool
}

// OpenImport shows the servers in the files of other clients.
func OpenImport(e *Env) tea.Cmd {
	d := &importer{env: e, looking: true, chosen: map[int]bool{}}
	e.Show(d)
	return e.Do(func(context.Context) tea.Msg {
		found, errs := e.Servers.Discover()
		return widget.Then(func() tea.Cmd {
			d.looking, d.found, d.errs = false, found, errs
			return nil
		})
	})
}

func (d *importer) Title() string { return "Import servers" }

func (d *importer) Size(sw, _ int) (int, int) {
	w := min(120, sw-4)
	if len(d.found) == 0 {
		return w, 6 + len(d.errs)
	}
	return w, len(d.found) + len(d.about(w)) + 2 + len(d.errs)
}

func (d *importer) Draw(c *cells.Canvas, h int) {
	e := d.env
	switch {
	case d.looking:
		c.Put(themes.Busy, " reading the files of other clients "+e.Glyphs.More)
		c.End()
		return
	case len(d.found) == 0:
		d.drawNothing(c)
		return
	}
	about := d.about(c.Width)
	// Half of a low screen stays for the list.
	if most := h - min(len(d.found), max(2, h/2)) - 1; len(about) > most {
		about = about[:max(0, most)]
	}
	rows := max(1, h-len(about)-1)
	first, end := d.chooser.Visible(len(d.found), rows)
	for i := first; i < end; i++ {
		d.drawRow(c, i)
	}
	for c.Height() < min(rows, len(d.found)) {
		c.End()
	}
	c.Rule(themes.Rule, e.Glyphs.Rule)
	c.End()
	for _, row := range about {
		c.Row(row)
	}
}

func (d *importer) drawNothing(c *cells.Canvas) {
	texts := []string{"No server was found in the files of other MCP clients.", "Looked for: " + strings.Join(config.ClientNames(), ", ") + "."}
	for _, err := range d.errs {
		texts = append(texts, err.Error())
	}
	for _, text := range texts {
		c.Lines(themes.Plain, " ", themes.Plain, cells.Wrap(text, c.Width-2, 4))
	}
}

func (d *importer) drawRow(c *cells.Canvas, i int) {
	e := d.env
	f := &d.found[i]
	role, box := themes.Plain, "[ ] "
	switch {
	case !f.Usable():
		role, box = themes.Off, " "+e.Glyphs.Cannot+"  "
	case d.chosen[i]:
		box = "[" + e.Glyphs.Chosen + "] "
	}
	c.Mark(i == d.chooser.At, e.Glyphs.Cursor)
	c.Put(role, box)
	c.Column(role, cells.Sanitize(f.Name), min(22, c.Width/3))
	c.Put(themes.Plain, " ")
	if c.Width >= 60 {
		c.Column(themes.Dim, cells.Sanitize(f.Client), 15)
	}
	what := f.What()
	switch {
	case f.Have:
		what = "configured here already"
	case f.Problem != "":
		what = f.Problem
	}
	c.Safe(role, cells.Sanitize(what).Clip(c.Room))
	c.End()
}

// about returns rows with all details of the chosen server.
func (d *importer) about(w int) []string {
	var c cells.Canvas
	c.Begin(&d.env.Theme, w)
	f := &d.found[d.chooser.At]
	verb := "would run "
	if f.URL != "" {
		verb = "would connect to "
	}
	texts := []string{verb + f.What()}
	if f.Problem != "" {
		texts[0] = "cannot be taken over: " + f.Problem
	}
	if f.Dir != "" {
		texts = append(texts, "in "+f.Dir)
	}
	for _, p := range append(f.Env[:len(f.Env):len(f.Env)], f.Headers...) {
		value := p.Value.String()
		if clear := p.Value.Reveal(); strings.HasPrefix(clear, "${") && strings.IndexByte(clear, '}') == len(clear)-1 {
			value = clear
		}
		texts = append(texts, "with "+p.Name+" = "+value)
	}
	texts = append(texts, "from "+f.Path)
	if len(f.Also) > 0 {
		texts = append(texts, "also in "+strings.Join(f.Also, ", "))
	}
	if f.Name != strings.TrimSpace(f.There) && f.Usable() {
		texts = append(texts, "renamed: the name "+f.There+" is taken")
	}
	texts = append(texts, f.Notes...)
	if d.problem != "" {
		texts = append([]string{d.problem}, texts...)
	}
	if d.busy {
		c.Put(themes.Busy, " "+d.env.Turning()+" importing "+d.env.Glyphs.More)
		c.End()
	}
	for i, text := range texts {
		role := themes.Plain
		if i == 0 && d.problem != "" {
			role = themes.Bad
		}
		c.Lines(role, " ", role, cells.Wrap(text, w-2, 3))
	}
	for _, err := range d.errs {
		c.Lines(themes.Warn, " ", themes.Warn, cells.Wrap("not read: "+err.Error(), w-2, 2))
	}
	return c.All()
}

func (d *importer) Key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	if name == "esc" || name == "q" {
		d.env.Show(nil)
		return nil
	}
	if d.busy || len(d.found) == 0 {
		return nil
	}
	switch name {
	case "space":
		d.choose(d.chooser.At, !d.chosen[d.chooser.At])
		d.chooser.At = min(d.chooser.At+1, len(d.found)-1)
	case "a":
		all := len(d.chosen) == 0
		for i := range d.found {
			d.choose(i, all && !d.found[i].Off)
		}
	case "ctrl+s", "enter":
		return d.ask()
	default:
		d.chooser.Key(name, len(d.found))
	}
	return nil
}

func (d *importer) choose(i int, on bool) {
	d.problem = ""
	delete(d.chosen, i)
	if on && d.found[i].Usable() {
		d.chosen[i] = true
	}
}

// ask asks before the import, because commands are started at once.
func (d *importer) ask() tea.Cmd {
	e := d.env
	if len(d.chosen) == 0 {
		d.problem = "nothing is chosen: space chooses, a chooses all"
		return nil
	}
	var drafts []config.Draft
	run := 0
	for i := range d.found {
		if d.chosen[i] {
			drafts = append(drafts, d.found[i].Draft)
			if d.found[i].Command != "" {
				run++
			}
		}
	}
	text := []string{cells.Count(len(drafts), "server") + " will be written to " + cells.ShortPath(e.Servers.File) + "."}
	if run > 0 {
		text = append(text, cells.Count(run, "command")+" of theirs will be started now, and at each start.")
	}
	e.Show(&widget.Confirm{Screen: e,
		Head: "Import", Lines: text,
		Choices: []widget.Choice{{Key: "y", Title: "import and connect", Run: func() tea.Cmd {
			d.busy = true
			e.Show(d)
			return addServers(e, "imported "+cells.Count(len(drafts), "server"), d, drafts...)
		}}},
		Cancelled: func() { e.Show(d) },
	})
	return nil
}

func (d *importer) Busy() bool { return d.busy }

func (d *importer) Answered()           { d.busy = false }
func (d *importer) ShowError(err error) { d.problem = err.Error() }
func (d *importer) Hints() []string {
	if len(d.found) == 0 {
		return []string{"esc", "back"}
	}
	return []string{"space", "choose", "a", "all", "enter", "import", "j k", "move", "esc", "back"}
}
