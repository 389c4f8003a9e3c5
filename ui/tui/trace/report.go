package trace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/filter"
	"eventdeck/host/trust"
	"eventdeck/ui/incidents"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/external"
	"eventdeck/ui/tui/widget"
)

// reportRequest returns the report and its file name: about the filtered records, else those that
// share the id of the chosen event, else the marked ones.
func (t *Tracer) reportRequest() (q incidents.Request, name string, err error) {
	q = incidents.Request{Title: "Incident report", What: "what is marked", Made: t.env.Clock(), Zone: t.env.Times.Zone(), Payload: true, Marks: t.env.Stream.Marks.List(), Runs: t.env.Runs}
	name = "incident-" + t.env.Clock().Local().Format("20060102-150405") + ".md"
	var id trust.Text
	ids, _ := t.chosenIDs()
	hasID := len(ids) > 0
	if hasID {
		id = ids[0].Text
	}
	shown := t.env.Stream.Query
	switch {
	case shown.Filters():
		q.What, q.Match = "filter "+shown.Text, shown.Matches
	case hasID:
		f, err := filter.Parse(filter.ValueTerm(id), t.env.Clock())
		if err != nil {
			return q, "", fmt.Errorf("cannot look for the value: %w", err)
		}
		q.What, q.Match = "filter "+f.String(), f.Match
	}
	if hasID {
		q.Title = "Incident " + trust.Line(id).Plain()
		if plain := fileName(id); plain != "" {
			name = "incident-" + plain + ".md"
		}
	}
	return q, name, nil
}

// fileName returns an id as part of a file name, "" if it has unsafe characters.
func fileName(id trust.Text) string {
	text := id.Raw()
	for _, c := range text {
		if c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return ""
		}
	}
	return text[:min(len(text), 64)]
}

// Report asks for the file of the report.
func (t *Tracer) Report() {
	q, name, err := t.reportRequest()
	if err != nil {
		t.env.Screen.Fail("no report", err)
		return
	}
	t.askReport(q, name, "")
}

// askReport asks for the file of a report. there is a file that exists: naming it again replaces it.
func (t *Tracer) askReport(q incidents.Request, name, there string) {
	p := &widget.Prompt{Label: "report to:", Says: "enter writes Markdown of " + q.What + ", with notes and gaps   tab completes   esc goes back"}
	t.env.CompletePath(p)
	p.Done = func(text string) tea.Cmd { return t.writeReport(q, text, text == there) }
	t.env.Screen.AskLine(p, name)
	if there != "" {
		p.Problem = "the file exists; enter again replaces it"
	}
}

// writeReport builds the report and writes its file in the background. If the file exists it asks
// before it overwrites that.
func (t *Tracer) writeReport(q incidents.Request, name string, overwrite bool) tea.Cmd {
	log, path, create := t.env.Log(), t.env.Home(name), t.env.Create
	t.env.Screen.Tell("writing the report " + t.env.Glyphs.More)
	return t.env.Screen.Do(func(ctx context.Context) tea.Msg {
		file, err := create(path, overwrite)
		if errors.Is(err, fs.ErrExist) {
			return widget.Then(func() tea.Cmd { t.askReport(q, name, name); return nil })
		}
		if full, failed := filepath.Abs(path); failed == nil { // the message names the file for any working directory
			path = full
		}
		n := 0
		if err == nil {
			n, err = fillReport(ctx, log, q, file)
		}
		return widget.Done{What: fmt.Sprintf("report of %s in %s", event.Some(n, "record", "records"), path), Err: err}
	})
}

// fillReport writes a report to a file, which is kept only if that succeeds. It returns the number of
// records in the report.
func fillReport(ctx context.Context, log eventlog.Records, q incidents.Request, file external.OutFile) (int, error) {
	r, err := incidents.Build(ctx, log, q)
	if err == nil {
		err = r.Markdown(file)
	}
	if err != nil {
		return 0, errors.Join(err, file.Drop())
	}
	return r.Hits, file.Keep()
}

// RunReport writes the report to the typed file, or to the suggested one. Error: [evidence.ErrUsage].
func (t *Tracer) RunReport(typed []string) (tea.Cmd, error) {
	q, name, err := t.reportRequest()
	if err != nil {
		return nil, err
	}
	switch len(typed) {
	case 0:
	case 1:
		name = typed[0]
	default:
		return nil, evidence.ErrUsage
	}
	return t.writeReport(q, name, false), nil
}

// ReportNames returns the suggested files for a report.
func (t *Tracer) ReportNames([]string) []string {
	_, name, err := t.reportRequest()
	if err != nil {
		return nil
	}
	return []string{name}
}
