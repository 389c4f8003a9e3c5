package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
)

func TestMarksStayOnTheirRecords(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	press(t, a, "2", "g", "j", "m", "n")
	word(t, a, "look here")
	press(t, a, "enter")
	if len(h.marks) != 1 || h.marks[0].Seq != 2 || h.marks[0].Note != "look here" {
		t.Fatalf("marks %+v", h.marks)
	}
	arrive(a)
	press(t, a, ":")
	word(t, a, "mark")
	press(t, a, "enter", "enter")
	if s := screenOf(a); h.marks[0].Note != "look here" || !strings.Contains(s, "enter keeps the note") {
		t.Fatalf("marks %+v\n%s", h.marks, s)
	}
	press(t, a, "esc", "/")
	word(t, a, "server:chat")
	press(t, a, "enter")
	if s := screenOf(a); !strings.Contains(s, "▶14:03:05.6") || !strings.Contains(s, "◆ looking at it") {
		t.Errorf("the mark does not show:\n%s", s)
	}
	press(t, a, "m", "m")
	arrive(a)
	h.event("chat", "message.posted", "after the line")
	arrive(a)
	exact(t, a)
	lines := strings.Split(screenOf(a), "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "── 2026-03-14 14:03:05") })
	if at < 0 || !strings.Contains(lines[at+1], "after the line") {
		t.Errorf("the line does not stand behind the newest record:\n%s", strings.Join(lines, "\n"))
	}
	press(t, a, "esc", "G", "'")
	exact(t, a)
	word(t, a, "look")
	press(t, a, "enter")
	if a.stream.At != 2 || a.stream.Follow {
		t.Errorf("the list leads to %d", a.stream.At)
	}
	press(t, a, "m", "enter")
	if a.prompt == nil || len(h.marks) != 2 {
		t.Errorf("one key takes a note away: %+v", h.marks)
	}
	press(t, a, "ctrl+u", "enter")
	if len(h.marks) != 1 {
		t.Errorf("an empty note left %+v", h.marks)
	}
}

// The detail of a marked record shows the note; the list of marks shows time, event and note.
func TestNotesAreShown(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	press(t, a, "2", "g", "m", "n")
	word(t, a, "retry budget, first seen here")
	press(t, a, "enter", "j", "m", "enter")
	arrive(a)
	flush(a)
	if s := screenOf(a); strings.Contains(s, "note:") {
		t.Errorf("a mark without a note has one:\n%s", s)
	}
	press(t, a, "k")
	lines := strings.Split(screenOf(a), "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "◆ note: retry budget, first seen here") })
	if at < 1 || !strings.Contains(lines[at-1], "▌P1  p99 latency above 4s") || !strings.Contains(lines[at+1], "id  evt_1") {
		t.Errorf("the note does not stand behind the headline:\n%s", strings.Join(lines, "\n"))
	}
	press(t, a, "m", "n", "ctrl+u")
	word(t, a, "another thought")
	press(t, a, "enter")
	arrive(a)
	if s := screenOf(a); !strings.Contains(s, "◆ note: another thought") {
		t.Errorf("the former note stays:\n%s", s)
	}
	press(t, a, "j", "j", "m", "enter", "'")
	arrive(a)
	press(t, a, "esc", "'")
	for _, want := range []string{
		"14:03:05  pager incident.created  p99 latency above 4s  ◆ another thought ",
		"14:03:05  chat message.posted  looking at it ",
		"14:03:05  pager incident.created  push resumed, from the saved cursor, 12",
	} {
		if s := screenOf(a); !strings.Contains(s, want) {
			t.Errorf("%q is not in\n%s", want, s)
		}
	}
	exact(t, a)
}

// A long summary leaves room for the note.
func TestLongSummaryLeavesRoomForTheNote(t *testing.T) {
	h := incident()
	h.marks = []event.Mark{{Seq: h.event("pager", "incident.created", strings.Repeat("very long ", 20)), Note: "the first one"}}
	a := open(t, h, 80, 24)
	arrive(a)
	press(t, a, "'")
	if s := screenOf(a); !strings.Contains(s, "very long") || !strings.Contains(s, "◆ the first one") {
		t.Error(s)
	}
	exact(t, a)
}

// TestNowLinesDoNotHideTheChosenRow draws more "now" lines than fit between the rows.
func TestNowLinesDoNotHideTheChosenRow(t *testing.T) {
	h := incident()
	for i := range 60 {
		seq := h.event("pager", "incident.created", fmt.Sprint("event ", i))
		h.marks = append(h.marks, event.Mark{Seq: seq, At: start, Line: true})
	}
	a := open(t, h, 120, 24)
	for range 70 {
		press(t, a, "2", "k")
		exact(t, a)
		if want := fmt.Sprintf("▶%s", a.log(a.stream.At).ReceivedAt.Format(cells.TimeLong)); !strings.Contains(screenOf(a), want) {
			t.Fatalf("row %d does not show:\n%s", a.stream.At, screenOf(a))
		}
	}
	press(t, a, "G")
	if s := screenOf(a); !strings.Contains(s, "event 59") {
		t.Errorf("the newest does not show:\n%s", s)
	}
}
