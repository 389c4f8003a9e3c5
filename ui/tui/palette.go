package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/palette"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// openPalette opens the palette with the beginning of a command, and returns a command that reads
// values for completion.
func (a *app) openPalette(line string) tea.Cmd {
	palette.Open(&a.Env, a, palette.Lines{
		Command: func(line string) *palette.Command {
			name, _, _ := strings.Cut(a.expandLine(line), " ")
			if c := a.actions.Command(name); c != nil && a.actions.Titled(line) == nil {
				return &palette.Command{Name: c.Name, Usage: c.Usage, Title: c.Title}
			}
			return nil
		},
		Complete: a.actions.Completions,
		Run: func(line string) (tea.Cmd, error) {
			cmd, err := a.actions.Execute(a.expandLine(line))
			if err == nil {
				a.persist.Commands = widget.Remember(a.persist.Commands, a.choice.ForHistory(line))
			}
			return cmd, err
		},
		Past: a.persist.Commands,
	}, a.everything(), line)
	return a.filters.Learn(func() {
		if d, ok := a.dialog.(*palette.Palette); ok {
			d.Offer()
		}
	})
}

// expandLine expands a moment such as 14:05, or a record such as #118, to a goto command. Other
// lines stay as they are.
func (a *app) expandLine(line string) string {
	line = strings.TrimSpace(line)
	if _, err := evidence.Moment(line, a.Clock()); err == nil || strings.HasPrefix(line, "#") {
		return "goto " + line
	}
	return line
}

// everything lists the entries of the palette.
func (a *app) everything() []widget.Pick {
	var all []widget.Pick
	add := func(kind string, text trust.Rendered, keys string, run func() tea.Cmd) {
		all = append(all, widget.Pick{Kind: kind, Text: text, Keys: keys, Find: widget.Findable(text.Plain(), kind), Run: run})
	}
	for i := range a.actions.Actions {
		if x := &a.actions.Actions[i]; a.actions.Works(x) && x.ID != "palette" && !x.KeyOnly {
			add(strings.ToLower(x.Group), cells.Sanitize(x.Title), strings.Join(x.Keys, ", "), func() tea.Cmd { return a.actions.Perform(x) })
			all[len(all)-1].Find = widget.Findable(x.Title, x.ID, x.Group, x.Also)
		}
	}
	for i := range a.actions.Commands {
		if c := &a.actions.Commands[i]; (!c.Dangerous || !a.actions.ReadOnly) && (c.When == nil || c.When()) {
			add("command", cells.Sanitize(":"+c.Name+" "+c.Usage), "", func() tea.Cmd { return a.openPalette(c.Name + " ") })
			all[len(all)-1].Find = widget.Findable(c.Name, c.Title, c.Also)
		}
	}
	all = append(all, a.places()...)
	for _, name := range a.views.Names() {
		add("view", cells.Join(cells.Sanitize(name+"  "), a.views.Words(name)), "", func() tea.Cmd {
			cmd, err := a.views.Use(name)
			return tea.Batch(cmd, a.showError(err))
		})
	}
	for _, m := range a.stream.Marks.List() {
		add("mark", a.marks.Words(m), "", func() tea.Cmd { a.gotoSeq(m.Seq); return nil })
	}
	for _, name := range a.theming.Names() {
		add("theme", cells.Sanitize(name), "", func() tea.Cmd { cmd, err := a.theming.Use(name); return tea.Batch(cmd, a.showError(err)) })
	}
	return all
}

// showError shows an error on the status line, if there is one. It returns nil.
func (a *app) showError(err error) tea.Cmd {
	if err != nil {
		a.TellBad(err.Error())
	}
	return nil
}

// gotoPlace limits the stream to a node and moves the focus to the tree, which shows the node and
// its children.
func (a *app) gotoPlace(n query.Node) {
	a.scope(n)
	a.tree.ShowWhole = true
	a.panes.Size = layout.Normal
	a.panes.Enter(layout.Tree)
}

// places lists the nodes of the tree for the palette.
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
