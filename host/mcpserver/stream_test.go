package mcpserver_test

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"eventdeck/host/event"
	"eventdeck/host/mcpserver"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

func TestPushReplaysAndContinues(t *testing.T) {
	for _, over := range []string{"http", "stdio"} {
		r := newRig(t, nil)
		r.fill(1, 2000)
		var c *client
		if over == "http" {
			c = r.serve("").connect()
		} else {
			out, in := r.stdio()
			c = connect(t, &mcp.IOTransport{Reader: io.NopCloser(out), Writer: in})
		}
		id := r.store.Generations().Of(1)
		c.send(7, wire.MethodStream, sub("pager/tick", "cursor", id+".0"))
		if n, _ := c.read(); n.method != wire.NoteActive || n.Params.Cursor != id+".0" || n.Params.Truncated {
			t.Errorf("%s: first came %+v", over, n)
		}
		var got []int
		for len(got) < 2003 {
			if len(got) == 2000 {
				r.fill(2001, 3)
			}
			n := c.until(wire.NoteEvent)
			if n.Params.Meta["io.modelcontextprotocol/subscriptionId"] != 7.0 {
				t.Fatalf("%s: an event of stream %v", over, n.Params.Meta)
			}
			got = append(got, n.Params.Data.N)
		}
		inOrder(t, got, 1, 2003)
	}
}

func TestHeartbeatsCarryTheCursor(t *testing.T) {
	r := newRig(t, func(o *mcpserver.Options) { o.Heartbeat = 20 * time.Millisecond })
	r.fill(1, 5)
	c := r.serve("").connect()
	c.send(1, wire.MethodStream, sub("eventdeck.gap"))
	first := c.until(wire.NoteHeartbeat).Params.Cursor
	r.fill(6, 5)
	for c.until(wire.NoteHeartbeat).Params.Cursor == first { // none of these events is for the stream, and yet it moves on
	}
}

// A stream that reaches pruned records says so, and continues after them.
func TestStreamsReportPrunedRecords(t *testing.T) {
	r := prunedRig(t)
	at, c := r.oldest(), r.connect()
	c.send(1, wire.MethodStream, sub("pager/tick", "cursor", at))
	active := c.until(wire.NoteActive)
	first := c.until(wire.NoteEvent)
	if !active.Params.Truncated || first.Params.Data.N < 900 {
		t.Errorf("active %+v, then event %d", active.Params, first.Params.Data.N)
	}
	again := r.connect()
	again.send(1, wire.MethodStream, sub("pager/tick", "cursor", active.Params.Cursor))
	if n := again.until(wire.NoteActive); n.Params.Truncated {
		t.Error("the cursor that came with truncated is truncated again")
	}
	if n := again.until(wire.NoteEvent); n.Params.Data.N != first.Params.Data.N {
		t.Errorf("from it came %d, before %d", n.Params.Data.N, first.Params.Data.N)
	}
}

// maxAgeMs skips older events, in both modes, and says so.
func TestMaxAgeReportsSkippedEvents(t *testing.T) {
	r := newRig(t, nil)
	old := newEvent("pager", "tick", "old", `{"n":1}`)
	old.ReceivedAt = time.Now().Add(-time.Hour).UTC()
	r.put(old, newEvent("pager", "tick", "new", `{"n":2}`))
	at := r.serve("").oldest()
	for _, x := range []struct {
		age  int
		want bool
		n    int
	}{{60_000, true, 1}, {7_200_000, false, 2}} {
		a := r.call(wire.MethodPoll, sub("pager/tick", "cursor", at, "maxAgeMs", x.age))
		if a["truncated"] != x.want || len(a["events"].([]any)) != x.n {
			t.Errorf("poll, %d ms: %v", x.age, a)
		}
		c := r.connect()
		c.send(1, wire.MethodStream, sub("pager/tick", "cursor", at, "maxAgeMs", x.age))
		if n := c.until(wire.NoteActive); n.Params.Truncated != x.want {
			t.Errorf("push, %d ms: %+v", x.age, n.Params)
		}
		if n := c.until(wire.NoteEvent); n.Params.Data.N != 3-x.n {
			t.Errorf("push, %d ms: event %d", x.age, n.Params.Data.N)
		}
		if a := r.call(wire.MethodPoll, sub("pager/tick", "maxAgeMs", x.age)); a["truncated"] != false {
			t.Errorf("without a cursor: %v", a)
		}
	}
}

