package tui

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/edges"
)

// clocked opens a screen, and returns a function that moves its clock.
func clocked(t testing.TB, h *fakeHost, w, hgt int) (a *app, turn func(time.Duration)) {
	t.Helper()
	now := start
	a = openWith(t, h, Options{Theme: "none", Now: func() time.Time { return now }})
	a.update(tea.WindowSizeMsg{Width: w, Height: hgt})
	return a, func(d time.Duration) {
		now = now.Add(d)
		a.Update(TickMsg{})
	}
}

func statusLine(a *app) string {
	lines := strings.Split(screenOf(a), "\n")
	return lines[a.panes.Now.Status.Y]
}

// Notes expire without a key, and never hide trouble.
func TestNotesExpire(t *testing.T) {
	h := incident()
	h.snap.Subs[0].Status.State = event.StateSuspended
	a, turn := clocked(t, h, 120, 40)
	a.Tell("theme dark")
	if s := statusLine(a); !strings.Contains(s, "theme dark") || !strings.Contains(s, "1 in trouble, and 1 server") {
		t.Errorf("the status line says %q", s)
	}
	turn(4 * time.Second)
	if s := statusLine(a); !strings.Contains(s, "theme dark") {
		t.Errorf("after 4 s it says %q", s)
	}
	turn(time.Second)
	if s := statusLine(a); strings.Contains(s, "theme dark") || !strings.Contains(s, "stored") {
		t.Errorf("after 5 s it says %q", s)
	}
	a.Fail("cannot", errors.New("broken"))
	turn(10 * time.Second)
	if s := statusLine(a); !strings.Contains(s, "broken") || !strings.Contains(s, "1 in trouble, and 1 server") {
		t.Errorf("a failure is gone after 10 s: %q", s)
	}
	turn(5 * time.Second)
	if s := statusLine(a); strings.Contains(s, "broken") {
		t.Errorf("a failure stays: %q", s)
	}
}

// Without the focus ages are drawn again every five seconds.
func TestAgesAreDrawnWithoutTheFocus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := incident()
		a := openWith(t, h, Options{Theme: "none", Now: time.Now})
		a.update(tea.WindowSizeMsg{Width: 120, Height: 40})
		settle(a, a.rates.Work(a.Scheduler.Focused))
		a.update(tea.BlurMsg{})
		before, began := h.measured, time.Now()
		for range 3 {
			cmd := a.age()
			if cmd == nil {
				t.Fatal("nothing is asked to be told")
			}
			a.update(cmd())
			settle(a, a.rates.Work(a.Scheduler.Focused))
		}
		if took := time.Since(began); took != 15*time.Second {
			t.Errorf("three times took %v", took)
		}
		if n := h.measured - before; n != 3 {
			t.Errorf("the numbers were asked for %d times", n)
		}
	})
}

// Unsubscribing can be undone for ten seconds: the subscription goes on at its old position.
func TestUndoUnsubscribe(t *testing.T) {
	h := incident()
	h.snap.Subs[0].Cursor = event.Cursor{Text: trust.Untrusted("c7"), Valid: true}
	a, turn := clocked(t, h, 120, 40)
	press(t, a, "1", "j", "j", "j", "j", "D")
	if s := screenOf(a); !strings.Contains(s, "u undoes it for 10 s, from the saved position on") {
		t.Errorf("nothing says that it can be undone:\n%s", s)
	}
	press(t, a, "y")
	turn(3 * time.Second)
	if s := statusLine(a); !strings.Contains(s, "unsubscribed from pager incident.created; u undoes it, 7 s left") {
		t.Errorf("the status line says %q", s)
	}
	press(t, a, "j", "u")
	if len(h.ended) != 1 || len(h.asked) != 1 {
		t.Fatalf("ended %v, asked %+v", h.ended, h.asked)
	}
	if r := h.asked[0]; r.From.Cursor != (event.Cursor{Text: trust.Untrusted("c7"), Valid: true}) || r.Mode != event.ModePush || r.Server != "pager" {
		t.Errorf("it begins again with %+v", r)
	}
	if s := statusLine(a); !strings.Contains(s, "subscribed again") {
		t.Errorf("the status line says %q", s)
	}

	press(t, a, "D", "y")
	turn(10 * time.Second)
	if a.Edges.Status.CanUndo() || strings.Contains(statusLine(a), "undoes") {
		t.Error("it can be undone after ten seconds")
	}
	turn(edges.LateFor)
	press(t, a, "u")
	if len(h.asked) != 1 || !slices.ContainsFunc(h.did, func(s string) bool { return strings.HasPrefix(s, "refresh") }) {
		t.Errorf("u does not have its other meaning: %v", h.did)
	}
}

