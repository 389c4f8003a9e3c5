package session

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"eventdeck/host/wire"
)

// A frame that is not accepted does not end the stream: reopened, it would only meet the
// same frame.
func TestStreamGoesOnAfterSkippedFrames(t *testing.T) {
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

// A malformed message on a shared connection may have been an event of any stream,
// including those without a request of their own.
func TestMalformedFramesOfASharedConnectionAreReported(t *testing.T) {
	frames := map[string]struct {
		text            string
		skipped, missed bool
	}{
		"a log line":               {`listening {"jsonrpc"`, false, false},
		"a log line in JSON":       {`{"level":"info","msg":"\"jsonrpc\""}`, false, false},
		"a broken message":         {`{"jsonrpc":"2.0","method":"events/event","params":{oops}}`, true, true},
		"a broken batch":           {` [{"jsonrpc":"2.0",]`, true, true},
		"too large, of no request": {`{"jsonrpc":"2.0","method":"events/event","params":{"x":"` + strings.Repeat("x", 2000) + `"}}`, false, true},
		"too large by far":         {`{"jsonrpc":"2.0","method":"events/event","params":{"x":"` + strings.Repeat("x", 20_000) + `"}}`, true, true},
	}
	for name, tt := range frames {
		t.Run(name, func(t *testing.T) {
			server := serveSocket(t, mcp(), func(p peer, id, method string) bool {
				talk(p, id, method)
				if method == wire.MethodStream {
					p.say("%s", tt.text)
					talk(p, id, method)
				}
				return true
			})
			sink, c := notes()
			missed := make(chan bool, 10)
			s := mustDial(t, server, Options{MaxFrame: 1000, OnNote: func(wire.Note) {}, OnMissed: func() { missed <- true }})
			stream, err := s.Open(soon(t), wire.MethodStream, nil, sink)
			if err != nil {
				t.Fatal(err)
			}
			defer stream.Close()
			get(t, "the event before", c)
			n := get(t, "what follows", c)
			if skipped := n.Method == wire.NoteSkipped; skipped != tt.skipped {
				t.Errorf("%+v", n)
			} else if skipped {
				n = get(t, "the event after it", c)
			}
			if n.Method != wire.NoteEvent {
				t.Errorf("%+v", n)
			}
			if got := len(missed) > 0; got != tt.missed {
				t.Errorf("reported as missed: %v", got)
			}
		})
	}
}

func TestSkippedFrameOfTheGeneralStreamIsReportedAsMissed(t *testing.T) {
	f := handshakeFake(t, map[string]func(ask){http.MethodGet: func(a ask) {
		a.sse("data: {oops\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{\"n\":2}}\n\n")
		<-a.gone()
	}})
	sink, c := notes()
	missed := make(chan bool, 10)
	mustDial(t, f.server(), Options{OnNote: sink, OnMissed: func() { missed <- true }})
	if n := get(t, "the next note", c); number(t, n) != 2 {
		t.Errorf("%+v", n)
	}
	get(t, "the report of missed notifications", missed)
}
