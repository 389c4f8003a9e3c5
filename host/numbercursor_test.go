package host_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/export"
	"eventdeck/host/mcptest"
)

// numeric is a server whose cursors are numbers.
type numeric struct {
	mu     sync.Mutex
	asked  []string // the cursors of requests, as they came
	hook   string
	secret event.Secret
}

// ServeHTTP implements [http.Handler].
func (n *numeric) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m, ok := mcptest.Read(w, r)
	if !ok {
		return
	}
	first := false
	switch m.Method {
	case "events/poll", "events/stream", "events/subscribe":
		n.mu.Lock()
		first = len(n.asked) == 0
		n.asked = append(n.asked, string(m.Params.Cursor))
		n.hook, n.secret = m.Params.Delivery.URL, event.NewSecret(m.Params.Delivery.Secret)
		n.mu.Unlock()
	}
	result := mcptest.NoMethod
	switch m.Method {
	case "server/discover":
		result = mcptest.Discovered("numbers")
	case "events/list":
		result = `"result":{"events":[{"name":"load.tick","delivery":["poll","push","webhook"]}]}`
	case "events/poll":
		result = `"result":{"events":[],"cursor":17,"nextPollMs":1000}`
		if first { // the position stands with the event alone
			result = `"result":{"events":[` + numbered + `],"nextPollMs":1000}`
		}
	case "events/stream":
		n.stream(w, r, m.ID, first)
		return
	case "events/subscribe":
		result = `"result":{"id":"remote","refreshBefore":null,"cursor":16}`
	case "events/unsubscribe":
		result = `"result":{}`
	}
	m.Answer(w, result)
}

const numbered = `{"eventId":"evt_1","name":"load.tick","timestamp":"2026-02-19T16:00:00Z","cursor":17,"data":{"n":1}}`

func (n *numeric) stream(w http.ResponseWriter, r *http.Request, id json.RawMessage, first bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	meta := fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/subscriptionId":%s}`, id)
	note := func(method, params string) {
		fmt.Fprintf(w, `data: {"jsonrpc":"2.0","method":"notifications/events/%s","params":%s}`+"\n\n", method, params)
		w.(http.Flusher).Flush()
	}
	note("active", `{`+meta+`}`)
	if first {
		note("event", strings.TrimSuffix(numbered, "}")+","+meta+"}")
	}
	<-r.Context().Done()
}

// A cursor that came as a number goes back as one, whatever the mode, over a restart,
// and out of what was exported.
func TestNumericCursorIsSentAsANumber(t *testing.T) {
	for _, mode := range []event.Mode{event.ModePoll, event.ModePush, event.ModeWebhook} {
		t.Run(string(mode), func(t *testing.T) {
			r := &rig{t: t, dir: t.TempDir()}
			s := new(numeric)
			web := httptest.NewServer(s)
			t.Cleanup(func() {
				web.CloseClientConnections()
				web.Close()
			})
			r.url = web.URL + "/mcp"
			r.open()
			r.subscribe(mode, host.From{})
			if mode == event.ModeWebhook {
				sender := &hookServer{t: t, rig: r}
				if got := sender.deliverTo(s.hook, s.secret, "evt_1", numbered, nil); got != http.StatusNoContent {
					t.Fatalf("the delivery is answered with %d", got)
				}
			}
			held := r.await("the position", func(s host.Snapshot) bool { return s.Subs[0].Cursor.Text.Raw() == "17" }).Subs[0]
			wantRecordKeepsNumber(t, r)
			r.close()
			s.mu.Lock()
			before := len(s.asked)
			s.mu.Unlock()

			r.open()
			if got := r.host.Snapshot().Subs[0].Cursor; got != held.Cursor {
				t.Errorf("after a restart the position is %+v, before %+v", got, held.Cursor)
			}
			r.eventually("going on", func() bool {
				s.mu.Lock()
				defer s.mu.Unlock()
				return len(s.asked) > before
			})
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.asked[before] != "17" {
				t.Errorf("goes on at %s, want 17", s.asked[before])
			}
		})
	}
}

// wantRecordKeepsNumber demands that the cursor of the event that is stored passes
// export, import and the encoding between processes.
func wantRecordKeepsNumber(t *testing.T, r *rig) {
	t.Helper()
	var stored event.Record
	err := r.store.Forward(1, func(rec event.Record) bool {
		stored = rec
		return rec.Kind != event.KindEvent
	})
	if err != nil {
		t.Fatal(err)
	}
	line := export.AppendLine(nil, &stored, true)
	if !bytes.Contains(line, []byte(`"cursor":17,`)) {
		t.Errorf("the line is %s", line)
	}
	err = export.Read(bytes.NewReader(line), func(rec *event.Record) error {
		if rec.Cursor != stored.Cursor {
			t.Errorf("read back: %+v, want %+v", rec.Cursor, stored.Cursor)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	var sent bytes.Buffer
	var came event.Record
	if err := gob.NewEncoder(&sent).Encode(stored); err != nil {
		t.Fatal(err)
	}
	if err := gob.NewDecoder(&sent).Decode(&came); err != nil || came.Cursor != stored.Cursor {
		t.Errorf("in another process: %+v, want %+v, %v", came.Cursor, stored.Cursor, err)
	}
}
