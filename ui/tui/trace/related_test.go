package trace_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/trace"
)

// relatedFixture is a screen with the log of an incident: a page, four equal updates of another server, a
// gap, and the resolution.
type relatedFixture struct {
	tuitest.Screen
	log   tuitest.Log
	times cells.TimeView
	gone  uint64 // the record that the operator went to
}

func relatedNewFixture() *relatedFixture {
	d := &relatedFixture{}
	add := func(server, eventType, data string) {
		at := tuitest.Start.Add(time.Duration(len(d.log.Records)) * time.Minute)
		d.log.Records = append(d.log.Records, event.Record{
			Kind: event.KindEvent, Server: server, Type: trust.Untrusted(eventType), Timestamp: trust.Untrusted(at.Format(time.RFC3339)), ReceivedAt: at,
			Data: json.RawMessage(data),
		})
	}
	add("pager", "page.sent", `{"severity":"P1","title":"checkout is down"}`)
	for range 4 {
		add("chat", "note.added", `{"title":"looking at it"}`)
	}
	gap := event.Record{Kind: event.KindGap, Server: "chat", ReceivedAt: tuitest.Start.Add(5 * time.Minute), Gap: &event.Gap{Cause: event.CauseTruncated, Certain: true}}
	d.log.Records = append(d.log.Records, gap)
	add("pager", "incident.resolved", `{"title":"it is over"}`)
	return d
}

func (d *relatedFixture) open(q trace.Request) tea.Cmd {
	if q.Match == nil {
		q.Match = func(*event.Record) bool { return true }
	}
	q.Title = "Related: INC-7"
	env := &trace.Env{Env: tuitest.Env(), Screen: d, Log: func() eventlog.Records { return &d.log }, Goto: func(seq uint64) { d.gone = seq }, Elsewhere: func(k tea.KeyPressMsg, way string) { d.Told = k.String() + ": " + way }}
	env.Times = d.times
	return trace.OpenRelated(env, q)
}

// lines counts a text in the rows below the lanes.
func (d *relatedFixture) lines(text string) (n int) {
	_, list, _ := strings.Cut(d.Text(120, 30), "───")
	return strings.Count(list, text)
}

