package eventserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"eventdeck/host/eventserver"
	"eventdeck/host/wire"
)

func TestRequestsOverHTTP(t *testing.T) {
	for name, c := range map[string]struct {
		method, kind, body string
		status             int // 200: it is read
		code               int // of the JSON-RPC error, 0: none
	}{
		"a request":      {"POST", "application/json; charset=utf-8", `{"jsonrpc":"2.0","id":7,"method":"ping"}`, 200, 0},
		"a notification": {"POST", "application/json", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, 0},
		"GET":            {"GET", "application/json", ``, 405, 0},
		"another type":   {"POST", "text/plain", `{"jsonrpc":"2.0","id":7,"method":"ping"}`, 415, 0},
		"no type":        {"POST", "", `{}`, 415, 0},
		"no JSON":        {"POST", "application/json", `{`, 400, wire.CodeParse},
		"no request":     {"POST", "application/json", `{"jsonrpc":"2.0","id":7,"result":{}}`, 400, wire.CodeInvalidRequest},
		"a batch":        {"POST", "application/json", `[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":2,"method":"b"}]`, 400, wire.CodeInvalidRequest},
		"null":           {"POST", "application/json", `null`, 400, wire.CodeInvalidRequest},
		"too large":      {"POST", "application/json", strings.Repeat(" ", eventserver.MaxRequest+1), 413, 0},
	} {
		r := httptest.NewRequest(c.method, "/mcp", strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.kind)
		w := httptest.NewRecorder()
		m, ok := eventserver.ReadRequest(w, r)
		if ok != (c.status == 200) || w.Code != c.status || ok && (m.Method != "ping" || m.ID != "7") {
			t.Errorf("%s: %t, status %d, %+v", name, ok, w.Code, m)
		}
		if got := codeOf(t, w); got != c.code {
			t.Errorf("%s: code %d, want %d", name, got, c.code)
		}
	}
}

// codeOf returns the code of a JSON-RPC error, 0 for another body.
func codeOf(t *testing.T, w *httptest.ResponseRecorder) int {
	t.Helper()
	if w.Header().Get("Content-Type") != "application/json" {
		return 0
	}
	if w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Error("browsers may guess another type")
	}
	var body struct{ Error struct{ Code int } }
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return body.Error.Code
}

func TestHeadersMustMatchTheBody(t *testing.T) {
	const modern = `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`
	for name, c := range map[string]struct {
		version, method, params string
		code                    int // 0: they fit
	}{
		"fit":               {"2026-07-28", "ping", modern, 0},
		"another version":   {"2025-11-25", "ping", modern, wire.CodeUnsupportedVersion},
		"no version at all": {"", "ping", `{}`, wire.CodeUnsupportedVersion},
		"no header":         {"", "ping", modern, wire.CodeHeaderMismatch},
		"no _meta":          {"2026-07-28", "ping", `{}`, wire.CodeInvalidParams},
		"they differ":       {"2026-07-28", "ping", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}}`, wire.CodeHeaderMismatch},
		"no method":         {"2026-07-28", "", modern, wire.CodeHeaderMismatch},
		"another method":    {"2026-07-28", "tools/call", modern, wire.CodeHeaderMismatch},
	} {
		h := http.Header{}
		h.Set("Mcp-Protocol-Version", c.version)
		h.Set("Mcp-Method", c.method)
		w := httptest.NewRecorder()
		fits := eventserver.HeadersFit(w, h, wire.Message{RawID: json.RawMessage("1"), Method: "ping", Params: json.RawMessage(c.params)})
		if got := codeOf(t, w); fits != (c.code == 0) || got != c.code || !fits && w.Code != 400 {
			t.Errorf("%s: %t, status %d, code %d", name, fits, w.Code, got)
		}
	}
}

func TestAnswersHaveTheirStatus(t *testing.T) {
	id := json.RawMessage(`"a"`)
	for status, f := range map[int]*eventserver.Refusal{
		404: eventserver.NoMethod("x"),
		400: eventserver.BadParam("cursor", "no such cursor"),
		200: eventserver.TooMany("open streams", "streams", 3),
	} {
		w := httptest.NewRecorder()
		eventserver.AnswerRefusal(w, id, f, wire.ProfileSEP)
		if code := codeOf(t, w); w.Code != status || code != f.Code(wire.ProfileSEP) || !strings.Contains(w.Body.String(), `"id":"a"`) {
			t.Errorf("%s: status %d, %s", f.Name, w.Code, w.Body)
		}
	}
	w := httptest.NewRecorder()
	eventserver.AnswerResult(w, id, eventserver.Completed(map[string]any{"n": 1}, map[string]any{"name": "x"}))
	if got := w.Body.String(); w.Code != 200 || !strings.Contains(got, `"resultType":"complete"`) || !strings.Contains(got, `"io.modelcontextprotocol/serverInfo":{"name":"x"}`) {
		t.Errorf("result: %d %s", w.Code, got)
	}
	w = httptest.NewRecorder()
	eventserver.AnswerResult(w, id, map[string]any{"f": func() {}})
	if code := codeOf(t, w); w.Code != 500 || code != wire.CodeInternal {
		t.Errorf("what cannot be encoded: %d, %d", w.Code, code)
	}
}

func TestRefusals(t *testing.T) {
	for name, codes := range map[wire.Name][2]int{
		wire.NotFound: {-32023, -32011}, wire.ResourceExhausted: {-32025, -32013}, wire.CallbackEndpointError: {-32027, -32015},
		wire.InvalidParams: {-32602, -32602}, wire.MethodNotFound: {-32601, -32601}, wire.UnsupportedVersion: {-32022, -32022}, wire.InternalError: {-32603, -32603},
	} {
		f := eventserver.Refuse(name, "no", nil)
		if got := [2]int{f.Code(wire.ProfileSEP), f.Code(wire.ProfileSketch)}; got != codes {
			t.Errorf("%s: codes %v", name, got)
		}
		if _, has := f.Body(wire.ProfileSEP)["data"]; has {
			t.Errorf("%s: data out of nothing", name)
		}
	}
	frame, err := eventserver.BadMode("x", "webhook", []string{"poll"}).Frame(json.RawMessage("3"), wire.ProfileSEP)
	if want := `{"jsonrpc":"2.0","id":3,"error":{"code":-32026,"message":"x is not delivered by webhook","data":{"feature":"deliveryMode","supported":["poll"],"value":"webhook"}}}`; err != nil || string(frame) != want {
		t.Errorf("%s, %v", frame, err)
	}
	var p struct{ N int }
	if f := eventserver.Decode(nil, &p); f != nil {
		t.Errorf("no params: %+v", f)
	}
	isRefused(t, "params of another type", eventserver.Decode(json.RawMessage(`{"n":"x"}`), &p), wire.InvalidParams, "field", "params")
}

func TestVersionsAndClientNamesAreRead(t *testing.T) {
	for params, want := range map[string][2]string{
		``:                              {},
		`[]`:                            {},
		`{"clientInfo":{"name":"old"}}`: {"", "old"},
		`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"new"}}}`: {"2026-07-28", "new"},
		`{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}`:                                                                {},
	} {
		if got := [2]string{eventserver.Version(json.RawMessage(params)), eventserver.ClientName(json.RawMessage(params)).Raw()}; got != want {
			t.Errorf("%s: %q", params, got)
		}
	}
	for asked, want := range map[string]string{"2025-03-26": "2025-03-26", "2026-07-28": "2025-11-25", "": "2025-11-25"} {
		g := eventserver.Greeting(json.RawMessage(`{"protocolVersion":"`+asked+`"}`), nil, "", nil)
		if g["protocolVersion"] != want {
			t.Errorf("asked for %q, got %v", asked, g["protocolVersion"])
		}
	}
}

func TestStreamsOverHTTP(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		listChanged, acknowledged, f := eventserver.ReadListen(json.RawMessage(`{"notifications":{"eventsListChanged":true,"other":true}}`))
		if !listChanged || f != nil {
			t.Errorf("%t, %+v", listChanged, f)
		}
		out := eventserver.StartSSE(w)
		notes := out.Sink().AppendNote(nil, wire.NoteAcknowledged, acknowledged, json.RawMessage(`"l"`), wire.ProfileSEP)
		notes = out.Sink().AppendNote(notes, wire.NoteListChanged, map[string]any{}, json.RawMessage("5"), wire.ProfileSketch)
		if err := out.Write(notes); err != nil {
			t.Error(err)
		}
		out.Finish(json.RawMessage(`"l"`), map[string]any{"name": "x"})
	}))
	defer srv.Close()
	res, err := http.Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	want := `data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"l"},"notifications":{"eventsListChanged":true}}}

