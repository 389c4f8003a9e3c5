package session

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"eventdeck/host/wire"
)

// fast makes the pauses of a test short.
func fast() Backoff { return Backoff{Min: time.Millisecond, Max: time.Millisecond} }

// callThatIsCut answers a call with one numbered event and hangs up.
func callThatIsCut(id chan<- string) func(ask) {
	return func(a ask) {
		id <- a.id
		a.sse("id: 1\nretry: 5\ndata:\n\n")
	}
}

func TestCallIsResumedAfterTheLastEvent(t *testing.T) {
	id := make(chan string, 1)
	f := handshakeFake(t, map[string]func(ask){"m": callThatIsCut(id)})
	call := ""
	f.handlers[http.MethodGet] = func(a ask) {
		switch a.r.Header.Get("Last-Event-ID") {
		case "1": // a server that is not ready yet hangs up again
			call = <-id
			a.sse("id: 2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"n\":1}}\n\n")
		case "2":
			a.sse(fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":7}\n\n", call))
		default:
			a.plain(http.StatusMethodNotAllowed, "")
		}
	}
	s := mustDial(t, f.server(), Options{Reopen: fast()})
	if raw, err := s.Call(soon(t), "m", nil); err != nil || string(raw) != "7" {
		t.Errorf("%s, %v", raw, err)
	}
	if h := f.wait(t, http.MethodGet).r.Header; h.Get("Mcp-Session-Id") != "s-1" || h.Get("Last-Event-ID") != "1" {
		t.Errorf("headers %v", h)
	}
}

func TestCallThatCannotBeResumedFails(t *testing.T) {
	for name, get := range map[string]func(ask){
		"405":          func(a ask) { a.plain(405, "") },
		"400":          func(a ask) { a.fail(400, -32600, "null") },
		"JSON":         func(a ask) { a.json(200, "{}") },
		"ever the end": func(a ask) { a.sse(": nothing\n\n") },
	} {
		t.Run(name, func(t *testing.T) {
			f := handshakeFake(t, map[string]func(ask){"m": callThatIsCut(make(chan string, 9)), http.MethodGet: get})
			s := mustDial(t, f.server(), Options{Reopen: fast()})
			if _, err := s.Call(soon(t), "m", nil); !errors.Is(err, ErrCut) || s.Err() != nil {
				t.Errorf("call %v, session %v", err, s.Err())
			}
			if n := f.count(http.MethodGet); n > maxResumes {
				t.Errorf("tried %d times", n)
			}
		})
	}
}

// A server that answers Last-Event-ID with its general stream: its notifications are not
// those of the call.
func TestResumedCallTakesOnlyItsOwnNotifications(t *testing.T) {
	id := make(chan string, 1)
	f := handshakeFake(t, map[string]func(ask){"m": callThatIsCut(id)})
	f.handlers[http.MethodGet] = func(a ask) {
		if a.r.Header.Get("Last-Event-ID") != "1" {
			<-a.gone()
			return
		}
		a.sse("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/events/event\",\"params\":{\"n\":3,\"requestId\":\"another\"}}\n\n")
		a.sse(fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":7}\n\n", <-id))
	}
	sink, c := notes()
	s := mustDial(t, f.server(), Options{OnNote: sink, Reopen: fast()})
	if _, err := s.Call(soon(t), "m", nil); err != nil {
		t.Error(err)
	}
	if n := get(t, "the other's note", c); number(t, n) != 3 {
		t.Errorf("note %+v", n)
	}
}

func TestEventStreamIsNotResumedByTheSession(t *testing.T) {
	f := handshakeFake(t, map[string]func(ask){
		wire.MethodStream: func(a ask) { a.sse("id: 5\n"); a.note(wire.NoteEvent, 1) },
		http.MethodGet:    func(a ask) { <-a.gone() },
	})
	s := mustDial(t, f.server(), Options{Reopen: fast()})
	stream, err := s.Open(soon(t), wire.MethodStream, nil, func(wire.Note) {})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Result(); !errors.Is(err, ErrCut) {
		t.Errorf("error %v", err)
	}
	if f.count(http.MethodGet) != 0 {
		t.Error("the stream was resumed without its cursor")
	}
}

func TestGeneralStreamIsResumed(t *testing.T) {
	asked := make(chan string, 10)
	f := handshakeFake(t, map[string]func(ask){http.MethodGet: func(a ask) {
		asked <- a.r.Header.Get("Last-Event-ID")
		switch a.r.Header.Get("Last-Event-ID") {
		case "":
			a.sse("id: e-1\nretry: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{\"n\":1}}\n\n")
		case "e-1":
			a.sse("id: e-2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{\"n\":2}}\n\n")
		case "e-2":
			a.plain(http.StatusBadRequest, "no such event")
		}
	}})
	sink, _ := notes()
	missed := make(chan bool, 10)
	mustDial(t, f.server(), Options{OnNote: sink, OnMissed: func() { missed <- true }, Reopen: fast()})
	for _, want := range []string{"", "e-1", "e-2", ""} {
		if got := get(t, "GET", asked); got != want {
			t.Fatalf("Last-Event-ID %q, want %q", got, want)
		}
		if want == "e-2" && len(missed) != 0 {
			t.Error("a resumed stream is reported as missed")
		}
	}
	get(t, "the report of missed notifications", missed)
}
