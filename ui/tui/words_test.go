package tui

import (
	"strings"
	"testing"
)

func TestCountOfOneAndOfMany(t *testing.T) {
	for got, want := range map[string]string{
		count(0, "event"): "0 events", count(1, "event"): "1 event", count(1204, "event"): "1,204 events",
		count(1, "delivery"): "1 delivery", count(uint64(2), "delivery"): "2 deliveries", count(uint64(18_332), "gap"): "18,332 gaps",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// One of a kind is told as one, in the numbers too.
func TestNumbersOfOne(t *testing.T) {
	h := incident()
	h.stats.Refusals, h.stats.Duplicates, h.stats.Store.Commits = 1, 1, 1
	a := open(t, h, 120, 40)
	press(t, a, "S")
	s := screenOf(a)
	for _, want := range []string{"1 delivery refused", "1 duplicate dropped", "1 commit"} {
		if !strings.Contains(s, want) || strings.Contains(s, want+"s ") {
			t.Errorf("%q is missing:\n%s", want, s)
		}
	}
}
