package filterbar_test

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/filterbar"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/stream"
)

func TestListGoesToMarksAndRemovesThem(t *testing.T) {
	var went uint64
	var removed []uint64
	s := &tuitest.Screen{}
	st := stream.New(tuitest.StreamEnv(tuitest.Env(), &host.Snapshot{}))
	st.Marks.Load([]event.Mark{{Seq: 4, Note: "the deploy"}, {Seq: 9, Note: "the outage"}}, nil)
	env := &filterbar.Env{
		Env: tuitest.Env(), Screen: s, Stream: &st,
		MarkWords:  func(m event.Mark) trust.Rendered { return cells.Sanitize(m.Note) },
		Goto:       func(seq uint64) { went = seq },
		RemoveMark: func(m event.Mark) tea.Cmd { removed = append(removed, m.Seq); return nil },
	}
	filterbar.OpenMarks(env)
	if text := s.Text(76, 10); !strings.Contains(text, "the outage") || !strings.Contains(text, "the deploy") {
		t.Errorf("listed:\n%s", text)
	}
	s.Press("d", "e", "p")
	if text := s.Text(76, 10); strings.Contains(text, "the outage") {
		t.Errorf("what is typed narrows nothing:\n%s", text)
	}
	s.Press("delete", "enter")
	if went != 4 || !slices.Equal(removed, []uint64{4}) || s.Dialog != nil {
		t.Errorf("went to %d, removed %v", went, removed)
	}
	st.Marks.Load(nil, nil)
	filterbar.OpenMarks(env)
	if text := s.Text(76, 10); !strings.Contains(text, "<mark> marks a record") {
		t.Errorf("without marks:\n%s", text)
	}
	s.Press("enter", "delete", "esc")
	if s.Dialog != nil || len(removed) != 1 {
		t.Error("the empty list does something, or does not close")
	}
}
