package tui

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/filter"
	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/ui/incidents"
	"eventdeck/ui/tui/external"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/palette"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/trace"
)

// incidentCommands are the typed commands for incidents.
func (a *app) incidentCommands() []palette.ActionCommand {
	return []palette.ActionCommand{
		{Name: "related", Usage: "[VALUE]", Title: "everything that shares a value, over time", Run: a.trace.RunRelated},
		{Name: "top", Usage: ".PATH", Title: "the most frequent values of a field", Run: a.trace.RunTop, Complete: func(words []string) []string { return a.filters.Paths(words[len(words)-1]) }},
		{Name: "compare", Usage: "#SEQ #SEQ", Title: "what differs between two events", Run: a.trace.RunCompare},
		{Name: "report", Usage: "[FILE]", Title: "write the incident's report as Markdown", Run: a.trace.RunReport, Complete: a.trace.ReportNames},
		{Name: "pipe", Usage: "[ndjson] COMMAND [ARG…]", Title: "pipe the chosen event, or the range, to a command", Run: a.halted(a.trace.RunPipe)},
	}
}

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
		NoValue:   a.noValue,
		Elsewhere: func(k tea.KeyPressMsg, way string) { a.actions.Elsewhere(a.actions.Name(k), way) },
		Selected:  a.withSelected, Goto: a.gotoSeq, RowName: a.rowName, Home: a.outside.Home, CompletePath: a.outside.CompletePath, Getenv: a.outside.Getenv,
		Filter: a.filters.Take,
		Pin: func(values []string) {
			a.Pins = values
			a.Style++
		},
		Create: func(path string, overwrite bool) (external.OutFile, error) {
			return a.outside.Exports.Create(path, overwrite)
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
	typ, _ := a.typeToHide()
	if a.panes.Focus == layout.Tree {
		a.tree.At = query.Node{Server: a.tree.At.Server}
		a.rescope()
	}
	a.trace.Hide(filter.FieldTerm("type", typ))
}

// typeToHide returns the type of the chosen node of the tree, else that of the chosen record.
func (a *app) typeToHide() (typ trust.Text, ok bool) {
	if a.panes.Focus == layout.Tree {
		return a.tree.At.Type, !a.tree.At.Type.IsZero()
	}
	r, ok := a.chosenRecord()
	return r.Family(), ok && !r.Family().IsZero()
}

// chosenRecord returns the chosen record of the stream; ok is false if there is none or it has not
// been read yet.
func (a *app) chosenRecord() (event.Record, bool) {
	if a.stream.At == 0 {
		return event.Record{}, false
	}
	return a.stream.Record(a.stream.At)
}
