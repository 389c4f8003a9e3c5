package dialect

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"eventdeck/host/event"
	"eventdeck/host/session"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// socketServer speaks over a WebSocket: the first connection makes a resumable stream and
// breaks off, the second resumes it.
func socketServer(t *testing.T) string {
	t.Helper()
	first := ""
	var wg sync.WaitGroup
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wg.Add(1)
		defer wg.Done()
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"mcp"}})
		if err != nil {
			return
		}
		defer conn.CloseNow()
		ctx := context.Background()
		say := func(text string) { _ = conn.Write(ctx, websocket.MessageText, []byte(text)) }
		for {
			_, raw, err := conn.Read(ctx)
			if err != nil {
				return
			}
			var m struct {
				ID     json.RawMessage
				Method string
			}
			if err := json.Unmarshal(raw, &m); err != nil {
				t.Error(err)
			}
			switch m.Method {
			case "initialize":
				say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"protocolVersion":"2025-06-18","capabilities":` + sketchCapabilities + `}}`)
			case wire.MethodStream:
				first = string(m.ID)
				say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/stream/create","params":{"requestId":%s,"streamId":"st","resumeToken":"tok"}}`, first))
				say(streamEvent("e1", m.ID))
				return
			case wire.MethodResume:
				say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"status":"active"}}`)
				say(streamEvent("e2", json.RawMessage(first)))
				say(streamEvent("e3", json.RawMessage(first)))
				say(`{"jsonrpc":"2.0","method":"notifications/stream/end","params":{"streamId":"st"}}`)
			default:
				if m.ID != nil {
					say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,` + notFound + `}`)
				}
			}
		}
	}))
	t.Cleanup(func() {
		srv.Close()
		wg.Wait()
	})
	return "ws" + strings.TrimPrefix(srv.URL, "http")
}

func TestAStreamGoesOnOverAnotherConnection(t *testing.T) {
	address := socketServer(t)
	connect := func() Dialect {
		var d Dialect
		var mu sync.Mutex
		s, err := session.Dial(t.Context(), event.Server{Name: "s", URL: address}, session.Options{OnNote: func(n wire.Note) {
			mu.Lock()
			to := d
			mu.Unlock()
			if to != nil {
				to.Note(n)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		mu.Lock()
		defer mu.Unlock()
		d = For(s, Options{})
		return d
	}
	r := newRecorder(t)
	stream, err := connect().Stream(background(t), wire.StreamRequest{Name: trust.Untrusted("t")}, r.sink)
	if err != nil {
		t.Fatal(err)
	}
	token := r.next(wire.NoteResumable).Resume
	if got := eventID(t, r.next(wire.NoteEvent)); got != "e1" {
		t.Errorf("event %s", got)
	}
	mustBe(t, done(t, stream), session.ErrLost)

	stream, err = connect().Stream(background(t), wire.StreamRequest{Name: trust.Untrusted("t"), Resume: token.Text()}, r.sink)
	if err != nil {
		t.Fatal(err)
	}
	r.next(wire.NoteResumed)
	for _, want := range []string{"e2", "e3"} {
		if got := eventID(t, r.next(wire.NoteEvent)); got != want {
			t.Errorf("event %s, want %s", got, want)
		}
	}
	if err := done(t, stream); err != nil {
		t.Errorf("the end of the stream is %v", err)
	}
}
