package tui

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/layout"
)

// stretched returns a host with an hour of records: one a minute, and a hundred more in minute 30.
func stretched() *fakeHost {
	h := newFake()
	h.server("pager")
	h.subscribe("pager", "incident.created", event.ModePush, "{}")
	add := func(at time.Duration) {
		h.add(event.Record{Server: "pager", Type: trust.Untrusted("incident.created"), ReceivedAt: start.Add(at), Data: []byte(`{"title":"x"}`)})
	}
	for m := range 60 {
		add(time.Duration(m) * time.Minute)
		if m == 30 {
			for i := range 100 {
				add(30*time.Minute + time.Duration(i+1)*100*time.Millisecond)
			}
		}
	}
	return h
}

// recordsAt returns the line of the timeline about the bucket under the cursor.
var recordsAt = regexp.MustCompile(`: (\d+) record`)

func TestTimelineGoesToATime(t *testing.T) {
	h := stretched()
	for _, size := range [][2]int{{200, 60}, {120, 40}, {80, 24}, {60, 20}, {40, 12}} {
		a := open(t, h, size[0], size[1])
		press(t, a, "H")
		exact(t, a)
		// To the highest bar, and there.
		press(t, a, "g")
		for range size[0] {
			if m := recordsAt.FindStringSubmatch(screenOf(a)); m != nil {
				if n, err := strconv.Atoi(m[1]); err == nil && n >= 50 {
					break
				}
			}
			press(t, a, "l")
		}
		press(t, a, "enter")
		exact(t, a)
		if a.dialog != nil || a.panes.Focus != layout.Stream || a.stream.At < 30 || a.stream.At > 131 || a.stream.Follow {
			t.Errorf("%v: leads to record %d", size, a.stream.At)
		}
	}
}

func TestEmptyTimeline(t *testing.T) {
	a := open(t, newFake(), 80, 24)
	press(t, a, "H")
	if a.dialog != nil || !strings.Contains(a.Edges.Status.Note.Text, "nothing is stored") {
		t.Errorf("dialog %v, note %q", a.dialog, a.Edges.Status.Note.Text)
	}
}

// The timeline above the stream counts the records of the current filter and scope, also if a result
// for an earlier one arrives late.
func TestStripCountsShownRecords(t *testing.T) {
	h := newFake()
	h.server("pager")
	h.subscribe("pager", "load.tick", event.ModePush, "{}")
	h.subscribe("pager", "alert.fired", event.ModePush, "{}")
	for i := range 400 {
		typ := "load.tick"
		if i%100 == 0 {
			typ = "alert.fired"
		}
		h.add(event.Record{Server: "pager", Type: trust.Untrusted(typ), ReceivedAt: start.Add(time.Duration(i-400) * time.Second), Data: []byte(`{"title":"x"}`)})
	}
	a := open(t, h, 160, 45)
	filled := func() (bars int) {
		t.Helper()
		for _, r := range ansi.Strip(a.strip.Draw(160, a.rowsShown())[0]) {
			if strings.ContainsRune("▁▂▃▄▅▆▇█", r) {
				bars++
			}
		}
		return bars
	}
	all := filled()
	if all < 50 {
		t.Fatalf("the whole stream has %d columns", all)
	}
	for _, step := range []struct {
		keys []string
		most int
	}{
		{append(append([]string{"/"}, typed("type:alert.fired")...), "enter"), 4},
		{[]string{"x"}, 0},
		{[]string{"x"}, 4},
		{[]string{"esc"}, 0},
		{[]string{"1", "j", "j", "j", "2"}, 4},
	} {
		for _, k := range step.keys {
			// As the program runs: what is read for the strip may answer before the rows do.
			settle(a, a.key(tea.KeyPressMsg(keyNamed(k))))
			cmd := a.stripWork()
			flush(a)
			settle(a, cmd)
			flush(a)
			a.draw()
			flush(a)
		}
		got := filled()
		if step.most > 0 && (got == 0 || got > step.most) || step.most == 0 && got != all {
			t.Errorf("after %q %d columns are filled of %d:\n%s", step.keys, got, all, screenOf(a))
		}
	}
}
