package tui

// shape is what the panes are placed for now.
func (a *app) shape() shape {
	s := shape{arrangement: a.panes, w: a.w, h: a.h, focus: a.focus, subject: a.subject, size: a.size}
	if t := a.table(); t != nil {
		s.rows = t.Tall()
	}
	return s
}

// zoom gives the pane with the keys the whole screen, or takes it back.
func (a *app) zoom() {
	if a.size == sizeFull {
		a.size = sizeNormal
		return
	}
	a.size = sizeFull
}

// grow gives the pane with the keys more of the screen, or less.
func (a *app) grow(step int) {
	a.size = paneSize(max(0, min(int(a.size)+step, int(paneSizes)-1)))
}

// turnSplit puts the detail on the other side of its list.
func (a *app) turnSplit() {
	l := arrange(a.shape())
	a.panes.Split = splitRight
	if l.detail.x > 0 && l.detail.y == max(l.stream.y, l.table.y) {
		a.panes.Split = splitBelow
	}
}

// resize makes the pane with the keys wider or narrower, or higher or lower
// where the panes stand under each other.
func (a *app) resize(step int) {
	switch a.focus {
	case treePane:
		a.panes.Tree = max(-30, min(a.panes.Tree+2*step, 60))
	case detailPane:
		a.panes.List = max(-40, min(a.panes.List-5*step, 20))
	default:
		a.panes.List = max(-40, min(a.panes.List+5*step, 20))
	}
}
