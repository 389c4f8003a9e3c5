package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"eventdeck/host/wire"
)

// listener is a client of digest.
type listener struct {
	t    *testing.T
	conn *websocket.Conn
	next int
	held []map[string]json.RawMessage // frames that no call has returned yet
}

func dialDigest(t *testing.T, address string) *listener {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, "ws://"+address+DigestPath, &websocket.DialOptions{Subprotocols: []string{"mcp"}})
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	t.Cleanup(func() { conn.CloseNow() })
	return &listener{t: t, conn: conn}
}

func newListener(t *testing.T, o ServerOptions) (*listener, string) {
	t.Helper()
	d, err := NewDigest(o)
	if err != nil {
		t.Fatal(err)
	}
	address := serving(t, d.Serve)
	return dialDigest(t, address), address
}

// frame returns the next frame that matches, and keeps the others.
func (l *listener) frame(what string, match func(map[string]json.RawMessage) bool) map[string]json.RawMessage {
	l.t.Helper()
	for i, m := range l.held {
		if match(m) {
			l.held = append(l.held[:i:i], l.held[i+1:]...)
			return m
		}
	}
	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	defer cancel()
	for {
		_, raw, err := l.conn.Read(ctx)
		if err != nil {
			l.t.Fatalf("%s did not come: %v", what, err)
		}
		var m map[string]json.RawMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			l.t.Fatal(err)
		}
		if match(m) {
			return m
		}
		l.held = append(l.held, m)
	}
}

func (l *listener) note(method string) map[string]json.RawMessage {
	l.t.Helper()
	m := l.frame(method, func(m map[string]json.RawMessage) bool { return string(m["method"]) == `"`+method+`"` })
	var params map[string]json.RawMessage
	if err := json.Unmarshal(m["params"], &params); err != nil {
		l.t.Fatal(err)
	}
	return params
}

