package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"eventdeck/host/eventserver"
	"eventdeck/host/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a pager that runs for one test, with an HTTP client.
type rig struct {
	t      *testing.T
	pager  *Pager
	url    string
	client *http.Client
	stop   func()
}

func startPager(t testing.TB, opts PagerOptions) (p *Pager, url string, stop func()) {
	t.Helper()
	p, err := NewPager(opts)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Serve(ctx, ln) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return p, "http://" + ln.Addr().String() + PagerPath, stop
}

func newRig(t *testing.T, opts PagerOptions) *rig {
	t.Helper()
	p, url, stop := startPager(t, opts)
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &rig{t: t, pager: p, url: url, client: &http.Client{Transport: tr}, stop: stop}
}

// request builds a request as a client of 2026-07-28 sends it.
func (r *rig) request(ctx context.Context, id any, method string, params map[string]any) *http.Request {
	r.t.Helper()
	return modernRequest(r.t, ctx, r.url, id, method, params)
}

func modernRequest(t testing.TB, ctx context.Context, url string, id any, method string, params map[string]any) *http.Request {
	t.Helper()
	full := map[string]any{"_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion":    eventserver.Modern,
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "test", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{"extensions": map[string]any{wire.Extension: map[string]any{}}},
	}}
	for k, v := range params {
		full[k] = v
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": full})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("MCP-Protocol-Version", eventserver.Modern)
	req.Header.Set("Mcp-Method", method)
	return req
}

// do sends a request and returns the status and the answer.
func (r *rig) do(req *http.Request) (int, wire.Message) {
	r.t.Helper()
	res, err := r.client.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(res.Body); err != nil {
		r.t.Fatal(err)
	}
	m, err := wire.DecodeMessages(body.Bytes())
	if err != nil {
		return res.StatusCode, wire.Message{}
	}
	return res.StatusCode, m[0]
}

// call returns the result of a request, which must succeed.
func (r *rig) call(method string, params map[string]any) map[string]any {
	r.t.Helper()
	_, m := r.do(r.request(r.t.Context(), 1, method, params))
	if m.Error != nil {
		r.t.Fatalf("%s: %v", method, m.Error)
	}
	var result map[string]any
	if err := json.Unmarshal(m.Result, &result); err != nil {
		r.t.Fatalf("%s: %v", method, err)
	}
	return result
}

// refuse returns the error of a request, which must fail.
func (r *rig) refuse(method string, params map[string]any) (int, *wire.Error) {
	r.t.Helper()
	status, m := r.do(r.request(r.t.Context(), 1, method, params))
	if m.Error == nil {
		r.t.Fatalf("%s was not refused: %s", method, m.Result)
	}
	return status, m.Error
}

// frames are the messages of a stream, until the test ends it.
type frames struct {
	t      *testing.T
	scan   *bufio.Scanner
	cancel context.CancelFunc
	close  func() error
}

// open opens a stream, which must succeed.
func (r *rig) open(id any, method string, params map[string]any) *frames {
	r.t.Helper()
	f := r.tryOpen(id, method, params)
	if f == nil {
		r.t.Fatalf("%s %v was refused", method, params["name"])
	}
	return f
}

// tryOpen is open, but nil for a refusal.
func (r *rig) tryOpen(id any, method string, params map[string]any) *frames {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	res, err := r.client.Do(r.request(ctx, id, method, params))
	if err != nil {
		cancel()
		r.t.Fatal(err)
	}
	if res.Header.Get("Content-Type") != "text/event-stream" {
		cancel()
		res.Body.Close()
		return nil
	}
	f := &frames{t: r.t, scan: bufio.NewScanner(res.Body), cancel: cancel, close: res.Body.Close}
	f.scan.Buffer(nil, 1<<20)
	r.t.Cleanup(f.end)
	return f
}

func (f *frames) end() { f.cancel(); f.close() }

// next returns the next message, or false when the stream has ended.
func (f *frames) next() (wire.Message, map[string]any, bool) {
	f.t.Helper()
	for f.scan.Scan() {
		data, ok := strings.CutPrefix(f.scan.Text(), "data: ")
		if !ok {
			continue
		}
		m, err := wire.DecodeMessages([]byte(data))
		if err != nil {
			f.t.Fatalf("%v: %s", err, data)
		}
		var params map[string]any
		if m[0].Params != nil {
			if err := json.Unmarshal(m[0].Params, &params); err != nil {
				f.t.Fatal(err)
			}
		}
		return m[0], params, true
	}
	return wire.Message{}, nil, false
}

// until skips to the next message of the method.
func (f *frames) until(method string) map[string]any {
	f.t.Helper()
	for {
		m, params, ok := f.next()
		if !ok {
			f.t.Fatalf("the stream ended before %s: %v", method, f.scan.Err())
		}
		if m.Method == method {
			return params
		}
	}
}

func sub(name string, more ...any) map[string]any {
	p := map[string]any{"name": name, "arguments": map[string]any{}, "cursor": nil}
	for i := 0; i+1 < len(more); i += 2 {
		p[more[i].(string)] = more[i+1]
	}
	return p
}

func TestPushDeliversTicksInOrder(t *testing.T) {
	r := newRig(t, PagerOptions{ServerOptions: ServerOptions{Rate: 500}})
	f := r.open("s1", wire.MethodStream, sub("load.tick"))
	active := f.until(wire.NoteActive)
	want := 0.0
	for range 200 {
		p := f.until(wire.NoteEvent)
		data := p["data"].(map[string]any)
		n := data["n"].(float64)
		if want != 0 && n != want {
			t.Fatalf("event %v after %v", n, want-1)
		}
		want = n + 1
		if got := p["cursor"]; got != fmt.Sprintf("%s.%.0f", r.pager.run, n) {
			t.Fatalf("cursor %v of event %v", got, n)
		}
		if id := p["_meta"].(map[string]any)[wire.MetaSubscription]; id != "s1" {
			t.Fatalf("subscription id %v", id)
		}
	}
	f.end()
	again := r.open(7, wire.MethodStream, sub("load.tick", "cursor", active["cursor"]))
	if p := again.until(wire.NoteActive); p["truncated"] != false || p["cursor"] != active["cursor"] {
		t.Errorf("active after a resume: %v", p)
	}
}
