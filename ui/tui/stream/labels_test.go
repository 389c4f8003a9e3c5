package stream

import (
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/reading"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/query"
)

// A row shows the event name once: in the column of types where that is shown, behind the summary
// where it is not. Of the name of a sub-resource the rest follows the summary.
func TestRowShowsTheEventNameOnce(t *testing.T) {
	all, one := &Plan{cols: UsualColumns}, &Plan{cols: UsualColumns}
	all.width = widths(all.cols, planKey{w: 200, widest: widest{typ: 30}})
	one.width = widths(one.cols, planKey{w: 200, scope: query.Node{Server: "s", Type: trust.Untrusted("t")}})
	for _, c := range []struct{ subscribed, name, column, all, one string }{
		{"event://archive/filed", "event://archive/filed/17", "event://archive/filed", "  /17", "  /17"},
		{"filtered-stream", "canary.sampled", "canary.sampled", "", "  canary.sampled"},
		{"incident.created", "", "incident.created", "", ""},
	} {
		r := Row(event.Record{Kind: event.KindEvent, Type: trust.Untrusted(c.subscribed), Labels: &event.Labels{Name: trust.Untrusted(c.name)}}, new(reading.Map), all)
		if r.Type.Plain() != c.column || r.suffix(all).Plain() != c.all || r.suffix(one).Plain() != c.one {
			t.Errorf("%s of %s: column %q, behind the summary %q or %q", c.name, c.subscribed, r.Type.Plain(), r.suffix(all).Plain(), r.suffix(one).Plain())
		}
	}
}
