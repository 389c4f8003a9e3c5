// Package screen is a small terminal emulator for tests: the output of a program becomes cells,
// which can be read, waited for and drawn as a picture.
//
// It knows the sequences of Bubble Tea: cursor moves, erasing, scrolling, colours, the alternate
// screen. It skips unknown sequences.
package screen

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Cell is one cell of the screen. The second cell of a wide glyph is empty.
type Cell struct {
	Text  string
	Style Style
}

// Screen is a terminal of a fixed size. It is an [io.Writer] for a program's
// output. All methods may be called from any goroutine.
type Screen struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every write

	w, h        int
	cells       [][]Cell
	main        [][]Cell // while the alternate screen is shown
	x, y        int
	wrap        bool // the last column was written; the next glyph goes to the next row
	top, bottom int  // scrolling region
	style       Style
	newline     bool // a line feed also returns to the first column
	alt, hidden bool
	title       string
	clipboard   string
	saved       [2]int
	last        string   // for repetition
	rest        []byte   // an unfinished sequence
	before      [][]Cell // the cells that are shown during a synchronized update; nil: there is none
	answers     io.Writer
}

// Answer makes the screen answer queries of programs, whether it supports synchronized updates. It
// must be called before the first write.
func (s *Screen) Answer(to io.Writer) { s.answers = to }

// shown returns the visible cells: during a synchronized update, those before it.
func (s *Screen) shown() [][]Cell {
	if s.before != nil {
		return s.before
	}
	return s.cells
}

// New returns an empty screen. newline makes a line feed also return to the first column, for
// programs whose output is no terminal.
func New(w, h int, newline bool) *Screen {
	s := &Screen{w: w, h: h, bottom: h, newline: newline, changed: make(chan struct{})}
	s.cells = s.blank()
	return s
}

func (s *Screen) blank() [][]Cell {
	rows := make([][]Cell, s.h)
	for i := range rows {
		rows[i] = s.blankRow()
	}
	return rows
}

func (s *Screen) blankRow() []Cell {
	row := make([]Cell, s.w)
	for i := range row {
		row[i].Text = " "
	}
	return row
}

// Text returns the rows without trailing blanks.
func (s *Screen) Text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text()
}

func (s *Screen) text() string {
	var b strings.Builder
	for _, row := range s.shown() {
		var line strings.Builder
		for _, c := range row {
			line.WriteString(c.Text)
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// Cells returns a copy of the cells, row by row.
func (s *Screen) Cells() [][]Cell {
	s.mu.Lock()
	defer s.mu.Unlock()
	return clone(s.shown())
}

func clone(cells [][]Cell) [][]Cell {
	out := make([][]Cell, len(cells))
	for i, row := range cells {
		out[i] = slices.Clone(row)
	}
	return out
}

// Alternate reports whether the alternate screen is shown.
func (s *Screen) Alternate() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.alt }

// CursorHidden reports whether the cursor is hidden.
func (s *Screen) CursorHidden() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.hidden }

// Clipboard returns the text that was last copied to the clipboard (OSC 52).
func (s *Screen) Clipboard() string { s.mu.Lock(); defer s.mu.Unlock(); return s.clipboard }

// Title returns the window title that was set last.
func (s *Screen) Title() string { s.mu.Lock(); defer s.mu.Unlock(); return s.title }

// Wait returns when the screen shows the text, or with an error that holds the
// screen when ctx ends.
func (s *Screen) Wait(ctx context.Context, text string) error {
	return s.Until(ctx, fmt.Sprintf("%q", text), func(shown string) bool { return strings.Contains(shown, text) })
}

// Until is [Screen.Wait] for any condition on the text of the screen; what describes it in the
// error.
func (s *Screen) Until(ctx context.Context, what string, cond func(string) bool) error {
	for {
		s.mu.Lock()
		shown, changed := s.text(), s.changed
		s.mu.Unlock()
		if cond(shown) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the screen never showed %s: %w\n%s", what, context.Cause(ctx), shown)
		case <-changed:
		}
	}
}

