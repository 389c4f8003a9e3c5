package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"testing"

	"eventdeck/host/eventserver"
	"eventdeck/host/wire"
)

// talk is a client of a chat that runs for one test.
type talk struct {
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Scanner
	done chan error
}

func startChat(t *testing.T, opts ChatOptions) *talk {
	t.Helper()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	c := &talk{t: t, in: inWrite, out: bufio.NewScanner(outRead), done: make(chan error, 1)}
	c.out.Buffer(nil, 1<<20)
	go func() {
		err := RunChat(context.Background(), opts, inRead, outWrite, io.Discard)
		outWrite.Close()
		c.done <- err
	}()
	t.Cleanup(func() {
		inWrite.Close()
		for c.out.Scan() {
		}
		if err := <-c.done; err != nil {
			t.Error(err)
		}
	})
	return c
}

func (c *talk) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *talk) request(id int, method, params string) {
	c.t.Helper()
	raw, err := json.Marshal(id)
	if err != nil {
		c.t.Fatal(err)
	}
	c.send(`{"jsonrpc":"2.0","id":` + string(raw) + `,"method":"` + method + `","params":` + params + `}`)
}

// until returns the next message for which want is true.
func (c *talk) until(want func(wire.Message) bool) (wire.Message, map[string]any) {
	c.t.Helper()
	for c.out.Scan() {
		m, err := wire.DecodeMessages(c.out.Bytes())
		if err != nil {
			c.t.Fatalf("%v: %s", err, c.out.Bytes())
		}
		if !want(m[0]) {
			continue
		}
		body := m[0].Params
		if body == nil {
			body = m[0].Result
		}
		var members map[string]any
		if body != nil {
			if err := json.Unmarshal(body, &members); err != nil {
				c.t.Fatal(err)
			}
		}
		return m[0], members
	}
	c.t.Fatal("the output ended")
	return wire.Message{}, nil
}

func answerTo(id wire.ID) func(wire.Message) bool {
	return func(m wire.Message) bool { return m.IsResponse() && m.ID == id }
}

func noteOf(method string) func(wire.Message) bool {
	return func(m wire.Message) bool { return m.Method == method }
}

func TestChatHandshake(t *testing.T) {
	c := startChat(t, ChatOptions{})
	for _, version := range append([]string{"2030-01-01"}, eventserver.Handshakes()...) {
		c.request(1, "initialize", `{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
		_, r := c.until(answerTo("1"))
		want := version
		if version == "2030-01-01" {
			want = eventserver.Handshakes()[0]
		}
		if r["protocolVersion"] != want {
			t.Errorf("asked for %s, got %v", version, r["protocolVersion"])
		}
		if _, ok := r["capabilities"].(map[string]any)["events"]; !ok {
			t.Errorf("capabilities: %v", r["capabilities"])
		}
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	c.request(2, "server/discover", `{}`)
	if m, _ := c.until(answerTo("2")); m.Error == nil || m.Error.Name() != wire.MethodNotFound {
		t.Errorf("discover: %+v", m)
	}
	c.send("no json")
	if m, _ := c.until(func(m wire.Message) bool { return m.Error != nil }); m.Error.Name() != wire.InvalidRequest {
		t.Errorf("garbage: %v", m.Error)
	}
	c.request(3, wire.MethodSubscribe, `{"name":"message.posted"}`)
	if m, _ := c.until(answerTo("3")); m.Error == nil || m.Error.Code != wire.ProfileSketch.Code(wire.Unsupported) {
		t.Errorf("subscribe: %v", m.Error)
	}
}

func TestChatStreamsAndCancels(t *testing.T) {
	c := startChat(t, ChatOptions{Speed: 50})
	c.request(5, wire.MethodStream, `{"name":"message.posted","arguments":{},"cursor":null}`)
	_, active := c.until(noteOf(wire.NoteActive))
	if active["requestId"] != 5.0 || active["_meta"].(map[string]any)[wire.MetaSubscription] != 5.0 {
		t.Errorf("active: %v", active)
	}
	_, first := c.until(noteOf(wire.NoteEvent))
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`)
	c.request(6, wire.MethodStream, `{"name":"message.posted","arguments":{},"cursor":"`+active["cursor"].(string)+`"}`)
	_, again := c.until(func(m wire.Message) bool {
		return m.Method == wire.NoteEvent && wire.Note{Params: m.Params}.Route() == "6"
	})
	if again["eventId"] != first["eventId"] {
		t.Errorf("replay began with %v, not %v", again["eventId"], first["eventId"])
	}
	c.request(7, wire.MethodStream, `{"name":"presence.changed","arguments":{},"cursor":null}`)
	_, presence := c.until(func(m wire.Message) bool {
		return m.Method == wire.NoteEvent && wire.Note{Params: m.Params}.Route() == "7"
	})
	if cursor, ok := presence["cursor"]; !ok || cursor != nil {
		t.Errorf("presence has the cursor %v", cursor)
	}
}

func TestChatLongPoll(t *testing.T) {
	c := startChat(t, ChatOptions{Speed: 5})
	c.request(1, wire.MethodPoll, `{"name":"message.posted","arguments":{},"cursor":null,"timeoutMs":20000}`)
	_, r := c.until(answerTo("1"))
	if len(r["events"].([]any)) != 0 {
		t.Errorf("first poll: %v", r)
	}
	c.request(2, wire.MethodPoll, `{"name":"message.posted","arguments":{},"cursor":"`+r["cursor"].(string)+`","timeoutMs":20000}`)
	_, r = c.until(answerTo("2"))
	if len(r["events"].([]any)) == 0 {
		t.Errorf("long poll: %v", r)
	}
}

func TestChatEndsWithItsContext(t *testing.T) {
	inRead, inWrite := io.Pipe()
	defer inWrite.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- RunChat(ctx, ChatOptions{}, inRead, io.Discard, io.Discard) }()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
