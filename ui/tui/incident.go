package tui

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/export"
	"eventdeck/host/filter"
	"eventdeck/host/trust"
	"eventdeck/ui/incidents"
	"eventdeck/ui/tui/action"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/compare"
	"eventdeck/ui/tui/external"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/pipe"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/related"
	"eventdeck/ui/tui/top"
	"eventdeck/ui/tui/widget"
	"eventdeck/ui/tui/words"
)

// incidentActions follow a value over servers and types, and hand on what was found.
func (a *app) incidentActions() []action.Action {
	return action.Grouped("Incident",
		action.Action{ID: "value.filter", Title: "follow the value: show only what has it", Needs: action.Event, Also: "filter by this value incident id correlate =", Keys: []string{"="}, Hint: "follow", Panes: onEvent, When: a.onRecord, Run: action.Act(func() { a.followValue(followOnly) })},
		action.Action{ID: "value.exclude", Title: "leave out what has the value", Needs: action.Event, Also: "filter out exclude not -", Keys: []string{"-"}, Panes: inDetail, When: a.onRecord, Run: action.Act(func() { a.followValue(followNot) })},
		action.Action{ID: "value.add", Title: "add the value to the filter", Needs: action.Event, Also: "narrow and filter +", Keys: []string{"+"}, Panes: inDetail, When: a.onRecord, Run: action.Act(func() { a.followValue(followToo) })},
		action.Action{ID: "value.pin", Title: "pin the value: it stands out everywhere", Needs: action.Event, Also: "colour color highlight mark value", Keys: []string{"*"}, Panes: onEvent, When: a.onRecord, Run: action.Act(a.pinValue)},
		action.Action{ID: "related", Title: "everything that shares the value, over time", Needs: action.Event, Also: "correlate follow incident lanes graph trace relate", Keys: []string{"&"}, Hint: "related", Panes: onEvent, When: a.onRecord, Run: a.openRelated},
		action.Action{ID: "repeats", Title: "fold repeats: equal summaries in a row as one", Also: "collapse group duplicates count fold", Keys: []string{"#"}, Panes: onEvent, Run: a.openRepeats},
		action.Action{ID: "compare", Title: "compare two events: mark one, then the other", Needs: action.Event, Also: "diff difference versus", Keys: []string{"B"}, Panes: onEvent, When: a.onRecord, Run: a.compareChosen},
		action.Action{ID: "report", Title: "report of the incident, as Markdown", Needs: action.Event, Also: "export postmortem review markdown", Keys: []string{"E"}, Panes: onEvent, When: a.onRecord, Run: action.Act(a.openReport)},
		action.Action{ID: "pipe", Title: "pipe the event, or the range, to a command", Needs: action.Event, Also: "jq shell hand on run command", Keys: []string{"|"}, Panes: onEvent, When: a.onRecord, Run: action.Act(func() { a.askPipe("", "") })},
	)
}

// incidentCommands are the same as lines.
func (a *app) incidentCommands() []action.Command {
	return []action.Command{
		{Name: "related", Usage: "[VALUE]", Title: "everything that shares a value, over time", Run: a.runRelated},
		{Name: "top", Usage: ".PATH", Title: "the most frequent values of a field", Run: a.runTop, Complete: a.completeTop},
		{Name: "compare", Usage: "#SEQ #SEQ", Title: "what differs between two events", Run: a.runCompare},
		{Name: "report", Usage: "[FILE]", Title: "write the incident's report as Markdown", Run: a.runReport, Complete: a.completeReport},
		{Name: "pipe", Usage: "[ndjson] COMMAND [ARG…]", Title: "pipe the chosen event, or the range, to a command", Run: a.runPipe},
	}
}

// noValue says that the keys for values have none to act on, and in which row.
func (a *app) noValue() string {
	return "no id was found in the chosen row (" + a.rowName() + "); open it and choose a line with a value"
}

// value is what the keys for values are about: that of the detail's chosen line, else the
// id that says best what the chosen event belongs to.
func (a *app) value() (term string, text trust.Text, ok bool) {
	if a.panes.Focus == layout.Detail && a.detail.HasValue() {
		return a.detail.Value()
	}
	if text, ok = a.chosenID(); !ok {
		return "", trust.Text{}, false
	}
	return filter.ValueTerm(text), text, true
}

