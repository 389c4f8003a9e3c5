package session

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"eventdeck/host/wire"
)

func TestListenReopensAndSuspectsAChange(t *testing.T) {
	var opened atomic.Int32
	f := modernFake(t, map[string]func(ask){wire.MethodListen: func(a ask) {
		a.note(wire.NoteAcknowledged, 0)
		if opened.Add(1) == 1 {
			a.note(wire.NoteListChanged, 1)
			return
		}
		<-a.gone()
	}})
	sink, c := notes()
	mustDial(t, f.server(), Options{OnNote: sink, Reopen: Backoff{Min: time.Millisecond}})
	if n := get(t, "list_changed", c); n.Method != wire.NoteListChanged || number(t, n) != 1 {
		t.Errorf("note %+v", n)
	}
	if n := get(t, "suspicion", c); n.Method != wire.NoteListChanged || n.Params != nil {
		t.Errorf("note %+v", n)
	}
	if got := string(f.wait(t, wire.MethodListen).params); !strings.Contains(got, `"notifications":{"eventsListChanged":true}`) {
		t.Errorf("params %s", got)
	}
}

func TestGeneralStreamOfHandshakeServers(t *testing.T) {
	f := handshakeFake(t, map[string]func(ask){http.MethodGet: func(a ask) {
		a.sse(`data: {"jsonrpc":"2.0","id":9,"method":"ping"}` + "\n\n")
		a.sse(`data: {"jsonrpc":"2.0","method":"notifications/events/list_changed"}` + "\n\n")
		<-a.gone()
	}})
	sink, c := notes()
	mustDial(t, f.server(), Options{OnNote: sink})
	if n := get(t, "list_changed", c); n.Method != wire.NoteListChanged {
		t.Errorf("note %+v", n)
	}
	if h := f.wait(t, http.MethodGet).r.Header; h.Get("Mcp-Session-Id") != "s-1" || h.Get("Accept") != "text/event-stream" {
		t.Errorf("headers %v", h)
	}
	f.wait(t, "") // the response to the ping
}

// A server that was started again does not know the session: that shows first on the stream that is
// always open.
func TestForgottenSessionShowsOnTheGeneralStream(t *testing.T) {
	var opened atomic.Int32
	f := handshakeFake(t, map[string]func(ask){http.MethodGet: func(a ask) {
		if opened.Add(1) > 1 {
			a.plain(404, "session not found")
			return
		}
		a.sse(": here\n\n")
	}})
	s := mustDial(t, f.server(), Options{OnNote: func(wire.Note) {}, Reopen: Backoff{Min: 1, Max: 1}})
	get(t, "Lost", s.Lost())
	if err := s.Err(); !errors.Is(err, ErrForgotten) || s.ListenErr() != nil {
		t.Errorf("error %v, listening %v", err, s.ListenErr())
	}
	s.Close()
	if _, err := s.Call(soon(t), "m", nil); !errors.Is(err, ErrForgotten) {
		t.Errorf("a call on it: %v", err)
	}
}

// A server that cannot be reached is not one without a way to send notifications.
func TestServerThatIsAwayIsNoServerWithoutNotifications(t *testing.T) {
	f := handshakeFake(t, map[string]func(ask){http.MethodGet: func(a ask) { <-a.gone() }})
	s := mustDial(t, f.server(), Options{OnNote: func(wire.Note) {}, Reopen: Backoff{Min: 1, Max: 1}})
	f.wait(t, http.MethodGet)
	f.CloseClientConnections()
	f.Close()
	within(t, func(limit time.Duration) error {
		time.Sleep(limit)
		if err := s.ListenErr(); !errors.Is(err, ErrUnreachable) || errors.Is(err, ErrNotListening) {
			return fmt.Errorf("it says %v", err)
		}
		return nil
	})
}

func TestNoGeneralStream(t *testing.T) {
	f := handshakeFake(t, map[string]func(ask){"m": func(a ask) { a.result("1") }})
	s := mustDial(t, f.server(), Options{OnNote: func(wire.Note) {}, Reopen: Backoff{Min: time.Millisecond, Max: time.Millisecond}})
	f.wait(t, http.MethodGet)
	if _, err := s.Call(soon(t), "m", nil); err != nil {
		t.Error(err)
	}
	if n := f.count(http.MethodGet); n != 1 {
		t.Errorf("asked %d times", n)
	}
}
