package sim

import (
	"testing"
	"time"

	"eventdeck/host/event"
)

// A gap covers the events in its window, and within a tolerance around it.
func TestGapCoversItsWindow(t *testing.T) {
	at := func(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }
	known := &account{gaps: []event.Gap{{From: at(100), To: at(200)}}}
	unknown := &account{gaps: []event.Gap{{To: at(200)}}}
	tests := map[string]struct {
		a    *account
		at   int
		want bool
	}{
		"long before":                    {known, 0, false},
		"just before the tolerance":      {known, 94, false},
		"in the tolerance before":        {known, 95, true},
		"within":                         {known, 150, true},
		"in the tolerance after":         {known, 205, true},
		"just after the tolerance":       {known, 206, false},
		"long before, beginning unknown": {unknown, 0, true},
		"long after, beginning unknown":  {unknown, 300, false},
		"no gap":                         {&account{}, 150, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.a.covered(at(tt.at), 5*time.Second); got != tt.want {
				t.Errorf("covered is %v, want %v", got, tt.want)
			}
		})
	}
}
