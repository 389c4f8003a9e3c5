package external

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/eventlog"
	"eventdeck/host/react"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/palette"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/widget"
)

// exportSays is the hint of the prompt for a file name.
const exportSays = "enter writes   tab completes   as .ndjson .csv .cloudevents.json   esc goes back"

// exportRange returns the selected range, or all that the stream shows.
func (x *Outside) exportRange() Range {
	r := Range{First: 1, Last: x.from.Stream.Seen, Query: x.from.Stream.Query}
	if x.from.Stream.Cut {
		r.Last = x.from.Snap.Last
	}
	if x.from.Stream.Selected.On {
		r.First, r.Last = x.from.Stream.Ends()
	}
	return r
}

// openExport asks for the file to export to, and shows the number of records when they are counted.
func (x *Outside) openExport() tea.Cmd {
	what, r := "everything shown", x.exportRange()
	if x.from.Stream.Selected.On {
		what = "what is selected"
	}
	ctx, stop := context.WithCancel(x.screen.Context())
	p := &widget.Prompt{Label: "write " + what + " to:", Cancelled: stop}
	overwrite := ""
	p.Done = func(text string) tea.Cmd {
		cmd, err := x.export(r, text, overwrite == text)
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
	says := func(count string) { p.Says = count + x.queryWords(&r.Query) + "   " + exportSays }
	says("counting records" + x.from.Glyphs.More)
	x.CompletePath(p)
	x.screen.AskLine(p, x.exportName())
	log := x.from.Log()
	return x.screen.Do(func(context.Context) tea.Msg {
		defer stop()
		n, err := countRecords(ctx, log, &r)
		if err != nil {
			return nil // the export will report the error
		}
		return widget.Then(func() tea.Cmd { says(cells.Count(n, "record")); return nil })
	})
}

// countRecords counts the records of a range. Errors: the cause of ctx, those of the log.
func countRecords(ctx context.Context, log eventlog.Records, r *Range) (n int, err error) {
	err = log.Search(ctx, r.Takes, r.Last+1, func(f eventlog.Found) bool {
		n += len(f.Seqs)
		return f.Edge > r.First
	})
	return n, err
}

// queryWords describes which records a query takes.
func (x *Outside) queryWords(q *query.Query) string {
	words := ""
	if q.Node.Level() > 0 {
		words = " of " + stream.PlaceWords(q.Node, x.from.Glyphs).Plain()
	}
	switch {
	case q.Text == "":
		return words + ", no filter"
	case q.Off:
		return words + ", the filter " + q.Text + " is off"
	}
	return words + " that match " + q.Text
}

// export returns a command that writes a range to a file. Errors: those of [Exports.Begin].
func (x *Outside) export(r Range, path string, overwrite bool) (tea.Cmd, error) {
	return x.Exports.Begin(x.screen.Context(), x.from.Log(), r, x.Home(path), overwrite)
}

// runExport runs the command export.
func (x *Outside) runExport(words []string) (tea.Cmd, error) {
	r := x.exportRange()
	if len(words) == 3 && words[0] == "last" {
		d, err := react.ParseDuration(words[1])
		if err != nil || d <= 0 {
			return nil, fmt.Errorf("%w: %q is no time span, such as 10m, 1h or 7d", palette.ErrUsage, words[1])
		}
		r.First, r.Since = 1, x.from.Clock().Add(-d)
		words = words[2:]
	}
	overwrite := len(words) == 2 && words[1] == "overwrite"
	if overwrite {
		words = words[:1]
	}
	if len(words) != 1 {
		return nil, palette.ErrUsage
	}
	cmd, err := x.export(r, words[0], overwrite)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%w; add overwrite to replace it", err)
	}
	return cmd, err
}

func (x *Outside) completeExport(words []string) []string {
	if len(words) == 1 {
		return []string{"last", x.exportName()}
	}
	if words[0] == "last" && len(words) == 2 {
		return []string{"10m", "1h", "24h"}
	}
	return []string{x.exportName(), "overwrite"}
}

// exportName returns a default name for the file.
func (x *Outside) exportName() string {
	return "events-" + x.from.Clock().Local().Format("20060102-150405") + ".ndjson"
}
