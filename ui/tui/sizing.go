package tui

import (
	"fmt"

	"eventdeck/ui/tui/layout"
)

// shape is what the panes are placed for now.
func (a *app) shape() layout.Shape {
	s := layout.Shape{Arrangement: a.panes, W: a.w, H: a.h, Focus: a.focus, Subject: a.subject, Size: a.size}
	if s.Split == layout.Auto {
		s.Split = a.split
	}
	if t := a.table(); t != nil {
		s.Rows = t.Tall()
	}
	return s
}

// zoom gives the pane with the keys the whole screen, or takes it back.
func (a *app) zoom() {
	if a.size == layout.Full {
		a.size = layout.Normal
		return
	}
	a.size = layout.Full
}

// grow gives the pane with the keys more of the screen, or less.
func (a *app) grow(step int) {
	a.size = layout.Size(max(0, min(int(a.size)+step, int(layout.Sizes)-1)))
}

// turnSplit puts the detail on the other side of its list.
func (a *app) turnSplit() {
	before := layout.Arrange(a.shape())
	a.panes.Split = layout.Right
	if l := before; l.Detail.X > 0 && l.Detail.Y == max(l.Stream.Y, l.Table.Y) {
		a.panes.Split = layout.Below
	}
	switch after := layout.Arrange(a.shape()); {
	case after.Detail != before.Detail:
	case a.size == layout.Full:
		a.Tell("the pane has the whole screen: " + a.KeyOf("zoom") + " gives it back, then the detail turns")
	case after.Stacked:
		a.Tell(fmt.Sprintf("a screen of %d columns shows one pane at a time: the detail stands beside or below from %d on", a.w, layout.TreeWidth))
	default:
		a.Tell("there is no room for the detail on the other side")
	}
}

// resize makes the pane with the keys wider or narrower, or higher or lower
// where the panes stand under each other.
func (a *app) resize(step int) {
	switch a.focus {
	case layout.Tree:
		a.panes.Tree = max(-30, min(a.panes.Tree+2*step, 60))
	case layout.Detail:
		a.panes.List = max(-40, min(a.panes.List-5*step, 20))
	default:
		a.panes.List = max(-40, min(a.panes.List+5*step, 20))
	}
}
