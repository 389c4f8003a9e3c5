package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
)

func TestSpark(t *testing.T) {
	for _, c := range []struct {
		counts []uint32
		want   string
	}{
		{nil, ""}, {[]uint32{0, 0}, "··"}, {[]uint32{0, 1}, "·█"}, {[]uint32{1, 50, 100}, "▁▄█"}, {[]uint32{1 << 31, 1<<32 - 1}, "▅█"},
	} {
		if got := cells.UnicodeGlyphs.Spark(c.counts); got != c.want {
			t.Errorf("%v: %s, want %s", c.counts, got, c.want)
		}
	}
	if got := cells.ASCIIGlyphs.Spark([]uint32{0, 1, 4, 8}); got != "._=#" {
		t.Errorf("ASCII: %s", got)
	}
}

// busy gives the stand-in's host some traffic.
func busy(h *fakeHost) {
	var r host.Rate
	for i := range 60 {
		r.Seconds[i], r.Minutes[i] = uint32(i%7), uint32(i*10)
	}
	h.stats = host.Stats{
		At: start, Started: start.Add(-2 * time.Hour), Events: 18_332, Replayed: 12, Duplicates: 3, Flagged: 40, Gaps: 1, Rejected: 1, Bytes: 5 << 20,
		Lag: host.Quantiles{P50: 800 * time.Millisecond, P95: 2100 * time.Millisecond, N: 90}, Ingest: host.Quantiles{P50: 300 * time.Microsecond, P95: 4 * time.Millisecond, N: 90},
		Store: event.StoreLoad{QueuedMax: 4096, Commits: 900, CommitP50: 300 * time.Microsecond, CommitP95: 2 * time.Millisecond},
		Total: r, BySub: map[event.SubID]host.Rate{h.snap.Subs[2].ID: r},
		ByType: map[host.TypeKey]host.Rate{{Server: "chat", Type: trust.Untrusted("message.posted\x1b[31m")}: r},
	}
}

func TestStatsScreen(t *testing.T) {
	h := incident()
	busy(h)
	for _, size := range [][2]int{{200, 60}, {120, 40}, {80, 24}, {60, 20}, {40, 12}} {
		a := open(t, h, size[0], size[1])
		press(t, a, "S")
		exact(t, a)
		if s := screenOf(a); size[1] > 12 && (!strings.Contains(s, "2.8/s, most 6/s") || !strings.Contains(s, "17,700 events, most 590 a minute") || !strings.Contains(s, "1 payload refused")) {
			t.Errorf("%v: the numbers of the curves are cut off:\n%s", size, s)
		}
		press(t, a, "tab", "m", "G", "g")
		exact(t, a)
	}
	a := open(t, h, 120, 40)
	look(a)
	if s := screenOf(a); !strings.Contains(s, "2.8/s ▇█·▂▃▄▆▇█·▂▃") {
		t.Errorf("no rate in the header:\n%s", s)
	}
	press(t, a, "S")
	s := screenOf(a)
	for _, want := range []string{"18,332 received", "3 duplicates dropped", "p50 800 ms, p95 2.1 s", "p50 300 us, p95 4.0 ms", "poll polling", "2.8/s"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is missing:\n%s", want, s)
		}
	}
	row := func(with string) string {
		for line := range strings.Lines(screenOf(a)) {
			if strings.Contains(line, with) {
				return line
			}
		}
		return ""
	}
	if !strings.Contains(s, "Rates per subscription, last minute") || !strings.Contains(row("MEAN"), "COURSE") || !strings.Contains(row("poll polling"), "2.9/s       174") {
		t.Errorf("the columns of the minute:\n%s", s)
	}
	press(t, a, "m")
	if s := screenOf(a); !strings.Contains(s, "Rates per subscription, last hour") || !strings.Contains(row("poll polling"), "295/min    17,700") {
		t.Errorf("the columns of the hour:\n%s", s)
	}
	press(t, a, "enter")
	if a.stream.Query.Node.Sub != h.snap.Subs[2].ID || a.dialog != nil {
		t.Error("enter does not show the events of the busiest subscription")
	}
}

// An error that is part of the evidence is not repeated as the server's words.
func TestErrorIsShownOnce(t *testing.T) {
	for text, times := range map[string]int{"connection refused": 1, "first\nsecond of it": 2} {
		h := incident()
		v := &h.snap.Subs[0]
		v.Status.State, v.Status.Error = event.StateBackoff, trust.Untrusted(text)
		a := open(t, h, 200, 60)
		d := a.detail
		d.Lines = nil
		d.Width = 100
		d.Subscription(v, query.Cursorless(&a.snap, v))
		n := 0
		for _, l := range d.Lines {
			n += strings.Count(l.Text.Plain(), text[len(text)-8:])
		}
		if n != times {
			t.Errorf("%q is told %d times", text, n)
		}
	}
}

// The screen asks for numbers once a second, and not without the focus.
func TestStatsAreReadOnceASecond(t *testing.T) {
	h := incident()
	now := start
	a := newApp(t.Context(), Options{API: h, Env: quiet, Now: func() time.Time { return now }})
	for range 100 {
		look(a)
	}
	if h.measured != 1 {
		t.Errorf("asked %d times within a second", h.measured)
	}
	now = now.Add(time.Second)
	a.update(tea.BlurMsg{})
	look(a)
	if h.measured != 1 {
		t.Error("asked while nobody looks")
	}
	a.update(tea.FocusMsg{})
	look(a)
	if h.measured != 2 {
		t.Error("not asked again when the view is open")
	}
}
