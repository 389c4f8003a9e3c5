package mcpserver_test

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/mcpserver"
	"eventdeck/host/mcptest"
	"eventdeck/host/receiver"
	"eventdeck/host/wire"
)

// callback is a receiver over TLS.
type callback struct {
	t   *testing.T
	url string
	ca  string
	got chan delivered

	mu     sync.Mutex
	entry  receiver.Entry
	answer func(delivered) int // to deliveries
	echo   bool                // of challenges
}

// delivered is a delivery that was genuine.
type delivered struct {
	id, sub, kind string
	signatures    int
	stamp         string
	status        int
	body          map[string]any
}

func (d delivered) n() int {
	data, _ := d.body["data"].(map[string]any)
	n, _ := data["n"].(float64)
	return int(n)
}

func newSecret(t *testing.T) event.Secret {
	t.Helper()
	secret, err := event.NewWebhookSecret(nil)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// hookRig is a server that may deliver to its callback.
func hookRig(t *testing.T, change func(*mcpserver.Options)) (*rig, *callback) {
	t.Helper()
	c := &callback{t: t, got: make(chan delivered, 10_000), entry: receiver.Entry{Current: newSecret(t)}, echo: true, answer: func(delivered) int { return 204 }}
	srv := httptest.NewTLSServer(c)
	t.Cleanup(srv.Close)
	c.url = srv.URL + "/hooks/1"
	c.ca = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(c.ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return newRig(t, func(o *mcpserver.Options) {
		o.CallbacksOnLoopback, o.CallbackCA = true, c.ca
		if change != nil {
			change(o)
		}
	}), c
}

// ServeHTTP implements [http.Handler].
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	h, err := receiver.ReadHeaders(r.Header)
	if err == nil {
		_, err = h.Verify(body, c.entry, time.Now())
	}
	if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
		c.t.Errorf("a delivery that a receiver refuses: %v", err)
		w.WriteHeader(401)
		return
	}
	d := delivered{id: h.ID.Raw(), sub: h.ServerID.Raw(), signatures: len(strings.Fields(r.Header.Get(receiver.HeaderSignature))), stamp: r.Header.Get(receiver.HeaderTimestamp)}
	if err := json.Unmarshal(body, &d.body); err != nil {
		c.t.Error(err)
	}
	if d.kind, _ = d.body["type"].(string); d.kind == "verification" {
		c.got <- d
		if c.echo {
			_, _ = io.WriteString(w, `{"challenge":`+strconv.Quote(d.body["challenge"].(string))+`}`)
		}
		return
	}
	d.status = c.answer(d)
	c.got <- d
	w.WriteHeader(d.status)
}

func (c *callback) set(answer func(delivered) int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = answer
}

// params are those of a subscribe.
func (c *callback) params(name string, more ...any) map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := sub(name, more...)
	p["delivery"] = map[string]any{"mode": "webhook", "url": c.url, "secret": c.entry.Current.Reveal()}
	return p
}

// next returns the next delivery that fn takes.
func (c *callback) next(fn func(delivered) bool) delivered {
	c.t.Helper()
	return mcptest.Next(c.t, c.got, fn)
}

func isEvent(d delivered) bool { return d.kind == "" }

func TestWebhooksReplayInOrder(t *testing.T) {
	r, c := hookRig(t, nil)
	r.fill(1, 300)
	at := r.serve("").oldest()
	result := r.call(wire.MethodSubscribe, c.params("pager/tick", "cursor", at))
	until, err := time.Parse(time.RFC3339Nano, result["refreshBefore"].(string))
	if err != nil || time.Until(until) > 10*time.Minute || time.Until(until) < 9*time.Minute {
		t.Errorf("refreshBefore %v", result["refreshBefore"])
	}
	if d := <-c.got; d.kind != "verification" || d.sub != result["id"] || !strings.HasPrefix(d.id, "msg_verification_") {
		t.Errorf("first came %+v", d)
	}
	var got []int
	for len(got) < 302 {
		if len(got) == 300 {
			r.fill(301, 2)
		}
		d := c.next(isEvent)
		if d.sub != result["id"] || d.id != d.body["eventId"] || !strings.HasSuffix(d.body["cursor"].(string), "."+strconv.Itoa(d.n())) {
			t.Fatalf("delivery %+v", d)
		}
		got = append(got, d.n())
	}
	inOrder(t, got, 1, 302)
	again := r.call(wire.MethodSubscribe, c.params("pager/tick"))
	if again["id"] != result["id"] || again["deliveryStatus"].(map[string]any)["active"] != true || again["deliveryStatus"].(map[string]any)["lastDeliveryAt"] == nil {
		t.Errorf("refresh: %v", again)
	}
	unsubscribe := sub("pager/tick", "delivery", map[string]any{"url": c.url})
	r.call(wire.MethodUnsubscribe, unsubscribe)
	if _, a := r.ask(wire.MethodUnsubscribe, unsubscribe); a.Error == nil || a.Error.Code != -32023 || a.Error.Data["kind"] != "subscription" {
		t.Errorf("unsubscribed twice: %+v", a.Error)
	}
}

