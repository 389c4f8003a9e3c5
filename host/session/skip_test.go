package session

import (
	"errors"
	"strings"
	"testing"

	"eventdeck/host/wire"
)

// A frame that cannot be taken does not end the stream: opened again, it would
// only meet the same frame.
func TestStreamGoesOnBehindFramesThatAreSkipped(t *testing.T) {
	event := func(n string) string {
		return `{"jsonrpc":"2.0","method":"notifications/events/event","params":{"n":` + n + `}}`
	}
	f := modernFake(t, map[string]func(ask){wire.MethodStream: func(a ask) {
		a.sse("data: " + event("1") + "\n\n" +
			"data: no JSON\n\n" +
			"event: ping\ndata: no JSON either\n\n" +
			"data: " + strings.Repeat("x", 20_000) + "\n\n" +
			"data: " + event("2") + "\n\n")
		<-a.gone()
	}})
	s := mustDial(t, f.server(), Options{MaxFrame: 1000})
	sink, c := notes()
	stream, err := s.Open(soon(t), wire.MethodStream, nil, sink)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if n := get(t, "first", c); number(t, n) != 1 {
		t.Errorf("%+v", n)
	}
	if n := get(t, "no JSON", c); n.Method != wire.NoteSkipped || !errors.Is(n.Refused, wire.ErrMalformed) || string(n.Params) != "no JSON" {
		t.Errorf("%+v", n)
	}
	if n := get(t, "too large", c); n.Method != wire.NoteSkipped || !errors.Is(n.Refused, ErrTooLarge) || !strings.HasPrefix(string(n.Params), "xxx") {
		t.Errorf("%+v", n)
	}
	if n := get(t, "second", c); number(t, n) != 2 {
		t.Errorf("%+v", n)
	}
}