data: {"jsonrpc":"2.0","method":"notifications/events/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":5},"requestId":5}}

data: {"jsonrpc":"2.0","id":"l","result":{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x"},"io.modelcontextprotocol/subscriptionId":"l"},"resultType":"complete"}}

`
	if err != nil || string(body) != want || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("%v, %v:\n%s", err, res.Header, body)
	}
	if listChanged, acknowledged, f := eventserver.ReadListen(json.RawMessage(`{"notifications":7}`)); listChanged || f == nil || len(acknowledged["notifications"].(map[string]any)) > 0 {
		t.Errorf("params that make no sense: %t, %v, %+v", listChanged, acknowledged, f)
	}
	http.DefaultClient.CloseIdleConnections()
}

// The end of the context ends the open requests, and settle comes last.
func TestServingEndsWithItsContext(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	handled := false
	srv := eventserver.NewHTTP(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = eventserver.StartSSE(w).Write([]byte(": here\n\n"))
		<-r.Context().Done()
		handled = true
	}), false, slog.New(slog.DiscardHandler))
	settled, done := false, make(chan error, 1)
	go func() {
		done <- eventserver.ServeUntil(ctx, cancel, srv, ln, "test", func() { settled = handled })
	}()
	res, err := http.Get("http://" + ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if line, err := bufio.NewReader(res.Body).ReadString('\n'); err != nil || line != ": here\n" {
		t.Errorf("%q, %v", line, err)
	}
	cancel()
	if err := <-done; err != nil || !settled {
		t.Errorf("%v, settled after the requests: %t", err, settled)
	}
	if err := eventserver.ServeUntil(t.Context(), func() {}, &http.Server{}, ln, "test", func() {}); err == nil || !errors.Is(err, net.ErrClosed) {
		t.Errorf("a listener that is closed: %v", err)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestCursorsAreRead(t *testing.T) {
	for raw, want := range map[string]struct {
		cursor string
		given  bool
	}{``: {}, `null`: {}, `""`: {"", true}, `"a"`: {"a", true}} {
		if cursor, given, f := eventserver.ReadCursor(json.RawMessage(raw)); f != nil || cursor != want.cursor || given != want.given {
			t.Errorf("%s: %q, %t, %+v", raw, cursor, given, f)
		}
	}
	_, _, f := eventserver.ReadCursor(json.RawMessage(`5`))
	isRefused(t, "a number", f, wire.InvalidParams, "field", "cursor")
}
