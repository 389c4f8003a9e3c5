package session

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/mcptest"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

func TestDialStateless(t *testing.T) {
	f := modernFake(t, map[string]func(ask){"events/list": func(a ask) { a.result(`{"events":[]}`) }})
	s := mustDial(t, f.server(), Options{})
	i := s.Info()
	if i.Era != EraStateless || i.Version != "2026-07-28" || i.Transport != TransportHTTP || i.ServerName != trust.Untrusted("fake") ||
		i.Instructions != trust.Untrusted("be kind") || i.Profile != wire.ProfileSEP || !i.Advertised || !i.ListChanged || string(i.Raw) != sepGreeting {
		t.Errorf("info = %+v", i)
	}
	raw, err := s.Call(soon(t), "events/list", wire.ListRequest{})
	if err != nil || string(raw) != `{"events":[]}` {
		t.Errorf("result %s, error %v", raw, err)
	}
	a := f.wait(t, "events/list")
	for name, want := range map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "events/list", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": ""} {
		if got := a.r.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal(a.params, &p); err != nil {
		t.Fatal(err)
	}
	if string(p.Meta[metaVersion]) != `"2026-07-28"` || string(p.Meta[metaClientCapable]) != `{"extensions":{"io.modelcontextprotocol/events":{}}}` || p.Meta[metaClientInfo] == nil {
		t.Errorf("_meta = %s", a.params)
	}
}

func TestDialHandshakeAfterMethodNotFound(t *testing.T) {
	f := handshakeFake(t, map[string]func(ask){"events/list": func(a ask) { a.result(`{"events":[]}`) }})
	s := mustDial(t, f.server(), Options{})
	i := s.Info()
	if i.Era != EraHandshake || i.Version != "2025-06-18" || i.Profile != wire.ProfileSketch || !i.Advertised {
		t.Errorf("info = %+v", i)
	}
	if _, err := s.Call(soon(t), "events/list", nil); err != nil {
		t.Fatal(err)
	}
	h := f.wait(t, "events/list").r.Header
	if h.Get("Mcp-Session-Id") != "s-1" || h.Get("MCP-Protocol-Version") != "2025-06-18" || h.Get("Mcp-Method") != "" {
		t.Errorf("headers %v", h)
	}
	f.wait(t, noteInitialized)
}

func TestStreamDeliversAndClosesAlone(t *testing.T) {
	f := modernFake(t, map[string]func(ask){wire.MethodStream: func(a ask) {
		a.note(wire.NoteActive, 0)
		a.note(wire.NoteEvent, 1)
		<-a.gone()
	}})
	s := mustDial(t, f.server(), Options{})
	sink, c := notes()
	one, err := s.Open(soon(t), wire.MethodStream, wire.StreamRequest{}, sink)
	if err != nil {
		t.Fatal(err)
	}
	other, otherNotes := notes()
	two, err := s.Open(soon(t), wire.MethodStream, wire.StreamRequest{}, other)
	if err != nil {
		t.Fatal(err)
	}
	get(t, "active", c)
	if n := get(t, "event", c); n.Method != wire.NoteEvent || n.Route() != one.ID || number(t, n) != 1 {
		t.Errorf("note %+v on %s", n, one.ID)
	}
	get(t, "active", otherNotes)
	one.Close()
	get(t, "end", one.Done())
	if _, err := one.Result(); !errors.Is(err, ErrClosed) {
		t.Errorf("error %v", err)
	}
	get(t, "event", otherNotes)
	select {
	case <-two.Done():
		t.Error("the other stream ended too")
	default:
	}
}

func TestAnswersInEveryShape(t *testing.T) {
	final := func(a ask) string { return `{"jsonrpc":"2.0","id":` + a.id + `,"result":{"ok":true}}` }
	for name, answer := range map[string]func(ask){
		"JSON":                  func(a ask) { a.json(200, final(a)) },
		"id as a string":        func(a ask) { a.json(200, `{"id":"`+a.id+`","result":{"ok":true}}`) },
		"id null":               func(a ask) { a.json(200, `{"id":null,"result":{"ok":true}}`) },
		"batch":                 func(a ask) { a.json(200, `[{"method":"notifications/x"},`+final(a)+`]`) },
		"SSE":                   func(a ask) { a.sse("event: message\nid: 1\ndata: " + final(a) + "\n\n") },
		"SSE, empty first":      func(a ask) { a.sse("id: 0\nretry: 100\ndata:\n\n: hi\r\n\r\ndata: " + final(a) + "\r\n\r\n") },
		"SSE with a ping event": func(a ask) { a.sse("event: ping\ndata: now\n\ndata: " + final(a) + "\n\n") },
		"SSE cut after the end": func(a ask) { a.sse("data: " + final(a)) },
		"SSE, garbage after it": func(a ask) { a.sse("data: " + final(a) + "\n\ndata: {{{\n\n") },
		"SSE, another's answer": func(a ask) { a.sse("data: {\"id\":\"other\",\"result\":1}\n\ndata: " + final(a) + "\n\n") },
		"byte order mark":       func(a ask) { a.json(200, "\xef\xbb\xbf"+final(a)) },
		"no content type": func(a ask) {
			a.w.Header()["Content-Type"] = nil
			io.WriteString(a.w, final(a))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustDial(t, modernFake(t, map[string]func(ask){"m": answer}).server(), Options{})
			if raw, err := s.Call(soon(t), "m", nil); err != nil || string(raw) != `{"ok":true}` {
				t.Errorf("%s, %v", raw, err)
			}
		})
	}
}

