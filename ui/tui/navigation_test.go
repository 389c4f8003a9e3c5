package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/stream"
)

// far returns a host with n events, more than a window holds. Gaps and special events are among the
// first ones.
func far(n int) *fakeHost {
	h := newFake()
	h.server("pager")
	for i := range n {
		switch {
		case i == 7:
			h.add(event.Record{Kind: event.KindGap, Server: "pager", Type: trust.Untrusted("load.tick"), Gap: &event.Gap{Cause: event.CauseTruncated, From: start, To: start}})
		case i == 5:
			h.event("pager", "load.tick", "needle")
		default:
			h.add(event.Record{Server: "pager", Type: trust.Untrusted("load.tick"), Kind: event.KindEvent, EventID: trust.Untrusted(fmt.Sprint(i)), Data: []byte(`{"title":"tick"}`), Flags: []string{}})
		}
	}
	return h
}

const farEvents = 3 * stream.WindowMax

// Keys that move through the history reach all of it, not only the rows in memory.
func TestKeysReachAllStoredRecords(t *testing.T) {
	h := far(farEvents)
	for name, c := range map[string]struct {
		filter string
		keys   []string
		want   uint64
	}{
		"g":                   {"", []string{"g"}, 1},
		"g of a filter":       {"needle", []string{"g"}, 6},
		"G after g":           {"", []string{"g", "G"}, farEvents},
		"the marker before":   {"", []string{"["}, 8},
		"the marker behind":   {"", []string{"g", "]"}, 8},
		"the match before":    {"", []string{"\\", "n", "e", "e", "d", "l", "e", "enter"}, 6},
		"the match behind":    {"", []string{"\\", "n", "e", "e", "d", "l", "e", "enter", "g", "n"}, 6},
		"a match of a filter": {"tick", []string{"\\", "n", "e", "e", "d", "l", "e", "enter"}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, h, 120, 40)
			if c.filter != "" {
				filterBy(t, a, c.filter)
			}
			press(t, a, "2")
			press(t, a, c.keys...)
			if a.stream.At != c.want {
				t.Errorf("at %d, want %d; told %q", a.stream.At, c.want, a.Edges.Status.Note.Text)
			}
			exact(t, a)
		})
	}
}

// Moving ends a search: a late result does not move the choice.
func TestMovingEndsTheSearch(t *testing.T) {
	a := open(t, far(1000), 120, 40)
	press(t, a, "2", "k", "k")
	cmd := a.key(tea.KeyPressMsg{Code: '[', Text: "["})
	press(t, a, "k")
	at := a.stream.At
	settle(a, cmd)
	if flush(a); a.stream.At != at {
		t.Errorf("at %d, was at %d", a.stream.At, at)
	}
}

// After esc in the filter the earlier row is chosen again, also when a typed filter hid it.
func TestEscInTheFilterRestoresTheRow(t *testing.T) {
	h := far(farEvents)
	a := open(t, h, 120, 40)
	press(t, a, "2")
	a.gotoSeq(farEvents / 2)
	flush(a)
	press(t, a, "k", "k")
	at, top := a.stream.At, a.stream.Top
	press(t, a, "/")
	word(t, a, "needle")
	if a.stream.At != 6 {
		t.Errorf("the only match is not chosen, but %d", a.stream.At)
	}
	for range len("needle") {
		press(t, a, "backspace")
	}
	if a.stream.At != at {
		t.Errorf("with the filter empty again at %d, was at %d", a.stream.At, at)
	}
	word(t, a, "nothing at all")
	press(t, a, "esc")
	if a.stream.At != at || a.stream.Top != top || a.stream.Follow {
		t.Errorf("after esc at %d below %d, was at %d below %d", a.stream.At, a.stream.Top, at, top)
	}
	filterBy(t, a, "needle")
	press(t, a, "esc")
	if a.stream.At != 6 {
		t.Errorf("a filter that was kept and taken away leads to %d, not to what was chosen in it", a.stream.At)
	}
}

