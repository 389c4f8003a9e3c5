package detail_test

import (
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/reading"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/internal/tuitest"
)

// pane is a detail pane on a log. It can get the records in held.
type pane struct {
	detail.Pane
	env    *detail.Env
	screen tuitest.Screen
	log    *eventlog.Log
	shown  uint64
	held   map[uint64]bool
}

func newPane(records ...event.Record) *pane {
	for i := range records {
		records[i].Seq = uint64(i + 1)
	}
	p := &pane{log: eventlog.New(tuitest.EmptyStore(len(records))), held: map[uint64]bool{}}
	p.log.Append(records)
	p.env = &detail.Env{
		Env: tuitest.Env(), Screen: &p.screen, Log: func() eventlog.Records { return p.log }, Snap: &host.Snapshot{Last: uint64(len(records))},
		Record: func() uint64 { return p.shown },
		Get: func(seq uint64) (event.Record, bool) {
			r, err := p.log.Get(seq)
			return r, err == nil && p.held[seq]
		},
		Note:  func(uint64) string { return "" },
		Rows:  func(uint64) (int, uint64) { return 0, 0 },
		Lost:  func(seq uint64) bool { return seq > uint64(len(records)) },
		Other: func() detail.Other { return detail.Other{} }, Room: func() int { return 80 },
		Focused: func() bool { return true }, Moves: func() bool { return false }, Found: func() string { return "" },
		Demo:     func(string) bool { return false },
		Headline: func(*event.Record) (severity, summary trust.Rendered, level reading.Level) { return },
	}
	p.Pane = detail.New(p.env)
	return p
}

// show shows a record that is held, and runs the commands for that.
func (p *pane) show(seq uint64) string {
	p.shown, p.held[seq] = seq, true
	return p.text()
}

func (p *pane) text() string {
	text := tuitest.Plain(p.Draw(80, 24))
	for cmd := p.Work(); cmd != nil; cmd = p.Work() {
		tuitest.Run(cmd)
		text = tuitest.Plain(p.Draw(80, 24))
	}
	return text
}

func incident(id, title string) event.Record {
	return event.Record{Kind: event.KindEvent, Server: "pager", Type: trust.Untrusted("incident.created"), Mode: event.ModePush, Sub: "s1",
		EventID: trust.Untrusted(id), Data: []byte(`{"incidentId":"INC-7","title":"` + title + `"}`)}
}

// A demo server drops streams in mid-run too: only the loss of its history comes from its start.
func TestStartOfTheDemoExplainsOnlyLostHistory(t *testing.T) {
	for cause, want := range map[event.Cause]bool{event.CauseTruncated: true, event.CauseNoReplay: false} {
		p := newPane(event.Record{Kind: event.KindGap, Server: "chat", Type: trust.Untrusted("presence.changed"), Sub: "s1", Gap: &event.Gap{Cause: cause}})
		p.env.Demo = func(string) bool { return true }
		p.Pane = detail.New(p.env)
		if text := p.show(1); strings.Contains(text, "Demo servers start anew") != want || !strings.Contains(text, "cause") {
			t.Errorf("%s:\n%s", cause, text)
		}
	}
}

func TestRecordIsShownOnceItIsHeld(t *testing.T) {
	p := newPane(incident("a", "pool exhausted"))
	if text := p.text(); !strings.Contains(text, "chosen in the stream is shown here") {
		t.Errorf("without a record:\n%s", text)
	}
	p.shown = 1
	if text := p.text(); !strings.Contains(text, "is being read") {
		t.Errorf("while it is read:\n%s", text)
	}
	if text := p.show(1); !strings.Contains(text, "pool exhausted") || !strings.Contains(text, "untrusted data from pager") {
		t.Errorf("when it is held:\n%s", text)
	}
	p.shown = 5
	if text := p.text(); !strings.Contains(text, "not in the log any more") {
		t.Errorf("when it is gone:\n%s", text)
	}
}

func TestTabsOfARecord(t *testing.T) {
	first, second := incident("a", "one"), incident("b", "two")
	first.Cursor = event.Cursor{Valid: true, Text: trust.Untrusted("cursor-1")}
	second.Raw = []byte(`{"eventId":"b"}`)
	p := newPane(first, second)
	p.show(2)
	for _, want := range [][]string{{"15 bytes, as they came"}, {"gives no schema"}, {"before: cursor-1", "none came with it"}, {"INC-7", "same incidentId", "<open> goes to the chosen one"}, {"two"}} {
		p.Turn(1)
		text := p.text()
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: no %q in\n%s", p.Title(80), w, text)
			}
		}
	}
}

func TestLinesAreChosenAndFolded(t *testing.T) {
	p := newPane(event.Record{Kind: event.KindEvent, Server: "pager", Data: []byte(`{"a":{"b":1,"c":2},"d":3}`)})
	p.show(1)
	p.By(1000)
	if p.At != len(p.Lines)-1 {
		t.Errorf("the last line is %d of %d", p.At, len(p.Lines))
	}
	open := len(p.Lines)
	for p.By(-1000); p.At < len(p.Lines)-1 && len(p.Lines) == open; p.By(1) {
		if p.Chosen().Text.Plain() != "" && strings.Contains(p.Chosen().Text.Plain(), `"a"`) {
			p.Toggle()
			p.text()
			break
		}
	}
	if len(p.Lines) >= open {
		t.Errorf("%d lines, as many as before it was folded", len(p.Lines))
	}
	p.OpenWhy()
	if text := p.screen.Text(80, 10); !strings.Contains(text, "Nothing was noticed") {
		t.Errorf("why:\n%s", text)
	}
	p.screen.Press("esc")
	p.OpenQuiet("gone", nil)
	if text := p.screen.Text(80, 10); !strings.Contains(text, "has ended") {
		t.Errorf("why it is quiet:\n%s", text)
	}
}
