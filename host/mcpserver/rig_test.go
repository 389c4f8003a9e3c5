package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/mcpserver"
	"eventdeck/host/trust"
	"eventdeck/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds the wait for something that must come.
const patience = time.Minute

// rig is a server on a store of its own.
type rig struct {
	t     testing.TB
	store *store.Store
	host  *host.Host
	url   string
	stop  func()
	opts  mcpserver.Options
	check func(host.Request) (event.Mode, error) // nil: the host's
}

// checking is a host without servers that checks requests for subscriptions with a function.
type checking struct {
	*host.Host
	check func(host.Request) (event.Mode, error)
}

func (c checking) Check(_ context.Context, r host.Request) (event.Mode, error) { return c.check(r) }

// newRig opens a store to serve. change may be nil.
func newRig(t testing.TB, change func(*mcpserver.Options)) *rig {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Temporary: true})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, store: s, opts: mcpserver.Options{Version: "test"}}
	t.Cleanup(func() {
		if r.host != nil {
			err = r.host.Close()
		}
		if err := errors.Join(err, s.Close()); err != nil {
			t.Error(err)
		}
	})
	if change != nil {
		change(&r.opts)
	}
	return r
}

// server makes the server, and the host if there is none yet.
func (r *rig) server() *mcpserver.Server {
	r.t.Helper()
	var err error
	if r.host == nil {
		if r.host, err = host.New(host.Options{Store: r.store}); err != nil {
			r.t.Fatal(err)
		}
		r.opts.Host = r.host
		if r.check != nil {
			r.opts.Host = checking{r.host, r.check}
		}
	}
	server, err := mcpserver.New(r.opts)
	if err != nil {
		r.t.Fatal(err)
	}
	return server
}

// serve serves over HTTP on an address, "" for a new one, until r.stop.
func (r *rig) serve(address string) *rig {
	r.t.Helper()
	server := r.server()
	if address == "" {
		address = "127.0.0.1:0"
	}
	ln, err := net.Listen("tcp", address)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.ServeHTTP(ctx, ln) }()
	r.url = "http://" + ln.Addr().String() + mcpserver.Path
	stopped := false
	r.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			r.t.Error(err)
		}
	}
	r.t.Cleanup(func() { r.stop() })
	return r
}

// address is where the server listens.
func (r *rig) address() string { return r.url[len("http://") : len(r.url)-len(mcpserver.Path)] }

// newEvent returns an event of a server and type with data.
func newEvent(server, typ, id, data string) event.Record {
	raw := []byte(`{"eventId":"` + id + `","data":` + data + `}`)
	at := bytes.Index(raw, []byte(data))
	return event.Record{Kind: event.KindEvent, Sub: event.SubID("sub" + server), Server: server, Type: trust.Untrusted(typ), Mode: event.ModePush,
		ReceivedAt: time.Now().UTC(), EventID: trust.Untrusted(id), Raw: raw, Data: raw[at : at+len(data)]}
}

// put stores records.
func (r *rig) put(records ...event.Record) {
	r.t.Helper()
	batches := (len(records) + 499) / 500
	done := make(chan error, batches)
	for range batches {
		n := min(len(records), 500)
		err := r.store.Submit(r.t.Context(), event.Batch{Sub: records[0].Sub, Records: records[:n], Done: func(_ event.Outcome, err error) { done <- err }})
		if err != nil {
			r.t.Fatal(err)
		}
		records = records[n:]
	}
	for range batches {
		if err := <-done; err != nil {
			r.t.Fatal(err)
		}
	}
}

// fill stores n events of pager/tick whose data.n counts from first.
func (r *rig) fill(first, n int) {
	r.t.Helper()
	records := make([]event.Record, 0, n)
	for i := first; i < first+n; i++ {
		records = append(records, newEvent("pager", "tick", "e"+strconv.Itoa(i), fmt.Sprintf(`{"n":%d,"severity":"P%d","text":"something happened on the way"}`, i, i%4)))
	}
	r.put(records...)
}

// client is the connection of a foreign client: that of the official SDK.
type client struct {
	t    testing.TB
	conn mcp.Connection
}

// connect connects over HTTP.
func (r *rig) connect() *client {
	r.t.Helper()
	return connect(r.t, &mcp.StreamableClientTransport{Endpoint: r.url, HTTPClient: httpClient(r.t), DisableStandaloneSSE: true, MaxRetries: -1})
}

