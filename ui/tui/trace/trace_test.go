package trace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/external"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/persist"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/trace"
	"eventdeck/ui/tui/widget"
)

// fixture is a screen with a log of four events, of which two belong to incident INC-7.
type fixture struct {
	tuitest.Screen
	trace.Tracer
	stream   stream.Stream
	persist  persist.Saver
	shown    query.Query
	lost     string // the filter that was replaced
	pins     []string
	line     string // the value of the detail's chosen line
	noValue  string // the message if that line has none
	file     *file
	there    bool // the file exists
	selected []event.Record
	log      tuitest.Log
}

// file is a file in memory.
type file struct {
	bytes.Buffer
	kept bool
}

func (f *file) Keep() error { f.kept = true; return nil }
func (f *file) Drop() error { return nil }

// newFixture returns a fixture whose stream stands at a record.
func newFixture(t *testing.T, at uint64) *fixture {
	d := &fixture{}
	env := tuitest.Env()
	for i, data := range []string{`{"incidentId":"INC-7","severity":"P1"}`, `{"incidentId":"INC-7","severity":"P2"}`, `{"note":"nothing"}`, `{"id":"e-4","ticket":"T-1\u202e","orderId":"O-9"}`} {
		d.log.Records = append(d.log.Records, event.Record{Kind: event.KindEvent, Server: "pager", Type: trust.Untrusted("page.sent"), EventID: trust.Untrusted(fmt.Sprint("e", i+1)), ReceivedAt: tuitest.Start, Data: json.RawMessage(data)})
	}
	d.persist = persist.New(persist.Settings{Screen: &d.Screen}, time.Now)
	d.stream = stream.New(tuitest.StreamEnv(env, &host.Snapshot{Last: 4}))
	d.stream.Follow = true
	d.stream.Show(query.Query{})
	d.stream.Seek(at)
	for r, wanted := d.stream.Next(); wanted; r, wanted = d.stream.Next() {
		d.stream.Take(query.Answer(t.Context(), &d.log, r))
	}
	if d.stream.At != at {
		t.Fatalf("the stream stands at %d", d.stream.At)
	}
	d.Tracer = trace.New(trace.Env{
		Env: env, Screen: d, Stream: &d.stream, Persist: &d.persist, Log: func() eventlog.Records { return &d.log },
		Value: func() (string, trust.Text, bool) {
			return ".line=" + d.line, trust.Untrusted(d.line), d.line != ""
		},
		NoValue:      func() string { return d.noValue },
		Selected:     func(then func([]event.Record) tea.Cmd) tea.Cmd { return then(d.selected) },
		Filter:       func(q query.Query, was string) { d.shown, d.stream.Query, d.lost = q, q, was },
		Goto:         func(seq uint64) { d.Record = seq },
		Pin:          func(values []string) { d.pins, env.Pins = values, values },
		Elsewhere:    func(tea.KeyPressMsg, string) {},
		RowName:      func() string { return "14:03 a row" },
		Home:         func(path string) string { return path },
		CompletePath: func(*widget.Prompt) {},
		Getenv:       func(string) string { return "" },
		Create: func(_ string, overwrite bool) (external.OutFile, error) {
			if d.there && !overwrite {
				return nil, fs.ErrExist
			}
			d.file = &file{}
			return d.file, nil
		},
	})
	return d
}

func (d *fixture) do(cmd tea.Cmd, err error) error {
	d.Exec(cmd)
	return err
}

func TestFollowFiltersByTheValue(t *testing.T) {
	d := newFixture(t, 1)
	if d.Follow(trace.Only); d.shown.Text == "" || !strings.Contains(d.shown.Text, "INC-7") || !strings.Contains(d.Told, "<back> takes it away") {
		t.Errorf("shown is %q, told %q", d.shown.Text, d.Told)
	}
	d.line = "x"
	if d.Follow(trace.Not); !strings.Contains(d.shown.Text, "INC-7") || !strings.Contains(d.shown.Text, "!.line=x") {
		t.Errorf("shown is %q", d.shown.Text)
	}
	d = newFixture(t, 3)
	if d.Follow(trace.Only); d.shown.Text != "" || !strings.Contains(d.Told, "no id was found in the chosen row (14:03 a row)") {
		t.Errorf("shown is %q, told %q", d.shown.Text, d.Told)
	}
	d.noValue = "no value on this line"
	if d.Follow(trace.Only); d.shown.Text != "" || d.Told != d.noValue {
		t.Errorf("of a line shown is %q, told %q", d.shown.Text, d.Told)
	}
}

