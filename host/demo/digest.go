package demo

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"

	"eventdeck/host/event"
	"eventdeck/host/eventserver"
	"eventdeck/host/wire"
)

// DigestPath is the path of digest's endpoint.
const DigestPath = "/mcp"

const (
	maxSubscriptions = 100 // subscriptions in all
	maxConnections   = 100
	digestBatch      = 100 // events of a batch, unless the client asks for fewer
	digestBacklog    = 500 // newest events of a feed that a batch may have waiting
	socketWrite      = time.Minute
	mcpSubprotocol   = "mcp"
	kindTick         = "load.tick"
)

// Digest is the demo server of MCPE over WebSocket. Subscriptions are made by calling tools,
// outlive the connection, and deliver at once, on a cron schedule or at one time. Realtime events
// that fall due while no client is connected are lost. Make it with [NewDigest].
type Digest struct {
	origin
	opts  ServerOptions
	feeds []feed
	guard eventserver.Guard
	slots chan struct{} // one for each open connection

	mu   sync.Mutex
	subs map[string]*subscription
	made int
}

// NewDigest makes a server whose run starts now.
//
// Errors: [ErrOptions]; failure of the randomness.
func NewDigest(o ServerOptions) (*Digest, error) {
	o = o.withDefaults("127.0.0.1:8934")
	from, err := o.begin()
	if err != nil {
		return nil, err
	}
	d := &Digest{origin: from, opts: o, slots: make(chan struct{}, maxConnections), subs: map[string]*subscription{}}
	d.feeds = append(d.feeds, mixed{timeline{origin: from, kind: "digest", steps: script(o.Seed), period: period, speed: o.Speed}})
	if o.Rate > 0 {
		d.feeds = append(d.feeds, ticker{origin: from, seed: o.Seed, rate: float64(o.Rate)})
	}
	return d, nil
}

// RunDigest serves a digest on o.Listen until ctx ends, which is no error. The
// first line on o.Stderr is "listening on" and the complete endpoint URL.
//
// Errors: those of [NewDigest], of listening and of serving.
func RunDigest(ctx context.Context, o ServerOptions) error {
	d, err := NewDigest(o)
	if err != nil {
		return err
	}
	return listenAndServe(ctx, "digest", d.opts.Listen, "ws", DigestPath, d.opts.Stderr, d.Serve)
}

// Serve answers on ln, which it closes, until ctx ends, which is no error. It
// returns after every goroutine of the server has ended. It may be called once.
func (d *Digest) Serve(ctx context.Context, ln net.Listener) error {
	d.guard = d.opts.guard(ln)
	mux := http.NewServeMux()
	mux.HandleFunc(DigestPath, d.serveSocket)
	err := serveHTTP(ctx, "digest", ln, mux, d.opts.Log)
	for range cap(d.slots) { // no connection is open any more, and none can be opened
		d.slots <- struct{}{}
	}
	return err
}

// connection is one connection of a client.
type connection struct {
	duplex
	workers sync.WaitGroup
}

// serveSocket serves one connection to its end.
func (d *Digest) serveSocket(w http.ResponseWriter, r *http.Request) {
	if !d.guard.Admit(w, r) {
		return
	}
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	default:
		http.Error(w, "too many connections", http.StatusServiceUnavailable)
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{mcpSubprotocol}})
	if err != nil {
		return // Accept has answered
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	conn.SetReadLimit(eventserver.MaxRequest)
	c := &connection{}
	c.duplex = duplex{ctx: ctx, log: d.opts.Log, send: func(frame []byte) error {
		within, done := context.WithTimeout(ctx, socketWrite)
		defer done()
		err := conn.Write(within, websocket.MessageText, frame)
		if err != nil {
			cancel()
		}
		return err
	}}
	for {
		_, frame, err := conn.Read(ctx)
		if err != nil {
			break
		}
		messages, err := wire.DecodeMessages(frame)
		if err != nil {
			c.answer(nil, nil, eventserver.Refuse(wire.InvalidRequest, "one JSON-RPC message a frame expected", nil))
			continue
		}
		for _, m := range messages {
			if m.HasID && m.Method != "" {
				result, f := d.dispatch(c, m)
				c.answer(m.RawID, result, f)
			}
		}
	}
	cancel()
	d.unbind(c)
	c.workers.Wait()
	_ = conn.CloseNow() // the peer may be gone
}

