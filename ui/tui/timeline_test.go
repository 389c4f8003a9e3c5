package tui

import (
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

func TestTimelineLeadsToAMoment(t *testing.T) {
	h := stretched()
	for _, size := range [][2]int{{200, 60}, {120, 40}, {80, 24}, {60, 20}, {40, 12}} {
		a := open(t, h, size[0], size[1])
		press(t, a, "H")
		exact(t, a)
		d := a.dialog.(*timeline)
		sum := uint64(0)
		for _, n := range d.counts {
			sum += n
		}
		if sum != 160 {
			t.Errorf("%v: %d of 160 records are drawn", size, sum)
		}
		// To the highest bar, and there.
		press(t, a, "g")
		for d.counts[d.at] < 50 {
			press(t, a, "l")
		}
		press(t, a, "enter")
		exact(t, a)
		if a.dialog != nil || a.focus != layout.Stream || a.stream.At < 30 || a.stream.At > 131 || a.stream.Follow {
			t.Errorf("%v: leads to record %d", size, a.stream.At)
		}
	}
}

func TestTimelineZooms(t *testing.T) {
	a := open(t, stretched(), 120, 40)
	press(t, a, "H", "g")
	d := a.dialog.(*timeline)
	all := d.to.Sub(d.from)
	for d.counts[d.at] < 50 {
		press(t, a, "l")
	}
	was := d.begins(d.at)
	press(t, a, "+", "+")
	if span := d.to.Sub(d.from); span > all/15 || d.from.After(was) || d.to.Before(was) {
		t.Errorf("zoomed to %v from %v, which loses %v", span, d.from, was)
	}
	for range 20 {
		press(t, a, "+")
		exact(t, a)
	}
	for range 20 {
		press(t, a, "-")
		exact(t, a)
	}
	if d.to.Sub(d.from) != all {
		t.Errorf("zoomed out to %v, all is %v", d.to.Sub(d.from), all)
	}
	press(t, a, "+", "0")
	if d.to.Sub(d.from) != all {
		t.Error("0 does not show all")
	}
}

func TestTimelineOfNothing(t *testing.T) {
	a := open(t, newFake(), 80, 24)
	press(t, a, "H")
	if a.dialog != nil || !strings.Contains(a.note.text, "nothing is stored") {
		t.Errorf("dialog %v, note %q", a.dialog, a.note.text)
	}
}
