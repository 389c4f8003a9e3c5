package tui

import (
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// Rows of other days have their date, as soon as one is shown; so has each row after midnight.
func TestRowsOfOtherDaysHaveTheirDate(t *testing.T) {
	for width, want := range map[int][2]string{120: {"03-12 14:03:05.0 ", "      14:03:05.9 "}, 60: {"03-12 14:03:05 ", "      14:03:05 "}} {
		now := start
		h := newFake()
		h.server("pager", event.Type{Name: trust.Untrusted("incident.created")})
		old := func(title string, at time.Time) {
			h.add(event.Record{Server: "pager", Type: trust.Untrusted("incident.created"), Data: []byte(`{"title":"` + title + `"}`), ReceivedAt: at})
		}
		old("the day before yesterday", start.AddDate(0, 0, -2))
		h.event("pager", "incident.created", "second")
		old("third", start.Add(900*time.Millisecond))
		a := open(t, h, width, 30)
		a.Now = func() time.Time { return now }
		press(t, a, "2")
		if s := screenOf(a); !strings.Contains(s, want[0]) || !strings.Contains(s, want[1]) || strings.Contains(s, " 03-14") {
			t.Errorf("at %d cells:\n%s", width, s)
		}
		exact(t, a)
		now = now.Add(10 * time.Hour)
		if s := screenOf(a); strings.Count(s, "03-14 14:03:05") < 2 {
			t.Errorf("after midnight at %d cells:\n%s", width, s)
		}
		press(t, a, "t")
		if s := screenOf(a); !strings.Contains(s, "03-12 ") || !strings.Contains(s, "Z ▌") {
			t.Errorf("in UTC at %d cells:\n%s", width, s)
		}
		exact(t, a)
		press(t, a, "t")
		if s := screenOf(a); strings.Contains(s, "03-12 14:03") {
			t.Errorf("relative times have dates:\n%s", s)
		}
	}
	a := open(t, incident(), 120, 30)
	if s := screenOf(a); strings.Contains(s, " 03-14") || strings.Contains(s, "     14:03") {
		t.Errorf("rows of today have their date, or room for it:\n%s", s)
	}
}