// idOf is the id of a record, as it was read once.
type idOf struct {
	seq   uint64
	text  trust.Text
	found bool
}

// chosenID is the id that says best what the chosen event belongs to.
func (a *app) chosenID() (trust.Text, bool) {
	if a.stream.At != a.id.seq {
		a.id = idOf{}
		if r, ok := a.chosenRecord(); ok {
			a.id.seq = r.Seq
			a.id.text, a.id.found = incidents.IDOf(&r)
		}
	}
	return a.id.text, a.id.found
}

// following is what becomes of the filter with a value.
type following uint8

const (
	followOnly following = iota // what has the value, whatever else was filtered
	followNot                   // and not what has it
	followToo                   // and only what has it
)

// followValue filters by the value. It is looked for at all servers, as each names it
// differently. The keys stay where they are, so that another value can follow.
func (a *app) followValue(how following) {
	term, _, ok := a.value()
	if !ok {
		a.Tell(a.noValue())
		return
	}
	node, text := query.Node{}, term
	if how != followOnly {
		node = a.stream.Query.Node
		before := a.stream.Query.Text
		if a.stream.Query.Off {
			before = ""
		}
		text = filter.With(before, term, how == followNot)
	}
	a.useTerm(node, text)
}

// useTerm shows what a filter takes at a node, and remembers the filter.
func (a *app) useTerm(node query.Node, text string) {
	q, err := query.New(node, text, a.Clock())
	if err != nil {
		a.Fail("cannot filter by the value", err)
		return
	}
	if a.stream.Query.Node != node {
		a.tree.At = node
	}
	a.filters.Remember(text)
	a.requery(q)
	a.Tell("filter " + cells.Sanitize(text).Plain() + "; " + a.KeyOf("back") + " takes it away")
}

// pinValue has the value stand out wherever payloads are shown, or no longer. The oldest
// pin makes room for a new one.
func (a *app) pinValue() {
	_, text, ok := a.value()
	plain := trust.Line(text).Plain()
	if !ok || plain == "" {
		a.Tell(a.noValue())
		return
	}
	pin := strings.ToLower(plain)
	pins := slices.DeleteFunc(slices.Clone(a.Pins), func(p string) bool { return p == pin })
	if len(pins) < len(a.Pins) {
		a.Tell(plain + " is not pinned any more")
	} else {
		pins = append(pins[max(0, len(pins)+1-cells.PinsMax):], pin)
		a.Tell(plain + " is pinned; " + a.KeyOf("value.pin") + " again takes the pin away")
	}
	a.Pins = pins
	a.Style++
}

func (a *app) forRelated() *related.Env {
	return &related.Env{Env: &a.Env, Screen: a, Log: a.incidentLog, Goto: a.gotoSeq}
}

func (a *app) incidentLog() incidents.Log { return a.api.Log() }

// openRelated shows everything that shares the value.
func (a *app) openRelated() tea.Cmd {
	term, text, ok := a.value()
	if !ok {
		a.Tell(a.noValue())
		return nil
	}
	return a.showRelated(term, "Related: "+trust.Line(text).Plain())
}

func (a *app) showRelated(term, title string) tea.Cmd {
	f, err := filter.Parse(term, a.Clock())
	if err != nil {
		a.Fail("cannot look for the value", err)
		return nil
	}
	return related.Open(a.forRelated(), related.Request{Title: title, Match: f.Match, At: a.stream.At})
}

// openRepeats shows what the stream shows, with repeats folded.
func (a *app) openRepeats() tea.Cmd {
	q := a.stream.Query
	return related.Open(a.forRelated(), related.Request{Title: "What is shown", Match: func(r *event.Record) bool {
		return r.Kind != event.KindState && q.Matches(r)
	}, At: a.stream.At, Fold: true})
}

func (a *app) runRelated(words []string) (tea.Cmd, error) {
	if len(words) == 0 {
		if _, _, ok := a.value(); !ok {
			return nil, errors.New(a.noValue())
		}
		return a.openRelated(), nil
	}
	text := strings.Join(words, " ")
	return a.showRelated(filter.ValueTerm(trust.Untrusted(text)), "Related: "+cells.Sanitize(text).Plain()), nil
}

