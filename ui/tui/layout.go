package tui

// rect is a part of the screen in cells.
type rect struct{ x, y, w, h int }

func (r rect) empty() bool { return r.w <= 0 || r.h <= 0 }

// paneID names a pane. The zero value is none.
type paneID uint8

const (
	noPane paneID = iota
	treePane
	streamPane
	detailPane
)

// layout says where everything stands. An empty rect is not drawn.
type layout struct {
	tiny                  bool // one centred line is all there is
	crumb, scope          rect
	tree, stream, detail  rect
	status, hints         rect
	stacked               bool // one pane at a time: the one with the keys
	shortTime, onlySummry bool // how much a row of the stream tells
}

// Sizes at which the screen changes.
const (
	leastWidth, leastHeight = 40, 10
	narrowWidth             = 60  // below it a row is its summary
	shortTimeWidth          = 80  // below it times are without fractions
	treeWidth               = 100 // from here the tree stands beside the stream
	detailWidth             = 160 // from here the detail stands beside the stream
	hintsHeight             = 16  // from here hints are shown
	crumbHeight             = 12  // from here the top line is shown
	underHeight             = 18  // from here the detail stands under the stream
)

// arrange places the panes on a screen of w by h cells.
func arrange(w, h int, focus paneID, zoom bool) layout {
	var l layout
	if w < leastWidth || h < leastHeight {
		l.tiny = true
		return l
	}
	l.shortTime = w < shortTimeWidth
	l.onlySummry = w < narrowWidth
	top, bottom := 0, h
	if h >= crumbHeight {
		l.crumb = rect{0, 0, w, 1}
		top = 1
	}
	if h >= hintsHeight {
		bottom--
		l.hints = rect{0, bottom, w, 1}
	}
	bottom--
	l.status = rect{0, bottom, w, 1}

	body := rect{0, top, w, bottom - top}
	if zoom {
		l.stacked = true
		l.give(focus, body)
		return l
	}
	if w < treeWidth {
		l.narrow(body, focus)
		return l
	}
	l.tree = rect{0, body.y, treeColumns(w), body.h}
	rest := rect{l.tree.w + 1, body.y, w - l.tree.w - 1, body.h}
	switch {
	case w >= detailWidth:
		d := rest.w * 2 / 5
		l.stream = rect{rest.x, rest.y, rest.w - d - 1, rest.h}
		l.detail = rect{rest.x + rest.w - d, rest.y, d, rest.h}
	case h >= underHeight:
		d := rest.h * 2 / 5
		l.stream = rect{rest.x, rest.y, rest.w, rest.h - d}
		l.detail = rect{rest.x, rest.y + rest.h - d, rest.w, d}
	case focus == detailPane:
		l.detail = rest
	default:
		l.stream = rest
	}
	return l
}

// narrow shows one pane under a line that sums up the tree.
func (l *layout) narrow(body rect, focus paneID) {
	l.stacked = true
	if focus != treePane && body.h >= 8 {
		l.scope = rect{body.x, body.y, body.w, 1}
		body.y++
		body.h--
	}
	l.give(focus, body)
}

func (l *layout) give(p paneID, r rect) {
	switch p {
	case treePane:
		l.tree = r
	case detailPane:
		l.detail = r
	default:
		l.stream = r
	}
}

// treeColumns is the width of the tree on a screen of w cells.
func treeColumns(w int) int {
	switch {
	case w >= 200:
		return 52
	case w >= detailWidth:
		return 46
	case w >= 120:
		return 45
	}
	return 34
}