// Resize changes the size as a terminal does: cells outside are lost.
func (s *Screen) Resize(w, h int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.cells
	s.w, s.h, s.top, s.bottom = w, h, 0, h
	s.cells, s.before = s.blank(), nil
	for y := range min(h, len(old)) {
		copy(s.cells[y], old[y])
	}
	s.x, s.y = min(s.x, w-1), min(s.y, h-1)
}

// Write processes the output of a program. It never fails.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := append(s.rest, p...)
	for len(b) > 0 {
		n := s.step(b)
		if n == 0 {
			break
		}
		b = b[n:]
	}
	s.rest = append([]byte(nil), b...)
	close(s.changed)
	s.changed = make(chan struct{})
	return len(p), nil
}

// step processes one glyph or sequence and returns its length in bytes, 0 if it is incomplete.
func (s *Screen) step(b []byte) int {
	switch c := b[0]; {
	case c == 0x1b:
		return s.escape(b)
	case c < 0x20 || c == 0x7f:
		s.control(c)
		return 1
	case c < utf8.RuneSelf && (len(b) == 1 || b[1] < utf8.RuneSelf):
		s.put(string(c), 1)
		return 1
	}
	if !utf8.FullRune(b) || b[0] < utf8.RuneSelf && !utf8.FullRune(b[1:]) {
		return 0
	}
	g, w := ansi.FirstGraphemeCluster(string(wholeRunes(b)), ansi.GraphemeWidth)
	s.put(g, w)
	return len(g)
}

// wholeRunes drops an incomplete rune at the end, which must not become part of a cluster.
func wholeRunes(b []byte) []byte {
	for i := len(b) - 1; i > 0 && i > len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			break
		}
	}
	return b
}

func (s *Screen) control(c byte) {
	switch c {
	case '\n', '\v', '\f':
		s.feed()
		if s.newline {
			s.x = 0
		}
	case '\r':
		s.x, s.wrap = 0, false
	case '\b':
		s.x, s.wrap = max(0, s.x-1), false
	case '\t':
		s.x = min(s.w-1, (s.x/8+1)*8)
	}
}

func (s *Screen) put(g string, w int) {
	if w == 0 {
		return
	}
	if s.wrap || s.x+w > s.w {
		s.x, s.wrap = 0, false
		s.feed()
	}
	if w > s.w {
		return
	}
	row := s.cells[s.y]
	row[s.x] = Cell{g, s.style}
	for i := 1; i < w; i++ {
		row[s.x+i] = Cell{"", s.style}
	}
	if end := s.x + w; end < s.w && row[end].Text == "" {
		row[end].Text = " "
	}
	s.last = g
	if s.x += w; s.x >= s.w {
		s.x, s.wrap = s.w-1, true
	}
}

// feed moves the cursor one row down, and scrolls at the end of the region.
func (s *Screen) feed() {
	s.wrap = false
	switch {
	case s.y == s.bottom-1:
		s.scroll(s.top, 1)
	case s.y < s.h-1:
		s.y++
	}
}

// scroll moves the rows from first to the end of the region up by n, down if n
// is negative.
func (s *Screen) scroll(first, n int) {
	for ; n > 0; n-- {
		copy(s.cells[first:s.bottom], s.cells[first+1:s.bottom])
		s.cells[s.bottom-1] = s.blankRow()
	}
	for ; n < 0; n++ {
		copy(s.cells[first+1:s.bottom], s.cells[first:s.bottom-1])
		s.cells[first] = s.blankRow()
	}
}

// erase blanks the cells from x to end of row y.
func (s *Screen) erase(y, x, end int) {
	for ; x < min(end, s.w); x++ {
		s.cells[y][x] = Cell{" ", Style{BG: s.style.BG}}
	}
}