func (a *app) runTop(words []string) (tea.Cmd, error) {
	if len(words) != 1 {
		return nil, a.actions.Usage("top")
	}
	path, err := filter.ParsePath(words[0])
	if err != nil {
		return nil, err
	}
	q := a.stream.Query
	return top.Open(&top.Env{Env: &a.Env, Screen: a, Log: a.incidentLog, Filter: func(term string) tea.Cmd {
		a.useTerm(q.Node, filter.With(a.stream.Query.Text, term, false))
		return nil
	}}, path, q.Matches), nil
}

func (a *app) completeTop(words []string) []string { return a.filters.Paths(words[len(words)-1]) }

// compareChosen compares the chosen event with the one that was chosen for it before, or
// the ends of the range.
func (a *app) compareChosen() tea.Cmd {
	first, second := a.comparing, a.stream.At
	if a.stream.Selected.On && !a.stream.Selected.All {
		first, second = a.stream.Ends()
	}
	if first == 0 || first == second {
		a.comparing = a.stream.At
		a.Tell("record " + cells.Number(a.comparing) + " is to be compared: choose another, and " + a.KeyOf("compare") + " again; " + a.KeyOf("back") + " ends it")
		return nil
	}
	a.comparing = 0
	return a.compareRecords(first, second)
}

// compareRecords reads two records and shows what differs.
func (a *app) compareRecords(first, second uint64) tea.Cmd {
	log := a.api.Log()
	return a.Do(func(context.Context) tea.Msg {
		x, err := log.Get(first)
		y, err2 := log.Get(second)
		return widget.Then(func() tea.Cmd {
			if err := errors.Join(err, err2); err != nil {
				a.Fail("cannot compare", err)
				return nil
			}
			compare.Open(&a.Env, a, &x, &y)
			return nil
		})
	})
}

func (a *app) runCompare(words []string) (tea.Cmd, error) {
	if len(words) != 2 {
		return nil, a.actions.Usage("compare")
	}
	var seqs [2]uint64
	for i, w := range words {
		seq, err := strconv.ParseUint(strings.TrimPrefix(w, "#"), 10, 64)
		if err != nil {
			return nil, a.actions.Usage("compare")
		}
		seqs[i] = seq
	}
	return a.compareRecords(seqs[0], seqs[1]), nil
}

// reportRequest is the report of what is filtered, else of what shares the chosen event's
// id, else of what is marked.
func (a *app) reportRequest() (q incidents.Request, name string) {
	q = incidents.Request{Title: "Incident report", What: "what is marked", Made: a.Clock(), Zone: a.Times.Zone(), Payload: true, Marks: a.stream.Marks.List()}
	name = "incident-" + a.Clock().Local().Format("20060102-150405") + ".md"
	id, hasID := a.chosenID()
	shown := a.stream.Query
	switch {
	case shown.Filters():
		q.What, q.Match = "filter "+shown.Text, shown.Matches
	case hasID:
		if f, err := filter.Parse(filter.ValueTerm(id), a.Clock()); err == nil {
			q.What, q.Match = "filter "+f.String(), f.Match
		}
	}
	if hasID {
		q.Title = "Incident " + trust.Line(id).Plain()
		if plain := fileName(id); plain != "" {
			name = "incident-" + plain + ".md"
		}
	}
	return q, name
}

// fileName is an id as a part of a file's name, "" if it has characters that do not
// belong there.
func fileName(id trust.Text) string {
	text := id.Raw()
	for _, c := range text {
		if c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return ""
		}
	}
	return text[:min(len(text), 64)]
}

// openReport asks for the file of the report.
func (a *app) openReport() {
	q, name := a.reportRequest()
	a.askReport(q, name, "")
}

// askReport asks for the file of a report. One that is there, and was asked for before,
// is replaced.
func (a *app) askReport(q incidents.Request, name, there string) {
	p := &widget.Prompt{Label: "report to:", Says: "enter writes Markdown of " + q.What + ", with notes and gaps   esc goes back"}
	p.Done = func(text string) tea.Cmd { return a.writeReport(q, text, text == there) }
	a.AskLine(p, name)
	if there != "" {
		p.Problem = "there is such a file; enter again replaces it"
	}
}