// tool calls a tool and returns its structured content, or the text of its failure.
func (l *listener) tool(name, arguments string) (content map[string]json.RawMessage, failed string) {
	l.t.Helper()
	l.next++
	id := fmt.Sprint(l.next)
	text := `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `}}`
	if err := l.conn.Write(l.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		l.t.Fatal(err)
	}
	m := l.frame("the answer", func(m map[string]json.RawMessage) bool { return string(m["id"]) == id })
	var result struct {
		IsError bool
		Content []struct{ Text string }
		Struct  map[string]json.RawMessage `json:"structuredContent"`
	}
	if err := json.Unmarshal(m["result"], &result); err != nil {
		l.t.Fatalf("%v: %s", err, m["error"])
	}
	if result.IsError {
		return nil, result.Content[0].Text
	}
	return result.Struct, ""
}

func (l *listener) subscribe(arguments string) string {
	l.t.Helper()
	content, failed := l.tool(wire.ToolSubscribe, arguments)
	if failed != "" {
		l.t.Fatal(failed)
	}
	return string(content["subscriptionId"])
}

func TestDigestFilters(t *testing.T) {
	l, _ := newListener(t, ServerOptions{Speed: 50})
	l.subscribe(`{"filter":{"eventTypes":["incident.*"],"priority":["critical","high"]},"delivery":{"channels":["realtime"]}}`)
	for range 10 {
		var p struct {
			Type     string
			Metadata struct{ Priority string }
		}
		if err := json.Unmarshal(l.note("events/event")["event"], &p); err != nil || !strings.HasPrefix(p.Type, "incident.") || p.Metadata.Priority != "critical" && p.Metadata.Priority != "high" {
			t.Errorf("%+v, %v", p, err)
		}
	}
}

func TestDigestRefusesBadArguments(t *testing.T) {
	l, _ := newListener(t, ServerOptions{})
	for arguments, want := range map[string]string{
		`{}`:                                 "delivery is missing",
		`{"delivery":{"channels":[]}}`:       "must name a channel",
		`{"delivery":{"channels":["x"]}}`:    "no such channel",
		`{"delivery":{"channels":["cron"]}}`: "cronSchedule",
		`{"delivery":{"channels":["cron"],"cronSchedule":{"expression":"x"}}}`:                             "five",
		`{"delivery":{"channels":["cron"],"cronSchedule":{"expression":"@daily","timezone":"Mars"}}}`:      "IANA",
		`{"delivery":{"channels":["scheduled"]}}`:                                                          "scheduledDelivery",
		`{"delivery":{"channels":["scheduled"],"scheduledDelivery":{"deliverAt":"2020-01-01T00:00:00Z"}}}`: "is over",
		`{"delivery":{"channels":["scheduled"],"scheduledDelivery":{"deliverAt":"soon"}}}`:                 "no time",
		`{"delivery":{"channels":["realtime"]},"handler":{"type":"bash"}}`:                                 "no handlers",
		`{"delivery":{"channels":["realtime"]},"expiresAt":"2020-01-01T00:00:00Z"}`:                        "to come",
	} {
		if _, failed := l.tool(wire.ToolSubscribe, arguments); !strings.Contains(failed, want) {
			t.Errorf("%s: %q, want %q", arguments, failed, want)
		}
	}
	if _, failed := l.tool(wire.ToolPause, `{"subscriptionId":"x"}`); failed == "" {
		t.Error("a subscription that is not there can be paused")
	}
}

// digestFrames is a connection to a digest without a network: the clock of a synctest bubble stands
// still while a call is on its way, so that no time named in it is over when it arrives.
type digestFrames struct {
	*connection
	t      *testing.T
	digest *Digest
	frames chan []byte
	close  func() // ends the connection
}

func connectDigest(t *testing.T, d *Digest) *digestFrames {
	ctx, cancel := context.WithCancel(t.Context())
	frames := make(chan []byte, 100)
	c := &connection{duplex: duplex{ctx: ctx, log: d.opts.Log, send: func(frame []byte) error {
		frames <- frame
		return nil
	}}}
	return &digestFrames{connection: c, t: t, digest: d, frames: frames, close: func() {
		cancel()
		d.unbind(c)
		c.workers.Wait()
	}}
}

func (c *digestFrames) subscribe(w toolArgs) any {
	c.t.Helper()
	content, err := c.digest.subscribe(c.connection, w)
	if err != nil {
		c.t.Fatal(err)
	}
	return content.(map[string]any)["subscriptionId"]
}

// next checks the next frame and returns the types of the events in it.
func (c *digestFrames) next(method string, id any) (types []string) {
	c.t.Helper()
	var note struct {
		Method string
		Params struct {
			SubscriptionID string
			Events         []struct{ Type string }
		}
	}
	if err := json.Unmarshal(<-c.frames, &note); err != nil || note.Method != method || note.Params.SubscriptionID != id {
		c.t.Fatalf("%+v, %v; want %s of %v", note, err, method, id)
	}
	for _, e := range note.Params.Events {
		types = append(types, e.Type)
	}
	return types
}

// scheduledIn asks for one delivery after a time.
func scheduledIn(after time.Duration, autoExpire bool) *wire.MCPEDelivery {
	at := time.Now().Add(after).UTC().Format(time.RFC3339)
	return &wire.MCPEDelivery{Channels: []string{"scheduled"}, Scheduled: &wire.MCPEScheduled{DeliverAt: at, AutoExpire: &autoExpire}}
}

func newBubbleDigest(t *testing.T) *Digest {
	d, err := NewDigest(ServerOptions{Speed: 10})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDigestKeepsItsTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newBubbleDigest(t)
		c := connectDigest(t, d)
		defer c.close()
		began := time.Now()

		delivery := scheduledIn(2*time.Second, true)
		delivery.Scheduled.AutoExpire = nil // which means true
		id := c.subscribe(toolArgs{Filter: &wire.MCPEFilter{EventTypes: []string{"errors.*"}}, Delivery: delivery})
		if types := c.next("events/batch", id); len(types) < 2 || types[0] != "errors.sampled" || time.Since(began) != 2*time.Second {
			t.Errorf("a batch of %v after %v", types, time.Since(began))
		}
		c.next("events/subscription_expired", id)
		if listed, err := json.Marshal(d.list(c.connection, "expired")); err != nil || !strings.Contains(string(listed), `"expired"`) {
			t.Errorf("listed %s, %v", listed, err)
		}

		at := began.Add(5 * time.Second).UTC().Format(time.RFC3339)
		id = c.subscribe(toolArgs{Filter: &wire.MCPEFilter{EventTypes: []string{"none"}}, Delivery: &wire.MCPEDelivery{Channels: []string{"realtime"}}, ExpiresAt: &at})
		c.next("events/subscription_expired", id)
		if after := time.Since(began); after != 5*time.Second {
			t.Errorf("expired after %v", after)
		}
	})
}

func TestDigestMakesScheduledDeliveryOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newBubbleDigest(t)
		reconnect := func(c *digestFrames) *digestFrames {
			c.close()
			time.Sleep(time.Minute) // of the bubble: more events gather
			c = connectDigest(t, d)
			d.list(c.connection, "")
			time.Sleep(time.Minute)
			return c
		}
		c := connectDigest(t, d)
		id := c.subscribe(toolArgs{Delivery: scheduledIn(2*time.Second, false)})
		c.next("events/batch", id)
		if c = reconnect(c); len(c.frames) > 0 {
			t.Fatalf("%d frames after a reconnect", len(c.frames))
		}

		// A new time is delivered again, and late if no client was connected.
		if _, err := d.change(c.connection, wire.ToolUpdate, toolArgs{SubscriptionID: id.(string), Delivery: scheduledIn(2*time.Second, true)}); err != nil {
			t.Fatal(err)
		}
		c = reconnect(c)
		for len(c.frames) > 1 {
			c.next("events/batch", id)
		}
		c.next("events/subscription_expired", id)
		c.close()
	})
}

func TestDigestKeepsSubscriptionsOverConnections(t *testing.T) {
	l, address := newListener(t, ServerOptions{Speed: 50, Rate: 100})
	id := l.subscribe(`{"filter":{"eventTypes":["load.tick"]},"delivery":{"channels":["realtime"]}}`)
	l.note("events/event")
	if content, failed := l.tool(wire.ToolPause, `{"subscriptionId":`+id+`}`); failed != "" || string(content["status"]) != `"paused"` {
		t.Errorf("%s, %s", content["status"], failed)
	}
	l.conn.CloseNow()
	again := dialDigest(t, address)
	if content, _ := again.tool(wire.ToolList, `{}`); !strings.Contains(string(content["subscriptions"]), id) {
		t.Fatalf("listed %s", content["subscriptions"])
	}
	if content, failed := again.tool(wire.ToolResume, `{"subscriptionId":`+id+`}`); failed != "" || string(content["status"]) != `"active"` {
		t.Errorf("%s, %s", content["status"], failed)
	}
	if got := again.note("events/event"); string(got["subscriptionId"]) != id {
		t.Errorf("an event of %s", got["subscriptionId"])
	}
	if content, failed := again.tool(wire.ToolUpdate, `{"subscriptionId":`+id+`,"expiresAt":"2999-01-01T00:00:00Z"}`); failed != "" || string(content["expiresAt"]) != `"2999-01-01T00:00:00Z"` {
		t.Errorf("%s, %s", content["expiresAt"], failed)
	}
	if _, failed := again.tool(wire.ToolUnsubscribe, `{"subscriptionId":`+id+`}`); failed != "" {
		t.Error(failed)
	}
	if content, _ := again.tool(wire.ToolList, `{}`); string(content["subscriptions"]) != "[]" {
		t.Errorf("listed %s", content["subscriptions"])
	}
}

// A subscription whose end is moved, as a host does that renews it, misses no event.
func TestDigestMovesAnEndWithoutAHole(t *testing.T) {
	l, _ := newListener(t, ServerOptions{Rate: 2000})
	id := l.subscribe(`{"filter":{"eventTypes":["load.tick"]},"delivery":{"channels":["realtime"]}}`)
	var last int
	tick := func() {
		t.Helper()
		var e struct{ Data struct{ N int } }
		if err := json.Unmarshal(l.note("events/event")["event"], &e); err != nil {
			t.Fatal(err)
		}
		if last != 0 && e.Data.N != last+1 {
			t.Fatalf("after %d came %d", last, e.Data.N)
		}
		last = e.Data.N
	}
	for i := range 50 {
		tick()
		if _, failed := l.tool(wire.ToolUpdate, fmt.Sprintf(`{"subscriptionId":%s,"expiresAt":"2999-01-01T00:00:%02dZ"}`, id, i)); failed != "" {
			t.Fatal(failed)
		}
	}
	for range 100 {
		tick()
	}
}
