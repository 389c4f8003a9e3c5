package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// wentAway adds a change of state for each of subs subscriptions of a server.
func (h *fakeHost) wentAway(server string, subs int) (last uint64) {
	for i := range subs {
		last = h.add(event.Record{Kind: event.KindState, Server: server, Type: trust.Untrusted(fmt.Sprint("type.", i)), Mode: event.ModePush,
			Sub: event.SubID(fmt.Sprint("sub", i)), State: &event.StateChange{State: event.StateBackoff, Evidence: "the connection ended"}})
	}
	return last
}

// A cause that is both the evidence and the error is shown once, in rows and in the detail.
func TestCauseIsShownOnce(t *testing.T) {
	for failed, want := range map[string]string{
		"connection ended before the answer: unexpected EOF": "push backoff: connection ended before the answer: unexpected EOF",
		"no route to host": "push backoff, the connection ended: no route to host",
	} {
		h := incident()
		h.add(event.Record{Kind: event.KindState, Server: "chat", Type: trust.Untrusted("message.posted"), Mode: event.ModePush,
			State: &event.StateChange{State: event.StateBackoff, Evidence: "the connection ended", Error: trust.Untrusted(failed)}})
		a := open(t, h, 160, 45)
		press(t, a, "2", "enter")
		s := screenOf(a)
		if strings.Count(s, want) != 2 { // in its row and in its detail
			t.Errorf("%q is not shown:\n%s", want, s)
		}
		if evidence := strings.Contains(s, "evidence the connection ended"); evidence == strings.HasPrefix(failed, "connection ended") {
			t.Errorf("the evidence beside it is told: %v\n%s", evidence, s)
		}
	}
}

// Equal changes of state of several subscriptions of a server are one row with a count, also when
// more arrive later. A jump to any of them leads to that row.
func TestChangesOfOneServerFoldToOneRow(t *testing.T) {
	h := talk(20)
	first := h.wentAway("pager", 3) - 2
	a := open(t, h, 160, 45)
	press(t, a, "2")
	count := func(want string, rows int) {
		t.Helper()
		text := screenOf(a)
		stream := strings.Count(text, "push backoff, the connection ended x")
		if !strings.Contains(text, "the connection ended "+want+" of several subscriptions ") || stream != rows {
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

// Folds are the same whether rows are read from the oldest or from the newest record on.
func TestFoldsDoNotDependOnTheReadingOrder(t *testing.T) {
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

// Repeated changes of state of one subscription are one row with its name.
func TestFoldOfOneSubscriptionNamesIt(t *testing.T) {
	h := talk(5)
	for range 3 {
		h.wentAway("pager", 1)
	}
	a := open(t, h, 160, 45)
	press(t, a, "2")
	if s := screenOf(a); !strings.Contains(s, "the connection ended x3 ") || !strings.Contains(s, "type.0") {
		t.Errorf("it shows\n%s", s)
	}
}

// Changes of state of repeated restarts fold around the gaps in between, with a count and a span.
// Gaps are not folded. An event begins new folds.
func TestRestartsFoldAroundTheirGaps(t *testing.T) {
	h := talk(5)
	restart := func(minute int) uint64 {
		state := func(sub int, state event.State, evidence string) {
			h.add(event.Record{Kind: event.KindState, Server: "pager", Type: trust.Untrusted(fmt.Sprint("type.", sub)), Mode: event.ModePush,
				Sub: event.SubID(fmt.Sprint("sub", sub)), State: &event.StateChange{State: state, Evidence: evidence}, ReceivedAt: start.Add(time.Duration(minute) * time.Minute)})
		}
		state(0, event.StateBackoff, "the server went away")
		state(0, event.StateResumed, "resumed at the stored position")
		return h.add(event.Record{Kind: event.KindGap, Server: "pager", Type: trust.Untrusted("type.1"), Sub: "sub1", Mode: event.ModePush,
			Gap: &event.Gap{Cause: event.CauseNoReplay}, ReceivedAt: start.Add(time.Duration(minute) * time.Minute)})
	}
	var gaps []uint64
	for i := range 4 {
		gaps = append(gaps, restart(i))
	}
	a := open(t, h, 160, 45)
	press(t, a, "2")
	count := func(times string, rows int) {
		t.Helper()
		text := screenOf(a)
		if n := strings.Count(text, "gap      pager type.1"); n != len(gaps) {
			t.Errorf("%d of %d gaps are shown:\n%s", n, len(gaps), text)
		}
		for _, what := range []string{"the server went away", "resumed at the stored position"} {
			if n := strings.Count(text, what); n != rows || !strings.Contains(text, what+" "+times) {
				t.Errorf("want %d rows, and %q %s:\n%s", rows, what, times, text)
			}
		}
		exact(t, a)
	}
	count("x4 over 3 m", 1)
	gaps = append(gaps, restart(4))
	arrive(a)
	count("x5 over 4 m", 1)
	h.event("pager", "incident.created", "and on it goes")
	gaps = append(gaps, restart(5))
	arrive(a)
	count("x5 over 4 m", 2)
	press(t, a, "g")
	a.gotoSeq(gaps[0])
	flush(a)
	for _, gap := range gaps[1:5] {
		if press(t, a, "]"); a.stream.At != gap {
			t.Errorf("the next gap is %d, want %d", a.stream.At, gap)
		}
	}
	for _, gap := range []uint64{gaps[3], gaps[2], gaps[1], gaps[0], gaps[0] - 1, gaps[0] - 2} {
		if press(t, a, "["); a.stream.At != gap {
			t.Errorf("the one before is %d, want %d", a.stream.At, gap)
		}
	}
	for row, member := range map[uint64]uint64{gaps[0] - 2: gaps[4] - 2, gaps[0] - 1: gaps[3] - 1} {
		a.gotoSeq(member)
		flush(a)
		if a.stream.At != row {
			t.Errorf("to %d leads to %d, want %d", member, a.stream.At, row)
		}
	}
}
