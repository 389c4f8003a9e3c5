package filterbar_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/tui/filterbar"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/stream"
)

func TestListGoesToMarksAndRemovesThem(t *testing.T) {
	var went uint64
	s := &tuitest.Screen{}
	st := stream.New(tuitest.StreamEnv(tuitest.Env(), &host.Snapshot{}))
	st.Marks.Load([]event.Mark{{Seq: 4, Note: "the deploy"}, {Seq: 9, Note: "the outage"}}, nil)
	h := &markHost{}
	marks := filterbar.NewMarks(&filterbar.Env{Env: tuitest.Env(), Screen: s, Stream: &st, Goto: func(seq uint64) { went = seq }}, h)
	marks.Open()
	if text := s.Text(76, 10); !strings.Contains(text, "the outage") || !strings.Contains(text, "the deploy") {
		t.Errorf("listed:\n%s", text)
	}
	s.Press("d", "e", "p")
	if text := s.Text(76, 10); strings.Contains(text, "the outage") {
		t.Errorf("what is typed narrows nothing:\n%s", text)
	}
	s.Press("delete", "enter")
	if went != 4 || !slices.Equal(h.removed, []uint64{4}) || s.Dialog != nil {
		t.Errorf("went to %d, removed %v", went, h.removed)
	}
	st.Marks.Load(nil, nil)
	marks.Open()
	if text := s.Text(76, 10); !strings.Contains(text, "<mark> marks a record") {
		t.Errorf("without marks:\n%s", text)
	}
	s.Press("enter", "delete", "esc")
	if s.Dialog != nil || len(h.removed) != 1 {
		t.Error("the empty list does something, or does not close")
	}
}

// markHost records which marks are removed.
type markHost struct{ removed []uint64 }

func (h *markHost) SetMark(context.Context, event.Mark) error { return nil }

func (h *markHost) RemoveMark(_ context.Context, seq uint64, _ bool) error {
	h.removed = append(h.removed, seq)
	return nil
}
