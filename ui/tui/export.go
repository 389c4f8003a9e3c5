package tui

import (
	"errors"
	"fmt"
	"io/fs"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/react"
	"eventdeck/ui/tui/action"
	"eventdeck/ui/tui/external"
	"eventdeck/ui/tui/widget"
)

// exportSays is what stands under the name of a file to write.
const exportSays = "enter writes   the ending chooses: .ndjson .csv .cloudevents.json   esc goes back"

func (a *app) exportActions() []action.Action {
	return action.Grouped("Copy",
		action.Action{ID: "export", Title: "write what is shown or selected to a file", Needs: action.Event, Also: "save write dump jsonl", Keys: []string{"w"}, Hint: "write", Panes: onMain, When: a.onRecord, Run: action.Act(a.openExport)},
		action.Action{ID: "export.stop", Title: "stop the export that is being written", When: func() bool { return a.outside.Exports.Writing() }, Run: action.Act(func() { a.outside.Exports.Stop() })},
	)
}

// shown is the range that is selected, or all that the stream shows.
func (a *app) shown() external.Range {
	r := external.Range{First: 1, Last: a.stream.Seen, Query: a.stream.Query}
	if a.stream.Cut {
		r.Last = a.snap.Last
	}
	if a.stream.Selected.On {
		r.First, r.Last = a.stream.Ends()
	}
	return r
}

// openExport asks for the file to which what is shown or selected is written.
func (a *app) openExport() {
	what := "everything shown"
	if a.stream.Selected.On {
		what = "what is selected"
	}
	overwrite := ""
	a.AskLine(&widget.Prompt{Label: "write " + what + " to:", Says: exportSays, Done: func(text string) tea.Cmd {
		p := a.prompt
		cmd, err := a.export(a.shown(), text, overwrite == text)
		if errors.Is(err, fs.ErrExist) {
			overwrite = text
			p.Problem = "there is such a file; enter again replaces it"
		} else if err != nil {
			p.Problem = err.Error()
		}
		return cmd
	}}, a.exportName())
}

// export begins to write a range to a file.
// Errors: [fs.ErrExist], [external.ErrExporting], that the file cannot be made.
func (a *app) export(r external.Range, path string, overwrite bool) (tea.Cmd, error) {
	return a.outside.Exports.Begin(a.wake.Context(), a.o.API.Log(), r, a.outside.Home(path), overwrite)
}

// runExport reads: export FILE, export last 1h FILE.
func (a *app) runExport(words []string) (tea.Cmd, error) {
	r := a.shown()
	if len(words) == 3 && words[0] == "last" {
		d, err := react.ParseDuration(words[1])
		if err != nil || d <= 0 {
			return nil, fmt.Errorf("%w: %q is no time span, such as 10m, 1h or 7d", action.ErrUsage, words[1])
		}
		r.First, r.Since = 1, a.Clock().Add(-d)
		words = words[2:]
	}
	overwrite := len(words) == 2 && words[1] == "overwrite"
	if overwrite {
		words = words[:1]
	}
	if len(words) != 1 {
		return nil, action.ErrUsage
	}
	cmd, err := a.export(r, words[0], overwrite)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%w; add overwrite to replace it", err)
	}
	return cmd, err
}

func (a *app) completeExport(words []string) []string {
	if len(words) == 1 {
		return []string{"last", a.exportName()}
	}
	if words[0] == "last" && len(words) == 2 {
		return []string{"10m", "1h", "24h"}
	}
	return []string{a.exportName(), "overwrite"}
}

// exportName is the name of a file that is offered.
func (a *app) exportName() string {
	return "events-" + a.Clock().Local().Format("20060102-150405") + ".ndjson"
}
