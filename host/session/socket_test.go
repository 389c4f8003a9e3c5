package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// peer is the server's side of one WebSocket.
type peer struct {
	t    *testing.T
	conn *websocket.Conn
	r    *http.Request
}

func (p peer) say(format string, args ...any) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_ = p.conn.Write(ctx, websocket.MessageText, fmt.Appendf(nil, format, args...)) // the test notices if the client is gone
}

// serveSocket answers every frame with handle, until it returns false.
func serveSocket(t *testing.T, opts *websocket.AcceptOptions, handle func(p peer, id, method string) bool) event.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, opts)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		conn.SetReadLimit(1 << 20)
		for {
			kind, frame, err := conn.Read(context.Background())
			if err != nil {
				return
			}
			var m struct {
				ID     json.RawMessage
				Method string
			}
			if kind != websocket.MessageText || json.Unmarshal(frame, &m) != nil {
				t.Errorf("%v frame %q", kind, frame)
				return
			}
			if !handle(peer{t, conn, r}, string(m.ID), m.Method) {
				return
			}
		}
	}))
	t.Cleanup(srv.Close)
	return event.Server{Name: "socket", URL: "ws" + strings.TrimPrefix(srv.URL, "http") + "/mcp"}
}

// talk is the usual handler of a server over WebSocket.
func talk(p peer, id, method string) bool {
	switch method {
	case methodDiscover:
		p.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, sepGreeting)
	case wire.MethodListen:
		p.say(`{"jsonrpc":"2.0","method":"notifications/events/list_changed"}`)
	case wire.MethodStream:
		p.say(`{"jsonrpc":"2.0","method":%q,"params":{"n":1,"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, wire.NoteEvent, id)
	case noteCancelled:
		p.say(`{"jsonrpc":"2.0","id":"c","method":"ping"}`)
	case "huge":
		p.say(`{"jsonrpc":"2.0","id":%s,"result":"%s"}`, id, strings.Repeat("x", 100_000))
	case "leave":
		_ = p.conn.Close(websocket.StatusGoingAway, "re\x1b[31mstart") // the test checks the client's error
		return false
	case "cut":
		return false
	case "":
	default:
		p.say(`{"jsonrpc":"2.0","id":%s,"result":1}`, id)
	}
	return true
}

func mcp() *websocket.AcceptOptions {
	return &websocket.AcceptOptions{Subprotocols: []string{subprotocol}}
}

func TestSocket(t *testing.T) {
	replied := make(chan bool, 3) // one for each cancelled request
	header := make(chan http.Header, 1)
	server := serveSocket(t, mcp(), func(p peer, id, method string) bool {
		switch {
		case method == methodDiscover:
			header <- p.r.Header
		case id == `"c"`:
			select {
			case replied <- true:
			default: // streams cancelled with the session
			}
		}
		return talk(p, id, method)
	})
	server.Headers = map[string]event.Secret{"Authorization": event.NewSecret("Bearer t")}
	sink, unsolicited := notes()
	s := mustDial(t, server, Options{OnNote: sink})
	if i := s.Info(); i.Transport != TransportSocket || i.Era != EraStateless || i.HTTP != "HTTP/1.1" {
		t.Errorf("info %+v", i)
	}
	if h := get(t, "handshake", header); h.Get("Sec-Websocket-Protocol") != "mcp" || h.Get("Authorization") != "Bearer t" {
		t.Errorf("headers %v", h)
	}
	if raw, err := s.Call(soon(t), "m", nil); err != nil || string(raw) != "1" {
		t.Errorf("%s, %v", raw, err)
	}
	get(t, "the unsolicited notification", unsolicited)
	into, c := notes()
	one, err := s.Open(soon(t), wire.MethodStream, nil, into)
	if err != nil {
		t.Fatal(err)
	}
	if n := get(t, "event", c); n.Route() != one.ID {
		t.Errorf("note %+v on %s", n, one.ID)
	}
	one.Close()
	get(t, "the answer to a ping after the cancellation", replied)
	ctx, cancel := context.WithCancel(soon(t))
	cancel()
	if _, err := s.Call(ctx, "m", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled call: %v", err)
	}
	if _, err := s.Call(soon(t), "m", nil); err != nil {
		t.Errorf("a call that was cancelled took the socket with it: %v", err)
	}
}

func TestSocketOfTheHandshakeEraWithoutSubprotocol(t *testing.T) {
	server := serveSocket(t, nil, func(p peer, id, method string) bool {
		switch method {
		case methodDiscover:
			return false // some servers close the connection
		case methodInitialize:
			p.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, sketchGreeting)
			return true
		}
		return talk(p, id, method)
	})
	if i := mustDial(t, server, Options{}).Info(); i.Era != EraHandshake || i.Version != "2025-06-18" {
		t.Errorf("info %+v", i)
	}
}

func TestSocketEnds(t *testing.T) {
	for method, want := range map[string]string{"leave": "(1001): re", "cut": "cut"} {
		s := mustDial(t, serveSocket(t, mcp(), talk), Options{})
		stream, err := s.Open(soon(t), wire.MethodStream, nil, func(wire.Note) {})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Call(soon(t), method, nil); !errors.Is(err, ErrLost) {
			t.Errorf("%s: call %v", method, err)
		}
		if _, err := stream.Result(); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: stream %q", method, err)
		}
	}
}

func TestTooLargeSocketMessageFailsOpenRequests(t *testing.T) {
	s := mustDial(t, serveSocket(t, mcp(), talk), Options{MaxFrame: 1000})
	if _, err := s.Call(soon(t), "huge", nil); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v", err)
	}
	if _, err := s.Call(soon(t), "m", nil); err != nil {
		t.Errorf("the session did not go on: %v", err)
	}
}

func TestSocketGarbageIsSkipped(t *testing.T) {
	server := serveSocket(t, mcp(), func(p peer, id, method string) bool {
		if method == "m" {
			p.say("hello")
			p.say("")
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			_ = p.conn.Write(ctx, websocket.MessageBinary, fmt.Appendf(nil, `[{"jsonrpc":"2.0","id":%s,"result":2}]`, id))
			return true
		}
		return talk(p, id, method)
	})
	if raw, err := mustDial(t, server, Options{}).Call(soon(t), "m", nil); err != nil || string(raw) != "2" {
		t.Errorf("%s, %v", raw, err)
	}
}

func TestSocketWithoutPongIsLost(t *testing.T) {
	deaf := &websocket.AcceptOptions{OnPingReceived: func(context.Context, []byte) bool { return false }}
	server := serveSocket(t, deaf, talk)
	s, err := Dial(soon(t), server, Options{pingEvery: 20 * time.Millisecond, pongWithin: 20 * time.Millisecond})
	if err == nil { // on a busy machine it is lost before the response
		t.Cleanup(s.Close)
		get(t, "loss", s.Lost())
		err = s.Err()
	}
	if !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "pong: the server did not answer in time") {
		t.Errorf("error %v", err)
	}
}

// While this side is slow, it reads nothing, not even a pong.
func TestSocketIsNotLostWhileNotesWait(t *testing.T) {
	within(t, func(limit time.Duration) error {
		pings := make(chan struct{}, 100)
		opts := mcp()
		opts.OnPingReceived = func(context.Context, []byte) bool {
			pings <- struct{}{}
			return true
		}
		hold := make(chan struct{})
		release := sync.OnceFunc(func() { close(hold) })
		noted := make(chan struct{}, 10)
		s, err := Dial(soon(t), serveSocket(t, opts, talk), Options{
			pingEvery: 5 * time.Millisecond, pongWithin: limit,
			OnNote: func(wire.Note) {
				noted <- struct{}{}
				<-hold
			},
		})
		if err != nil {
			return err
		}
		defer s.Close()
		defer release()
		select {
		case <-noted:
		case <-s.Lost():
			return s.Err()
		}
		for len(pings) > 0 {
			<-pings // earlier pings
		}
		for range 2 { // the second is sent when the first has timed out
			select {
			case <-pings:
			case <-s.Lost():
				return s.Err()
			}
		}
		release()
		_, err = s.Call(soon(t), "m", nil)
		return err
	})
}

func TestSocketPongCountsAsActivity(t *testing.T) {
	clock := newClock()
	s := mustDial(t, serveSocket(t, mcp(), talk), Options{Now: clock.now, pingEvery: 5 * time.Millisecond})
	stream := opened(t, s)
	clock.add(time.Minute)
	eventually(t, func() bool { return stream.LastByte().Equal(clock.now()) })
}

func TestSocketRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   func(error) bool
	}{
		"401": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "who?", http.StatusUnauthorized) }, Denied},
		"200": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }, func(err error) bool { var e *HTTPError; return errors.As(err, &e) }},
		"503": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Retry-After", "3"); w.WriteHeader(503) }, func(err error) bool { var e *HTTPError; return errors.As(err, &e) && e.RetryAfter == 3*time.Second }},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
		}, func(err error) bool { return errors.Is(err, errRedirect) }},
		"bad accept": {func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: no\r\n\r\n")
				conn.Close()
			}
		}, func(err error) bool { return errors.Is(err, ErrAnswer) }},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(c.answer)
			defer srv.Close()
			_, err := Dial(soon(t), event.Server{Name: "x", URL: "ws" + strings.TrimPrefix(srv.URL, "http")}, Options{})
			if !c.want(err) {
				t.Errorf("error %v", err)
			}
		})
	}
	if _, err := Dial(soon(t), event.Server{Name: "x", URL: "ws://127.0.0.1:1/?key=hunter2"}, Options{}); !errors.Is(err, ErrUnreachable) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("closed port: %v", err)
	}
}
