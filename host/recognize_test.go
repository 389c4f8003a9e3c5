package host_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/delivery"
	"eventdeck/host/dialect"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// sessions is a server of the handshake era that forgets its sessions when a test
// says so.
type sessions struct {
	capabilities string
	answer       func(method string) string // the result or error member, "" for HTTP 503

	mu     sync.Mutex
	opened int
	forgot int // sessions up to this one are not known any more
	asked  map[string]int
}

// forget makes the server forget the sessions that it has.
func (s *sessions) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgot = s.opened
}

func (s *sessions) count(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[method]
}

// take counts a request, opens a session for initialize, and reports whether the
// request came in one that is not known.
func (s *sessions) take(w http.ResponseWriter, r *http.Request, method string) (lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked == nil {
		s.asked = map[string]int{}
	}
	s.asked[method]++
	if method == "initialize" {
		s.opened++
		w.Header().Set("Mcp-Session-Id", fmt.Sprintf("s%d", s.opened))
	}
	var n int
	_, err := fmt.Sscanf(r.Header.Get("Mcp-Session-Id"), "s%d", &n)
	return err == nil && n <= s.forgot
}

func (s *sessions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	answer := ""
	switch lost := s.take(w, r, m.Method); {
	case lost:
		http.Error(w, "session not found", http.StatusNotFound)
		return
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
		return
	case m.Method == "server/discover":
		http.Error(w, "unknown method", http.StatusBadRequest)
		return
	case m.Method == "initialize":
		answer = `"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"forgetful"},"capabilities":` + s.capabilities + `}`
	case m.Method == "ping":
		answer = `"result":{}`
	default:
		answer = s.answer(m.Method)
	}
	if answer == "" {
		http.Error(w, "not now", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, answer)
}

func quick() delivery.Timing {
	return delivery.Timing{BackoffMin: time.Millisecond, BackoffMax: 10 * time.Millisecond}
}

// A restarted server answers 404 to the next request of an old session, and has not handled it: the
// operator does not have to repeat it.
func TestRequestIsRepeatedInANewSession(t *testing.T) {
	s := &sessions{capabilities: `{"events":{"listChanged":false}}`}
	s.answer = func(method string) string {
		switch method {
		case "events/list":
			return `"result":{"events":[{"name":"a","delivery":["webhook"]}]}`
		case "events/subscribe":
			return `"result":{"id":"x","cursor":null}`
		}
		return `"result":{}`
	}
	h := hostOn(t, s, host.Options{PlainHTTP: true, Timing: quick()})
	r := &rig{t: t, host: h}
	sub, err := h.Subscribe(r.ctx(), host.Request{Server: "strange", Type: trust.Untrusted("a"), Mode: event.ModeWebhook})
	if err != nil {
		t.Fatal(err)
	}
	s.forget()
	if err := h.Unsubscribe(r.ctx(), sub.ID); err != nil {
		t.Fatal(err)
	}
	if got := s.count("events/unsubscribe"); got != 2 {
		t.Errorf("asked %d times to unsubscribe, want once in each session", got)
	}
}

// Types that one dialect could not list are listed later; those of the other are shown.
func TestFailedDialectIsListedAgain(t *testing.T) {
	var mu sync.Mutex
	up := false
	s := &sessions{capabilities: `{"events":{"listChanged":false},"resources":{"events":true,"subscribe":true}}`}
	s.answer = func(method string) string {
		mu.Lock()
		defer mu.Unlock()
		switch method {
		case "events/list":
			if !up {
				return ""
			}
			return `"result":{"events":[{"name":"a","delivery":["poll"]}]}`
		case "resources/list":
			return `"result":{"resources":[{"uri":"event://b","name":"b"}]}`
		}
		return `"error":{"code":-32601,"message":"no"}`
	}
	h := hostOn(t, s, host.Options{Timing: quick()})
	r := &rig{t: t, host: h}
	snap := r.await("a part of the types", func(s host.Snapshot) bool { return s.Servers[0].TypesKnown })
	if v := snap.Servers[0]; len(v.Types) != 1 || !strings.Contains(v.TypesErr, "503") {
		t.Errorf("%d types, %q", len(v.Types), v.TypesErr)
	}
	_, err := h.Subscribe(r.ctx(), host.Request{Server: "strange", Type: trust.Untrusted("a")})
	if err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("a type that may be among those that are missing: %v", err)
	}
	mu.Lock()
	up = true
	mu.Unlock()
	r.await("all types", func(s host.Snapshot) bool { v := s.Servers[0]; return len(v.Types) == 2 && v.TypesErr == "" })
}

// A server of that draft is named as such and not asked again.
func TestDraftOfAprilIsNotAskedAgain(t *testing.T) {
	s := &sessions{capabilities: `{"extensions":{"events":{"subscribe":true}}}`}
	s.answer = func(string) string { return `"error":{"code":-32603,"message":"[{\"code\":\"invalid_type\"}]"}` }
	h := hostOn(t, s, host.Options{Timing: quick()})
	r := &rig{t: t, host: h}
	snap := r.await("the word for it", func(s host.Snapshot) bool { return s.Servers[0].TypesErr != "" })
	if why := snap.Servers[0].TypesErr; !strings.Contains(why, "draft of April 2026") {
		t.Errorf("told: %s", why)
	}
	for range 50 {
		if _, err := h.Types(r.ctx(), "strange"); !errors.Is(err, dialect.ErrDraft) {
			t.Fatalf("asked by the operator: %v", err)
		}
	}
	if n := s.count("events/list"); n != 0 {
		t.Errorf("the types were asked for %d times", n)
	}
}

// A server that does not say that it has events is asked for them when the operator
// asks, and by nothing else.
func TestEventsThatAreNotAdvertisedAreAskedForByTheOperator(t *testing.T) {
	s := &sessions{capabilities: `{}`}
	s.answer = func(method string) string {
		switch method {
		case "events/list":
			return `"result":{"events":[{"name":"a","delivery":["poll"]}]}`
		case "events/poll":
			return `"result":{"events":[],"cursor":"c"}`
		}
		return `"error":{"code":-32601,"message":"no"}`
	}
	h := hostOn(t, s, host.Options{Timing: quick()})
	r := &rig{t: t, host: h}
	request := host.Request{Server: "strange", Type: trust.Untrusted("a")}
	if _, err := h.Announced(r.ctx(), "strange"); !errors.Is(err, host.ErrNoEvents) {
		t.Errorf("announced: %v", err)
	}
	if _, err := h.Subscribe(r.ctx(), request); !errors.Is(err, host.ErrNoEvents) {
		t.Errorf("subscribe: %v", err)
	}
	if n := s.count("events/list") + s.count("events/poll"); n > 0 {
		t.Errorf("asked %d times without the operator", n)
	}
	if v := h.Snapshot().Servers[0]; v.Unadvertised || !strings.Contains(v.TypesErr, "does not say that it has events") {
		t.Errorf("unadvertised %t, %q", v.Unadvertised, v.TypesErr)
	}
	if types, err := h.Types(r.ctx(), "strange"); err != nil || len(types) != 1 {
		t.Fatal(types, err)
	}
	if v := h.Snapshot().Servers[0]; !v.Unadvertised {
		t.Error("nothing tells that it does not say so")
	}
	if _, err := h.Subscribe(r.ctx(), request); err != nil {
		t.Errorf("after the operator asked: %v", err)
	}
}
