package tui

import (
	"eventdeck/host/event"
	"eventdeck/host/filter"
	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/ui/incidents"
	"eventdeck/ui/tui/action"
	"eventdeck/ui/tui/external"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/trace"
)

// incidentActions follow a value over servers and types, and hand on what was found.
func (a *app) incidentActions() []action.Action {
	return action.Grouped("Incident",
		action.Action{ID: "value.filter", Title: "follow the value: show only what has it", Needs: action.Event, Also: "filter by this value incident id correlate =", Keys: []string{"="}, Hint: "only this", Panes: onEvent, When: a.onRecord, Run: action.Act(func() { a.trace.Follow(trace.Only) })},
		action.Action{ID: "value.exclude", Title: "leave out what has the value", Needs: action.Event, Also: "filter out exclude hide not -", Keys: []string{"-"}, Panes: inDetail, When: a.onRecord, Run: action.Act(func() { a.trace.Follow(trace.Not) })},
		action.Action{ID: "type.hide", Title: "hide this type: add !type: to the filter", Needs: action.Event, Also: "mute ignore exclude filter out type noise", Panes: onEvent, When: func() bool { r, ok := a.chosenRecord(); return ok && r.Type.Raw() != "" }, Run: action.Act(a.hideType)},
		action.Action{ID: "value.add", Title: "add the value to the filter", Needs: action.Event, Also: "narrow and filter +", Keys: []string{"+"}, Panes: inDetail, When: a.onRecord, Run: action.Act(func() { a.trace.Follow(trace.Too) })},
		action.Action{ID: "value.pin", Title: "pin the value: it stands out everywhere", Needs: action.Event, Also: "colour color highlight mark value", Keys: []string{"*"}, Panes: onEvent, When: a.onRecord, Run: action.Act(a.trace.Pin)},
		action.Action{ID: "related", Title: "everything that shares the value, over time", Needs: action.Event, Also: "correlate follow incident lanes graph trace relate", Keys: []string{"&"}, Hint: "related", Panes: onEvent, When: a.onRecord, Run: a.trace.Related},
		action.Action{ID: "repeats", Title: "fold repeats: equal summaries in a row as one", Also: "collapse group duplicates count fold", Keys: []string{"#"}, Panes: onEvent, Run: a.trace.Repeats},
		action.Action{ID: "compare", Title: "compare two events: mark one, then the other", Needs: action.Event, Also: "diff difference versus", Keys: []string{"B"}, Panes: onEvent, When: a.onRecord, Run: a.trace.Compare},
		action.Action{ID: "report", Title: "report of the incident, as Markdown", Needs: action.Event, Also: "export postmortem review markdown", Keys: []string{"E"}, Panes: onEvent, When: a.onRecord, Run: action.Act(a.trace.Report)},
		action.Action{ID: "pipe", Title: "pipe the event, or the range, to a command", Needs: action.Event, Also: "jq shell hand on run command", Keys: []string{"|"}, Panes: onEvent, When: a.onRecord, Run: action.Act(func() { a.trace.AskPipe("", "") })},
	)
}

// incidentCommands are the same as lines.
func (a *app) incidentCommands() []action.Command {
	return []action.Command{
		{Name: "related", Usage: "[VALUE]", Title: "everything that shares a value, over time", Run: a.trace.RunRelated},
		{Name: "top", Usage: ".PATH", Title: "the most frequent values of a field", Run: a.trace.RunTop, Complete: func(words []string) []string { return a.filters.Paths(words[len(words)-1]) }},
		{Name: "compare", Usage: "#SEQ #SEQ", Title: "what differs between two events", Run: a.trace.RunCompare},
		{Name: "report", Usage: "[FILE]", Title: "write the incident's report as Markdown", Run: a.trace.RunReport, Complete: a.trace.ReportNames},
		{Name: "pipe", Usage: "[ndjson] COMMAND [ARG…]", Title: "pipe the chosen event, or the range, to a command", Run: a.trace.RunPipe},
	}
}

// runsOf are the runs that an engine knows, nil without one.
func runsOf(engine react.Control) incidents.Runs {
	if engine == nil {
		return nil
	}
	return engine
}

// initIncident makes what follows a value.
func (a *app) initIncident() {
	a.trace = trace.New(trace.Env{
		Env: &a.Env, Screen: a, Stream: &a.stream.Stream, Memo: &a.memo, Log: func() incidents.Log { return a.o.API.Log() }, Runs: runsOf(a.o.React),
		Value: func() (term string, text trust.Text, ok bool) {
			if a.panes.Focus != layout.Detail || !a.detail.HasValue() {
				return "", text, false
			}
			return a.detail.Value()
		},
		Selected: a.withSelected, Goto: a.gotoSeq, RowName: a.rowName, Home: a.outside.Home, Getenv: a.outside.Getenv,
		Filter: func(q query.Query) {
			if a.stream.Query.Node != q.Node {
				a.tree.At = q.Node
			}
			a.filters.Remember(q.Text)
			a.requery(q)
		},
		Pin: func(values []string) {
			a.Pins = values
			a.Style++
		},
		Create: func(path string, overwrite bool) (external.OutFile, error) {
			return a.outside.Exports.Create(path, overwrite)
		},
	})
}

// hideType adds to the filter that it leaves out the type of the chosen record.
func (a *app) hideType() {
	if r, ok := a.chosenRecord(); ok {
		a.trace.Hide(filter.FieldTerm("type", r.Type))
	}
}

// chosenRecord is the record that the keys are about.
func (a *app) chosenRecord() (event.Record, bool) {
	if a.stream.At == 0 {
		return event.Record{}, false
	}
	return a.stream.Record(a.stream.At)
}
