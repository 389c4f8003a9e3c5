package host_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/mcptest"
	"eventdeck/host/trust"
	"eventdeck/store"
	"eventdeck/store/seal"
)

// strange is a stateless server whose answers a test sets.
type strange struct {
	lists      atomic.Int64         // how often events/list was asked
	list       func(n int64) string // the answer to the nth events/list: result or error member
	subscribes atomic.Int64
	subscribe  func(n int64) string                         // the answer to the nth events/subscribe; nil: refused
	poll       string                                       // the answer to each events/poll; "": refused
	polls      func() string                                // the same, of its own for each
	stream     string                                       // the answer to each events/stream; "": refused
	listening  func(w http.ResponseWriter, r *http.Request) // subscriptions/listen; nil: refused
}

const emptyList = `"result":{"events":[]}`

func (s *strange) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m, ok := mcptest.Read(w, r)
	if !ok {
		return
	}
	answer := `"error":{"code":-32601,"message":"no"}`
	switch m.Method {
	case "server/discover":
		answer = `"result":{"supportedVersions":["2026-07-28"],"serverInfo":{"name":"strange","version":"1"},"capabilities":{"extensions":{"io.modelcontextprotocol/events":{"listChanged":true}}}}`
	case "events/list":
		answer = s.list(s.lists.Add(1))
	case "events/subscribe":
		if s.subscribe != nil {
			answer = s.subscribe(s.subscribes.Add(1))
		}
	case "events/poll":
		if s.poll != "" {
			answer = s.poll
		}
		if s.polls != nil {
			answer = s.polls()
		}
	case "events/stream":
		if s.stream != "" {
			answer = s.stream
		}
	case "subscriptions/listen":
		if s.listening != nil {
			s.listening(w, r)
			return
		}
	}
	m.Answer(w, answer)
}

// hostOn returns a host with the server s, whose name is "strange".
func hostOn(t *testing.T, s http.Handler, o host.Options) *host.Host {
	t.Helper()
	kept, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Keyring: seal.NoKeyring()})
	if err != nil {
		t.Fatal(err)
	}
	o.Store, o.CADir = kept, t.TempDir()
	h, err := host.New(o)
	if err != nil {
		t.Fatal(err)
	}
	served := httptest.NewServer(s)
	h.AddServer(event.Server{Name: "strange", URL: served.URL})
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		served.CloseClientConnections()
		served.Close()
		if err := kept.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func TestFailedListIsRetried(t *testing.T) {
	s := &strange{list: func(n int64) string {
		if n < 3 {
			return `"error":{"code":-32603,"message":"not now"}`
		}
		return emptyList
	}}
	h := hostOn(t, s, host.Options{Timing: quick()})
	r := &rig{t: t, host: h}
	r.await("listing", func(s host.Snapshot) bool { return s.Servers[0].TypesKnown && s.Servers[0].TypesErr == "" })
}

// A frontend reads the state after each change: of a thousand servers that are away, one fails again
// every few milliseconds.
func TestFailuresInARowAreFewChanges(t *testing.T) {
	away := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "not now", http.StatusServiceUnavailable) })
	h := hostOn(t, away, host.Options{Timing: quick()})
	changed, end := h.Changed()
	defer end()
	attempt := func(n int) (version uint64) {
		for {
			if s := h.Snapshot(); s.Servers[0].Attempt >= n {
				return s.Version
			}
			<-changed
		}
	}
	if before := attempt(5); attempt(100) > before+30 {
		t.Errorf("%d changes in 95 attempts", attempt(100)-before)
	}
}

func TestEndlessListChangedIsThrottled(t *testing.T) {
	said := make(chan struct{})
	s := &strange{
		list: func(int64) string { return emptyList },
		listening: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for range 2000 {
				if _, err := io.WriteString(w, `data: {"jsonrpc":"2.0","method":"notifications/events/list_changed"}`+"\n\n"); err != nil {
					return
				}
				w.(http.Flusher).Flush()
			}
			close(said)
			<-r.Context().Done()
		},
	}
	h := hostOn(t, s, host.Options{Timing: delivery.Timing{BackoffMin: time.Hour, BackoffMax: time.Hour}})
	r := &rig{t: t, host: h}
	r.await("listing", func(s host.Snapshot) bool { return s.Servers[0].TypesKnown })
	<-said
	if _, err := h.Types(r.ctx(), "strange"); err != nil { // the session has read what was said before
		t.Fatal(err)
	}
	if n := s.lists.Load(); n > 2 {
		t.Errorf("the types were listed %d times", n)
	}
}

func TestWebhookFailsIfTheReceiverCannotListen(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	s := &strange{list: func(int64) string { return `"result":{"events":[{"name":"a","delivery":["webhook"]}]}` }}
	h := hostOn(t, s, host.Options{ListenAddr: taken.Addr().String()})
	r := &rig{t: t, host: h}
	ctx := r.ctx()
	_, err = h.Subscribe(ctx, host.Request{Server: "strange", Type: trust.Untrusted("a"), Mode: event.ModeWebhook})
	if err == nil || ctx.Err() != nil {
		t.Errorf("got %v, want what keeps the receiver from listening", err)
	}
	if n := len(h.Snapshot().Subs); n != 0 {
		t.Errorf("%d subscriptions stand", n)
	}
}