func TestOneBadAnswerFailsOneCall(t *testing.T) {
	isHTTP := func(status int) func(error) bool {
		return func(err error) bool {
			var e *HTTPError
			return errors.As(err, &e) && e.Status == status
		}
	}
	is := func(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }
	named := func(n wire.Name) func(error) bool { return func(err error) bool { return wire.NameFrom(err) == n } }
	for name, c := range map[string]struct {
		answer func(ask)
		want   func(error) bool
	}{
		"400 plain":           {func(a ask) { a.plain(400, "bad") }, isHTTP(400)},
		"401 plain":           {func(a ask) { a.plain(401, "who?") }, isHTTP(401)},
		"403 plain":           {func(a ask) { a.plain(403, "no") }, isHTTP(403)},
		"404 plain":           {func(a ask) { a.plain(404, "where?") }, isHTTP(404)},
		"500 empty":           {func(a ask) { a.w.WriteHeader(500) }, isHTTP(500)},
		"200 with an error":   {func(a ask) { a.fail(200, -32011, "null") }, named(wire.NotFound)},
		"400 with an error":   {func(a ask) { a.fail(400, -32602, "null") }, named(wire.InvalidParams)},
		"404 with an error":   {func(a ask) { a.fail(404, -32023, "null") }, named(wire.NotFound)},
		"403 with an error":   {func(a ask) { a.fail(403, -32024, "null") }, named(wire.Forbidden)},
		"403 of OAuth":        {func(a ask) { a.json(403, `{"error":"insufficient_scope","error_description":"x"}`) }, named("")},
		"202 empty":           {func(a ask) { a.w.WriteHeader(202) }, is(ErrAnswer)},
		"200 HTML":            {func(a ask) { a.w.Header().Set("Content-Type", "text/html"); io.WriteString(a.w, "<p>") }, is(ErrAnswer)},
		"JSON, not RPC":       {func(a ask) { a.json(200, `{"ok":true}`) }, is(ErrAnswer)},
		"someone else's id":   {func(a ask) { a.json(200, `{"id":"x","result":1}`) }, is(ErrAnswer)},
		"SSE garbage":         {func(a ask) { a.sse("data: {{{\n\n"); <-a.gone() }, is(ErrAnswer)},
		"SSE without an end":  {func(a ask) { a.sse(": nothing\n\n") }, is(ErrCut)},
		"SSE cut in a frame":  {func(a ask) { a.sse(`data: {"id":`) }, is(ErrAnswer)},
		"connection cut":      {func(a ask) { a.sse("data: "); panic(http.ErrAbortHandler) }, is(ErrCut)},
		"cut before anything": {func(a ask) { panic(http.ErrAbortHandler) }, is(ErrUnreachable)},
		"too large":           {func(a ask) { a.result(`"` + strings.Repeat("x", 20_000) + `"`) }, is(ErrTooLarge)},
		"too large SSE":       {func(a ask) { a.sse("data: " + strings.Repeat("x", 20_000)); <-a.gone() }, is(ErrTooLarge)},
		"redirect elsewhere":  {func(a ask) { http.Redirect(a.w, a.r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect) }, is(ErrAnswer)},
		"redirect to GET":     {func(a ask) { http.Redirect(a.w, a.r, "/other", http.StatusFound) }, is(ErrAnswer)},
	} {
		t.Run(name, func(t *testing.T) {
			f := modernFake(t, map[string]func(ask){"m": c.answer, "good": func(a ask) { a.result("1") }})
			s := mustDial(t, f.server(), Options{MaxFrame: 1000})
			_, err := s.Call(soon(t), "m", nil)
			if err == nil || !c.want(err) || strings.Contains(err.Error(), strings.Repeat("x", 300)) {
				t.Errorf("error %v", err)
			}
			if _, err := s.Call(soon(t), "good", nil); err != nil {
				t.Errorf("the session did not go on: %v", err)
			}
		})
	}
}

