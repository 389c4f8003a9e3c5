package layout_test

import (
	"strings"
	"testing"

	"eventdeck/ui/tui/layout"
)

func screen(w, h int) *layout.Screen {
	s := &layout.Screen{Shape: layout.Shape{W: w, H: h, Focus: layout.Stream, Subject: layout.Stream}}
	s.Now = s.Arranged(0)
	return s
}

func TestPanesAreZoomedAndGrow(t *testing.T) {
	s := screen(200, 50)
	if s.Zoom(); s.Size != layout.Full || !s.Arranged(0).Stacked {
		t.Error("the pane has not the whole screen")
	}
	if s.Zoom(); s.Size != layout.Normal {
		t.Error("the pane keeps the whole screen")
	}
	before := s.Arranged(0).Stream
	if s.Grow(1); s.Arranged(0).Stream.W <= before.W {
		t.Error("the pane is not larger")
	}
	s.Grow(9)
	if s.Grow(-9); s.Arranged(0).Stream != before {
		t.Error("the pane is not as it was")
	}
	if s.Resize(-1); s.Arranged(0).Stream.W >= before.W {
		t.Error("the pane is not smaller")
	}
	s.Focus = layout.Tree
	tree := s.Arranged(0).Tree.W
	if s.Resize(1); s.Arranged(0).Tree.W != tree+2 {
		t.Error("the tree is not wider")
	}
}

func TestDetailChangesSides(t *testing.T) {
	s := screen(200, 50)
	if why := s.TurnSplit(0, "z"); why != "" || s.Arranged(0).Detail.Y == s.Arranged(0).Stream.Y {
		t.Errorf("not below: %q, %+v", why, s.Arranged(0))
	}
	s.Split, s.Usual = layout.Auto, layout.Below
	if l := s.Arranged(0); l.Detail.X != l.Stream.X {
		t.Error("the setting does not count")
	}
	s.Zoom()
	if why := s.TurnSplit(0, "z"); !strings.Contains(why, "z gives it back") {
		t.Errorf("on the whole screen: %q", why)
	}
	if why := screen(60, 20).TurnSplit(0, "z"); !strings.Contains(why, "one pane at a time") {
		t.Errorf("on a narrow screen: %q", why)
	}
}

func TestPaneAtACell(t *testing.T) {
	s := screen(200, 50)
	l := s.Now
	for want, at := range map[layout.Pane]layout.Rect{layout.Tree: l.Tree, layout.Stream: l.Stream, layout.Detail: l.Detail, layout.None: l.Status} {
		if got, r := s.Pane(at.X+at.W-1, at.Y+at.H-1); got != want || want != layout.None && r != at {
			t.Errorf("at %+v is %v", at, got)
		}
	}
	s = screen(200, 50)
	s.Subject = layout.Log
	s.Now = s.Arranged(5)
	if got, _ := s.Pane(s.Now.Table.X, s.Now.Table.Y); got != layout.Log {
		t.Errorf("in the table is %v", got)
	}
}
