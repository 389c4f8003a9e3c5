package tui

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/persist"
	"eventdeck/ui/tui/query"
)

// talk returns a host with an incident at one server and n messages at another.
func talk(n int) *fakeHost {
	h := incident()
	for i := range n {
		h.event("pager", "incident.created", fmt.Sprint("latency of gateway ", i))
		h.event("chat", "message.posted", fmt.Sprint("ann says ", i))
	}
	return h
}

// Two streams have separate scopes, filters and chosen rows. Arrivals reach both; actions in one do
// not move the other.
func TestTwoStreamsAreIndependent(t *testing.T) {
	h := talk(60)
	a := open(t, h, 200, 50)
	press(t, a, "2", "%", "/")
	word(t, a, "latency")
	press(t, a, "enter")
	left, right := &a.stream.Other, &a.stream.Stream
	if right.Query.Text != "latency" || left.Query.Text != "" || !left.Follow || !right.Follow {
		t.Fatalf("the second shows %q, the first %q", right.Query.Text, left.Query.Text)
	}
	exact(t, a)
	text := screenOf(a)
	for _, want := range []string{"all servers · following", "2 all servers /latency · following", "ann says 59"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	press(t, a, "k", "k", "k")
	at := right.At
	for i := range 10 {
		h.event("pager", "incident.created", fmt.Sprint("more latency ", i))
		newest := h.event("chat", "message.posted", "and again")
		arrive(a)
		if right.At != at || right.Follow {
			t.Fatal("the stream that is read moved")
		}
		if left.At != newest || !left.Follow {
			t.Fatalf("the other one is at %d, the newest is %d", left.At, newest)
		}
	}
	if text := screenOf(a); !strings.Contains(text, "and again") {
		t.Errorf("what arrived is not shown in the other stream:\n%s", text)
	}
	press(t, a, "2", "k")
	if a.stream.Query.Text != "" || a.stream.Follow || a.stream.Other.At != at {
		t.Errorf("in the first: filter %q, follows %v, the second is at %d, was at %d", a.stream.Query.Text, a.stream.Follow, a.stream.Other.At, at)
	}
}

// The tree sets the scope of the stream with the focus, and follows when the focus moves to the other.
func TestTreeFollowsTheStreamWithTheFocus(t *testing.T) {
	a := open(t, talk(10), 160, 45)
	press(t, a, "2", "\"", "1", "j", "j", "j", "j", "2")
	at := a.tree.At
	if at == (query.Node{}) || a.stream.Query.Node != at || a.stream.Other.Query.Node != (query.Node{}) {
		t.Fatalf("tree %v, streams %v and %v", at, a.stream.Query.Node, a.stream.Other.Query.Node)
	}
	if press(t, a, "2"); a.tree.At != (query.Node{}) || a.stream.Other.Query.Node != at {
		t.Errorf("in the other stream the tree is at %v", a.tree.At)
	}
	if press(t, a, "2"); a.tree.At != at {
		t.Errorf("back again the tree is at %v", a.tree.At)
	}
}

// Tab goes through all panes in order, and the split key closes the other stream.
func TestTabVisitsTwoStreams(t *testing.T) {
	a := open(t, talk(10), 200, 50)
	press(t, a, "2", "%", "1")
	var seen []string
	for range 4 {
		press(t, a, "tab")
		seen = append(seen, fmt.Sprint(a.panes.Focus, a.panes.Last))
	}
	want := []string{fmt.Sprint(layout.Stream, false), fmt.Sprint(layout.Stream, true), fmt.Sprint(layout.Detail, true), fmt.Sprint(layout.Tree, true)}
	if strings.Join(seen, " ") != strings.Join(want, " ") {
		t.Errorf("tab leads to %v, want %v", seen, want)
	}
	press(t, a, "2", "/")
	word(t, a, "latency")
	press(t, a, "enter")
	if press(t, a, "\""); a.panes.Now.Other.X == 0 && !a.stream.Two {
		t.Error("turned, there is one stream")
	}
	a.draw()
	if s, o := a.panes.Now.Stream, a.panes.Now.Other; s.X != o.X || o.Y >= s.Y {
		t.Errorf("one above the other: %+v and %+v", s, o)
	}
	if press(t, a, "\""); a.stream.Two || a.stream.Query.Text != "latency" || a.panes.Streams != layout.OneStream {
		t.Errorf("two streams: %v, filter %q", a.stream.Two, a.stream.Query.Text)
	}
	exact(t, a)
}

// If there is room for one stream only, one hides the other, and a note says so.
func TestTwoStreamsOnASmallScreen(t *testing.T) {
	a := open(t, talk(10), 60, 14)
	press(t, a, "2", "%")
	if text := screenOf(a); !strings.Contains(text, "room for one stream") {
		t.Errorf("nothing is said:\n%s", text)
	}
	filterBy(t, a, "latency")
	if text := screenOf(a); !strings.Contains(text, "/latency") || strings.Contains(text, "ann says") {
		t.Errorf("the second is not shown:\n%s", text)
	}
	press(t, a, "2")
	exact(t, a)
	if text := screenOf(a); !strings.Contains(text, "ann says 9") {
		t.Errorf("the first is not shown:\n%s", text)
	}
	a.update(tea.WindowSizeMsg{Width: 200, Height: 50})
	exact(t, a)
	if a.panes.Now.Other.Empty() {
		t.Error("on a large screen one of them is not shown")
	}
}

func TestTwoStreamsAreRemembered(t *testing.T) {
	h, now := talk(30), start
	enter := func() *app {
		a := newApp(context.Background(), Options{API: h, Env: quiet, Theme: "none", Now: func() time.Time { return now }})
		a.update(tea.WindowSizeMsg{Width: 200, Height: 50})
		a.draw()
		flush(a)
		return a
	}
	a := enter()
	press(t, a, "2", "%", "/")
	word(t, a, "latency")
	press(t, a, "enter", "k", "k", "2")
	now = now.Add(2 * time.Second)
	settle(a, a.persist.Save(a.state))
	b := enter()
	if !b.stream.Two || b.panes.Streams != layout.Beside || b.panes.Last != a.panes.Last || b.stream.Other.Query.Text != "latency" ||
		b.stream.Other.At != a.stream.Other.At || b.stream.Query.Text != "" || !b.stream.Follow {
		t.Errorf("remembered %s", h.settings[persist.Layout])
	}
	exact(t, b)
}

// A result for a stream that was closed meanwhile is dropped.
func TestAnswersToAClosedStreamAreDropped(t *testing.T) {
	a := open(t, talk(60), 200, 50)
	press(t, a, "2", "%")
	a.stream.Show(mustQuery(t, query.Node{}, "latency"))
	late := a.fetch()
	press(t, a, "2")
	seqs := len(a.stream.Seqs)
	press(t, a, "%")
	settle(a, late)
	if a.stream.Two || len(a.stream.Seqs) != seqs {
		t.Errorf("%d rows, were %d", len(a.stream.Seqs), seqs)
	}
	press(t, a, "%")
	settle(a, late)
	if len(a.stream.Seqs) != seqs || len(a.stream.Other.Seqs) != seqs {
		t.Errorf("%d and %d rows, were %d", len(a.stream.Seqs), len(a.stream.Other.Seqs), seqs)
	}
}

// The other stream can be moved to the time of the chosen record.
func TestOtherStreamShowsTheSameTime(t *testing.T) {
	a := open(t, talk(60), 200, 50)
	press(t, a, "2", "%", "/")
	word(t, a, "latency")
	press(t, a, "enter", "g", "@")
	if o := &a.stream.Other; o.Follow || o.At != a.stream.At {
		t.Errorf("the other one is at %d, this at %d", o.At, a.stream.At)
	}
	if press(t, a, "%"); a.actions.Works(a.actions.Find("streams.align")) {
		t.Error("one stream has another")
	}
}

// A click moves the focus to a stream; the wheel scrolls the stream under the pointer.
func TestMouseInTwoStreams(t *testing.T) {
	a := open(t, talk(60), 200, 50)
	press(t, a, "2", "%")
	a.draw()
	o := a.panes.Now.Other
	top, here := a.stream.Other.Top, a.stream.Top
	settle(a, a.scrollAt(o.X+5, o.Y+3, -6))
	if a.stream.Other.Top == top || a.stream.Top != here {
		t.Error("the wheel does not scroll what is under it")
	}
	want := a.stream.Other.Seqs[a.stream.Other.Index(a.stream.Other.Top)+2]
	settle(a, a.click(tea.Mouse{X: o.X + 5, Y: o.Y + 3, Button: tea.MouseLeft}))
	if a.stream.At != want || a.panes.Last || a.panes.Focus != layout.Stream {
		t.Errorf("chosen %d, want %d", a.stream.At, want)
	}
}

func TestGoldenTwoStreams(t *testing.T) {
	for name, keys := range map[string][]string{"beside": {"2", "%", "/", "s", "a", "y", "s", "enter"}, "under": {"2", "\"", "1", "j", "j", "j", "j", "2"}} {
		for _, size := range [][2]int{{200, 50}, {160, 45}, {100, 30}, {80, 24}} {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				a := open(t, talk(30), size[0], size[1])
				press(t, a, keys...)
				golden(t, a, "two-"+name)
			})
		}
	}
}

// BenchmarkViewOfTwoStreams draws two streams while the choice moves through one.
func BenchmarkViewOfTwoStreams(b *testing.B) {
	a := overAMillion(b)
	press(b, a, "2", "%")
	scrolled(b, a, func() { a.View() })
}
