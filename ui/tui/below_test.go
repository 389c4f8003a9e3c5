package tui

import (
	"fmt"
	"testing"

	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
)

// checkBelow compares the shown number of records below the last row with the log, and returns it.
func checkBelow(t *testing.T, a *app, when string) int {
	t.Helper()
	a.draw()
	s := &a.stream
	shown := s.Seqs[min(s.Index(s.Top)+s.Height, len(s.Seqs))-1]
	want := 0
	for seq := shown + 1; seq <= a.snap.Last; seq++ {
		if r, err := a.o.API.Log().Get(seq); err == nil && s.Query.Matches(&r) {
			want++
		}
	}
	head := fmt.Sprintf("READING (%s below)", cells.Number(uint64(want)))
	if want == 0 {
		head = "READING"
	}
	if got := a.Edges.Head.Following(); got != head {
		t.Errorf("%s: %q, want %q", when, got, head)
	}
	if got := a.paneTitle(layout.Stream, 80); got != "2 Stream" {
		t.Errorf("%s: the title says it a second time: %q", when, got)
	}
	return want
}

// The number of records below the last row is exact, also when they are more than the window holds:
// while events arrive, and while the operator scrolls and freezes the view.
func TestNumberOfRowsBelow(t *testing.T) {
	for _, text := range []string{"", "tick"} {
		t.Run("filter "+text, func(t *testing.T) {
			h := incident()
			flood := func(n int) {
				for i := range n {
					h.event("pager", "incident.created", []string{"tick", "tock"}[i%2])
				}
			}
			flood(200)
			a := open(t, h, 120, 40)
			a.stream.Show(mustQuery(t, query.Node{}, text))
			flush(a)
			a.draw()
			press(t, a, "2", "k", "k", "k")
			checkBelow(t, a, "at the end")
			flood(1000)
			arrive(a)
			checkBelow(t, a, "more than a page")
			before := 0
			for range 2 {
				flood(stream.WindowMax * 3 / 2)
				arrive(a)
				if n := checkBelow(t, a, "more than the window"); n <= before {
					t.Errorf("%d wait, before %d", n, before)
				} else {
					before = n
				}
			}
			if !a.stream.Cut {
				t.Fatal("the window was not cut: the test shows nothing")
			}
			for range 10 * stream.WindowMax / 20 {
				press(t, a, "ctrl+d")
			}
			checkBelow(t, a, "read on")
			for !a.stream.Oldest || a.stream.At != a.stream.Seqs[0] {
				press(t, a, "ctrl+u")
			}
			flood(100)
			arrive(a)
			checkBelow(t, a, "back at the oldest")
			press(t, a, "space")
			flood(8)
			arrive(a)
			want := 8
			if text != "" {
				want = 4
			}
			if got := a.Edges.Head.Following(); got != fmt.Sprintf("FROZEN (%d waiting)", want) {
				t.Errorf("frozen: %q", got)
			}
			press(t, a, "space")
			checkBelow(t, a, "let go")
			press(t, a, "G")
			if a.draw(); a.Edges.Head.Following() != "FOLLOW" {
				t.Errorf("at the newest: %q", a.Edges.Head.Following())
			}
		})
	}
}

// Far back in the log the rows of a filter are not all counted: their number is a lower bound and
// says so, until the operator has scrolled past the part that was not counted.
func TestLowerBoundOfRowsBelow(t *testing.T) {
	h := incident()
	for i := range 3 * query.FirstScan {
		h.event("pager", "incident.created", []string{"tick", "tock"}[i%2])
	}
	a := open(t, h, 120, 40)
	a.draw()
	press(t, a, "2")
	a.gotoSeq(100)
	flush(a)
	checkBelow(t, a, "without a filter all is known")
	press(t, a, "G")
	a.stream.Show(mustQuery(t, query.Node{}, "tick"))
	flush(a)
	a.draw()
	a.gotoSeq(100)
	flush(a)
	a.draw()
	least, _ := a.stream.Below()
	if got := a.Edges.Head.Following(); got != fmt.Sprintf("READING (%d+ below)", least) || least < query.FirstRows/2 {
		t.Errorf("%q", got)
	}
	h.event("pager", "incident.created", "tick")
	h.event("pager", "incident.created", "tock")
	arrive(a)
	if n, atLeast := a.stream.Below(); n != least+1 || !atLeast {
		t.Errorf("%d and %v, want %d and more", n, atLeast, least+1)
	}
	for range 3 * query.FirstScan / 20 {
		press(t, a, "ctrl+d")
	}
	press(t, a, "ctrl+u", "ctrl+u", "ctrl+u")
	checkBelow(t, a, "read on")
}

// Every way to the detail keeps the chosen event: a new event does not replace it.
func TestDetailKeepsItsRecord(t *testing.T) {
	for name, keys := range map[string][]string{"by its number": {"3"}, "by turning": {"tab"}, "by opening": {"enter"}} {
		t.Run(name, func(t *testing.T) {
			h := incident()
			a := open(t, h, 120, 40)
			press(t, a, "2", "G")
			a.draw()
			at := a.stream.At
			if at == 0 || a.Edges.Head.Following() != "FOLLOW" {
				t.Fatalf("%d is chosen, %q", at, a.Edges.Head.Following())
			}
			press(t, a, keys...)
			h.event("pager", "incident.created", "the next one")
			arrive(a)
			if a.panes.Focus != layout.Detail || a.stream.At != at {
				t.Errorf("pane %d, and %d is shown instead of %d", a.panes.Focus, a.stream.At, at)
			}
			press(t, a, "f")
			if a.draw(); a.stream.At == at || a.Edges.Head.Following() != "FOLLOW" {
				t.Errorf("f: %d is shown, %q", a.stream.At, a.Edges.Head.Following())
			}
		})
	}
}
