// Package layout computes the position and size of the panes from the size of the screen.
package layout

// Rect is a rectangle of the screen, in cells.
type Rect struct{ X, Y, W, H int }

// Empty reports whether the rectangle has no cell.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// Has reports whether a cell is in the rectangle.
func (r Rect) Has(x, y int) bool { return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H }

// Pane names a pane. The zero value is none.
type Pane uint8

// The panes.
const (
	None Pane = iota
	Tree
	Stream
	Detail
	Subs  // the tables of subscriptions, gaps and leases
	Log   // audit, wire and the program's own log
	React // approvals, runs and rules of reactions
	Other // of two streams, the one without the focus
)

// Layout has the place of everything on the screen. An empty rectangle is not drawn.
type Layout struct {
	Tiny                   bool // the screen shows one centred line and nothing else
	Crumb, Scope           Rect
	Body                   Rect // all panes, without the frame around them
	Framed                 bool // a line runs around the panes
	Tree, Stream, Detail   Rect
	Other                  Rect // of two streams, the one without the focus
	Table                  Rect // on screens that are a table
	Status, Hints          Rect
	Stacked                bool // only the pane with the focus is shown
	ShortTime, OnlySummary bool // rows of the stream have short times, or only a summary
}

// Size is the share of the screen that the pane with the focus has.
type Size uint8

// The sizes; Sizes is their number.
const (
	Normal   Size = iota
	sizeHalf      // the pane has the greater part, and the tree is hidden
	Full          // the pane has the whole screen
	Sizes
)

// Split is the side of a list on which the detail is.
type Split uint8

// The sides.
const (
	Auto Split = iota // by the width of the screen
	Right
	Below
)

// Splits maps the names in the settings to sides.
var Splits = map[string]Split{"auto": Auto, "right": Right, "below": Below}

// Streams is the number of streams and how two of them are arranged.
type Streams uint8

// The arrangements of streams; StreamsUses is their number.
const (
	OneStream Streams = iota
	Beside            // two streams, the second on the right
	Under             // two streams, the second below
	StreamsUses
)

// Arrangement is how the operator arranged the panes; it is saved between runs.
type Arrangement struct {
	Split Split `json:"split,omitempty"`
	Tree  int   `json:"tree,omitempty"` // columns added to the default width of the tree
	List  int   `json:"list,omitempty"` // percent added to the default share of the list
}

// Shape is the input of [Arrange].
type Shape struct {
	Arrangement
	W, H    int // of the screen, in cells
	Focus   Pane
	Subject Pane // the pane whose selection the detail shows: it tells the screens apart
	Size    Size
	Rows    int // of the shown table; 0 if there is none
	Streams Streams
	Last    bool // the stream with the focus is the second of two
}

// Sizes at which the screen changes.
const (
	LeastWidth, LeastHeight = 40, 10
	narrowWidth             = 60  // below it rows have only a summary
	shortTimeWidth          = 80  // below it times have no fractions
	DrawerWidth             = 80  // from it on the tree opens beside the stream when it gets the focus
	TreeWidth               = 100 // from it on the tree is always beside the stream
	detailWidth             = 190 // from it on the detail is beside the stream
	frameHeight             = 20  // from it on a line runs around the panes
	hintsHeight             = 16  // from it on hints are shown
	crumbHeight             = 12  // from it on the top line is shown
	underHeight             = 18  // from it on the detail is below the stream
	leastTree, leastList    = 16, 24
	leastRows               = 4
	leastBeside             = 56 // columns of each of two streams side by side
	leastUnder              = 6  // rows of each of two streams one above the other
	tableFrame              = 3  // lines of a table besides its rows: title, column heads, a blank line
)

// Arrange computes the layout.
func Arrange(s Shape) Layout {
	var l Layout
	if s.W < LeastWidth || s.H < LeastHeight {
		l.Tiny = true
		return l
	}
	l.ShortTime = s.W < shortTimeWidth
	l.OnlySummary = s.W < narrowWidth
	body := l.lines(s.W, s.H)
	if s.W >= TreeWidth && s.H >= frameHeight && s.Size != Full { // text of a pane on the whole screen can be selected without lines
		l.Framed = true
		body = Rect{1, body.Y, s.W - 2, body.H - 1}
	}
	l.Body = body
	table := s.Subject == Subs || s.Subject == Log || s.Subject == React
	switch {
	case s.Size == Full:
		l.Stacked = true
		l.give(s.Focus, body)
	case s.W < TreeWidth:
		l.narrow(body, s, table)
	case table:
		l.pair(&l.Table, body, s)
	default:
		if s.Size == Normal || s.Focus == Tree {
			n := treeColumns(s)
			l.Tree = Rect{body.X, body.Y, n, body.H}
			body = Rect{body.X + n + 1, body.Y, body.W - n - 1, body.H}
		}
		l.pair(&l.Stream, body, s)
	}
	if s.Streams != OneStream && s.Size != Full {
		l.share(s)
	}
	return l
}

