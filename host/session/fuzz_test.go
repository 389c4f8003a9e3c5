package session

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"eventdeck/host/internal/sse"
	"eventdeck/host/wire"
)

// FuzzRouter: whatever a shared connection carries reaches only the exchange that it
// belongs to, and never blocks the reader.
func FuzzRouter(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"id":"2","error":{"code":1}}`, `{"id":null,"error":{"code":1}}`,
		`{"method":"notifications/events/event","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":2}}}`,
		`{"method":"notifications/events/event","params":{"requestId":"1"}}`, `{"id":"p","method":"ping"}`, `[]`, `[1,{}]`, "{", "\x00", `{"id":{}}`,
	} {
		f.Add([]byte(seed), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, one, two []byte) {
		var r router
		r.init(Options{MaxFrame: 1000}.withDefaults(), func(wire.Note) {})
		boxes := map[wire.ID]*inbox{}
		for _, id := range []wire.ID{"1", "2"} {
			x := &exchange{ctx: context.Background(), now: time.Now, epoch: time.Now()}
			boxes[id] = newInbox(x)
			r.inboxes[id] = boxes[id]
		}
		r.take(one)
		r.take(two)
		for id, box := range boxes {
			for l, ok := box.first(); ok; l, ok = box.first() {
				n := wire.Note{Method: l.message.Method, Params: l.message.Params}
				if l.err == nil && l.message.IsResponse() && l.message.ID != id || l.err == nil && l.message.IsNotification() && n.Route() != id {
					t.Errorf("%s got %+v", id, l.message)
				}
			}
		}
	})
}

// FuzzEndpoint: no beginning of an event stream makes the host post its headers to another
// origin.
func FuzzEndpoint(f *testing.F) {
	for _, seed := range []string{"/messages?id=1", "//evil/x", "http://h/x", "https://h/x", "http://h@evil/x", "http://h:80/x", `"/x"`, "\\\\evil", "/\\evil", "http:\\\\evil", "javascript:1", " \t/x", "http://h\x00/"} {
		f.Add(seed)
	}
	base, err := url.Parse("http://h/sse")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data string) {
		l := &legacyLink{}
		if l.endpoint(sse.NewReader(strings.NewReader("event: endpoint\ndata: "+data+"\n\n"), 10_000), base) != nil {
			return
		}
		req, err := http.NewRequest(http.MethodPost, l.target, nil)
		if err != nil {
			return // such a request is never made
		}
		if req.URL.Scheme != "http" || req.URL.Host != "h" || req.URL.User != nil {
			t.Errorf("%q leads to %q", data, l.target)
		}
	})
}
