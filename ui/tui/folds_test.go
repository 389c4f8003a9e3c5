package tui

import (
	"fmt"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// wentAway records that a server went away, for so many of its subscriptions.
func (h *fakeHost) wentAway(server string, subs int) (last uint64) {
	for i := range subs {
		last = h.add(event.Record{Kind: event.KindState, Server: server, Type: trust.Untrusted(fmt.Sprint("type.", i)), Mode: event.ModePush,
			Sub: event.SubID(fmt.Sprint("sub", i)), State: &event.StateChange{State: event.StateBackoff, Evidence: "the connection ended"}})
	}
	return last
}

// What one server did to all of its subscriptions is one row with a count, also when some of
// it comes later, and whichever of them one is led to.
func TestOneServerThatWentAwayIsOneRow(t *testing.T) {
	h := talk(20)
	first := h.wentAway("pager", 3) - 2
	a := open(t, h, 160, 45)
	press(t, a, "2")
	count := func(want string, rows int) {
		t.Helper()
		text := screenOf(a)
		stream := strings.Count(text, "push backoff, the connection ended x")
		if !strings.Contains(text, "the connection ended "+want+" ") || stream != rows {
			t.Fatalf("want %d row with %s:\n%s", rows, want, text)
		}
		exact(t, a)
	}
	count("x3", 1)
	h.wentAway("pager", 2)
	arrive(a)
	count("x5", 1)
	if a.stream.At != first {
		t.Errorf("chosen is %d, want %d", a.stream.At, first)
	}
	last := h.wentAway("pager", 1)
	h.event("pager", "incident.created", "and on it goes")
	h.wentAway("pager", 2)
	arrive(a)
	count("x6", 2)
	press(t, a, "k")
	for _, seq := range []uint64{first + 1, last} {
		a.gotoSeq(seq)
		flush(a)
		if a.stream.At != first || strings.Contains(screenOf(a), "hides it") {
			t.Errorf("to %d leads to %d, want %d", seq, a.stream.At, first)
		}
	}
	press(t, a, "]")
	if a.stream.At != last+2 {
		t.Errorf("the next change of state is %d, want %d", a.stream.At, last+2)
	}
	if press(t, a, "["); a.stream.At != first {
		t.Errorf("the one before is %d, want %d", a.stream.At, first)
	}
	press(t, a, "v", "v", "g", "G")
	exact(t, a)
}

// Rows that are read anew in the middle of what is folded, and from the oldest on, are the same.
func TestFoldsAreTheSameFromEverywhere(t *testing.T) {
	h := newFake()
	h.server("pager")
	for range 40 {
		h.event("pager", "tick", "tock")
		h.wentAway("pager", 30)
	}
	a := open(t, h, 120, 40)
	rows := func() int {
		flush(a)
		return len(a.stream.Seqs)
	}
	press(t, a, "2", "g")
	for range 50 {
		press(t, a, "ctrl+d")
	}
	if n := rows(); n != 80 {
		t.Errorf("from the oldest on there are %d rows, want 80", n)
	}
	press(t, a, "G")
	for range 100 {
		press(t, a, "ctrl+u")
	}
	if n := rows(); n < 80 || n > 82 { // a page may begin within one
		t.Errorf("from the newest on there are %d rows, want 80", n)
	}
}
