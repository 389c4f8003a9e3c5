package tui

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/host/eventlog"
	"eventdeck/host/filter"
	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/ui/incidents"
	"eventdeck/ui/tui/external"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/trace"
)

// runsOf returns the runs of an engine, nil without an engine.
func runsOf(engine react.Control) incidents.Runs {
	if engine == nil {
		return nil
	}
	return engine
}

// initIncident makes the tracer, which follows values.
func (a *app) initIncident() {
	a.trace = trace.New(trace.Env{
		Env: &a.Env, Screen: a, Stream: &a.stream.Stream, Persist: &a.persist, Log: func() eventlog.Records { return a.o.API.Log() }, Runs: runsOf(a.o.React),
		Value: func() (term string, text trust.Text, ok bool) {
			if a.panes.Focus != layout.Detail || !a.detail.HasValue() {
				return "", text, false
			}
			return a.detail.Value()
		},
		NoValue: a.noValue, HideType: a.hideType, TypeToHide: a.choice.TypeToHide, Paths: a.filters.Paths,
		Elsewhere: func(k tea.KeyPressMsg, way string) { a.actions.Elsewhere(a.actions.Name(k), way) },
		Selected:  a.stream.WithSelected, RowName: a.stream.RowName, Goto: a.gotoSeq, Home: a.Outside.Home, CompletePath: a.Outside.CompletePath, Getenv: a.Outside.Getenv,
		Filter: a.filters.Take,
		Pin: func(values []string) {
			a.Pins = values
			a.Style++
		},
		Create: func(path string, overwrite bool) (external.OutFile, error) {
			return a.Outside.Exports.Create(path, overwrite)
		},
	})
}

// noValue says that the chosen line of the detail has no value, and how to get to one; it is "" if
// another pane has the focus.
func (a *app) noValue() string {
	if a.panes.Focus != layout.Detail {
		return ""
	}
	down, up := "down", "up"
	if a.turnsEvents() {
		down, up = "row.down", "row.up"
	}
	return "no value on this line: " + a.KeyOf(down) + " and " + a.KeyOf(up) + " move to one"
}

// hideType excludes a type from the filter. The stream shows the other types of its server, if it
// showed that one alone.
func (a *app) hideType() {
	typ, _ := a.choice.TypeToHide()
	if a.panes.Focus == layout.Tree {
		a.tree.At = query.Node{Server: a.tree.At.Server}
		a.rescope()
	}
	a.trace.Hide(filter.FieldTerm("type", typ))
}
