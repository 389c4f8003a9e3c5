package story

import (
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

func TestCaptionsTellTheStory(t *testing.T) {
	for _, b := range beats {
		if len(b.says) > 160 {
			t.Errorf("two lines of 80 cells do not hold %q", b.says)
		}
		r := event.Record{Kind: event.KindEvent, Type: trust.Untrusted(b.typ), Data: []byte(`{"x":1,"` + b.path[1:] + `":"` + b.value + `"}`)}
		if got := Caption(&r); got != b.says {
			t.Errorf("%s %s: %q", b.typ, b.value, got)
		}
		r.Kind = event.KindRejected
		if got := Caption(&r); got != "" {
			t.Errorf("a refused payload is a step of the story: %q", got)
		}
	}
	if Caption(&event.Record{Kind: event.KindGap}) != GapSays || len(GapSays) > 160 {
		t.Error("a gap is not told")
	}
	for _, typ := range []string{"incident.activity", "incident.changed"} {
		if got := Caption(&event.Record{Kind: event.KindEvent, Type: trust.Untrusted(typ), Data: []byte(`{"state":"other"}`)}); got != "" {
			t.Errorf("%s: %q", typ, got)
		}
	}
}
