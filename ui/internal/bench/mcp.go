//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// loadType is the event type of the feeder; its argument distinguishes streams.
const loadType = "load"

// The feeder's answers to server/discover and events/list.
const (
	discovered = `{"supportedVersions":["2026-07-28"],"capabilities":{"extensions":{"` + wire.Extension + `":{}}},"serverInfo":{"name":"feeder","version":"1"},"resultType":"complete"}`
	listed     = `{"events":[{"name":"load","description":"load","delivery":["%s"],"inputSchema":{"type":"object","properties":{"stream":{"type":"integer"}}},"payloadSchema":{"type":"object"}}],"resultType":"complete"}`
)

// active returns the confirmation of the stream that a request opened.
func active(id json.RawMessage) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{"cursor":"c.0","truncated":false,%s}}`, wire.NoteActive, streamMeta(id))
}

func streamMeta(id json.RawMessage) string {
	return `"_meta":{"` + wire.MetaSubscription + `":` + string(id) + `}`
}

// feeder is an MCP server of 2026-07-28 that only sends events: its cost must be small compared
// with that of the host.
type feeder struct {
	pace
	mode    event.Mode // the only offered mode: each event is sent once, so a second mode would get some
	streams int        // the feed begins when this many are open
	clock   *clock

	address string
	server  *http.Server
	opened  atomic.Int32
	page    atomic.Int64 // events that polls have returned
}

// newFeeder starts a feeder on loopback. two: it speaks only HTTP/2.
func newFeeder(mode event.Mode, streams, rate, count int, two bool, c *clock) (*feeder, error) {
	f := &feeder{mode: mode, streams: streams, clock: c}
	f.rate, f.count = rate, count
	f.server = &http.Server{Handler: http.HandlerFunc(f.serve), ReadHeaderTimeout: time.Minute}
	f.server.Protocols = new(http.Protocols)
	f.server.Protocols.SetHTTP1(!two)
	f.server.Protocols.SetUnencryptedHTTP2(two)
	f.server.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 10_000}
	var err error
	f.address, err = listen(f.server)
	return f, err
}

// listen serves on loopback until the server is closed, and returns the address of the endpoint.
func listen(server *http.Server) (address string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() { _ = server.Serve(l) }() // ends when it is closed
	return "http://" + l.Addr().String() + "/mcp", nil
}

func (f *feeder) close() error { return f.server.Close() }

func (f *feeder) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return // the client is gone
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if json.Unmarshal(body, &m) != nil {
		http.Error(w, "no request", http.StatusBadRequest)
		return
	}
	switch m.Method {
	case "server/discover":
		f.answer(w, m.ID, discovered)
	case wire.MethodList:
		f.answer(w, m.ID, fmt.Sprintf(listed, f.mode))
	case wire.MethodPoll:
		f.poll(w, m.ID)
	case wire.MethodStream:
		f.stream(w, r, m.ID, m.Params)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, m.ID)
	}
}

func (f *feeder) answer(w http.ResponseWriter, id json.RawMessage, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

// pageEvents bounds the events in the response to a poll.
const pageEvents = 500

// poll answers with the next due events of all subscriptions.
func (f *feeder) poll(w http.ResponseWriter, id json.RawMessage) {
	if f.opened.Add(1) >= int32(f.streams) { // all have polled once
		f.start()
	}
	due := int64(f.due())
	var from, to int64
	for {
		from = f.page.Load()
		to = max(from, min(due, from+pageEvents))
		if f.page.CompareAndSwap(from, to) {
			break
		}
	}
	first, n := f.clock.emit(int(to - from))
	line := newTemplate(occurrence(""))
	now := time.Now().UTC().Format(timeLayout)
	b := fmt.Appendf(make([]byte, 0, 1024+n*eventBytes), `{"jsonrpc":"2.0","id":%s,"result":{"events":[`, id)
	for k := range n {
		if k > 0 {
			b = append(b, ',')
		}
		b = line.append(b, first+k, now)
	}
	b = fmt.Appendf(b, `],"cursor":"c.%d","hasMore":%t,"nextPollMs":5,"truncated":false,"resultType":"complete"}}`, to, to < due)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b) // the client may be gone
}

// stream sends the stream's share of the events as they become due.
func (f *feeder) stream(w http.ResponseWriter, r *http.Request, id json.RawMessage, params json.RawMessage) {
	var p struct{ Arguments struct{ Stream int } }
	if json.Unmarshal(params, &p) != nil {
		http.Error(w, "no stream", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	fmt.Fprintf(w, "data: %s\n\n", active(id))
	if control.Flush() != nil {
		return
	}
	if f.opened.Add(1) >= int32(f.streams) {
		f.start()
	}
	line := newTemplate("data: " + `{"jsonrpc":"2.0","method":"` + wire.NoteEvent + `","params":` + occurrence(","+streamMeta(id)) + "}\n\n")
	f.send(r.Context(), p.Arguments.Stream, line, func(b []byte) error {
		if _, err := w.Write(b); err != nil {
			return err
		}
		return control.Flush()
	})
}

// gather is the shortest time between two writes of one stream.
const gather = 2 * time.Millisecond

// send writes the share of stream i until a write fails or ctx ends.
func (f *feeder) send(ctx context.Context, i int, line *template, write func([]byte) error) {
	tick := time.NewTicker(gather)
	defer tick.Stop()
	sent := 0
	b := make([]byte, 0, 128<<10)
	for {
		n := min(share(f.due(), i%f.streams, f.streams)-sent, 100)
		if n > 0 {
			first, n := f.clock.emit(n)
			now := time.Now().UTC().Format(timeLayout)
			b = b[:0]
			for k := range n {
				b = line.append(b, first+k, now)
			}
			if write(b) != nil {
				return
			}
			sent += n
			if n == 100 {
				continue
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// streamArgs returns the arguments of subscription i.
func streamArgs(i int) []byte { return []byte(`{"stream":` + strconv.Itoa(i) + `}`) }
