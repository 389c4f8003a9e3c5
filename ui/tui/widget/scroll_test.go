package widget_test

import (
	"testing"

	"eventdeck/ui/tui/widget"
)

func TestScrollShowsTheLastRowsAtMost(t *testing.T) {
	var s widget.Scroll
	s.Visible(20, 6)
	for _, step := range []struct {
		key        string
		first, end int
	}{
		{"k", 0, 6}, {"j", 1, 7}, {"space", 4, 10}, {"pgdown", 7, 13}, {"G", 14, 20}, {"down", 14, 20}, {"ctrl+u", 11, 17}, {"x", 11, 17}, {"home", 0, 6},
	} {
		s.Key(step.key)
		if first, end := s.Visible(20, 6); first != step.first || end != step.end {
			t.Errorf("after %s rows %d to %d are in sight, want %d to %d", step.key, first, end, step.first, step.end)
		}
	}
	s.Key("G")
	if first, end := s.Visible(3, 6); first != 0 || end != 3 {
		t.Errorf("of three rows %d to %d are in sight", first, end)
	}
}

func TestChosenRowStaysInSight(t *testing.T) {
	var c widget.Chooser
	c.Visible(10, 4)
	for _, step := range []struct {
		key        string
		at         int
		first, end int
	}{
		{"up", 0, 0, 4}, {"G", 9, 6, 10}, {"j", 9, 6, 10}, {"pgup", 7, 6, 10}, {"ctrl+u", 5, 5, 9}, {"g", 0, 0, 4}, {"ctrl+d", 2, 0, 4},
	} {
		if !c.Key(step.key, 10) {
			t.Errorf("%s does not move", step.key)
		}
		if first, end := c.Visible(10, 4); c.At != step.at || first != step.first || end != step.end {
			t.Errorf("after %s row %d of %d to %d is chosen, want %d of %d to %d", step.key, c.At, first, end, step.at, step.first, step.end)
		}
	}
	if c.Key("space", 10) || c.Key("j", 0) && c.At != 0 {
		t.Error("space moves, or a row is chosen where there is none")
	}
	c.At = 8
	c.Visible(10, 4) // rows 5 to 8
	if c.Click(4, 10); c.At != 8 {
		t.Error("a click below the list chooses a row")
	}
	if c.Click(1, 10); c.At != 6 {
		t.Errorf("a click on the second row in sight chooses %d, want 6", c.At)
	}
}
