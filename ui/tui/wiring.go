package tui

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/host/config"
	"eventdeck/host/eventlog"
	"eventdeck/themes"
	"eventdeck/ui/tui/board"
	"eventdeck/ui/tui/edges"
	"eventdeck/ui/tui/filterbar"
	"eventdeck/ui/tui/form"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/palette"
	"eventdeck/ui/tui/persist"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
)

// initChoice makes what acts on subscriptions, types and servers.
func (a *app) initChoice() {
	why := "this run has no file of servers"
	if a.demo.All {
		why = "the demo has servers of its own; eventdeck without demo adds yours"
	}
	a.choice = form.Choice{
		Env:    &form.Env{Env: &a.Env, Screen: a, Host: a.o.API, Servers: a.o.Servers, Browse: a.o.Browse, Snap: &a.snap, Elsewhere: a.demo.Command},
		Manage: &form.Manager{Env: &a.Env, Screen: a, Host: a.o.API, Snap: &a.snap, Servers: a.o.Servers, Passing: a.demo.Has},
		Tree:   &a.tree, Stream: &a.stream.Stream, Panes: &a.panes, Table: a.table, NotConfigured: why,
	}
}

// boardEnv is what tables need.
func (a *app) boardEnv() *board.Env {
	return &board.Env{
		Env: &a.Env, Screen: a, Host: a.o.API, Snap: &a.snap, Stats: &a.rates.Stats,
		Scope:   a.tableScope,
		Place:   func(n query.Node) string { return stream.PlaceWords(n, a.Glyphs).Plain() },
		Focused: func() bool { return a.panes.Focus == layout.Subs || a.panes.Focus == layout.Log },
	}
}

// streamEnv is what the stream needs.
func (a *app) streamEnv() *stream.Env {
	return &stream.Env{
		Env: &a.Env, Screen: a, Panes: &a.panes, Log: func() eventlog.Records { return a.o.API.Log() }, Snap: &a.snap,
		Focused:   func() bool { return a.panes.Focus == layout.Stream },
		Found:     func() string { return a.search.Text },
		DrawEmpty: a.teach,
	}
}

// filterbarEnv is what the filter, the search, views, marks and columns need.
func (a *app) filterbarEnv() *filterbar.Env {
	return &filterbar.Env{
		Env: &a.Env, Screen: a, Stream: &a.stream.Stream, Snap: &a.snap, Persist: &a.persist,
		Log:  func() eventlog.Records { return a.o.API.Log() },
		View: a.viewNow, OpenView: a.openView,
		Goto: a.gotoSeq,
	}
}

// settingsEnv is what the settings file and the themes need.
func (a *app) settingsEnv() *persist.Env {
	return &persist.Env{
		Env: &a.Env, Screen: a, File: a.o.Settings,
		ThemeDir: a.o.ThemeDir, Apply: func(t themes.Theme) {
			a.Theme = t
			a.restyle()
		},
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
		Env: &a.Env, Demo: a.demo.All, Snap: &a.snap, Stream: &a.stream.Stream, Rates: &a.rates, Total: &a.tree.Total, KeyOf: a.KeyOf,
		Servers:   a.tree.Servers,
		Searched:  func() string { return a.search.Text },
		Comparing: func() uint64 { return a.trace.Comparing },
		Writing:   a.Outside.Exports.Running,
		Chips:     a.react.DrawChips, Changes: a.react.ChipsVersion,
	}
	a.Edges.Head, a.Edges.Status = edges.NewHead(env), edges.NewStatus(env)
}
