package layout_test

import (
	"testing"

	"eventdeck/ui/tui/layout"
)

// On a screen of any size each cell belongs to at most one part, and the pane with the focus is
// shown.
func TestPartsDoNotOverlap(t *testing.T) {
	for _, w := range []int{40, 59, 60, 79, 80, 99, 100, 120, 160, 250} {
		for _, h := range []int{10, 11, 12, 16, 18, 24, 60} {
			for focus := layout.Tree; focus <= layout.Log; focus++ {
				for size := range layout.Sizes {
					subject := focus
					if focus == layout.Detail {
						subject = layout.Stream
					}
					l := layout.Arrange(layout.Shape{W: w, H: h, Focus: focus, Subject: subject, Size: size})
					check(t, l, w, h)
					if p := pane(l, focus); p.Empty() {
						t.Errorf("%dx%d, size %d: pane %d has the focus and no room", w, h, size, focus)
					}
				}
			}
		}
	}
}

func pane(l layout.Layout, p layout.Pane) layout.Rect {
	if r, ok := map[layout.Pane]layout.Rect{layout.Tree: l.Tree, layout.Stream: l.Stream, layout.Detail: l.Detail}[p]; ok {
		return r
	}
	return l.Table
}

func check(t *testing.T, l layout.Layout, w, h int) {
	t.Helper()
	taken := make([]bool, w*h)
	for _, r := range []layout.Rect{l.Crumb, l.Scope, l.Tree, l.Stream, l.Other, l.Detail, l.Table, l.Status, l.Hints} {
		if r.Empty() {
			continue
		}
		for y := r.Y; y < r.Y+r.H; y++ {
			for x := r.X; x < r.X+r.W; x++ {
				if x < 0 || y < 0 || x >= w || y >= h || taken[y*w+x] {
					t.Fatalf("%dx%d: %+v is beyond the screen or over another part: %+v", w, h, r, l)
				}
				taken[y*w+x] = true
			}
		}
	}
}

func TestTinyScreensShowOneLine(t *testing.T) {
	for _, s := range []layout.Shape{{W: 39, H: 24}, {W: 80, H: 9}} {
		if l := layout.Arrange(s); !l.Tiny {
			t.Errorf("%dx%d: %+v", s.W, s.H, l)
		}
	}
}

// A tree that opens beside the stream leaves the stream the greater part.
func TestStreamIsWiderThanTheTree(t *testing.T) {
	for w := layout.DrawerWidth; w < 200; w++ {
		if l := layout.Arrange(layout.Shape{W: w, H: 24, Focus: layout.Tree, Subject: layout.Stream}); l.Tree.W == 0 || l.Stream.W < 5*l.Tree.W/4 {
			t.Fatalf("%d cells: the tree has %d, the stream %d", w, l.Tree.W, l.Stream.W)
		}
	}
}