func TestRelatedRecordsAreShownInLanesAndAList(t *testing.T) {
	d := relatedNewFixture()
	finding := d.open(trace.Request{At: 3})
	if text := d.Text(120, 30); !strings.Contains(text, "searching") {
		t.Errorf("before anything is found it shows\n%s", text)
	}
	tuitest.Run(finding)
	text := d.Text(120, 30)
	for _, want := range []string{"7 records in 6 m, oldest first", "pager page.sent", "chat note.added", "checkout is down", "P1"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Index(text, "checkout is down") > strings.Index(text, "it is over") {
		t.Errorf("the oldest is not first in\n%s", text)
	}
	if d.Press("enter"); d.gone != 3 || d.Dialog != nil {
		t.Errorf("it went to record %d", d.gone)
	}
}

// R searches again and finds new records; the chosen record stays chosen.
func TestRestartFindsNewRecords(t *testing.T) {
	d := relatedNewFixture()
	tuitest.Run(d.open(trace.Request{At: 3}))
	r := d.log.Records[0]
	r.Data = json.RawMessage(`{"title":"down once more"}`)
	d.log.Records = append(d.log.Records, r)
	d.Press("R")
	if text := d.Text(120, 30); !strings.Contains(text, "down once more") || !strings.Contains(text, "8 records") {
		t.Errorf("it shows\n%s", text)
	}
	if d.Press("enter"); d.gone != 3 {
		t.Errorf("it went to record %d", d.gone)
	}
}

func TestRepeatsAreFoldedAndOpened(t *testing.T) {
	d := relatedNewFixture()
	tuitest.Run(d.open(trace.Request{At: 4, Fold: true}))
	if n := d.lines("looking at it"); n != 1 || d.lines("x4") != 1 || !strings.HasSuffix(d.Dialog.Title(), ", repeats folded") {
		t.Fatalf("%q shows %d of the repeats:\n%s", d.Dialog.Title(), n, d.Text(120, 30))
	}
	if d.Press("l"); d.lines("looking at it") != 4 {
		t.Errorf("opened shows\n%s", d.Text(120, 30))
	}
	if d.Press("h"); d.lines("looking at it") != 1 {
		t.Errorf("closed shows\n%s", d.Text(120, 30))
	}
	if d.Press("#"); d.lines("looking at it") != 4 || d.Dialog.Title() != "Related: INC-7, by time occurred" {
		t.Errorf("%q shows\n%s", d.Dialog.Title(), d.Text(120, 30))
	}
}

func TestKeysOfTheStreamAreExplained(t *testing.T) {
	d := relatedNewFixture()
	tuitest.Run(d.open(trace.Request{Fold: true}))
	for key, want := range map[string]string{"j": "", "#": "", "R": "", "B": "B: enter goes to the row there"} {
		d.Told = ""
		if d.Press(key); d.Told != want {
			t.Errorf("%s says %q", key, d.Told)
		}
	}
}

func TestKeysMoveAlongTheRecords(t *testing.T) {
	for _, step := range []struct {
		keys string
		gone uint64
	}{{"", 7}, {"G", 7}, {"g", 1}, {"g j", 2}, {"G k", 6}} {
		d := relatedNewFixture()
		tuitest.Run(d.open(trace.Request{At: 99})) // which is not among what is found
		if step.keys != "" {
			d.Press(strings.Fields(step.keys)...)
		}
		if d.Press("enter"); d.gone != step.gone {
			t.Errorf("%q leads to record %d, not %d", step.keys, d.gone, step.gone)
		}
	}
}

func TestEmptyResultsAndFailuresAreShown(t *testing.T) {
	for want, prepare := range map[string]func(*relatedFixture, *trace.Request){
		"nothing in the whole history":            func(_ *relatedFixture, q *trace.Request) { q.Match = func(*event.Record) bool { return false } },
		"cannot read the log: the disk is broken": func(d *relatedFixture, _ *trace.Request) { d.log.Err = errors.New("the disk is broken") },
	} {
		d, q := relatedNewFixture(), trace.Request{}
		prepare(d, &q)
		tuitest.Run(d.open(q))
		if text := d.Text(120, 30); !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
		d.Press("j", "k", "l", "h", "#", "enter") // of no row
		if d.gone != 0 {
			t.Error("it leads to a record")
		}
	}
}

func TestSearchEndsWithTheView(t *testing.T) {
	d := relatedNewFixture()
	finding := d.open(trace.Request{})
	d.Press("esc")
	if tuitest.Run(finding); d.Dialog != nil {
		t.Error("what is found opens the view again")
	}
}

// R may be pressed before the search has begun: the race detector watches both.
func TestSearchStartsAgainWhileItBegins(t *testing.T) {
	d := relatedNewFixture()
	finding := d.open(trace.Request{At: 3})
	begun := make(chan tea.Msg)
	go func() { begun <- finding() }()
	again := d.Dialog.Key(tuitest.Keys("R")[0])
	d.Exec(func() tea.Msg { return <-begun })
	d.Exec(again)
	if text := d.Text(120, 30); !strings.Contains(text, "7 records") {
		t.Errorf("it shows\n%s", text)
	}
}

func TestGapsAreShownInTheChosenTimeZone(t *testing.T) {
	d := relatedNewFixture()
	d.log.Records[5].Gap.From = tuitest.Start
	d.times = cells.TimeUTC
	tuitest.Run(d.open(trace.Request{}))
	if text := d.Text(160, 30); !strings.Contains(text, "gap from 14:03:05Z") {
		t.Errorf("it shows\n%s", text)
	}
}

func TestViewFitsAnySize(t *testing.T) {
	d := relatedNewFixture()
	tuitest.Run(d.open(trace.Request{}))
	for w := 1; w < 130; w += 7 {
		for h := 1; h < 12; h++ {
			if n := strings.Count(d.Text(w, h), "\n") + 1; n > h {
				t.Fatalf("%d by %d cells: %d rows", w, h, n)
			}
		}
	}
}
