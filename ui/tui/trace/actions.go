package trace

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/palette"
)

var (
	onEvent  = []layout.Pane{layout.Stream, layout.Detail}
	inDetail = []layout.Pane{layout.Detail}
)

// Actions returns the actions that follow a value over servers and types, and that report or pipe what was found.
func (t *Tracer) Actions() []palette.Action {
	return palette.Grouped("Incident",
		palette.Action{ID: "value.filter", Title: "follow the value: show only what has it", Needs: palette.Event, Also: "filter by this value incident customer service host id correlate =", Keys: []string{"="}, Hint: "only this", Panes: onEvent, When: t.env.Stream.OnRecord, Run: func() tea.Cmd { return t.Follow(Only) }},
		palette.Action{ID: "value.exclude", Title: "leave out what has the value", Needs: palette.Event, Also: "filter out exclude hide not -", Keys: []string{"-"}, Panes: inDetail, When: t.env.Stream.OnRecord, Run: func() tea.Cmd { return t.Follow(Not) }},
		palette.Action{ID: "type.hide", Title: "hide or mute this type: add !type: to the filter", Needs: palette.Type, Also: "ignore exclude filter out noise", When: func() bool { _, ok := t.env.TypeToHide(); return ok }, Run: palette.Act(t.env.HideType)},
		palette.Action{ID: "value.add", Title: "add the value to the filter", Needs: palette.Event, Also: "narrow and filter +", Keys: []string{"+"}, Panes: inDetail, When: t.env.Stream.OnRecord, Run: func() tea.Cmd { return t.Follow(Too) }},
		palette.Action{ID: "value.pin", Title: "pin the value: it stands out everywhere", Needs: palette.Event, Also: "colour color highlight mark value", Keys: []string{"*"}, Panes: onEvent, When: t.env.Stream.OnRecord, Run: t.Pin},
		palette.Action{ID: "related", Title: "everything that shares the value, over time", Needs: palette.Event, Also: "correlate follow incident lanes graph trace relate", Keys: []string{"&"}, Hint: "related", Panes: onEvent, When: t.env.Stream.OnRecord, Run: t.Related},
		palette.Action{ID: "repeats", Title: "fold repeats: equal summaries in a row as one", Also: "collapse group duplicates count fold", Keys: []string{"#"}, Panes: onEvent, Run: t.Repeats},
		palette.Action{ID: "compare", Title: "compare two events: mark one, then the other", Needs: palette.Event, Also: "diff difference versus", Keys: []string{"B"}, Panes: onEvent, When: t.env.Stream.OnRecord, Run: t.Compare},
		palette.Action{ID: "report", Title: "report of the incident, as Markdown", Needs: palette.Event, Also: "export postmortem review markdown", Keys: []string{"E"}, Panes: onEvent, When: t.env.Stream.OnRecord, Run: palette.Act(t.Report)},
		palette.Action{ID: "pipe", Title: "pipe the event, or the range, to a command", Needs: palette.Event, Also: "jq shell hand on run command", Keys: []string{"|"}, Panes: onEvent, When: t.env.Stream.OnRecord, Run: palette.Act(func() { t.AskPipe("", "") })},
	)
}

// Commands returns the typed commands for incidents.
func (t *Tracer) Commands() []palette.ActionCommand {
	return []palette.ActionCommand{
		{Name: "related", Usage: "[VALUE]", Title: "everything that shares a value, over time", Run: t.RunRelated},
		{Name: "top", Usage: ".PATH", Title: "the most frequent values of a field", Run: t.RunTop, Complete: func(words []string) []string { return t.env.Paths(words[len(words)-1]) }},
		{Name: "compare", Usage: "#SEQ #SEQ", Title: "what differs between two events", Run: t.RunCompare},
		{Name: "report", Usage: "[FILE]", Title: "write the incident's report as Markdown", Run: t.RunReport, Complete: t.ReportNames},
		{Name: "pipe", Usage: "[ndjson] COMMAND [ARG…]", Title: "pipe the chosen event, or the range, to a command", Run: t.env.Stream.Halted(t.RunPipe)},
	}
}