func (d *Digest) dispatch(c *connection, m wire.Message) (any, *eventserver.Refusal) {
	switch m.Method {
	case "initialize":
		return greeting(m.Params, "digest", "Digest (demo)", "An incident, filtered as you like: call events_subscribe.", map[string]any{
			"tools": map[string]any{},
			"events": map[string]any{
				"maxSubscriptions": maxSubscriptions, "deliveryChannels": []string{wire.ChannelRealtime, wire.ChannelCron, wire.ChannelScheduled},
				"features": map[string]any{"pause": true, "wildcards": true, "cronSchedule": true, "scheduledDelivery": true},
			},
		}), nil
	case "ping":
		return map[string]any{}, nil
	case "tools/list":
		return map[string]any{"tools": digestTools()}, nil
	case "tools/call":
		return d.callTool(c, m.Params)
	}
	return nil, eventserver.NoMethod(m.Method)
}

func digestTools() []any {
	object := func(required ...string) map[string]any {
		return map[string]any{"type": "object", "required": append([]string{}, required...)}
	}
	var all []any
	for _, t := range []struct {
		name, about string
		input       map[string]any
	}{
		{wire.ToolSubscribe, "Subscribe to the events that pass a filter.", object("delivery")},
		{wire.ToolUnsubscribe, "End a subscription.", object("subscriptionId")},
		{wire.ToolList, "List the subscriptions.", object()},
		{wire.ToolPause, "Hold a subscription back.", object("subscriptionId")},
		{wire.ToolResume, "Go on with a subscription.", object("subscriptionId")},
		{wire.ToolUpdate, "Change a subscription.", object("subscriptionId")},
	} {
		all = append(all, map[string]any{"name": t.name, "description": t.about, "inputSchema": t.input})
	}
	return all
}

// callTool answers tools/call. A refusal of a tool is a result with isError.
func (d *Digest) callTool(c *connection, params json.RawMessage) (any, *eventserver.Refusal) {
	var p struct {
		Name      string
		Arguments json.RawMessage
	}
	if f := eventserver.Decode(params, &p); f != nil {
		return nil, f
	}
	var w toolArgs
	if len(p.Arguments) > 0 {
		if err := json.Unmarshal(p.Arguments, &w); err != nil {
			return toolResult(nil, errors.New("the arguments make no sense")), nil
		}
	}
	var answer any
	var err error
	switch p.Name {
	case wire.ToolSubscribe:
		answer, err = d.subscribe(c, w)
	case wire.ToolList:
		answer = d.list(c, w.Status)
	case wire.ToolUnsubscribe, wire.ToolPause, wire.ToolResume, wire.ToolUpdate:
		answer, err = d.change(c, p.Name, w)
	default:
		return nil, eventserver.BadParam("name", "no such tool")
	}
	return toolResult(answer, err), nil
}

// toolResult returns the result of tools/call: an answer, or why the tool failed.
func toolResult(answer any, err error) map[string]any {
	var text []byte
	if err == nil {
		text, err = json.Marshal(answer)
	}
	if err != nil {
		return map[string]any{"isError": true, "content": []any{map[string]any{"type": "text", "text": err.Error()}}}
	}
	return map[string]any{"structuredContent": answer, "content": []any{map[string]any{"type": "text", "text": string(text)}}}
}

// mixed is a timeline of all event types: the type of each event is that of its step.
type mixed struct{ timeline }

// mcpeEvent returns event n as MCPE has it.
func mcpeEvent(f feed, n uint64) map[string]any {
	h := eventAt(f, n)
	kind, priority := kindTick, "low"
	tags := []string{}
	if m, ok := f.(mixed); ok {
		_, s := m.step(n)
		kind, priority = s.kind, priorityOf(s.tags["severity"])
		for _, key := range []string{"service", "room"} {
			if tag := s.tags[key]; tag != "" {
				tags = append(tags, tag)
			}
		}
	}
	return map[string]any{
		"id": h.EventID, "type": kind, "data": h.Data,
		"metadata": map[string]any{"timestamp": h.Timestamp, "priority": priority, "tags": tags, "sourceEventId": strconv.FormatUint(n, 10)},
	}
}

func priorityOf(severity string) string {
	switch severity {
	case "critical":
		return "critical"
	case "warning":
		return "high"
	case "info":
		return "normal"
	}
	return "low"
}

// passes reports whether an event matches a filter.
func passes(f wire.MCPEFilter, item map[string]any) bool {
	kind, _ := item["type"].(string)
	meta, _ := item["metadata"].(map[string]any)
	tags, _ := meta["tags"].([]string)
	priority, _ := meta["priority"].(string)
	if len(f.EventTypes) > 0 && !slices.ContainsFunc(f.EventTypes, func(p string) bool { return event.NameMatches(p, kind) }) {
		return false
	}
	if len(f.Tags) > 0 && !slices.ContainsFunc(f.Tags, func(t string) bool { return slices.Contains(tags, t) }) {
		return false
	}
	return len(f.Priority) == 0 || slices.Contains(f.Priority, priority)
}

var errNoSubscription = errors.New("no such subscription")
