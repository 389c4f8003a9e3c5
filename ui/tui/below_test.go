package tui

import (
	"fmt"
	"testing"

	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/feed"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
)

// waits holds the numbers that are shown against what the log has behind the rows shown.
func waits(t *testing.T, a *app, when string) int {
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
	if got := a.edges.Head.Following(); got != head {
		t.Errorf("%s: %q, want %q", when, got, head)
	}
	if got := a.paneTitle(layout.Stream, 80); got != "2 Stream" {
		t.Errorf("%s: the title says it a second time: %q", when, got)
	}
	return want
}

// What waits is a number that is true, also when more waits than the window holds:
// while events come, while one reads on, goes back and freezes the view.
func TestNumberOfWhatWaits(t *testing.T) {
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
			a.requery(mustQuery(t, query.Node{}, text))
			flush(a)
			a.draw()
			press(t, a, "2", "k", "k", "k")
			waits(t, a, "at the end")
			flood(1000)
			arrive(a)
			waits(t, a, "more than a page")
			before := 0
			for range 2 {
				flood(stream.WindowMax * 3 / 2)
				arrive(a)
				if n := waits(t, a, "more than the window"); n <= before {
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
			waits(t, a, "read on")
			for !a.stream.Oldest || a.stream.At != a.stream.Seqs[0] {
				press(t, a, "ctrl+u")
			}
			flood(100)
			arrive(a)
			waits(t, a, "back at the oldest")
			press(t, a, "space")
			flood(8)
			arrive(a)
			want := 8
			if text != "" {
				want = 4
			}
			if got := a.edges.Head.Following(); got != fmt.Sprintf("FROZEN (%d waiting)", want) {
				t.Errorf("frozen: %q", got)
			}
			press(t, a, "space")
			waits(t, a, "let go")
			press(t, a, "G")
			if a.draw(); a.edges.Head.Following() != "FOLLOW" {
				t.Errorf("at the newest: %q", a.edges.Head.Following())
			}
		})
	}
}

// Behind a place far back the rows of a filter were never counted: what is known is a
// lower bound and says so, until reading on has passed what was not counted.
func TestLowerBoundOfWhatWaits(t *testing.T) {
	h := incident()
	for i := range 3 * feed.FirstScan {
		h.event("pager", "incident.created", []string{"tick", "tock"}[i%2])
	}
	a := open(t, h, 120, 40)
	a.draw()
	press(t, a, "2")
	a.gotoSeq(100)
	flush(a)
	waits(t, a, "without a filter all is known")
	press(t, a, "G")
	a.requery(mustQuery(t, query.Node{}, "tick"))
	flush(a)
	a.draw()
	a.gotoSeq(100)
	flush(a)
	a.draw()
	least, _ := a.stream.Below()
	if got := a.edges.Head.Following(); got != fmt.Sprintf("READING (%d+ below)", least) || least < feed.FirstRows/2 {
		t.Errorf("%q", got)
	}
	h.event("pager", "incident.created", "tick")
	h.event("pager", "incident.created", "tock")
	arrive(a)
	if n, atLeast := a.stream.Below(); n != least+1 || !atLeast {
		t.Errorf("%d and %v, want %d and more", n, atLeast, least+1)
	}
	for range 3 * feed.FirstScan / 20 {
		press(t, a, "ctrl+d")
	}
	press(t, a, "ctrl+u", "ctrl+u", "ctrl+u")
	waits(t, a, "read on")
}

// Whoever goes to the detail reads the event that was there: the next one does not
// take its place, whichever way led there.
func TestDetailHoldsWhatIsRead(t *testing.T) {
	for name, keys := range map[string][]string{"by its number": {"3"}, "by turning": {"tab"}, "by opening": {"enter"}} {
		t.Run(name, func(t *testing.T) {
			h := incident()
			a := open(t, h, 120, 40)
			press(t, a, "2", "G")
			a.draw()
			at := a.stream.At
			if at == 0 || a.edges.Head.Following() != "FOLLOW" {
				t.Fatalf("%d is chosen, %q", at, a.edges.Head.Following())
			}
			press(t, a, keys...)
			h.event("pager", "incident.created", "the next one")
			arrive(a)
			if a.panes.Focus != layout.Detail || a.stream.At != at {
				t.Errorf("pane %d, and %d is shown instead of %d", a.panes.Focus, a.stream.At, at)
			}
			press(t, a, "f")
			if a.draw(); a.stream.At == at || a.edges.Head.Following() != "FOLLOW" {
				t.Errorf("f: %d is shown, %q", a.stream.At, a.edges.Head.Following())
			}
		})
	}
}