func TestRedirectOnTheSameHostIsFollowed(t *testing.T) {
	f := modernFake(t, map[string]func(ask){"m": func(a ask) {
		if a.r.URL.Path != "/there" {
			http.Redirect(a.w, a.r, "/there", http.StatusPermanentRedirect)
			return
		}
		a.result("1")
	}})
	if _, err := mustDial(t, f.server(), Options{}).Call(soon(t), "m", nil); err != nil {
		t.Error(err)
	}
}

// Errors name what the operator must change, and no possible secret.
func TestErrorsNameWhatToChange(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(ask)
		want   string
	}{
		"redirect": {func(a ask) {
			http.Redirect(a.w, a.r, "http://user:hunter2@127.0.0.1:1/mcp/v2?key=hunter2", http.StatusTemporaryRedirect)
		}, "http://127.0.0.1:1/mcp/v2"},
		"a line of text": {func(a ask) { http.Error(a.w, "a bearer token is needed", http.StatusTeapot) }, "a bearer token is needed$"},
		"HTML":           {func(a ask) { a.w.Header().Set("Content-Type", "text/html"); io.WriteString(a.w, "\n<p>") }, "a web page"},
	} {
		t.Run(name, func(t *testing.T) {
			f := modernFake(t, map[string]func(ask){"m": c.answer})
			_, err := mustDial(t, f.server(), Options{}).Call(soon(t), "m", nil)
			if err == nil || !strings.Contains(err.Error()+"$", c.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestSessionIsLostWhenTheServerForgetsIt(t *testing.T) {
	for name, forget := range map[string]func(ask){
		"404 plain":      func(a ask) { a.plain(404, "gone") },
		"404 with error": func(a ask) { a.json(404, `{"id":null,"error":{"code":-32001,"message":"Session not found"}}`) },
		"400 with error": func(a ask) { a.json(400, `{"id":null,"error":{"code":-32000,"message":"no valid session"}}`) },
	} {
		t.Run(name, func(t *testing.T) {
			f := handshakeFake(t, map[string]func(ask){
				"m":               forget,
				methodPing:        forget,
				wire.MethodStream: func(a ask) { a.sse(": open\n\n"); <-a.gone() },
				"absent":          func(a ask) { a.fail(404, -32601, "null") },
			})
			s := mustDial(t, f.server(), Options{})
			stream, err := s.Open(soon(t), wire.MethodStream, nil, func(wire.Note) {})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Call(soon(t), "absent", nil); wire.NameFrom(err) != wire.MethodNotFound || s.Err() != nil {
				t.Fatalf("a method that is not found: %v, session %v", err, s.Err())
			}
			if _, err := s.Call(soon(t), "m", nil); !errors.Is(err, ErrForgotten) {
				t.Errorf("the call: %v", err)
			}
			get(t, "loss", s.Lost())
			if _, err := stream.Result(); !errors.Is(err, ErrLost) || !errors.Is(s.Err(), ErrLost) {
				t.Errorf("stream %v, session %v", err, s.Err())
			}
			if _, err := s.Open(soon(t), "m", nil, func(wire.Note) {}); !errors.Is(err, ErrLost) {
				t.Errorf("open: %v", err)
			}
		})
	}
}

// Some servers answer unknown methods with 404 in plain text.
func TestSessionIsNotLostByAnUnknownMethod(t *testing.T) {
	for name, ping := range map[string]func(ask){
		"ping answered":     func(a ask) { a.result("{}") },
		"ping not known":    func(a ask) { a.fail(404, wire.CodeMethodNotFound, "null") },
		"ping not answered": func(a ask) { a.w.WriteHeader(202) },
	} {
		f := handshakeFake(t, map[string]func(ask){
			"m":        func(a ask) { a.plain(404, "404 page not found") },
			methodPing: ping,
			"works":    func(a ask) { a.result("{}") },
		})
		s := mustDial(t, f.server(), Options{})
		var refused *HTTPError
		if _, err := s.Call(soon(t), "m", nil); !errors.As(err, &refused) || refused.Status != 404 || errors.Is(err, ErrLost) {
			t.Errorf("%s: the call: %v", name, err)
		}
		if _, err := s.Call(soon(t), "works", nil); err != nil || s.Err() != nil {
			t.Errorf("%s: %v, session %v", name, err, s.Err())
		}
		if got := f.wait(t, methodPing).r.Header.Get("Mcp-Session-Id"); got != "s-1" {
			t.Errorf("%s: asked in session %q", name, got)
		}
	}
}

func TestHandshakeServersAreToldOfCancellation(t *testing.T) {
	f := handshakeFake(t, openStream)
	s, stream := streaming(t, f)
	stream.Close()
	if got := string(f.wait(t, noteCancelled).params); got != `{"requestId":`+string(stream.ID)+`}` {
		t.Errorf("cancelled %s, want %s", got, stream.ID)
	}
	s.Close()
	if a := f.wait(t, http.MethodDelete); a.r.Header.Get("Mcp-Session-Id") != "s-1" {
		t.Errorf("DELETE with %v", a.r.Header)
	}
}

func TestStatelessCancelHangsUp(t *testing.T) {
	gone := make(chan bool, 1)
	f := modernFake(t, map[string]func(ask){wire.MethodStream: func(a ask) { a.note(wire.NoteActive, 1); <-a.gone(); gone <- true }})
	s := mustDial(t, f.server(), Options{})
	ctx, cancel := context.WithCancel(soon(t))
	sink, c := notes()
	stream, err := s.Open(ctx, wire.MethodStream, nil, sink)
	if err != nil {
		t.Fatal(err)
	}
	get(t, "active", c)
	cancel()
	get(t, "hang-up", gone)
	if _, err := stream.Result(); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	s.Close()
	if f.count(noteCancelled) != 0 {
		t.Error("the stateless era has no need of notifications/cancelled over HTTP")
	}
}

func TestCallTimeout(t *testing.T) {
	f := modernFake(t, map[string]func(ask){"m": func(a ask) { <-a.gone() }})
	s := mustDial(t, f.server(), Options{})
	s.opts.CallTimeout = 50 * time.Millisecond // dialing makes calls too
	if _, err := s.Call(context.Background(), "m", nil); !errors.Is(err, context.DeadlineExceeded) || err.Error() != "m: the server did not answer in time" {
		t.Errorf("error %v", err)
	}
}

func TestHeadersAreSentAndSecretsAreNotTraced(t *testing.T) {
	const secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5"
	f := modernFake(t, map[string]func(ask){"tools/call": func(a ask) { a.fail(400, -32602, `{"was":"`+secret+`"}`) }})
	server := f.server()
	server.Headers = map[string]event.Secret{"Authorization": event.NewSecret("Bearer very-long-token-hunter2"), "Accept": event.NewSecret("x/y")}
	frames := make(chan trust.Text, 100)
	logged := &mcptest.Buffer{}
	s := mustDial(t, server, Options{Trace: func(_ Direction, frame trust.Text, _ int) { frames <- frame }, Log: slog.New(slog.NewTextHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if _, err := s.Call(soon(t), "tools/call", map[string]any{"name": "größe", "delivery": map[string]string{"secret": secret}}); err == nil {
		t.Error("no error")
	}
	h := f.wait(t, "tools/call").r.Header
	if h.Get("Authorization") != "Bearer very-long-token-hunter2" || !strings.HasPrefix(h.Get("Accept"), "application/json") || h.Get("Mcp-Name") != "=?base64?Z3LDtsOfZQ==?=" {
		t.Errorf("headers %v", h)
	}
	s.Close()
	close(frames)
	text := logged.String()
	masked := 0
	for frame := range frames {
		masked += strings.Count(frame.Raw(), "whsec_…Nzg5")
		text += frame.Raw()
	}
	if masked != 2 || strings.Contains(text, "MDEy") || strings.Contains(text, "hunter2") {
		t.Errorf("masked %d times in %s", masked, text)
	}
}

func TestParamsMustBeAnObject(t *testing.T) {
	s := mustDial(t, modernFake(t, map[string]func(ask){"m": func(a ask) { a.result("1") }}).server(), Options{})
	for _, bad := range []any{7, []int{1}, make(chan int), map[string]any{"_meta": 1}} {
		if _, err := s.Call(soon(t), "m", bad); err == nil {
			t.Errorf("%v was sent", bad)
		}
	}
	if _, err := s.Call(soon(t), "m", map[string]any{"_meta": map[string]int{"mine": 1}}); err != nil {
		t.Error(err)
	}
}

func TestCloseEndsEverything(t *testing.T) {
	f := modernFake(t, openStream)
	s, stream := streaming(t, f)
	s.Close()
	get(t, "end", stream.Done())
	if _, err := stream.Result(); !errors.Is(err, ErrClosed) {
		t.Errorf("stream %v", err)
	}
	if _, err := s.Call(soon(t), "m", nil); !errors.Is(err, ErrClosed) {
		t.Errorf("call %v", err)
	}
	get(t, "Lost", s.Lost())
	s.Close()
}
