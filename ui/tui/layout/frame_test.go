package layout_test

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/widget"
)

// drawn returns a frame whose panes are filled with their numbers.
func drawn(w, h int, dialog bool) (*layout.Frame, *layout.Screen, []string) {
	env := tuitest.Env()
	s := &layout.Screen{Shape: layout.Shape{W: w, H: h, Focus: layout.Stream, Subject: layout.Stream}}
	s.Now = s.Arranged(0)
	f := layout.NewFrame(env, s)
	f.Panes(dialog, func(p layout.Pane, _ int) string { return fmt.Sprint("pane ", p) }, func(p layout.Pane, r layout.Rect) []string {
		rows := make([]string, r.H-1)
		for i := range rows {
			rows[i] = strings.Repeat(fmt.Sprint(p), r.W)
		}
		return rows
	})
	edge := func(text string) string { return cells.Pad(text, w-1) }
	return &f, s, strings.Split(f.Draw(layout.Edges{Crumb: edge("crumb"), Scope: edge("scope"), Status: edge("status"), Hints: edge("hints")}), "\n")
}

// A screen of any size is filled exactly.
func TestEveryCellIsDrawn(t *testing.T) {
	for _, w := range []int{40, 80, 100, 200} {
		for _, h := range []int{10, 16, 24, 50} {
			_, _, lines := drawn(w, h, false)
			if len(lines) != h {
				t.Fatalf("%dx%d: %d lines", w, h, len(lines))
			}
			for y, l := range lines {
				if n := len([]rune(tuitest.Plain([]string{l}))); n != w {
					t.Errorf("%dx%d: line %d has %d cells: %q", w, h, y, n, l)
				}
			}
		}
	}
}

func TestPaneWithTheFocusIsHighlighted(t *testing.T) {
	_, s, lines := drawn(120, 40, false)
	at := s.Now.Stream
	if title := tuitest.Plain(lines[at.Y : at.Y+1]); !strings.Contains(title, cells.UnicodeGlyphs.RuleOn+" pane 2") {
		t.Errorf("its title is %q", title)
	}
	_, _, lines = drawn(120, 40, true)
	if title := tuitest.Plain(lines[at.Y : at.Y+1]); strings.Contains(title, cells.UnicodeGlyphs.RuleOn) {
		t.Errorf("below a dialog its title is %q", title)
	}
}

func question(f func() tea.Cmd) *widget.Confirm {
	return &widget.Confirm{Screen: &tuitest.Screen{}, Head: "Really", Lines: []string{"It cannot be undone."}, Choices: []widget.Choice{{Key: "y", Title: "do it", Run: f}}}
}

func TestDialogIsDrawnOverPanes(t *testing.T) {
	f, s, lines := drawn(120, 40, true)
	d := question(nil)
	f.Over(lines, d, "")
	r := f.Box(d)
	text := tuitest.Plain(lines)
	if !strings.Contains(text, "Really") || !strings.Contains(text, "It cannot be undone.") || !strings.Contains(text, "hints") {
		t.Errorf("drawn is\n%s", text)
	}
	if x, y, in := f.Inside(d, r.X+1, r.Y+1); x != 0 || y != 0 || !in {
		t.Errorf("its first cell is %d, %d, %v", x, y, in)
	}
	if _, _, in := f.Inside(d, r.X, r.Y); in {
		t.Error("its frame is inside of it")
	}
	if needs, cut := f.Cut(false, d, nil); cut {
		t.Errorf("it needs %s", needs)
	}
	s.H = 6
	if needs, cut := f.Cut(false, d, nil); !cut || needs == "" {
		t.Error("on six rows it is not cut")
	}
	f.Over(lines, d, "40x99")
	if text := tuitest.Plain(lines); !strings.Contains(text, "Really needs a screen of 40x99") {
		t.Errorf("cut, it shows\n%s", text)
	}
}

func TestScreenTooSmallForAPrompt(t *testing.T) {
	f, s, _ := drawn(30, 5, false)
	if needs, cut := f.Cut(true, nil, &widget.Prompt{}); !cut || needs != layout.LeastSize {
		t.Errorf("a prompt needs %q", needs)
	}
	if _, cut := f.Cut(true, nil, nil); cut {
		t.Error("nothing is cut")
	}
	lines := strings.Split(f.Centred("in the middle"), "\n")
	if len(lines) != s.H || strings.TrimSpace(tuitest.Plain(lines[2:3])) != "in the middle" {
		t.Errorf("centred is %q", lines)
	}
}

func TestPromptHasTheCursor(t *testing.T) {
	f, _, lines := drawn(80, 24, false)
	p := &widget.Prompt{Label: "name:", Says: "esc goes back"}
	p.Field.Set("ab")
	f.Prompt(lines, p)
	if text := tuitest.Plain(lines[22:]); !strings.Contains(text, "name: ab") || !strings.Contains(text, "esc goes back") {
		t.Errorf("drawn is %q", text)
	}
	if f.Cursor.Y != 22 || f.Cursor.X != len(" name: ab") {
		t.Errorf("the cursor is at %+v", f.Cursor)
	}
	if f.Panes(false, func(layout.Pane, int) string { return "" }, func(layout.Pane, layout.Rect) []string { return nil }); f.Cursor.X != -1 {
		t.Error("the cursor stays")
	}
}