// If several values may be meant the operator chooses one; esc does nothing.
func TestOperatorChoosesAmongValues(t *testing.T) {
	d := newFixture(t, 4)
	for key, want := range map[string]string{"enter": "T-1", "2": "O-9", "3": "e-4", "4": "", "esc": ""} {
		d.shown = query.Query{}
		d.do(d.Follow(trace.Only), nil)
		if text := d.Text(60, 8); !strings.Contains(text, "show only what has it") || !strings.Contains(text, "2 .orderId") || strings.Contains(text, "\u202e") {
			t.Fatalf("asked is\n%s", text)
		}
		if d.Press(key); (want == "") != (d.shown.Text == "") || !strings.Contains(d.shown.Text, want) || want != "" && (d.Dialog != nil || !strings.Contains(d.Told, want)) {
			t.Errorf("%s: shown is %q, told %q", key, d.shown.Text, d.Told)
		}
		d.Dialog, d.shown, d.stream.Query = nil, query.Query{}, query.Query{}
	}
	d.do(d.Pin(), nil)
	if d.Press("down", "down", "down", "up", "enter"); !slices.Equal(d.pins, []string{"o-9"}) {
		t.Errorf("pinned are %q", d.pins)
	}
	if d.do(d.Related(), nil); d.Dialog == nil || d.Dialog.Title() != "Which value?" {
		t.Errorf("shown is %v", d.Dialog)
	}
	if d.Press("2"); d.Dialog == nil || d.Dialog.Title() != "Related: O-9, by time occurred" {
		t.Errorf("shown is %v", d.Dialog)
	}
}

// The message names a replaced filter and how to get it back.
func TestReplacedFilterIsNamed(t *testing.T) {
	d := newFixture(t, 1)
	d.stream.Query, _ = query.New(query.Node{}, "sev:error", tuitest.Start)
	if d.Follow(trace.Too); d.lost != "" || !strings.Contains(d.Told, "<back> takes it away") {
		t.Errorf("added: lost is %q, told %q", d.lost, d.Told)
	}
	d.stream.Query, _ = query.New(query.Node{}, "sev:error", tuitest.Start)
	if d.Follow(trace.Only); d.lost != "sev:error" || d.Told != "filter value:INC-7; filter was sev:error; <filter.toggle> brings it back" {
		t.Errorf("lost is %q, told %q", d.lost, d.Told)
	}
	if d.Follow(trace.Only); d.lost != "" {
		t.Errorf("the same filter is lost: %q", d.lost)
	}
	d.stream.Query.Off = true
	if d.Follow(trace.Not); d.shown.Text != "!value:INC-7" || d.lost != "value:INC-7" {
		t.Errorf("of a filter that is off: %q, lost %q", d.shown.Text, d.lost)
	}
}

func TestPinTogglesAValue(t *testing.T) {
	d := newFixture(t, 1)
	if d.Pin(); !slices.Equal(d.pins, []string{"inc-7"}) {
		t.Errorf("pinned are %q", d.pins)
	}
	if d.Pin(); len(d.pins) != 0 || d.Told != "INC-7 is not pinned any more" {
		t.Errorf("pinned are %q, told %q", d.pins, d.Told)
	}
}

func TestRunRelatedAndRunTop(t *testing.T) {
	d := newFixture(t, 1)
	if err := d.do(d.RunRelated(nil)); err != nil || d.Dialog == nil || d.Dialog.Title() != "Related: INC-7, by time occurred" {
		t.Errorf("%v, shown is %v", err, d.Dialog)
	}
	d.Dialog = nil
	if err := d.do(d.RunTop([]string{".severity"})); err != nil || d.Dialog == nil {
		t.Errorf("%v, shown is %v", err, d.Dialog)
	}
	for line, want := range map[string]error{"": trace.ErrNoPath, ".a .b": evidence.ErrUsage} {
		if err := d.do(d.RunTop(strings.Fields(line))); !errors.Is(err, want) {
			t.Errorf("%q: %v", line, err)
		}
	}
	d = newFixture(t, 3)
	if err := d.do(d.RunRelated(nil)); err == nil {
		t.Error("of no value something is related")
	}
}

