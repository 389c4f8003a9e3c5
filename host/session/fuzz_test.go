package session

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"eventdeck/host/wire"
)

// FuzzRouter: whatever comes on a shared connection, in whatever pieces, reaches
// only the exchange that it belongs to, and never blocks the reader.
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

// FuzzEndpoint: nothing that an event stream begins with makes the host post
// its headers to another origin.
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
		if l.endpoint(newSSEReader(strings.NewReader("event: endpoint\ndata: "+data+"\n\n"), 10_000), base) != nil {
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

// FuzzLastEventID: what would be sent back can stand in a header.
func FuzzLastEventID(f *testing.F) {
	for _, seed := range []string{"id: 1\ndata: x\n\n", "id: a\x00b\n\n", "id\ndata\n\n", "id: é\r\r", "id: 1\nid: 2\n\nid: 3"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r := newSSEReader(bytes.NewReader(in), 1000)
		for {
			_, err := r.next()
			if strings.ContainsAny(r.id, "\x00\r\n") || len(r.id) > maxEventID {
				t.Fatalf("id %q", r.id)
			}
			if err != nil {
				return
			}
		}
	})
}

func TestEventIDs(t *testing.T) {
	for in, want := range map[string]string{
		"id: 1\ndata: a\n\n":                                "1",
		"id: 1\ndata:\n\n":                                  "1", // an event without data counts
		"id: 1\ndata: a\n\nid: 2\ndata: b":                  "1", // one that was cut off does not
		"id: 1\ndata: a\n\ndata: b\n\n":                     "1",
		"id: 1\ndata: a\n\nid\ndata: b\n\n":                 "",
		"id: a\x00b\ndata: a\n\n":                           "",
		"id: " + strings.Repeat("x", maxEventID-1) + "\n\n": strings.Repeat("x", maxEventID-1),
		"id: " + strings.Repeat("x", maxEventID) + "\n\n":   strings.Repeat("x", maxEventID),
		"id: " + strings.Repeat("x", maxEventID+1) + "\n\n": "",
	} {
		r := newSSEReader(strings.NewReader(in), 10_000)
		var err error
		for err == nil {
			_, err = r.next()
		}
		if r.id != want || err != io.EOF {
			t.Errorf("%.40q: id %q, %v; want %q", in, r.id, err, want)
		}
	}
}
