package tui

import (
	"fmt"
	"strings"
	"testing"

	"eventdeck/host"
)

// If no server is connected, the empty stream says why, and not how to subscribe.
func TestEmptyStreamNamesUnreachableServers(t *testing.T) {
	h := newFake()
	h.server("pager")
	s := &h.snap.Servers[0]
	s.Reach, s.Attempt, s.Err = host.ReachBackoff, 1, "server/discover: HTTP 503 Service Unavailable: down for the whole of the afternoon, and the evening too"
	a := open(t, h, 60, 20)
	press(t, a, "2")
	shown := screenOf(a)
	for _, want := range []string{"pager: unreachable, retrying (2nd)", "HTTP 503", "the evening too", "R on the server tries at once"} {
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

// manyFailing returns a host of n unreachable servers.
func manyFailing(n int) *fakeHost {
	h := newFake()
	for i := range n {
		h.server(fmt.Sprint("server", i))
		s := &h.snap.Servers[i]
		s.Reach, s.Attempt, s.Err = host.ReachBackoff, 1, "server/discover: server cannot be reached: dial tcp 127.0.0.1:1: connect: connection refused"
	}
	return h
}

// An empty stream names as many unreachable servers as it has room for.
func TestSomeOfManyFailingServersAreNamed(t *testing.T) {
	a := open(t, manyFailing(990), 100, 30)
	press(t, a, "2")
	shown := screenOf(a)
	for _, want := range []string{"server0: unreachable", "connection refused", "servers more.", "R on the server tries at once"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in\n%s", want, shown)
		}
	}
}

// The cost of a frame does not grow with the number of failing servers: only visible errors are laid
// out.
func TestFrameOfManyFailingServersIsCheap(t *testing.T) {
	cost := func(servers int) float64 {
		h := manyFailing(servers)
		a := open(t, h, 100, 30)
		a.View()
		return testing.AllocsPerRun(20, func() { a.View() })
	}
	few, many := cost(20), cost(990)
	if many > few+50 {
		t.Errorf("%.0f allocations a frame with 990 servers, %.0f with 20", many, few)
	}
}

// BenchmarkFailingServers takes a snapshot of 990 failing servers and draws it.
func BenchmarkFailingServers(b *testing.B) {
	h := manyFailing(990)
	a := open(b, h, 120, 40)
	b.ReportAllocs()
	for b.Loop() {
		h.snap.Version++
		a.take(h.Snapshot())
		a.View()
	}
}