// Before unsubscribing the question says what undo cannot bring back.
func TestUnsubscribeSaysWhatUndoCannotRestore(t *testing.T) {
	h := incident()
	a, _ := clocked(t, h, 120, 40)
	press(t, a, "1", "j", "j", "j", "j", "D")
	if s := screenOf(a); !strings.Contains(s, "what comes in between is missed") {
		t.Errorf("the question says\n%s", s)
	}
}

// For a paused subscription the refresh key says how to resume it.
func TestRefreshOfAPausedSubscription(t *testing.T) {
	h := incident()
	h.snap.Subs[0].Paused, h.snap.Subs[0].Status.State = true, event.StatePaused
	a := open(t, h, 140, 40)
	press(t, a, "1", "j", "j", "j", "j")
	if s := screenOf(a); !strings.Contains(s, " P resume ") {
		t.Errorf("the hints say\n%s", s)
	}
	press(t, a, "u")
	if a.Edges.Status.Note.Bad || !strings.Contains(a.Edges.Status.Note.Text, "P resumes it") || len(h.did) != 0 {
		t.Errorf("it says %+v, %v", a.Edges.Status.Note, h.did)
	}
}

// The key of the delivery mode is the same wherever a subscription is chosen.
func TestModeKeyIsTheSameEverywhere(t *testing.T) {
	for _, keys := range [][]string{{"1", "j", "j", "j", "j"}, {"2"}, {"2", "enter"}, {"4"}} {
		h := incident()
		a := open(t, h, 120, 40)
		press(t, a, append(keys, "M")...)
		if a.dialog == nil || !strings.Contains(a.dialog.Title(), "elivery") || len(h.marks) != 0 {
			t.Errorf("after %v M shows %v and marks %v", keys, a.dialog, h.marks)
		}
	}
}

// For a minute after its time the undo key says that it is too late, and does not have its other
// meaning.
func TestTooLateToUndo(t *testing.T) {
	h := incident()
	a, turn := clocked(t, h, 120, 40)
	press(t, a, "1", "j", "j", "j", "j", "D", "y")
	turn(11 * time.Second)
	press(t, a, "u")
	if s := statusLine(a); len(h.did) != 0 || len(h.asked) != 0 || !strings.Contains(s, "too late to undo") {
		t.Errorf("did %q, asked %v: %s", h.did, h.asked, s)
	}
	turn(edges.LateFor)
	if press(t, a, "u"); len(h.did) != 1 {
		t.Errorf("after a minute the key has its meaning again: did %q", h.did)
	}
}

// While the stream follows, a key acts on the row that was under the cursor when it was pressed, not
// on a newer one. The question names that row.
func TestKeysActOnTheRowUnderTheCursor(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	a.draw()
	h.event("chat", "message.posted", "came later")
	arrive(a)
	press(t, a, "D")
	if s := screenOf(a); !strings.Contains(s, "pager incident.created (push)") || !strings.Contains(s, "pool exhausted") || strings.Contains(strings.Split(s, "Of the row")[1][:60], "came later") {
		t.Errorf("the question is about another row:\n%s", s)
	}
	press(t, a, "y")
	if !slices.Equal(h.ended, []event.SubID{h.snap.Subs[0].ID}) {
		t.Errorf("ended %v", h.ended)
	}
	if a.reconcile(); a.stream.At != h.log.Last() {
		t.Error("the stream does not follow any more")
	}
	a.draw()
	h.event("chat", "message.posted", "and later")
	arrive(a)
	if press(t, a, "P", "P"); !slices.Equal(h.paused, []event.SubID{h.snap.Subs[2].ID}) {
		t.Errorf("paused %v", h.paused)
	}
}
