package host_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// unlisted passes on everything but requests for types, which it answers with the error in says.
func unlisted(next http.Handler, says *atomic.Value) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		answer, _ := says.Load().(string)
		_, rest, _ := bytes.Cut(body, []byte(`"id":`))
		id, _, _ := bytes.Cut(rest, []byte(","))
		if answer != "" && bytes.Contains(body, []byte(`"events/list"`)) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":%s}`, bytes.TrimRight(id, "}"), answer)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// A stored subscription goes on when the server cannot list its types. A new one and another mode
// need the types.
func TestSavedSubscriptionGoesOnWithoutTheTypes(t *testing.T) {
	r := &rig{t: t, dir: t.TempDir()}
	var says atomic.Value
	served := httptest.NewServer(unlisted(relay(t, r.pager("127.0.0.1:0")), &says))
	t.Cleanup(func() {
		served.CloseClientConnections()
		served.Close()
	})
	r.url = served.URL
	r.open()
	r.subscribe(event.ModePoll, host.From{})
	before := r.awaitStored(5).Subs[0]
	r.close()

	says.Store(`{"code":-32603,"message":"not now"}`)
	r.open()
	request := host.Request{Server: "pager", Type: trust.Untrusted("load.tick"), From: host.From{Saved: true}}
	sub, err := r.host.Subscribe(r.ctx(), request)
	if err != nil {
		t.Fatal(err)
	}
	if sub.ID != before.ID || sub.Mode != event.ModePoll || sub.Dialect != before.Dialect {
		t.Errorf("goes on as %+v", sub)
	}
	from := r.store.Last()
	r.await("going on", func(s host.Snapshot) bool { return s.Subs[0].LastSeq >= from+20 })
	if _, gaps := r.ids(); gaps > 0 {
		t.Errorf("%d gaps", gaps)
	}
	for name, change := range map[string]func(*host.Request){
		"from now":        func(w *host.Request) { w.From = host.From{} },
		"another mode":    func(w *host.Request) { w.Mode = event.ModePush },
		"other arguments": func(w *host.Request) { w.Args = []byte(`{"a":1}`) },
		"another type":    func(w *host.Request) { w.Type = trust.Untrusted("load.tock") },
	} {
		other := request
		change(&other)
		if _, err := r.host.Subscribe(r.ctx(), other); err == nil || !strings.Contains(err.Error(), "not now") {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.close()

	says.Store(`{"code":-32601,"message":"no such method"}`)
	r.open()
	if _, err := r.host.Subscribe(r.ctx(), request); !errors.Is(err, host.ErrNoEvents) {
		t.Errorf("a server without events: %v", err)
	}
}
