package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// legacy is a server of HTTP+SSE: it answers posted requests on the stream.
type legacy struct {
	endpoint string // "": /messages?id=1
	hello    string // written in place of the endpoint event, if set
	frames   chan string
	posted   func(w http.ResponseWriter, a ask) // in place of the usual response; false: the usual one
}

func newLegacy(t *testing.T, l *legacy) *fake {
	l.frames = make(chan string, 100)
	if l.endpoint == "" {
		l.endpoint = "/messages?id=1"
	}
	f := newFake(t, map[string]func(ask){})
	refuse := func(a ask) { a.plain(http.StatusMethodNotAllowed, "GET only") }
	message := func(a ask) {
		if a.r.URL.Path != "/messages" {
			refuse(a)
			return
		}
		if l.posted != nil {
			l.posted(a.w, a)
			return
		}
		a.w.WriteHeader(http.StatusAccepted)
		io.WriteString(a.w, "Accepted")
		switch a.method {
		case methodInitialize:
			l.frames <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, a.id, strings.Replace(sketchGreeting, "2025-06-18", "2024-11-05", 1))
		case wire.MethodStream:
			l.frames <- fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{"n":1,"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, wire.NoteEvent, a.id)
		case "m":
			l.frames <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":1}`, a.id)
		}
	}
	for _, m := range []string{methodDiscover, methodInitialize, noteInitialized, noteCancelled, wire.MethodStream, "m", ""} {
		f.handlers[m] = message
	}
	f.handlers[http.MethodGet] = func(a ask) {
		if l.hello != "" {
			a.sse(l.hello)
		} else {
			a.sse("event: endpoint\r\ndata: " + l.endpoint + "\r\n\r\n")
		}
		for {
			select {
			case frame, ok := <-l.frames:
				if !ok {
					return
				}
				a.sse("event: message\ndata: " + frame + "\n\n")
			case <-a.gone():
				return
			}
		}
	}
	return f
}

func TestLegacyIsDetected(t *testing.T) {
	l := &legacy{}
	f := newLegacy(t, l)
	sink, unsolicited := notes()
	server := f.server()
	server.Headers = map[string]event.Secret{"X-Key": event.NewSecret("k")}
	s := mustDial(t, server, Options{OnNote: sink})
	if i := s.Info(); i.Transport != TransportLegacy || i.Era != EraHandshake || i.Version != "2024-11-05" || i.HTTP != "HTTP/1.1" {
		t.Errorf("info %+v", i)
	}
	if raw, err := s.Call(soon(t), "m", nil); err != nil || string(raw) != "1" {
		t.Errorf("%s, %v", raw, err)
	}
	if h := f.wait(t, "m").r; h.Header.Get("X-Key") != "k" || h.URL.RawQuery != "id=1" || h.Header.Get("MCP-Protocol-Version") != "2024-11-05" {
		t.Errorf("%v %v", h.URL, h.Header)
	}
	into, c := notes()
	stream, err := s.Open(soon(t), wire.MethodStream, nil, into)
	if err != nil {
		t.Fatal(err)
	}
	if n := get(t, "event", c); number(t, n) != 1 {
		t.Errorf("note %+v", n)
	}
	l.frames <- `{"jsonrpc":"2.0","method":"notifications/events/list_changed"}`
	get(t, "the unsolicited notification", unsolicited)
	l.frames <- `{"jsonrpc":"2.0","id":"p","method":"ping"}`
	f.wait(t, "") // the answer
	stream.Close()
	f.wait(t, noteCancelled)
	close(l.frames)
	get(t, "loss", s.Lost())
	if _, err := stream.Result(); !errors.Is(err, ErrClosed) || !errors.Is(s.Err(), ErrLost) {
		t.Errorf("stream %v, session %v", err, s.Err())
	}
}

func TestConfiguredLegacyIsUsedAtOnce(t *testing.T) {
	f := newLegacy(t, &legacy{})
	server := f.server()
	server.Transport = event.TransportSSE
	mustDial(t, server, Options{})
	if f.count(methodDiscover) != 0 {
		t.Error("the server was asked for the stateless era")
	}
}

func TestLegacyIsNotTriedWhereTheHintSaysHTTP(t *testing.T) {
	f := newLegacy(t, &legacy{})
	server := f.server()
	server.Transport = event.TransportHTTP
	var refused *HTTPError
	if _, err := Dial(soon(t), server, Options{}); !errors.As(err, &refused) || refused.Status != http.StatusMethodNotAllowed {
		t.Errorf("error %v", err)
	}
	if f.count(http.MethodGet) != 0 {
		t.Error("the server was asked for a stream")
	}
}

