package session

import (
	"net/http"
	"testing"
	"time"

	"eventdeck/host/wire"
)

// A half-open connection looks like a quiet one, unless the server sends keepalives.
func TestSilentGeneralStreamIsReopened(t *testing.T) {
	const event = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n"
	for _, c := range []struct {
		name, filled string
		numbered     bool
	}{
		{"comments", ": ok\n\n: ok\n\n: ok\n\n", true},
		{"comments, without ids", ":\n:\n:\n", false},
		{"events of another kind", "event: ping\ndata: x\n\nevent: ping\ndata: x\n\nevent: ping\ndata: x\n\n", true},
		{"pings", "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}\n\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := make(chan string, 10)
			f := handshakeFake(t, map[string]func(ask){http.MethodGet: func(a ask) {
				asked <- a.r.Header.Get(headerLastID)
				if c.numbered {
					a.sse("id: e-1\n" + event)
				}
				a.sse(c.filled)
				<-a.r.Context().Done() // half-open: it neither speaks nor ends
			}})
			sink, _ := notes()
			missed := make(chan bool, 10)
			s := mustDial(t, f.server(), Options{OnNote: sink, OnMissed: func() { missed <- true }, Reopen: fast(), silence: 50 * time.Millisecond})
			want := ""
			if get(t, "GET", asked); c.numbered {
				want = "e-1"
			}
			if got := get(t, "the GET after it", asked); got != want {
				t.Errorf("Last-Event-ID %q, want %q", got, want)
			}
			if c.numbered {
				return
			}
			get(t, "the report of missed notifications", missed)
			if since := s.MissedSince(); since.IsZero() || time.Since(since) < 50*time.Millisecond {
				t.Errorf("missed since %v", since)
			}
		})
	}
}

func TestDetectsSilence(t *testing.T) {
	open, fill := make(chan bool, 10), make(chan bool)
	f := handshakeFake(t, map[string]func(ask){http.MethodGet: func(a ask) {
		a.sse(":\n")
		open <- true
		<-fill
		a.sse(":\n:\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n")
		<-a.r.Context().Done()
	}})
	sink, heard := notes()
	s := mustDial(t, f.server(), Options{OnNote: sink, Reopen: fast()})
	get(t, "GET", open)
	if s.DetectsSilence() {
		t.Error("one comment is no keepalive")
	}
	close(fill)
	if n := get(t, "an event", heard); n.Method != "notifications/x" {
		t.Fatalf("got %s", n.Method)
	}
	if !s.DetectsSilence() {
		t.Error("a stream whose pauses are filled is not watched")
	}
	if !s.MissedSince().IsZero() {
		t.Error("nothing was reported as missed")
	}
}

// Other streams are watched by their owners: events/stream has heartbeats of its own.
func TestEventStreamsAreNotCutForSilence(t *testing.T) {
	f := handshakeFake(t, map[string]func(ask){wire.MethodStream: func(a ask) {
		a.sse(":\n:\n:\n:\n")
		<-a.r.Context().Done()
	}})
	s := mustDial(t, f.server(), Options{silence: time.Millisecond})
	stream, err := s.Open(soon(t), wire.MethodStream, nil, func(wire.Note) {})
	if err != nil {
		t.Fatal(err)
	}
	if stream.x.keepalive != nil || stream.DetectsSilence() {
		t.Error("the stream is watched here")
	}
	stream.Close()
	<-stream.Done()
}