// Over a restart of the server nothing is lost or sent twice: the client continues at the cursor of
// the last event.
func TestStreamsContinueOverRestarts(t *testing.T) {
	r := newRig(t, nil)
	r.fill(1, 5000)
	at := r.serve("").oldest()
	var got []int
	for restarts := 0; len(got) < 5000; restarts++ {
		c := r.connect()
		c.send(1, wire.MethodStream, sub("pager/tick", "cursor", at))
		for stop := len(got) + 1700; len(got) < min(stop, 5000); {
			n := c.until(wire.NoteEvent)
			got, at = append(got, n.Params.Data.N), n.Params.Cursor
		}
		if restarts%2 == 0 {
			address := r.address()
			r.stop()
			r.serve(address)
		} else {
			c.conn.Close()
		}
	}
	inOrder(t, got, 1, 5000)
}

// A client that does not read costs one position and one buffer, however much is stored.
func TestSlowReadersNeedLittleMemory(t *testing.T) {
	r := newRig(t, nil)
	r.fill(1, 20_000)
	at := r.serve("").oldest()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	before := heap()
	const readers = 20
	for range readers {
		res := r.post(ctx, 1, wire.MethodStream, sub("pager/tick", "cursor", at), nil)
		defer res.Body.Close() // nobody reads
	}
	r.fill(20_001, 20_000)
	got := numbers(r.call(wire.MethodPoll, sub("pager/tick", "cursor", at))["events"])
	inOrder(t, got, 1, 1000) // others are served meanwhile
	if grown := heap() - before; grown > readers*4<<20 {
		t.Errorf("%d readers that do not read hold %d MiB", readers, grown>>20)
	}
	cancel()
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestStreamsAreBounded(t *testing.T) {
	r := newRig(t, func(o *mcpserver.Options) { o.MaxStreams = 2 })
	r.serve("")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for i := range 2 {
		res := r.post(ctx, i, wire.MethodStream, sub("eventdeck.event"), nil)
		defer res.Body.Close()
	}
	if _, a := r.ask(wire.MethodStream, sub("eventdeck.event")); a.Error == nil || a.Error.Code != -32025 || a.Error.Data["limit"] != "streams" || a.Error.Data["max"] != 2.0 {
		t.Errorf("a third stream: %+v", a.Error)
	}
}

// Clients that listen are notified of a new type, which can then be subscribed to.
func TestNewTypesAreReported(t *testing.T) {
	r := newRig(t, nil)
	c := r.serve("").connect()
	c.send(5, "subscriptions/listen", map[string]any{"notifications": map[string]any{"eventsListChanged": true}})
	if n := c.until("notifications/subscriptions/acknowledged"); n.Params.Meta["io.modelcontextprotocol/subscriptionId"] != 5.0 {
		t.Errorf("acknowledged %+v", n)
	}
	done := make(chan error, 1)
	err := r.store.Submit(t.Context(), event.Batch{Sub: "subnew", Update: func(s *event.Subscription) {
		s.Key = event.Key{Server: "new", Type: trust.Untrusted("thing"), Args: []byte("{}")}
		s.ID, s.Mode = "subnew", event.ModePush
	}, Done: func(_ event.Outcome, err error) { done <- err }})
	if err == nil {
		err = <-done
	}
	if err != nil {
		t.Fatal(err)
	}
	r.put(newEvent("new", "thing", "t1", `{"n":1}`))
	c.until(wire.NoteListChanged)
	if a := r.call(wire.MethodPoll, sub("new/thing", "cursor", r.oldest())); len(a["events"].([]any)) != 1 {
		t.Errorf("poll: %v", a)
	}
}

// Over HTTP a server on loopback answers only to names of loopback, and with a token only to its
// bearers.
func TestCallersOverHTTP(t *testing.T) {
	r := newRig(t, func(o *mcpserver.Options) { o.Token = event.NewSecret("letmein") }).serve("")
	bearer := func(q *http.Request) { q.Header.Set("Authorization", "Bearer letmein") }
	for what, x := range map[string]struct {
		change func(*http.Request)
		status int
	}{
		"no token":       {nil, 401},
		"wrong token":    {func(q *http.Request) { q.Header.Set("Authorization", "Bearer x") }, 401},
		"token":          {bearer, 200},
		"foreign host":   {func(q *http.Request) { bearer(q); q.Host = "evil.test" }, 403},
		"foreign origin": {func(q *http.Request) { bearer(q); q.Header.Set("Origin", "https://evil.test") }, 403},
		"other method":   {func(q *http.Request) { bearer(q); q.Header.Set("Mcp-Method", "tools/list") }, 400},
		"old version":    {func(q *http.Request) { bearer(q); q.Header.Set("Mcp-Protocol-Version", "2030-01-01") }, 400},
		"GET":            {func(q *http.Request) { bearer(q); q.Method = http.MethodGet }, 405},
	} {
		res := r.post(t.Context(), 1, "ping", nil, x.change)
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != x.status {
			t.Errorf("%s: %d %s", what, res.StatusCode, body)
		}
		if strings.Contains(string(body), "letmein") {
			t.Errorf("%s: the token went out", what)
		}
	}
}
