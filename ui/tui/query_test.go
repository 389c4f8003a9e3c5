package tui

import (
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/query"
)

func mustQuery(t testing.TB, n query.Node, text string) query.Query {
	t.Helper()
	q, err := query.New(n, text, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// While the typed text is no filter, the stream stays, the prompt shows the error, and enter is
// refused.
func TestErrorInTheFilter(t *testing.T) {
	h := newFake()
	h.server("pager")
	for _, title := range []string{"pool exhausted", "pool is back"} {
		h.add(event.Record{Kind: event.KindEvent, Server: "pager", Type: trust.Untrusted("x"), Data: []byte(`{"title":"` + title + `"}`)})
	}
	a := open(t, h, 120, 40)
	for _, k := range []string{"/", "p", "o", "o", "l", "space", "("} {
		press(t, a, k)
	}
	press(t, a, "enter")
	if a.prompt == nil || a.prompt.Problem == "" || len(a.stream.Seqs) != 2 {
		t.Fatalf("prompt %+v, %d rows", a.prompt, len(a.stream.Seqs))
	}
	if text := screenOf(a); !strings.Contains(text, "column 7") {
		t.Errorf("the mistake is not named: %q", text)
	}
	for _, k := range []string{"b", "a", "c", "k", ")"} {
		press(t, a, k)
	}
	press(t, a, "enter")
	if a.prompt != nil || len(a.stream.Seqs) != 1 {
		t.Errorf("prompt %+v, %d rows", a.prompt, len(a.stream.Seqs))
	}
}
