package cli

import (
	"fmt"
	"testing"
	"testing/synctest"

	"eventdeck/host/event"
	"eventdeck/host/mcptest"
)

// numbered makes every new subscription receive a gap and events e1 to en with
// their number in them.
func (b *bench) numbered(n int) {
	b.subscribed = func(sub event.Subscription) {
		b.arrive(event.Record{Kind: event.KindGap, Sub: sub.ID, Gap: &event.Gap{Cause: event.CauseGap, Certain: true}})
		for i := range n {
			b.arrive(occurrence(sub, fmt.Sprintf("e%d", i+1), fmt.Sprintf(`{"n":%d,"level":"p%d"}`, i+1, i%2)))
		}
	}
}

func TestTailFilters(t *testing.T) {
	tests := map[string]struct {
		args []string
		ids  string
		code int
		says string
	}{
		"filter":               {[]string{"--filter", ".n>3", "--for", "1h"}, "e4 e5 e6", exitDone, ""},
		"filter, count":        {[]string{"--filter", "sev:p1", "--count", "2"}, "e2 e4", exitDone, ""},
		"until":                {[]string{"--until", ".n>=3"}, "e1 e2 e3", exitDone, ""},
		"until, not printed":   {[]string{"--until", ".n=3", "--filter", ".n=1"}, "e1 e3", exitDone, ""},
		"until, not met":       {[]string{"--until", ".n>6", "--for", "1h"}, "e1 e2 e3 e4 e5 e6", exitNotMet, "not met in time: no record that matches --until '.n>6' came within 1h0m0s"},
		"until before count":   {[]string{"--until", ".n=2", "--count", "4"}, "e1 e2", exitDone, ""},
		"count before until":   {[]string{"--until", ".n=4", "--count", "2"}, "e1 e2", exitDone, ""},
		"fail-on":              {[]string{"--until", ".n=4", "--fail-on", ".n=2"}, "e1 e2", exitError, "failed: record 3 matches --fail-on '.n=2'"},
		"fail-on did not come": {[]string{"--fail-on", ".n=7", "--for", "1h"}, "e1 e2 e3 e4 e5 e6", exitDone, ""},
		"until before fail-on": {[]string{"--until", ".n=4", "--fail-on", ".n=5"}, "e1 e2 e3 e4", exitDone, ""},
		"fail-on a gap":        {[]string{"--fail-on", "kind:gap"}, "", exitError, "kind:gap"},
		"a mistake":            {[]string{"--until", "(a"}, "", exitUsage, "--until: filter, column 1: this ( is not closed"},
		"another mistake":      {[]string{"--fail-on", "foo:a"}, "", exitUsage, "there is no field"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.numbered(6)
				b.expect(t, tt.code, tt.says, append([]string{"tail", "pager", "incident.created"}, tt.args...)...)
				if got := b.ids(); got != tt.ids {
					t.Errorf("printed %q, want %q", got, tt.ids)
				}
			})
		})
	}
}

func TestEventsFilter(t *testing.T) {
	b := newBench(t)
	b.keep("pager", "incident.created", 3)
	b.keep("chat", "message.posted", 3)
	b.expect(t, exitDone, "", "events", "--json", "--data", b.data(t), "--filter", "server:chat !id:posted1")
	if got := b.ids(); got != "message.posted2 message.posted3" {
		t.Errorf("printed %q", got)
	}
	b.out = mcptest.Buffer{}
	b.expect(t, exitDone, "", "events", "--json", "--data", b.data(t), "--filter", "created | posted3", "--limit", "2")
	if got := b.ids(); got != "incident.created3 message.posted3" {
		t.Errorf("the newest two are %q", got)
	}
	b.expect(t, exitUsage, "--filter: filter, column 7", "events", "--data", b.data(t), "--filter", "since:x")
}

func TestFiltersThatLookLikeSomethingElseAreHinted(t *testing.T) {
	b := newBench(t)
	b.keep("pager", "incident.created", 1)
	b.expect(t, exitDone, `--filter: "severity=critical" is searched as text; did you mean: sev:critical`, "events", "--data", b.data(t), "--filter", "severity=critical")
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.numbered(1)
		b.expect(t, exitDone, `--until: AND is searched as a word; a space means and; did you mean: .n=1 e1`, "tail", "pager", "incident.created", "--until", ".n=1 AND e1", "--count", "1")
	})
}
