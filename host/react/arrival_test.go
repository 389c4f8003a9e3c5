package react

import (
	"testing"
	"time"

	"eventdeck/host/event"
)

// What is replayed is as old as the last event that came by itself: also behind records
// that say that the subscription goes on, which come first.
func TestAReplayIsAsOldAsTheLastEventBeforeIt(t *testing.T) {
	start := time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	back := start.Add(8 * time.Hour)
	before := event.Record{Kind: event.KindEvent, Sub: "aa", ReceivedAt: start}
	resumed := event.Record{Kind: event.KindState, Sub: "aa", ReceivedAt: back}
	replay := event.Record{Kind: event.KindEvent, Sub: "aa", ReceivedAt: back, Replayed: true}

	var goesOn, begunAnew Arrivals
	goesOn.Note(&before)
	begunAnew.Earlier(&resumed) // the newest first
	begunAnew.Earlier(&before)
	for name, a := range map[string]*Arrivals{"an engine that goes on": &goesOn, "one that began anew": &begunAnew} {
		a.Note(&resumed)
		if age := a.Note(&replay).Age; age != 8*time.Hour {
			t.Errorf("%s takes the replay for %v old", name, age)
		}
	}
}
