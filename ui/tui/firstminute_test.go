package tui

import (
	"strings"
	"testing"

	"eventdeck/host"
)

// Where no server is connected, the stream says why, not how to subscribe.
func TestStreamOfServersThatCannotBeReached(t *testing.T) {
	h := newFake()
	h.server("pager")
	s := &h.snap.Servers[0]
	s.Reach, s.Attempt, s.Err = host.ReachBackoff, 1, "server/discover: HTTP 503 Service Unavailable: down for the whole of the afternoon, and the evening too"
	a := open(t, h, 60, 20)
	press(t, a, "2")
	shown := screenOf(a)
	for _, want := range []string{"pager: unreachable, try 2", "HTTP 503", "the evening too", "R on the server tries at once"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in\n%s", want, shown)
		}
	}
	h.snap.Servers[0].Reach, h.snap.Servers[0].Err = host.ReachReady, ""
	h.snap.Version++
	a.take(h.Snapshot())
	if shown := screenOf(a); !strings.Contains(shown, "No subscriptions yet") {
		t.Errorf("a server that is ready teaches nothing:\n%s", shown)
	}
}
