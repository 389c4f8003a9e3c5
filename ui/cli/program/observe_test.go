package program

import (
	"testing"

	"eventdeck/host/react"
)

// Every state in which a run may end has a metric, even before a run ended in it.
func TestNumbersOfReactions(t *testing.T) {
	got := map[string]float64{}
	for _, m := range reactMetrics(react.View{
		Asking: 3, Running: 2, Spent: 410_000, SpendLimit: 5_000_000, Ended: map[react.State]uint64{react.Done: 7, react.Failed: 1},
	}) {
		got[m.Name] = m.Value
		if m.Unit == "" {
			t.Errorf("%s has no unit", m.Name)
		}
	}
	for name, want := range map[string]float64{
		"eventdeck.react.asking": 3, "eventdeck.react.running": 2, "eventdeck.react.spend": 0.41, "eventdeck.react.spend.limit": 5,
		"eventdeck.react.ended.done": 7, "eventdeck.react.ended.failed": 1, "eventdeck.react.ended.parked": 0, "eventdeck.react.ended.would-run": 0,
	} {
		if value, ok := got[name]; !ok || value != want {
			t.Errorf("%s is %v, want %v", name, value, want)
		}
	}
	if want := 4 + len(react.Ends()); len(got) != want {
		t.Errorf("%d numbers, want %d: %v", len(got), want, got)
	}
}
