package demo

import (
	"testing"
	"time"

	"eventdeck/host/mcptest"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// Leases are kept in memory only: none is longer than a client can miss its events after a restart
// (SEP-3415, lease times).
func TestLongLeasesAreClamped(t *testing.T) {
	r, c := hookRig(t, nil)
	for what, ttl := range map[string]any{"no end": nil, "a day": 24 * time.Hour.Milliseconds(), "huge": 1e300} {
		res := r.call(wire.MethodSubscribe, c.params("load.tick", "ttlMs", ttl))
		text, _ := res["refreshBefore"].(string)
		until, ok := trust.Untrusted(text).Time()
		if left := time.Until(until); !ok || left > r.pager.opts.DefaultTTL || left < r.pager.opts.DefaultTTL/2 {
			t.Errorf("%s: refreshBefore %v", what, res["refreshBefore"])
		}
	}
}

// An odd ttlMs is clamped, not refused.
func TestOddLifetimesAreClamped(t *testing.T) {
	r, c := hookRig(t, nil)
	for _, ttl := range []any{0, -1, -1e300, 0.4, 1} {
		began := time.Now()
		res := r.call(wire.MethodSubscribe, c.params("load.tick", "ttlMs", ttl))
		text, _ := res["refreshBefore"].(string)
		until, ok := trust.Untrusted(text).Time()
		if left := time.Until(until); !ok || !until.After(began) || left > 2*time.Second {
			t.Errorf("ttlMs %v: refreshBefore %v", ttl, res["refreshBefore"])
		}
	}
}

// Events that maxAgeMs skips are reported as truncated, in every mode; with a null cursor, or
// without a skipped event, nothing is.
func TestMaxAgeReportsSkippedEvents(t *testing.T) {
	r, c := hookRig(t, nil)
	first := r.pager.cursor(r.pager.types[len(r.pager.types)-1].feed, 0)
	s := r.open(1, wire.MethodStream, sub("load.tick"))
	s.until(wire.NoteEvent)
	s.end()
	for _, x := range []struct {
		what   string
		cursor any
		age    int
		want   bool
	}{
		{"events are older", first, 0, true},
		{"all are young", first, 3600_000, false},
		{"no cursor", nil, 0, false},
	} {
		old := []any{"cursor", x.cursor, "maxAgeMs", x.age}
		if got := r.call(wire.MethodPoll, sub("load.tick", old...))["truncated"]; got != x.want {
			t.Errorf("poll, %s: truncated %v", x.what, got)
		}
		s := r.open(1, wire.MethodStream, sub("load.tick", old...))
		if got := s.until(wire.NoteActive)["truncated"]; got != x.want {
			t.Errorf("active, %s: truncated %v", x.what, got)
		}
		s.end()
		if got := r.call(wire.MethodSubscribe, c.params("load.tick", old...))["truncated"]; got != x.want {
			t.Errorf("subscribe, %s: truncated %v", x.what, got)
		}
	}
}

// A refusal for a limit has its name and its value.
func TestLimitsAreNamed(t *testing.T) {
	r, c := hookRig(t, func(o *PagerOptions) { o.MaxSubscriptions, o.MaxStreams = 1, 1 })
	r.open(1, wire.MethodStream, sub("incident.changed")).until(wire.NoteActive)
	r.call(wire.MethodSubscribe, c.params("load.tick"))
	for limit, method := range map[string]string{"streams": wire.MethodStream, "subscriptions": wire.MethodSubscribe} {
		_, e := r.refuse(method, c.params("incident.activity"))
		if !wire.Is(e, wire.ResourceExhausted, "limit", limit) || string(e.Data) != `{"limit":"`+limit+`","max":1}` {
			t.Errorf("%s: %v %s", method, e, e.Data)
		}
	}
}

// Heartbeats come on a busy stream too, with its position.
func TestHeartbeatsComeOnABusyStream(t *testing.T) {
	r := newRig(t, PagerOptions{ServerOptions: ServerOptions{Rate: 2000}, Heartbeat: 50 * time.Millisecond})
	s := r.open(1, wire.MethodStream, sub("load.tick"))
	last, beats := "", 0
	for beats < 3 {
		m, p, ok := s.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		switch m.Method {
		case wire.NoteEvent:
			last = p["cursor"].(string)
		case wire.NoteHeartbeat:
			if p["cursor"] != last && last != "" {
				t.Errorf("heartbeat at %v behind the event of %v", p["cursor"], last)
			}
			beats++
		}
	}
}

// The response to the refresh that ends a suspension still reports it.
func TestRefreshReportsTheSuspensionThatItEnds(t *testing.T) {
	suspended := make(signal, 1)
	r, c := hookRig(t, func(o *PagerOptions) {
		o.SuspendAfter, o.Backoff, o.Log = 50*time.Millisecond, []time.Duration{5 * time.Second}, suspended.log()
	})
	c.Answer(func(mcptest.Delivered) int { return 500 })
	r.call(wire.MethodSubscribe, c.params("load.tick"))
	<-suspended
	c.Answer(func(mcptest.Delivered) int { return 200 })
	status := func() any {
		return r.call(wire.MethodSubscribe, c.params("load.tick"))["deliveryStatus"].(map[string]any)["active"]
	}
	if got := status(); got != false {
		t.Errorf("active %v in the answer that tells of the suspension", got)
	}
	r.refreshUntil(c, func(g mcptest.Delivered) bool { return mcptest.IsEvent(g) && g.Status == 200 })
	for status() != true { // failures that were under way can suspend it again
		c.Next(mcptest.IsEvent)
	}
}

// A callback fails the challenge if it does not echo it, whatever the status.
func TestChallengeWithoutEchoHasFailed(t *testing.T) {
	r, c := hookRig(t, nil)
	for _, status := range []int{200, 204, 302, 404, 500} {
		c.failChallenges(status)
		if _, e := r.refuse(wire.MethodSubscribe, c.params("load.tick")); !wire.Is(e, wire.CallbackEndpointError, "reason", "challenge_failed") {
			t.Errorf("status %d: %v %s", status, e, e.Data)
		}
	}
}

// A refusal of a mode has the members that the table of errors demands.
func TestUnsupportedModeIsNamed(t *testing.T) {
	r, c := hookRig(t, nil)
	service := map[string]any{"service": "search"}
	for value, ask := range map[string]func() (int, *wire.Error){
		"push": func() (int, *wire.Error) { return r.refuse(wire.MethodStream, sub("page.sent")) },
		"poll": func() (int, *wire.Error) { return r.refuse(wire.MethodPoll, sub("page.sent")) },
		"webhook": func() (int, *wire.Error) {
			return r.refuse(wire.MethodSubscribe, c.params("errors.sampled", "arguments", service))
		},
	} {
		if _, e := ask(); !wire.Is(e, wire.Unsupported, "feature", "deliveryMode") || !wire.Is(e, wire.Unsupported, "value", value) {
			t.Errorf("%s: %v %s", value, e, e.Data)
		}
	}
}

// Of the clients of either version of MCP, some look for events only at the top level of the
// capabilities, others only among the extensions.
func TestEventsAreDeclaredInBothPlaces(t *testing.T) {
	c := (&chat{}).initialize([]byte(`{"protocolVersion":"2025-11-25"}`))
	for name, greeting := range map[string]map[string]any{"pager": newRig(t, PagerOptions{}).call("server/discover", nil), "chat": c} {
		declared, _ := greeting["capabilities"].(map[string]any)
		extensions, _ := declared["extensions"].(map[string]any)
		for place, events := range map[string]any{"top level": declared["events"], "extensions": extensions[wire.Extension]} {
			if m, _ := events.(map[string]any); m["listChanged"] != (name == "pager") {
				t.Errorf("%s, %s: %v", name, place, declared)
			}
		}
	}
}
