package tui

import (
	"eventdeck/host"
	"eventdeck/host/config"
	"eventdeck/host/eventlog"
	"eventdeck/ui/tui/board"
	"eventdeck/ui/tui/edges"
	"eventdeck/ui/tui/filterbar"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/palette"
	"eventdeck/ui/tui/persist"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/tree"

	tea "charm.land/bubbletea/v2"
)

// boardEnv is what tables need.
func (a *app) boardEnv() *board.Env {
	return &board.Env{
		Env: &a.Env, Screen: a, Host: a.o.API, Snap: &a.snap, Stats: &a.rates.Stats,
		Scope:      a.tableScope,
		Place:      func(n query.Node) string { return stream.PlaceWords(n, a.Glyphs).Plain() },
		Focused:    func() bool { return a.panes.Focus == layout.Subs || a.panes.Focus == layout.Log },
		Sub:        a.sub,
		Cursorless: a.cursorless,
	}
}

// treeEnv is what the tree needs.
func (a *app) treeEnv() *tree.Env {
	return &tree.Env{
		Env: &a.Env, Snap: &a.snap,
		Focused: func() bool { return a.panes.Focus == layout.Tree },
		KeyOf:   a.KeyOf, RecentCounts: a.rates.RecentCounts, Lessons: a.noServers,
	}
}

// streamEnv is what the stream needs.
func (a *app) streamEnv() *stream.Env {
	return &stream.Env{
		Env: &a.Env, Snap: &a.snap,
		Focused: func() bool { return a.panes.Focus == layout.Stream },
		Found:   func() string { return a.search.Text },
		Terse:   func() (bool, bool) { return a.panes.Now.ShortTime, a.panes.Now.OnlySummary },
		TypeOf:  a.typeOf, DrawEmpty: a.teach,
	}
}

// filterbarEnv is what the filter, the search, views, marks and columns need.
func (a *app) filterbarEnv() *filterbar.Env {
	return &filterbar.Env{
		Env: &a.Env, Screen: a, Stream: &a.stream.Stream, Snap: &a.snap, Persist: &a.persist,
		Log:  func() eventlog.Records { return a.o.API.Log() },
		View: a.viewNow, OpenView: a.openView, TypeOf: a.typeOf,
		Goto: a.gotoSeq, MarkWords: a.markWords, RemoveMark: a.removeMark,
	}
}

// settingsEnv is what the settings file and the themes need.
func (a *app) settingsEnv() *persist.Env {
	return &persist.Env{
		Env: &a.Env, Screen: a, File: a.o.Settings,
		ThemeDir: a.o.ThemeDir, Apply: a.applyTheme,
		Keep: func(name, done string) tea.Cmd { return a.persist.Set(persist.Theme, name, done) },
		Keys: func(chosen []config.KeyBinding) []string {
			a.actions.Actions = a.actionRows()
			a.restyle() // texts name keys
			return palette.Bind(a.actions.Actions, chosen)
		},
		Severity: a.stream.SetSeverity,
		Split:    func(s layout.Split) { a.panes.Usual = s },
	}
}

// initEdges makes the lines above and below the panes.
func (a *app) initEdges() {
	env := &edges.Env{
		Env: &a.Env, Demo: a.o.Demo, Snap: &a.snap, Stream: &a.stream.Stream, Rates: &a.rates, Total: &a.tree.Total, KeyOf: a.KeyOf,
		Servers:   a.serversInTree,
		Searched:  func() string { return a.search.Text },
		Comparing: func() uint64 { return a.trace.Comparing },
		Writing:   a.outside.Exports.Running,
		Chips:     a.react.DrawChips, Changes: a.react.ChipsVersion,
	}
	a.edges.Head, a.edges.Status = edges.NewHead(env), edges.NewStatus(env)
}

// serversInTree returns the servers in the order of the tree.
func (a *app) serversInTree() (servers []*host.ServerView) {
	for i := range a.tree.Rows {
		s := a.tree.Rows[i].Server
		if s != nil && (len(servers) == 0 || servers[len(servers)-1] != s) {
			servers = append(servers, s)
		}
	}
	return servers
}
