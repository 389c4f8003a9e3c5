package external

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/palette"
)

var (
	onEvent = []layout.Pane{layout.Stream, layout.Detail}
	onMain  = []layout.Pane{layout.Tree, layout.Stream, layout.Detail}
)

// Actions returns the actions that copy and write what is shown, and open payloads in the operator's
// programs.
func (x *Outside) Actions() []palette.Action {
	show := func(p Program) func() tea.Cmd {
		return func() tea.Cmd {
			r, ok := x.from.Detail.Payload()
			if !ok {
				return nil
			}
			return x.show(p, detail.PayloadOf(&r))
		}
	}
	return slices.Concat(palette.Grouped("Copy",
		palette.Action{ID: "copy", Title: "copy the payload, escaped", Needs: palette.Event, Also: "yank clipboard", Keys: []string{"y p", "y y"}, Hint: "payload", Menu: "copy", When: x.from.Detail.ShowsRecord, Run: x.copyPayload},
		palette.Action{ID: "copy.id", Title: "copy the event id, escaped", Needs: palette.Event, Keys: []string{"y i"}, Hint: "id", When: x.from.Detail.ShowsRecord, Run: x.copyID},
		palette.Action{ID: "copy.cursor", Title: "copy the cursor, escaped", Needs: palette.Event, Keys: []string{"y c"}, Hint: "cursor", When: x.from.Detail.ShowsRecord, Run: x.copyCursor},
		palette.Action{ID: "copy.command", Title: "copy a command line that subscribes to the same", Needs: palette.Event, Keys: []string{"y k"}, Hint: "command", When: x.from.Detail.ShowsRecord, Run: x.copyCommand},
		palette.Action{ID: "copy.line", Title: "copy the row as text", Needs: palette.Event, Keys: []string{"y l"}, Hint: "line", Menu: "copy", When: x.canCopyRow, Run: x.copyLine},
		palette.Action{ID: "copy.raw", Title: "copy the raw bytes: they may act when pasted", Needs: palette.Event, Keys: []string{"y r"}, Hint: "raw bytes", When: x.from.Detail.HasPayload, Run: x.copyRaw},
	), palette.Grouped("Copy",
		palette.Action{ID: "export", Title: "write what is shown or selected to a file", Needs: palette.Event, Also: "save write dump jsonl", Keys: []string{"w"}, Hint: "write", Panes: onMain, When: x.from.Stream.OnRecord, Run: x.openExport},
		palette.Action{ID: "export.stop", Title: "stop the export that is being written", When: x.Exports.Writing, Run: palette.Act(x.Exports.Stop)},
	), palette.Grouped("Event",
		palette.Action{ID: "pager", Title: "read the payload in $PAGER", Needs: palette.Event, Keys: []string{"o"}, Panes: onEvent, When: x.from.Detail.HasPayload, Run: show(Pager)},
		palette.Action{ID: "editor", Title: "open the payload in $EDITOR", Needs: palette.Event, Keys: []string{"O"}, Panes: onEvent, When: x.from.Detail.HasPayload, Run: show(Editor)},
	))
}

// Command returns the typed command that exports.
func (x *Outside) Command() palette.ActionCommand {
	return palette.ActionCommand{Name: "export", Usage: "[last 1h] FILE [overwrite]", Title: "write what is shown or selected", Run: x.runExport, Complete: x.completeExport}
}
