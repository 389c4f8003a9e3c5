package stream

import (
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

func TestNamesOmitTheirType(t *testing.T) {
	typ := trust.Untrusted("event://archive/filed")
	for name, want := range map[string]string{"event://archive/filed/17": "/17", "canary.sampled": "canary.sampled", "event://archive/filed": "event://archive/filed"} {
		if got := LabelsOf(&event.Labels{Name: trust.Untrusted(name)}, typ).value(ColName).Plain(); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