func TestEventsAreCompared(t *testing.T) {
	d := newFixture(t, 1)
	if d.do(d.Compare(), nil); d.Comparing != 1 || d.Dialog != nil {
		t.Fatalf("to be compared is %d", d.Comparing)
	}
	d.stream.At = 2
	if d.do(d.Compare(), nil); d.Comparing != 0 || !strings.Contains(d.Text(100, 20), "severity") {
		t.Errorf("left is %d, shown\n%s", d.Comparing, d.Text(100, 20))
	}
	for line, want := range map[string]error{"#1": evidence.ErrUsage, "#1 two": evidence.ErrUsage, "#1 2": nil} {
		if err := d.do(d.RunCompare(strings.Fields(line))); !errors.Is(err, want) {
			t.Errorf("%s: %v", line, err)
		}
	}
	d.log.Err = errors.New("the disk is gone")
	if d.do(d.RunCompare([]string{"#1", "#2"})); !errors.Is(d.Failed, d.log.Err) {
		t.Errorf("told is %v", d.Failed)
	}
}

func TestReportIsWritten(t *testing.T) {
	d := newFixture(t, 1)
	d.Report()
	if d.Prompt == nil || d.Prompt.Field.Text() != "incident-INC-7.md" {
		t.Fatalf("asked is %+v", d.Prompt)
	}
	d.there = true
	if err := d.do(d.RunReport(nil)); err != nil || !strings.Contains(d.Prompt.Problem, "the file exists; enter again replaces it") || d.file != nil {
		t.Errorf("%v, asked is %+v", err, d.Prompt)
	}
	d.there = false
	if err := d.do(d.RunReport([]string{"out.md"})); err != nil || !strings.HasPrefix(d.Told, "report of 2 records in /") && !strings.Contains(d.Told, `:\`) || !strings.HasSuffix(d.Told, "out.md") || !d.file.kept || !strings.Contains(d.file.String(), "# Incident INC-7") {
		t.Errorf("%v, told %q (%v)", err, d.Told, d.Failed)
	}
	if err := d.do(d.RunReport([]string{"a", "b"})); !errors.Is(err, evidence.ErrUsage) {
		t.Error(err)
	}
}

func TestEventsArePiped(t *testing.T) {
	d := newFixture(t, 1)
	var input []byte
	d.Command = func(_ context.Context, args []string, in []byte) ([]byte, error) {
		input = in
		return []byte(strings.Join(args, " ")), nil
	}
	r, _ := d.log.Get(1)
	d.selected = []event.Record{r, {Seq: 2, Kind: event.KindGap}}
	if err := d.do(d.RunPipe([]string{"ndjson", "jq", ".data"})); err != nil || bytes.Count(input, []byte("\n")) != 1 || !slices.Equal(d.persist.Pipes, []string{"ndjson jq .data"}) {
		t.Errorf("%v, piped is %q, remembered %q", err, input, d.persist.Pipes)
	}
	if err := d.do(d.RunPipe([]string{"ndjson"})); err == nil {
		t.Error("nothing is run")
	}
	d.AskPipe("", "there is no command")
	if d.Type("jq | wc"); !strings.Contains(d.Prompt.Warning, "there is no shell") {
		t.Errorf("the prompt says %q", d.Prompt.Warning)
	}
	for line, json := range map[string]bool{"jq .data": true, "/usr/local/bin/jq .data": true, "jqx .data": false, "less": false, "ndjson less": true} {
		d.AskPipe("", "")
		if d.Type(line); d.Prompt.Warning != "" {
			t.Errorf("%s: the prompt warns of %q", line, d.Prompt.Warning)
		}
		if d.do(d.Prompt.Done(line), nil); bytes.Contains(input, []byte("<<<untrusted-")) == json {
			t.Errorf("%s: piped is %q", line, input)
		}
	}
	d.selected = slices.Repeat(d.selected, 1_002)
	if err := d.do(d.RunPipe([]string{"jq", "."})); err != nil || bytes.Count(input, []byte("\n")) != 1_000 || !strings.Contains(d.Text(100, 20), "The command got the first 1,000 of 1,002 events.") {
		t.Errorf("%v, %d lines are piped, shown\n%s", err, bytes.Count(input, []byte("\n")), d.Text(100, 20))
	}
	d.stream.At = 0
	if err := d.do(d.RunPipe(nil)); err == nil {
		t.Error("no event is piped")
	}
}
