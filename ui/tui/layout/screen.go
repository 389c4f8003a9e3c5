package layout

import "fmt"

// Screen is the state of the layout: the focus, and how the operator arranged the panes.
type Screen struct {
	Shape
	Usual Split  // of the settings; it applies while Shape.Split is Auto
	Now   Layout // as the screen was drawn last
	// Entered is called when a pane has got the focus; nil: nothing is.
	Entered func()
}

// Enter moves the focus to a pane.
func (s *Screen) Enter(p Pane) {
	if s.Focus = p; p != Detail {
		s.Subject = p
	}
	if s.Entered != nil {
		s.Entered()
	}
}

// Arranged returns the layout for a table of the given number of rows, 0 for no table.
func (s *Screen) Arranged(rows int) Layout {
	shape := s.Shape
	if shape.Rows = rows; shape.Split == Auto {
		shape.Split = s.Usual
	}
	return Arrange(shape)
}

// Zoom gives the pane with the focus the whole screen, or its normal size again.
func (s *Screen) Zoom() {
	if s.Size == Full {
		s.Size = Normal
		return
	}
	s.Size = Full
}

// Grow changes the size of the pane with the focus by a number of steps.
func (s *Screen) Grow(step int) {
	s.Size = Size(max(0, min(int(s.Size)+step, int(Sizes)-1)))
}

// TurnSplit moves the detail to the other side of its list. rows is the number of rows of the shown
// table, zoom the key of [Screen.Zoom]. It returns why the detail did not move, "" if it did.
func (s *Screen) TurnSplit(rows int, zoom string) (why string) {
	before := s.Arranged(rows)
	s.Split = Right
	if l := before; l.Detail.X > 0 && l.Detail.Y == max(l.Stream.Y, l.Table.Y) {
		s.Split = Below
	}
	switch after := s.Arranged(rows); {
	case after.Detail != before.Detail:
		return ""
	case s.Size == Full:
		return "the pane has the whole screen: " + zoom + " gives it back, then the detail turns"
	case after.Stacked:
		return fmt.Sprintf("a screen of %d columns shows one pane at a time: the detail stands beside or below from %d on", s.W, TreeWidth)
	}
	return "there is no room for the detail on the other side"
}

// Resize makes the pane with the focus wider or narrower, or higher or lower where the panes are
// one above the other.
func (s *Screen) Resize(step int) {
	switch s.Focus {
	case Tree:
		s.Tree = max(-30, min(s.Tree+2*step, 60))
	case Detail:
		s.List = max(-40, min(s.List-5*step, 20))
	default:
		s.List = max(-40, min(s.List+5*step, 20))
	}
}

// OnTable reports whether the shown list is a table, not the stream or the tree.
func (s *Screen) OnTable() bool { return s.Subject == Subs || s.Subject == Log || s.Subject == React }

// Order lists the panes in the order in which tab moves the focus.
func (s *Screen) Order() []Pane {
	switch {
	case s.OnTable():
		return []Pane{s.Subject, Detail}
	case s.Streams == OneStream:
		return []Pane{Tree, Stream, Detail}
	case s.Last:
		return []Pane{Tree, Other, Stream, Detail}
	}
	return []Pane{Tree, Stream, Other, Detail}
}

// Pane returns the pane at a cell and its place; None and an empty rectangle if there is none.
func (s *Screen) Pane(x, y int) (Pane, Rect) {
	for _, p := range s.Shown() {
		if p.Has(x, y) {
			return p.Pane, p.Rect
		}
	}
	return None, Rect{}
}

// Placed is a pane and its place.
type Placed struct {
	Pane
	Rect
}

// Shown returns the panes as they were drawn last, from left to right. Hidden ones are empty.
func (s *Screen) Shown() [5]Placed {
	first, second := Placed{Stream, s.Now.Stream}, Placed{Other, s.Now.Other}
	if s.Last {
		first, second = second, first
	}
	return [...]Placed{{Tree, s.Now.Tree}, first, second, {s.Subject, s.Now.Table}, {Detail, s.Now.Detail}}
}
