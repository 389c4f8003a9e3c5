package tui

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/layout"
)

// stretched is a history of an hour: one record a minute, and a hundred more in
// the minute 30.
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

// recordsAt is what the timeline says of the bucket under the cursor.
var recordsAt = regexp.MustCompile(`: (\d+) record`)

func TestTimelineLeadsToAMoment(t *testing.T) {
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

func TestTimelineOfNothing(t *testing.T) {
	a := open(t, newFake(), 80, 24)
	press(t, a, "H")
	if a.dialog != nil || !strings.Contains(a.edges.Status.Note.Text, "nothing is stored") {
		t.Errorf("dialog %v, note %q", a.dialog, a.edges.Status.Note.Text)
	}
}