// writeReport builds the report and writes its file beside the program. For one that is
// there it asks again.
func (a *app) writeReport(q incidents.Request, name string, overwrite bool) tea.Cmd {
	log, path, create := a.incidentLog(), a.atHome(name), a.exports.Create
	a.Tell("writing the report " + a.Glyphs.More)
	return a.Do(func(ctx context.Context) tea.Msg {
		file, err := create(path, overwrite)
		if errors.Is(err, fs.ErrExist) {
			return widget.Then(func() tea.Cmd { a.askReport(q, name, name); return nil })
		}
		n := 0
		if err == nil {
			n, err = fillReport(ctx, log, q, file)
		}
		return widget.Done{What: fmt.Sprintf("report of %s in %s", event.Some(n, "record", "records"), path), Err: err}
	})
}

// fillReport writes a report into a file that is kept when the report is whole. It returns
// how many records the report has.
func fillReport(ctx context.Context, log incidents.Log, q incidents.Request, file external.OutFile) (int, error) {
	r, err := incidents.Build(ctx, log, q)
	if err == nil {
		err = r.Markdown(file)
	}
	if err != nil {
		return 0, errors.Join(err, file.Drop())
	}
	return r.Hits, file.Keep()
}

func (a *app) runReport(words []string) (tea.Cmd, error) {
	q, name := a.reportRequest()
	switch len(words) {
	case 0:
	case 1:
		name = words[0]
	default:
		return nil, a.actions.Usage("report")
	}
	return a.writeReport(q, name, false), nil
}

func (a *app) completeReport(_ []string) []string {
	_, name := a.reportRequest()
	return []string{name}
}

// pipeMax bounds the events that are handed on at once.
const pipeMax = 1_000

// askPipe asks for a command; problem says why the line before failed.
func (a *app) askPipe(line, problem string) {
	says := "a command, run without a shell; gets envelopes, after ndjson lines of JSON (ndjson jq .data)   esc back"
	if len(a.memo.Pipes) > 0 {
		says += "   up: " + a.memo.Pipes[0]
	}
	p := &widget.Prompt{Label: "|", Says: says, Past: a.memo.Pipes}
	p.Change = func(text string) {
		if sign := pipe.ShellSign(text); sign != "" {
			p.Warning = "there is no shell: " + sign + " is handed to the command as it is; sh -c '…' runs one"
		}
	}
	p.Done = func(text string) tea.Cmd {
		cmd, err := a.pipe(text)
		if err != nil {
			p.Problem = err.Error()
		}
		return cmd
	}
	a.AskLine(p, line)
	p.Problem = problem
}

// pipe runs a line on the chosen event, or on those of the range.
func (a *app) pipe(line string) (tea.Cmd, error) {
	args, err := pipe.Args(line, a.env)
	if err != nil {
		return nil, err
	}
	ndjson := args[0] == "ndjson"
	if ndjson {
		if args = args[1:]; len(args) == 0 {
			return nil, pipe.ErrNoCommand
		}
	}
	a.memo.Pipes = widget.Remember(a.memo.Pipes, line)
	return a.withSelected(func(records []event.Record) tea.Cmd {
		return pipe.Open(&pipe.Env{Env: &a.Env, Screen: a, Getenv: a.env, Again: a.askPipe, Run: a.runCommand}, line, args, func(ctx context.Context) ([]byte, error) {
			return piped(ctx, records, ndjson)
		})
	}), nil
}

// piped is what a command gets: each event in an envelope, or as a line of JSON.
func piped(ctx context.Context, records []event.Record, ndjson bool) (out []byte, err error) {
	n := 0
	for i := range records {
		r := &records[i]
		if r.Kind != event.KindEvent {
			continue
		}
		if n++; n > pipeMax || ctx.Err() != nil {
			break
		}
		if ndjson {
			out = export.AppendLine(out, r, false)
			continue
		}
		sealed, err := incidents.Envelope(r, nil)
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", r.Seq, err)
		}
		out = append(out, sealed...)
	}
	if n == 0 {
		return nil, errors.New("there is no event among these records")
	}
	return out, nil
}

func (a *app) runPipe(typed []string) (tea.Cmd, error) {
	if a.stream.At == 0 {
		return nil, errors.New("no event is chosen")
	}
	if len(typed) == 0 {
		a.askPipe("", "")
		return nil, nil
	}
	line := make([]string, len(typed))
	for i, w := range typed {
		line[i] = words.Quote(w)
	}
	return a.pipe(strings.Join(line, " "))
}

// chosenRecord is the record that the keys are about.
func (a *app) chosenRecord() (event.Record, bool) {
	if a.stream.At == 0 {
		return event.Record{}, false
	}
	return a.stream.Record(a.stream.At)
}
