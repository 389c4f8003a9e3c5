package tui

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/eventlog"
	"eventdeck/host/react"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/external"
	"eventdeck/ui/tui/palette"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/widget"
)

// exportSays is the hint of the prompt for a file name.
const exportSays = "enter writes   tab completes   as .ndjson .csv .cloudevents.json   esc goes back"

// exportRange returns the selected range, or all that the stream shows.
func (a *app) exportRange() external.Range {
	r := external.Range{First: 1, Last: a.stream.Seen, Query: a.stream.Query}
	if a.stream.Cut {
		r.Last = a.snap.Last
	}
	if a.stream.Selected.On {
		r.First, r.Last = a.stream.Ends()
	}
	return r
}

// openExport asks for the file to export to, and shows the number of records when they are counted.
func (a *app) openExport() tea.Cmd {
	what, r := "everything shown", a.exportRange()
	if a.stream.Selected.On {
		what = "what is selected"
	}
	ctx, stop := context.WithCancel(a.schedule.Context())
	p := &widget.Prompt{Label: "write " + what + " to:", Cancelled: stop}
	overwrite := ""
	p.Done = func(text string) tea.Cmd {
		cmd, err := a.export(r, text, overwrite == text)
		switch {
		case errors.Is(err, fs.ErrExist):
			overwrite = text
			p.Problem = "the file exists; enter again replaces it"
		case err != nil:
			p.Problem = err.Error()
		default:
			stop()
		}
		return cmd
	}
	says := func(count string) { p.Says = count + a.queryWords(&r.Query) + "   " + exportSays }
	says("counting records" + a.Glyphs.More)
	a.outside.CompletePath(p)
	a.AskLine(p, a.exportName())
	log := a.o.API.Log()
	return a.Do(func(context.Context) tea.Msg {
		defer stop()
		n, err := countRecords(ctx, log, &r)
		if err != nil {
			return nil // the export will report the error
		}
		return widget.Then(func() tea.Cmd { says(cells.Count(n, "record")); return nil })
	})
}

// countRecords counts the records of a range. Errors: the cause of ctx, those of the log.
func countRecords(ctx context.Context, log *eventlog.Log, r *external.Range) (n int, err error) {
	err = log.Search(ctx, r.Takes, r.Last+1, func(f eventlog.Found) bool {
		n += len(f.Seqs)
		return f.Edge > r.First
	})
	return n, err
}

// queryWords describes which records a query takes.
func (a *app) queryWords(q *query.Query) string {
	words := ""
	if q.Node.Level() > 0 {
		words = " of " + stream.PlaceWords(q.Node, a.Glyphs).Plain()
	}
	switch {
	case q.Text == "":
		return words + ", no filter"
	case q.Off:
		return words + ", the filter " + q.Text + " is off"
	}
	return words + " that match " + q.Text
}

// export returns a command that writes a range to a file. Errors: those of [external.Exports.Begin].
func (a *app) export(r external.Range, path string, overwrite bool) (tea.Cmd, error) {
	return a.outside.Exports.Begin(a.schedule.Context(), a.o.API.Log(), r, a.outside.Home(path), overwrite)
}

// runExport runs the command export.
func (a *app) runExport(words []string) (tea.Cmd, error) {
	r := a.exportRange()
	if len(words) == 3 && words[0] == "last" {
		d, err := react.ParseDuration(words[1])
		if err != nil || d <= 0 {
			return nil, fmt.Errorf("%w: %q is no time span, such as 10m, 1h or 7d", palette.ErrUsage, words[1])
		}
		r.First, r.Since = 1, a.Clock().Add(-d)
		words = words[2:]
	}
	overwrite := len(words) == 2 && words[1] == "overwrite"
	if overwrite {
		words = words[:1]
	}
	if len(words) != 1 {
		return nil, palette.ErrUsage
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

// exportName returns a default name for the file.
func (a *app) exportName() string {
	return "events-" + a.Clock().Local().Format("20060102-150405") + ".ndjson"
}
