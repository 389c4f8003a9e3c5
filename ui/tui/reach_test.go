package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"eventdeck/ui/tui/query"
)

// history returns a host with n events of which the first three match.
func history(n int) *fakeHost {
	h := newFake()
	h.server("pager")
	for i := range n {
		title := "tick"
		if i < 3 {
			title = fmt.Sprintf("needle %d", i)
		}
		h.event("pager", "load.tick", title)
	}
	return h
}

// searchThrough reads pages until the stream wants no more. A page is bounded in time, so that a busy
// machine needs several.
func searchThrough(a *app) {
	for cmd := a.fetch(); cmd != nil; cmd = a.fetch() {
		settle(a, cmd)
	}
}

// A filter finds records far beyond the rows in memory, and shows how far it has searched.
func TestFilterReachesTheWholeHistory(t *testing.T) {
	a := open(t, history(3*query.FirstScan), 120, 40)
	a.draw()
	a.stream.Show(mustQuery(t, query.Node{}, "needle"))
	settle(a, a.fetch())
	if len(a.stream.Seqs) != 0 || a.stream.Oldest {
		t.Fatalf("%d rows at once", len(a.stream.Seqs))
	}
	cmd := a.fetch()
	if text := screenOf(a); !strings.Contains(text, "searched 33 %") || !strings.Contains(text, "Nothing matches yet") {
		t.Errorf("no progress is told:\n%s", text)
	}
	settle(a, cmd)
	searchThrough(a)
	if len(a.stream.Seqs) != 3 || !a.stream.Oldest {
		t.Errorf("%d rows, all of them: %v", len(a.stream.Seqs), a.stream.Oldest)
	}
	if text := screenOf(a); strings.Contains(text, "searched") || !strings.Contains(text, "needle 0") {
		t.Errorf("the search has not ended:\n%s", text)
	}
}

// A new filter ends the search of the earlier one, whose results are dropped.
func TestNewFilterEndsTheSearch(t *testing.T) {
	a := open(t, history(3*query.FirstScan), 120, 40)
	a.draw()
	a.stream.Show(mustQuery(t, query.Node{}, "needle"))
	settle(a, a.fetch())
	first := a.fetch()
	a.stream.Show(mustQuery(t, query.Node{}, "nothing"))
	msg, ok := first().(pageMsg)
	if !ok || msg.Err == nil {
		t.Fatalf("the first search was not ended: %+v", msg)
	}
	a.stream.Take(query.Page(msg))
	if len(a.stream.Seqs) != 0 || a.stream.Oldest {
		t.Errorf("its answer was taken: %+v", a.stream.Window)
	}
	a.stream.Show(mustQuery(t, query.Node{}, "needle"))
	settle(a, a.fetch())
	settle(a, a.fetch())
	a.stream.Show(mustQuery(t, query.Node{}, `"needle 2"`))
	searchThrough(a)
	if len(a.stream.Seqs) != 1 || !a.stream.Oldest {
		t.Errorf("a stricter filter: %d rows, all of them: %v", len(a.stream.Seqs), a.stream.Oldest)
	}
}

// A failed search of the history is shown once.
func TestSearchFails(t *testing.T) {
	h := history(3 * query.FirstScan)
	a := open(t, h, 120, 40)
	a.draw()
	a.stream.Show(mustQuery(t, query.Node{}, "needle"))
	settle(a, a.fetch())
	h.store.scanFails = errors.New("the disk is gone")
	settle(a, a.fetch())
	if text := screenOf(a); !strings.Contains(text, "the disk is gone") || !a.stream.Oldest {
		t.Errorf("nothing is said:\n%s", text)
	}
}