// share divides the room of the stream between two, in the other direction if the chosen one has no
// room. If neither has, the stream with the focus gets all.
func (l *Layout) share(s Shape) {
	r := l.Stream
	beside, under := r.W > 2*leastBeside, r.H >= 2*leastUnder
	first, second := r, r
	switch {
	case beside && (s.Streams == Beside || !under):
		first.W = (r.W - 1) / 2
		second.X, second.W = r.X+first.W+1, r.W-first.W-1
	case under:
		first.H = (r.H + 1) / 2
		second.Y, second.H = r.Y+first.H, r.H-first.H
	default:
		return
	}
	if l.Stream, l.Other = first, second; s.Last {
		l.Stream, l.Other = second, first
	}
}

// lines places the lines above and below the panes, and returns what is left.
func (l *Layout) lines(w, h int) Rect {
	top, bottom := 0, h
	if h >= crumbHeight {
		l.Crumb = Rect{0, 0, w, 1}
		top = 1
	}
	if h >= hintsHeight {
		bottom--
		l.Hints = Rect{0, bottom, w, 1}
	}
	bottom--
	l.Status = Rect{0, bottom, w, 1}
	return Rect{0, top, w, bottom - top}
}

// pair divides a body between a list and the detail.
func (l *Layout) pair(list *Rect, body Rect, s Shape) {
	right := s.W >= detailWidth && s.Subject != Subs && s.Streams != Beside // two streams side by side need the width
	if s.Split != Auto {
		right = s.Split == Right
	}
	percent := 60 + s.List
	if s.Streams != OneStream {
		percent += 10
	}
	if s.Size == sizeHalf {
		percent = 70
		if s.Focus == Detail {
			percent = 30
		}
	}
	percent = max(20, min(percent, 80))
	switch {
	case right && body.W >= 2*leastList+1:
		n := max(leastList, min(body.W*percent/100, body.W-leastList-1))
		*list = Rect{body.X, body.Y, n, body.H}
		l.Detail = Rect{body.X + n + 1, body.Y, body.W - n - 1, body.H}
	case s.H >= underHeight:
		n := body.H * percent / 100
		if s.Rows > 0 && s.List == 0 && s.Size == Normal {
			n = min(n, s.Rows+tableFrame) // few rows leave their room to the detail
		}
		n = max(leastRows, min(n, body.H-leastRows))
		*list = Rect{body.X, body.Y, body.W, n}
		l.Detail = Rect{body.X, body.Y + n, body.W, body.H - n}
	case s.Focus == Detail:
		l.Detail = body
	default:
		*list = body
	}
}

// narrow shows one pane, below a line that stands for the tree. On a screen of [DrawerWidth] the
// tree opens beside the stream.
func (l *Layout) narrow(body Rect, s Shape, table bool) {
	if s.Focus == Tree && s.W >= DrawerWidth {
		l.Tree = Rect{0, body.Y, treeColumns(s), body.H}
		l.Stream = Rect{l.Tree.W + 1, body.Y, s.W - l.Tree.W - 1, body.H}
		return
	}
	l.Stacked = true
	if s.Focus != Tree && !table && body.H >= 8 {
		l.Scope = Rect{body.X, body.Y, body.W, 1}
		body.Y++
		body.H--
		l.Body = body
	}
	l.give(s.Focus, body)
}

// give gives r to one pane.
func (l *Layout) give(focus Pane, r Rect) {
	switch focus {
	case Tree:
		l.Tree = r
	case Detail:
		l.Detail = r
	case Subs, Log, React:
		l.Table = r
	default:
		l.Stream = r
	}
}

// treeColumns returns the width of the tree.
func treeColumns(s Shape) int {
	n := 34
	switch {
	case s.W >= 200:
		n = 40
	case s.W >= TreeWidth && s.W < 120: // the tree is always shown
		n = 28
	}
	if s.Size == sizeHalf && s.Focus == Tree {
		n = max(n, s.W/2)
	}
	return max(leastTree, min(n+s.Tree, s.W-leastList-1))
}