func httpClient(t testing.TB) *http.Client {
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func connect(t testing.TB, transport mcp.Transport) *client {
	t.Helper()
	conn, err := transport.Connect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &client{t, conn}
}

// send sends a request of the stateless version.
func (c *client) send(id int64, method string, params map[string]any) {
	c.t.Helper()
	full := map[string]any{"_meta": meta()}
	for k, v := range params {
		full[k] = v
	}
	raw, err := json.Marshal(full)
	if err != nil {
		c.t.Fatal(err)
	}
	jid, err := jsonrpc.MakeID(float64(id))
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.conn.Write(context.Background(), &jsonrpc.Request{ID: jid, Method: method, Params: raw}); err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
}

// note is a notification or response that a client gets.
type note struct {
	method string
	Params struct {
		Cursor    string
		Truncated bool
		EventID   string
		Data      struct{ N int }
		Meta      map[string]any `json:"_meta"`
	}
	failed error
}

// read returns the next message; false when the connection is over.
func (c *client) read() (n note, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	m, err := c.conn.Read(ctx)
	if err != nil {
		return n, false
	}
	switch m := m.(type) {
	case *jsonrpc.Request:
		n.method = m.Method
		if err := json.Unmarshal(m.Params, &n.Params); err != nil {
			c.t.Errorf("%s: %v", m.Method, err)
		}
	case *jsonrpc.Response:
		n.failed = m.Error
	}
	return n, true
}

// until reads up to a notification.
func (c *client) until(method string) note {
	c.t.Helper()
	for {
		n, ok := c.read()
		if !ok || n.method == "" {
			c.t.Fatalf("no %s came: %v", method, n.failed)
		}
		if n.method == method {
			return n
		}
	}
}

// meta is the _meta of each request of the stateless version.
func meta() map[string]any {
	return map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28",
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "test", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{"extensions": map[string]any{"io.modelcontextprotocol/events": map[string]any{}}}}
}

// post sends one request of the stateless version, and returns its response, which the caller
// closes. header may change the request.
func (r *rig) post(ctx context.Context, id any, method string, params map[string]any, header func(*http.Request)) *http.Response {
	r.t.Helper()
	full := map[string]any{"_meta": meta()}
	for k, v := range params {
		full[k] = v
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": full})
	if err != nil {
		r.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	req.Header.Set("Mcp-Method", method)
	if header != nil {
		header(req)
	}
	res, err := httpClient(r.t).Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	return res
}

// answer is a JSON-RPC response.
type answer struct {
	Result map[string]any
	Error  *struct {
		Code    int
		Message string
		Data    map[string]any
	}
}

func (r *rig) ask(method string, params map[string]any) (int, answer) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	res := r.post(ctx, 1, method, params, nil)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		r.t.Fatalf("%s: %v: %s", method, err, raw)
	}
	return res.StatusCode, a
}

// call returns the result of a request that must succeed.
func (r *rig) call(method string, params map[string]any) map[string]any {
	r.t.Helper()
	_, a := r.ask(method, params)
	if a.Error != nil {
		r.t.Fatalf("%s: %+v", method, *a.Error)
	}
	return a.Result
}

// tool calls a tool that must succeed, and returns its structured result.
func (r *rig) tool(name string, args map[string]any) map[string]any {
	r.t.Helper()
	result := r.call("tools/call", map[string]any{"name": name, "arguments": args})
	if result["isError"] == true {
		r.t.Fatalf("%s: %v", name, result["content"])
	}
	return result["structuredContent"].(map[string]any)
}

// refused calls a tool that must fail, and returns why.
func (r *rig) refused(name string, args map[string]any) string {
	r.t.Helper()
	result := r.call("tools/call", map[string]any{"name": name, "arguments": args})
	if result["isError"] != true {
		r.t.Fatalf("%s %v was not refused: %v", name, args, result)
	}
	return result["content"].([]any)[0].(map[string]any)["text"].(string)
}

// sub are the params of a subscription.
func sub(name string, more ...any) map[string]any {
	p := map[string]any{"name": name}
	for i := 0; i < len(more); i += 2 {
		p[more[i].(string)] = more[i+1]
	}
	return p
}