// A filter shows how far back it has searched.
func TestFilterShowsHowFarItSearched(t *testing.T) {
	a := open(t, far(farEvents), 120, 40)
	press(t, a, "/")
	for _, k := range typed("needle") {
		a.key(tea.KeyPressMsg{Code: []rune(k)[0], Text: k})
	}
	if s := screenOf(a); !strings.Contains(s, "searching, ") || strings.Contains(s, "+ shown") {
		t.Errorf("nothing is told:\n%s", s)
	}
	settle(a, a.fetch()) // the newest records
	a.fetch()
	if s := screenOf(a); !strings.Contains(s, "searching, back to ") || !strings.Contains(s, ", 0 so far") {
		t.Errorf("how far is not told:\n%s", s)
	}
}

// While the stream follows, a sequence of keys acts on the row under the cursor at its first key.
func TestKeySequenceActsOnTheRowOfItsFirstKey(t *testing.T) {
	for name, c := range map[string]struct{ keys, then []string }{
		"copy": {[]string{"y"}, nil}, "mark": {[]string{"m"}, nil}, "why": {[]string{"!"}, nil}, "commands": {[]string{":"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := incident()
			a := open(t, h, 120, 40)
			press(t, a, "2", "G")
			at := a.stream.At
			press(t, a, c.keys...)
			a.reconcile() // as after every message
			for range 3 {
				h.event("pager", "incident.created", "later")
			}
			arrive(a)
			if a.stream.At != at || a.detail.LaidOut() != at && name == "why" {
				t.Errorf("the key is about %d, not %d", a.stream.At, at)
			}
			press(t, a, "esc")
			a.reconcile()
			if a.stream.At != h.store.Last() || !a.stream.Follow {
				t.Errorf("afterwards at %d, following %v", a.stream.At, a.stream.Follow)
			}
		})
	}
}

// The search for the next marker begins at the oldest row after a jump there, also before that row
// is read.
func TestNextMarkerAfterTheOldestRow(t *testing.T) {
	h := incident()
	for i := range 3000 {
		h.event("pager", "incident.created", fmt.Sprint("row ", i))
	}
	a := open(t, h, 120, 40)
	press(t, a, "2")
	a.key(tea.KeyPressMsg{Code: 'g', Text: "g"}) // nothing is read yet
	press(t, a, "]")
	if a.stream.At != 3 {
		t.Errorf("it leads to record %d: %s", a.stream.At, statusLine(a))
	}
}

// The hints have both keys that turn tabs, in the detail at any width.
func TestHintsHaveTheKeysOfTabs(t *testing.T) {
	for _, width := range []int{40, 80, 120} {
		for keys, want := range map[string]bool{"2 enter": true, "2 3": true, "4": width > 80, "5": width > 40, "2": false, "1 j 3": false} {
			a := open(t, incident(), width, 40)
			press(t, a, strings.Fields(keys)...)
			lines := strings.Split(screenOf(a), "\n")
			if hints := lines[len(lines)-1]; strings.Contains(hints, " [ ] tabs ") != want {
				t.Errorf("%d cells, after %s: %q, want %v", width, keys, hints, want)
			}
		}
	}
}

// Keys for subscriptions act on the subscription of the chosen row. A row of a type has its only
// subscription.
func TestKeysOfSubscriptionsActOnTheRow(t *testing.T) {
	for key, want := range map[string]string{"i": "Why is it quiet", "M": "Delivery", "D": "Unsubscribe", "P": "paused "} {
		for row, name := range []string{"pager incident.created", "pager incident.created", "chat message.posted", "pager incident.created", "chat message.posted"} {
			a := open(t, incident(), 120, 40)
			press(t, a, append([]string{"2"}, slices.Repeat([]string{"k"}, row)...)...)
			if key == "P" && row == 0 { // the stream follows: the key names its target first
				press(t, a, key)
			}
			press(t, a, key)
			if s := screenOf(a); !strings.Contains(s, want) || strings.Contains(statusLine(a), "needs") || key == "P" && !strings.Contains(s, "paused "+name) {
				t.Errorf("%s on row %d from below, of %s:\n%s", key, row, name, s)
			}
		}
	}
}

// Keys for subscriptions say that the subscription of a row has ended.
func TestKeysOfEndedSubscriptions(t *testing.T) {
	h := incident()
	h.snap.Subs = h.snap.Subs[1:] // without that to incident.created
	for _, key := range []string{"i", "M", "D", "P"} {
		a := open(t, h, 120, 40)
		press(t, a, "2", key)
		if got := statusLine(a); !strings.Contains(got, "this row is of a subscription that has ended; "+key+" needs a subscription") {
			t.Errorf("%s says %q", key, got)
		}
	}
}
