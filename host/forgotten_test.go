package host_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"eventdeck/host"
	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/store"
	"eventdeck/store/seal"
)

const watched = "file:///build.log"

// watchedServer returns a server of the official SDK with sessions, and a resource to subscribe to.
func watchedServer() (*mcp.Server, http.Handler) {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ServerOptions{
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	s.AddResource(&mcp.Resource{URI: watched, Name: "log"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return nil, mcp.ResourceNotFoundError(watched)
	})
	return s, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
}

// A server that was started again knows no session. A new one is made at once, and what the operator
// asks meanwhile is asked on that one.
func TestServerThatForgotItsSessionsIsGreetedAtOnce(t *testing.T) {
	var handler atomic.Value
	start := func() *mcp.Server {
		s, h := watchedServer()
		handler.Store(h)
		t.Cleanup(func() {
			for session := range s.Sessions() {
				session.Close()
			}
		})
		return s
	}
	start()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.Load().(http.Handler).ServeHTTP(w, r) }))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	s, err := store.Open(context.Background(), store.Options{Dir: t.TempDir(), Keyring: seal.NoKeyring()})
	if err != nil {
		t.Fatal(err)
	}
	// Whatever waits for a second attempt waits for longer than the test.
	h, err := host.New(host.Options{Store: s, Timing: delivery.Timing{BackoffMin: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(h.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
	r := &rig{t: t, host: h, store: s}
	h.AddServer(event.Server{Name: "sdk", URL: web.URL})
	sub, err := h.Subscribe(r.ctx(), host.Request{Server: "sdk", Type: trust.Untrusted("resource.updated"), Args: []byte(`{"uri":"` + watched + `"}`)})
	if err != nil {
		t.Fatal(err)
	}

	again := start()
	web.CloseClientConnections()
	if err := h.Refresh(r.ctx(), sub.ID); err != nil {
		t.Errorf("refresh: %v", err)
	}
	r.await("live", func(s host.Snapshot) bool { return len(s.Subs) == 1 && s.Subs[0].Status.State == event.StateLive })
	for h.Snapshot().Subs[0].Stored == 0 { // the stream of notifications may not be open yet
		if err := again.ResourceUpdated(r.ctx(), &mcp.ResourceUpdatedNotificationParams{URI: watched}); err != nil {
			t.Fatal(err)
		}
	}
}