// What is not taken comes again, signed anew; what is refused for good does not, and is
// told as a gap.
func TestWebhooksRetry(t *testing.T) {
	r, c := hookRig(t, func(o *mcpserver.Options) { o.Backoff = []time.Duration{1100 * time.Millisecond} })
	r.fill(1, 3)
	at := r.serve("").oldest()
	tries := 0
	c.set(func(d delivered) int {
		switch {
		case d.n() == 1 && tries == 0:
			tries++
			return 503
		case d.n() == 2:
			return 410
		}
		return 204
	})
	r.call(wire.MethodSubscribe, c.params("pager/tick", "cursor", at))
	first, second := c.next(isEvent), c.next(isEvent)
	if first.status != 503 || second.id != first.id || second.stamp == first.stamp {
		t.Errorf("first %+v, then %+v", first, second)
	}
	if d := c.next(isEvent); d.n() != 2 || d.status != 410 {
		t.Errorf("then %+v", d)
	}
	if gap := <-c.got; gap.kind != "gap" || !strings.HasPrefix(gap.id, "msg_gap_") || !strings.HasSuffix(gap.body["cursor"].(string), ".2") {
		t.Errorf("then %+v", gap)
	}
	if d := <-c.got; d.n() != 3 {
		t.Errorf("then %+v", d)
	}
}

// With a new secret both sign for a while.
func TestWebhookRotationSignsTwice(t *testing.T) {
	r, c := hookRig(t, nil)
	r.serve("")
	r.fill(1, 1)
	r.call(wire.MethodSubscribe, c.params("eventdeck.event", "cursor", r.oldest()))
	if d := c.next(isEvent); d.signatures != 1 {
		t.Errorf("%d signatures", d.signatures)
	}
	c.mu.Lock()
	c.entry.Current = newSecret(t)
	c.mu.Unlock()
	r.call(wire.MethodSubscribe, c.params("eventdeck.event"))
	r.fill(2, 1)
	if d := c.next(isEvent); d.signatures != 2 {
		t.Errorf("%d signatures", d.signatures)
	}
}

func TestWebhookRefusals(t *testing.T) {
	r, c := hookRig(t, nil)
	r.serve("")
	good := c.params("eventdeck.event")["delivery"].(map[string]any)
	for what, change := range map[string][2]string{
		"http": {"url", "http://example.com/h"}, "user": {"url", "https://u@example.com/h"}, "no secret": {"secret", ""}, "short secret": {"secret", "whsec_c2hvcnQ="}, "mode": {"mode", "push"},
	} {
		delivery := map[string]any{}
		for k, v := range good {
			delivery[k] = v
		}
		delivery[change[0]] = change[1]
		if status, a := r.ask(wire.MethodSubscribe, sub("eventdeck.event", "delivery", delivery)); status != 400 || a.Error == nil || a.Error.Code != -32602 {
			t.Errorf("%s: %d %+v", what, status, a.Error)
		}
	}
	c.mu.Lock()
	c.echo = false
	c.mu.Unlock()
	if _, a := r.ask(wire.MethodSubscribe, c.params("eventdeck.event")); a.Error == nil || a.Error.Code != -32027 || a.Error.Data["reason"] != "challenge_failed" {
		t.Errorf("a challenge without its echo: %+v", a.Error)
	}
}

// Without leave nothing is sent to this machine.
func TestCallbacksOnLoopbackNeedLeave(t *testing.T) {
	r, c := hookRig(t, func(o *mcpserver.Options) { o.CallbacksOnLoopback = false })
	r.serve("")
	if _, a := r.ask(wire.MethodSubscribe, c.params("eventdeck.event")); a.Error == nil || a.Error.Data["reason"] != "connection_refused" {
		t.Errorf("%+v", a.Error)
	}
	if len(c.got) > 0 {
		t.Error("something was delivered")
	}
}

func TestWebhooksAreBounded(t *testing.T) {
	r, c := hookRig(t, nil)
	r.serve("")
	for i := range 100 {
		r.call(wire.MethodSubscribe, c.params("eventdeck.event", "arguments", map[string]any{"server": strconv.Itoa(i)}))
	}
	if _, a := r.ask(wire.MethodSubscribe, c.params("eventdeck.event")); a.Error == nil || a.Error.Code != -32025 || a.Error.Data["max"] != 100.0 {
		t.Errorf("one more: %+v", a.Error)
	}
}

// A lease that is not renewed ends; an odd lifetime is clamped.
func TestLeasesEnd(t *testing.T) {
	r, c := hookRig(t, nil)
	r.serve("")
	for _, ttl := range []any{0, -5, 1} {
		r.call(wire.MethodSubscribe, c.params("eventdeck.event", "ttlMs", ttl))
	}
	for { // the subscription is gone a second later
		if _, a := r.ask(wire.MethodUnsubscribe, sub("eventdeck.event", "delivery", map[string]any{"url": c.url})); a.Error != nil {
			break
		}
		ended := time.Now().Add(1200 * time.Millisecond)
		r.call(wire.MethodSubscribe, c.params("eventdeck.event", "ttlMs", 1))
		<-time.After(time.Until(ended))
	}
}