// A server that is replaced before it was reached releases the callers that wait for it.
func TestWaitForAReplacedServerEnds(t *testing.T) {
	s := &strange{list: func(int64) string { return emptyList }}
	h := hostOn(t, s, host.Options{})
	r := &rig{t: t, host: h}
	deaf, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	h.AddServer(event.Server{Name: "deaf", URL: "http://" + deaf.Addr().String()})
	done := make(chan error, 1)
	go func() {
		_, err := h.Connected(r.ctx(), "deaf", true)
		done <- err
	}()
	conn, err := deaf.Accept() // the host is waiting for its answer
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	h.AddServer(event.Server{Name: "deaf", URL: "http://" + deaf.Addr().String() + "/again"})
	if err := <-done; err == nil {
		t.Error("a server that never answered is said to be connected")
	}
}

// A path is remembered for a day after the server has ended its subscription.
func TestPathOfAnEndedSubscriptionIsForgottenAfterADay(t *testing.T) {
	var later atomic.Int64
	s := &strange{
		list: func(int64) string { return `"result":{"events":[{"name":"a","delivery":["webhook"]}]}` },
		subscribe: func(n int64) string {
			if n == 1 {
				return `"result":{"id":"s","refreshBefore":"2000-01-01T00:00:00Z"}`
			}
			return `"error":{"code":-32024,"message":"no more"}`
		},
	}
	h := hostOn(t, s, host.Options{
		PlainHTTP: true,
		Now:       func() time.Time { return time.Now().Add(time.Duration(later.Load())) },
		Timing:    delivery.Timing{LeaseFloor: time.Millisecond},
	})
	r := &rig{t: t, host: h}
	if _, err := h.Subscribe(r.ctx(), host.Request{Server: "strange", Type: trust.Untrusted("a"), Mode: event.ModeWebhook}); err != nil {
		t.Fatal(err)
	}
	snap := r.await("the end", func(s host.Snapshot) bool { return s.Subs[0].State == event.StateDenied })
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	if got := r.post(client, snap.Subs[0].Hook.URL); got != http.StatusServiceUnavailable {
		t.Errorf("at first a delivery is answered %d, want 503", got)
	}
	later.Store(int64(25 * time.Hour))
	if got := r.post(client, snap.Subs[0].Hook.URL); got != http.StatusNotFound {
		t.Errorf("after a day a delivery is answered %d, want 404", got)
	}
}

// A caller that gives up listing the types does not disturb others.
func TestCancelledListIsNoErrorForOthers(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	s := &strange{list: func(n int64) string {
		if n == 2 {
			close(asked)
			<-answer
		}
		return emptyList
	}}
	h := hostOn(t, s, host.Options{})
	r := &rig{t: t, host: h}
	r.await("listing", func(s host.Snapshot) bool { return s.Servers[0].TypesKnown })
	ctx, giveUp := context.WithCancel(r.ctx())
	done := make(chan error, 1)
	go func() {
		_, err := h.Types(ctx, "strange")
		done <- err
	}()
	<-asked
	giveUp()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(answer)
	if err := h.Snapshot().Servers[0].TypesErr; err != "" {
		t.Errorf("shown for all: %s", err)
	}
}

func TestRefusalLeavesNothingBehind(t *testing.T) {
	s := &strange{
		list:      func(int64) string { return `"result":{"events":[{"name":"a","delivery":["webhook"]}]}` },
		subscribe: func(int64) string { return `"error":{"code":-32024,"message":"no"}` },
	}
	h := hostOn(t, s, host.Options{PlainHTTP: true})
	r := &rig{t: t, host: h}
	_, err := h.Subscribe(r.ctx(), host.Request{Server: "strange", Type: trust.Untrusted("a"), Mode: event.ModeWebhook})
	if !errors.Is(err, host.ErrRefused) {
		t.Errorf("got %v, want ErrRefused", err)
	}
	if n := len(h.Snapshot().Subs); n != 0 {
		t.Errorf("%d subscriptions stand after a refusal", n)
	}
}

// Unusable entries of a list are counted, with the reasons.
func TestUnusableTypesAreReported(t *testing.T) {
	s := &strange{list: func(int64) string { return `"result":{"events":[{"name":"a","delivery":["poll"]},{"name":""},7]}` }}
	h := hostOn(t, s, host.Options{})
	r := &rig{t: t, host: h}
	snap := r.await("listing", func(s host.Snapshot) bool { return s.Servers[0].TypesKnown })
	v := snap.Servers[0]
	if len(v.Types) != 1 || v.BadTypes != 2 || len(v.BadWhy) != 2 || !strings.Contains(v.BadWhy[0], "descriptor 2: ") || !strings.Contains(v.BadWhy[0], "has no name") {
		t.Errorf("%d types, %d hidden, because %q", len(v.Types), v.BadTypes, v.BadWhy)
	}
}

// The types that were listed are shown, with a note that there are more.
func TestPartialListIsShown(t *testing.T) {
	s := &strange{list: func(n int64) string {
		return fmt.Sprintf(`"result":{"events":[{"name":"t%d","delivery":["poll"]}],"nextCursor":"%d"}`, n, n)
	}}
	h := hostOn(t, s, host.Options{})
	r := &rig{t: t, host: h}
	snap := r.await("listing", func(s host.Snapshot) bool { return s.Servers[0].TypesKnown })
	if v := snap.Servers[0]; len(v.Types) != 100 || !strings.Contains(v.TypesErr, "cut short") {
		t.Errorf("%d types, %q", len(v.Types), v.TypesErr)
	}
	if types, err := h.Types(r.ctx(), "strange"); err != nil || len(types) != 100 {
		t.Errorf("%d types, %v", len(types), err)
	}
}