// If the server does not speak HTTP+SSE either, the first refusal is returned: it says
// more.
func TestLegacyDetectionKeepsTheFirstError(t *testing.T) {
	f := newFake(t, map[string]func(ask){
		methodInitialize: func(a ask) { a.plain(404, "no such page") },
		http.MethodGet:   func(a ask) { a.plain(200, "<html>") },
	})
	var refused *HTTPError
	if _, err := Dial(soon(t), f.server(), Options{}); !errors.As(err, &refused) || refused.Status != 404 {
		t.Errorf("error %v", err)
	}
}

func TestUntrustworthyLegacyServersAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		l    *legacy
		want string
	}{
		"another host":      {&legacy{endpoint: "http://127.0.0.1:1/messages"}, "another origin"},
		"another scheme":    {&legacy{endpoint: "https://{host}/messages"}, "another origin"},
		"with a user":       {&legacy{endpoint: "http://u:p@{host}/messages"}, "another origin"},
		"scheme-relative":   {&legacy{endpoint: "//evil.example/messages"}, "another origin"},
		"no URL":            {&legacy{endpoint: "http://[::1"}, "is invalid"},
		"no endpoint first": {&legacy{hello: "event: message\ndata: {}\n\n"}, "not with the address"},
		"ends at once":      {&legacy{hello: ": bye\n\n"}, "in time"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newLegacy(t, c.l)
			c.l.endpoint = strings.ReplaceAll(c.l.endpoint, "{host}", strings.TrimPrefix(f.URL, "http://"))
			server := f.server()
			server.Transport = event.TransportSSE
			o := Options{ProbeTimeout: time.Minute}
			if c.want == "in time" {
				o.ProbeTimeout = 50 * time.Millisecond
			}
			_, err := Dial(soon(t), server, o)
			if !errors.Is(err, ErrAnswer) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if f.count(methodInitialize) != 0 {
				t.Error("something was posted")
			}
		})
	}
}

func TestLegacyAnswersInPlaceOfAnAcknowledgement(t *testing.T) {
	l := &legacy{posted: func(w http.ResponseWriter, a ask) {
		switch a.method {
		case methodInitialize:
			a.result(sketchGreeting)
		case "m":
			a.result("1")
		case "refused":
			a.fail(400, -32602, "null")
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}}
	f := newLegacy(t, l)
	f.handlers["refused"] = f.handlers["m"]
	s := mustDial(t, f.server(), Options{})
	if raw, err := s.Call(soon(t), "m", nil); err != nil || string(raw) != "1" {
		t.Errorf("%s, %v", raw, err)
	}
	if _, err := s.Call(soon(t), "refused", nil); wire.NameFrom(err) != wire.InvalidParams {
		t.Errorf("error %v", err)
	}
}

func TestForgottenLegacySessionIsLost(t *testing.T) {
	l := &legacy{}
	f := newLegacy(t, l)
	s := mustDial(t, f.server(), Options{})
	f.mu.Lock()
	f.handlers["m"] = func(a ask) { a.plain(http.StatusNotFound, "no such session") }
	f.mu.Unlock()
	if _, err := s.Call(soon(t), "m", nil); err == nil {
		t.Error("no error")
	}
	get(t, "loss", s.Lost())
}

func TestTooLargeLegacyFrameIsSkipped(t *testing.T) {
	l := &legacy{}
	s := mustDial(t, newLegacy(t, l).server(), Options{MaxFrame: 1000})
	sink, c := notes()
	stream, err := s.Open(soon(t), wire.MethodStream, nil, sink)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	get(t, "the event that opens it", c)
	for range 2 { // the stream goes on
		l.frames <- `"` + strings.Repeat("x", 20_000) + `"`
		if n := get(t, "note", c); n.Method != wire.NoteSkipped || !errors.Is(n.Refused, ErrTooLarge) || len(n.Params) == 0 {
			t.Errorf("got %+v", n)
		}
	}
}

func TestLegacyCommentsCountAsActivity(t *testing.T) {
	l := &legacy{}
	clock := newClock()
	s := mustDial(t, newLegacy(t, l).server(), Options{Now: clock.now})
	stream := opened(t, s)
	clock.add(time.Minute)
	l.frames <- `{"jsonrpc":"2.0","id":"other","result":1}`
	eventually(t, func() bool { return stream.LastByte().Equal(clock.now()) })
}

// eventually polls for a state that has no signal.
func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("it did not come about")
		}
	}
}

func TestLegacyAddressIsRelativeToWhereTheStreamWasFound(t *testing.T) {
	l := &legacy{endpoint: "../messages"}
	f := newLegacy(t, l)
	stream := f.handlers[http.MethodGet]
	f.handlers[http.MethodGet] = func(a ask) {
		if a.r.URL.Path != "/deep/sse" {
			http.Redirect(a.w, a.r, "/deep/sse", http.StatusTemporaryRedirect)
			return
		}
		stream(a)
	}
	mustDial(t, f.server(), Options{})
}
