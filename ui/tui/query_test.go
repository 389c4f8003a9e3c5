package tui

import (
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/filter"
	"eventdeck/host/trust"
)

func mustQuery(t testing.TB, n node, text string) query {
	t.Helper()
	q, err := newQuery(n, text, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// What a query needs is what a search may pass over records for: it must never be
// more than a matching record has.
func TestNeedsOfAScope(t *testing.T) {
	r := event.Record{Kind: event.KindEvent, Server: "Pager ÉU", Type: trust.Untrusted("x.\xffY"), Sub: "abcd2345", Data: []byte(`{"title":"pool"}`)}
	var s filter.Signature
	s.Add(&r)
	for _, n := range []node{{}, {server: r.Server}, {server: r.Server, typ: r.Type}, {server: r.Server, typ: r.Type, sub: r.Sub}} {
		q := mustQuery(t, n, "POOL")
		if !q.matches(&r) || len(q.needs()) != 1+n.level() {
			t.Errorf("%+v needs %q", n, q.needs())
		}
		for _, words := range q.needs() {
			for _, bit := range filter.Bits(words[0]) {
				if s[bit>>6]&(1<<(bit&63)) == 0 {
					t.Errorf("%+v needs %q, which its record lacks", n, words)
				}
			}
		}
	}
}

// While what is typed is no filter, the stream stays as it was, the mistake is
// named, and enter does not keep it.
func TestMistakeInTheFilter(t *testing.T) {
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
	if a.prompt == nil || a.prompt.problem == "" || len(a.stream.seqs) != 2 {
		t.Fatalf("prompt %+v, %d rows", a.prompt, len(a.stream.seqs))
	}
	if text := screenOf(a); !strings.Contains(text, "column 7") {
		t.Errorf("the mistake is not named: %q", text)
	}
	for _, k := range []string{"b", "a", "c", "k", ")"} {
		press(t, a, k)
	}
	press(t, a, "enter")
	if a.prompt != nil || len(a.stream.seqs) != 1 {
		t.Errorf("prompt %+v, %d rows", a.prompt, len(a.stream.seqs))
	}
}
