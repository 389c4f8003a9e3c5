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
	subsPane // the tables of subscriptions, gaps and leases
	logPane  // audit, wire and the program's own log
)

// layout says where everything stands. An empty rect is not drawn.
type layout struct {
	tiny                  bool // one centred line is all there is
	crumb, scope          rect
	tree, stream, detail  rect
	table                 rect // of the screens that are a table
	status, hints         rect
	stacked               bool // one pane at a time: the one with the keys
	shortTime, onlySummry bool // how much a row of the stream tells
}

// paneSize is how much of the screen the pane with the keys has.
type paneSize uint8

const (
	sizeNormal paneSize = iota
	sizeHalf            // the pane has the greater part, and the tree goes
	sizeFull            // the pane has all
	paneSizes
)

// split says where the detail stands beside a list.
type split uint8

const (
	splitAuto split = iota // by the width of the screen
	splitRight
	splitBelow
)

// arrangement is what the operator made of the panes; it is kept between runs.
type arrangement struct {
	Split split `json:"split,omitempty"`
	Tree  int   `json:"tree,omitempty"` // columns beside the usual width of the tree
	List  int   `json:"list,omitempty"` // percent beside the usual share of the list
}

// shape is what a layout is made for.
type shape struct {
	arrangement
	w, h    int
	focus   paneID
	subject paneID // what the detail is about: it tells the screens apart
	size    paneSize
	rows    int // of the table that is shown; 0 if there is none
}

// Sizes at which the screen changes.
const (
	leastWidth, leastHeight = 40, 10
	narrowWidth             = 60  // below it a row is its summary
	shortTimeWidth          = 80  // below it times are without fractions
	drawerWidth             = 80  // from here the tree opens beside the stream when it has the keys
	treeWidth               = 100 // from here the tree stands beside the stream
	detailWidth             = 160 // from here the detail stands beside the stream
	hintsHeight             = 16  // from here hints are shown
	crumbHeight             = 12  // from here the top line is shown
	underHeight             = 18  // from here the detail stands under the stream
	leastTree, leastList    = 16, 24
	leastRows               = 4
	tableFrame              = 3 // lines of a table beside its rows: title, heads, a blank
)

// arrange places the panes.
func arrange(s shape) layout {
	var l layout
	if s.w < leastWidth || s.h < leastHeight {
		l.tiny = true
		return l
	}
	l.shortTime = s.w < shortTimeWidth
	l.onlySummry = s.w < narrowWidth
	body := l.lines(s.w, s.h)
	table := s.subject == subsPane || s.subject == logPane
	switch {
	case s.size == sizeFull:
		l.stacked = true
		l.give(s.focus, body)
	case s.w < treeWidth:
		l.narrow(body, s, table)
	case table:
		l.pair(&l.table, body, s)
	default:
		if s.size == sizeNormal || s.focus == treePane {
			l.tree = rect{0, body.y, treeColumns(s), body.h}
			body = rect{l.tree.w + 1, body.y, s.w - l.tree.w - 1, body.h}
		}
		l.pair(&l.stream, body, s)
	}
	return l
}

// lines takes the lines above and below the panes and returns what is left.
func (l *layout) lines(w, h int) rect {
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
	return rect{0, top, w, bottom - top}
}

// pair shares a body between a list and the detail.
func (l *layout) pair(list *rect, body rect, s shape) {
	right := s.w >= detailWidth && s.subject != subsPane
	if s.Split != splitAuto {
		right = s.Split == splitRight
	}
	percent := 60 + s.List
	if s.size == sizeHalf {
		percent = 70
		if s.focus == detailPane {
			percent = 30
		}
	}
	percent = max(20, min(percent, 80))
	switch {
	case right && body.w >= 2*leastList+1:
		n := max(leastList, min(body.w*percent/100, body.w-leastList-1))
		*list = rect{body.x, body.y, n, body.h}
		l.detail = rect{body.x + n + 1, body.y, body.w - n - 1, body.h}
	case s.h >= underHeight:
		n := body.h * percent / 100
		if s.rows > 0 && s.List == 0 && s.size == sizeNormal {
			n = min(n, s.rows+tableFrame) // few rows leave their room to the detail
		}
		n = max(leastRows, min(n, body.h-leastRows))
		*list = rect{body.x, body.y, body.w, n}
		l.detail = rect{body.x, body.y + n, body.w, body.h - n}
	case s.focus == detailPane:
		l.detail = body
	default:
		*list = body
	}
}

// narrow shows one pane, under a line that sums up the tree. Where there is room
// the tree opens beside the stream.
func (l *layout) narrow(body rect, s shape, table bool) {
	if s.focus == treePane && s.w >= drawerWidth {
		l.tree = rect{0, body.y, treeColumns(s), body.h}
		l.stream = rect{l.tree.w + 1, body.y, s.w - l.tree.w - 1, body.h}
		return
	}
	l.stacked = true
	if s.focus != treePane && !table && body.h >= 8 {
		l.scope = rect{body.x, body.y, body.w, 1}
		body.y++
		body.h--
	}
	l.give(s.focus, body)
}

// give lets one pane have all of r.
func (l *layout) give(focus paneID, r rect) {
	switch focus {
	case treePane:
		l.tree = r
	case detailPane:
		l.detail = r
	case subsPane, logPane:
		l.table = r
	default:
		l.stream = r
	}
}

// treeColumns is the width of the tree.
func treeColumns(s shape) int {
	n := 24
	switch {
	case s.w >= 200:
		n = 52
	case s.w >= detailWidth:
		n = 46
	case s.w >= 120:
		n = 42
	case s.w < treeWidth:
		n = 40
	}
	if s.size == sizeHalf && s.focus == treePane {
		n = max(n, s.w/2)
	}
	return max(leastTree, min(n+s.Tree, s.w-leastList-1))
}
