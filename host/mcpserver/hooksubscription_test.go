package mcpserver_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"eventdeck/host/mcpserver"
	"eventdeck/host/mcptest"
	"eventdeck/host/wire"
)

// callback receives the deliveries of a server.
type callback struct{ *mcptest.Callback }

// hookRig is a server that may deliver to its callback.
func hookRig(t *testing.T, change func(*mcpserver.Options)) (*rig, *callback) {
	t.Helper()
	c := &callback{mcptest.NewCallback(t)}
	return newRig(t, func(o *mcpserver.Options) {
		o.CallbacksOnLoopback, o.CallbackCA = true, c.CA
		if change != nil {
			change(o)
		}
	}), c
}

// params returns the params of a subscribe.
func (c *callback) params(name string, more ...any) map[string]any {
	return sub(name, append([]any{"delivery", c.Delivery()}, more...)...)
}

func TestWebhooksReplayInOrder(t *testing.T) {
	r, c := hookRig(t, nil)
	r.fill(1, 300)
	at := r.serve("").oldest()
	result := r.call(wire.MethodSubscribe, c.params("pager/tick", "cursor", at))
	until, err := time.Parse(time.RFC3339Nano, result["refreshBefore"].(string))
	if err != nil || time.Until(until) > 10*time.Minute || time.Until(until) < 9*time.Minute {
		t.Errorf("refreshBefore %v", result["refreshBefore"])
	}
	if d := <-c.Got; d.Kind != "verification" || d.Sub != result["id"] || !strings.HasPrefix(d.ID, "msg_verification_") {
		t.Errorf("first came %+v", d)
	}
	var got []int
	for len(got) < 302 {
		if len(got) == 300 {
			r.fill(301, 2)
		}
		d := c.Next(mcptest.IsEvent)
		if d.Sub != result["id"] || d.ID != d.Body["eventId"] || !strings.HasSuffix(d.Body["cursor"].(string), "."+strconv.Itoa(d.N())) {
			t.Fatalf("delivery %+v", d)
		}
		got = append(got, d.N())
	}
	inOrder(t, got, 1, 302)
	again := r.call(wire.MethodSubscribe, c.params("pager/tick"))
	if again["id"] != result["id"] || again["deliveryStatus"].(map[string]any)["active"] != true || again["deliveryStatus"].(map[string]any)["lastDeliveryAt"] == nil {
		t.Errorf("refresh: %v", again)
	}
	unsubscribe := sub("pager/tick", "delivery", map[string]any{"url": c.URL})
	r.call(wire.MethodUnsubscribe, unsubscribe)
	if _, a := r.ask(wire.MethodUnsubscribe, unsubscribe); a.Error == nil || a.Error.Code != -32023 || a.Error.Data["kind"] != "subscription" {
		t.Errorf("unsubscribed twice: %+v", a.Error)
	}
}

// A failed delivery is retried and signed again; one that is refused for good is not, and becomes a
// gap.
func TestWebhooksRetry(t *testing.T) {
	r, c := hookRig(t, func(o *mcpserver.Options) { o.Backoff = []time.Duration{1100 * time.Millisecond} })
	r.fill(1, 3)
	at := r.serve("").oldest()
	tries := 0
	c.Answer(func(d mcptest.Delivered) int {
		switch {
		case d.N() == 1 && tries == 0:
			tries++
			return 503
		case d.N() == 2:
			return 410
		}
		return 204
	})
	r.call(wire.MethodSubscribe, c.params("pager/tick", "cursor", at))
	first, second := c.Next(mcptest.IsEvent), c.Next(mcptest.IsEvent)
	if first.Status != 503 || second.ID != first.ID || second.Stamp == first.Stamp {
		t.Errorf("first %+v, then %+v", first, second)
	}
	if d := c.Next(mcptest.IsEvent); d.N() != 2 || d.Status != 410 {
		t.Errorf("then %+v", d)
	}
	if gap := <-c.Got; gap.Kind != "gap" || !strings.HasPrefix(gap.ID, "msg_gap_") || !strings.HasSuffix(gap.Body["cursor"].(string), ".2") {
		t.Errorf("then %+v", gap)
	}
	if d := <-c.Got; d.N() != 3 {
		t.Errorf("then %+v", d)
	}
}

// After a rotation both secrets sign for a while.
func TestWebhookRotationSignsTwice(t *testing.T) {
	r, c := hookRig(t, nil)
	r.serve("")
	r.fill(1, 1)
	r.call(wire.MethodSubscribe, c.params("eventdeck.event", "cursor", r.oldest()))
	if d := c.Next(mcptest.IsEvent); d.Signatures != 1 {
		t.Errorf("%d signatures", d.Signatures)
	}
	c.Rotate()
	r.call(wire.MethodSubscribe, c.params("eventdeck.event"))
	r.fill(2, 1)
	if d := c.Next(mcptest.IsEvent); d.Signatures != 2 {
		t.Errorf("%d signatures", d.Signatures)
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
	c.Challenge(func(http.ResponseWriter, string) {})
	if _, a := r.ask(wire.MethodSubscribe, c.params("eventdeck.event")); a.Error == nil || a.Error.Code != -32027 || a.Error.Data["reason"] != "challenge_failed" {
		t.Errorf("a challenge without its echo: %+v", a.Error)
	}
}

// Nothing is sent to loopback unless that is allowed.
func TestCallbacksOnLoopbackMustBeAllowed(t *testing.T) {
	r, c := hookRig(t, func(o *mcpserver.Options) { o.CallbacksOnLoopback = false })
	r.serve("")
	if _, a := r.ask(wire.MethodSubscribe, c.params("eventdeck.event")); a.Error == nil || a.Error.Data["reason"] != "connection_refused" {
		t.Errorf("%+v", a.Error)
	}
	if len(c.Got) > 0 {
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
		if _, a := r.ask(wire.MethodUnsubscribe, sub("eventdeck.event", "delivery", map[string]any{"url": c.URL})); a.Error != nil {
			break
		}
		ended := time.Now().Add(1200 * time.Millisecond)
		r.call(wire.MethodSubscribe, c.params("eventdeck.event", "ttlMs", 1))
		<-time.After(time.Until(ended))
	}
}
