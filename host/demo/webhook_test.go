package demo

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventdeck/host/mcptest"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// patience bounds every wait for a cause.
const patience = time.Minute

// callback receives the deliveries of a pager.
type callback struct{ *mcptest.Callback }

func newCallback(t *testing.T) *callback { return &callback{mcptest.NewCallback(t)} }

// params returns the params of a subscribe.
func (c *callback) params(name string, more ...any) map[string]any {
	return sub(name, append([]any{"delivery", c.Delivery()}, more...)...)
}

// hookRig is a pager with short waits, and a callback that it trusts.
func hookRig(t *testing.T, change func(*PagerOptions)) (*rig, *callback) {
	c := newCallback(t)
	opts := PagerOptions{ServerOptions: ServerOptions{Rate: 100, CAFile: c.CA}, Backoff: []time.Duration{10 * time.Millisecond, 20 * time.Millisecond}}
	if change != nil {
		change(&opts)
	}
	return newRig(t, opts), c
}

func TestWebhookVerifiesThenDelivers(t *testing.T) {
	r, c := hookRig(t, nil)
	res := r.call(wire.MethodSubscribe, c.params("load.tick"))
	if first := <-c.Got; first.Kind != "verification" || !strings.HasPrefix(first.ID, "msg_verification_") {
		t.Fatalf("first delivery: %+v", first)
	}
	if res["refreshBefore"] == nil || res["cursor"] == nil || res["truncated"] != false {
		t.Errorf("result: %v", res)
	}
	seen := map[int]bool{}
	for len(seen) < 50 {
		g := c.Next(mcptest.IsEvent)
		if g.Sub != res["id"] || g.ID != g.Body["eventId"] {
			t.Fatalf("delivery %+v for subscription %v", g, res["id"])
		}
		seen[g.N()] = true
	}
	again := r.call(wire.MethodSubscribe, c.params("load.tick", "ttlMs", nil))
	if again["id"] != res["id"] || again["refreshBefore"] == nil {
		t.Errorf("refresh: %v", again)
	}
	status := again["deliveryStatus"].(map[string]any)
	if status["active"] != true || status["lastDeliveryAt"] == nil {
		t.Errorf("status: %v", status)
	}
	r.call(wire.MethodUnsubscribe, c.params("load.tick"))
	if _, e := r.refuse(wire.MethodUnsubscribe, c.params("load.tick")); e.Name() != wire.NotFound {
		t.Errorf("second unsubscribe: %v", e)
	}
	select {
	case g := <-c.Got:
		for ; g.Kind != "verification" && len(c.Got) > 0; g = <-c.Got {
		}
		if g.Kind == "verification" {
			t.Error("the refresh was verified again")
		}
	default:
	}
}

func TestWebhookReplaysFromTheCursor(t *testing.T) {
	// A busy machine must be able to deliver faster than events come.
	r, c := hookRig(t, func(o *PagerOptions) { o.Rate = 20 })
	start := r.pager.cursor(r.pager.types[len(r.pager.types)-1].feed, 0)
	r.call(wire.MethodSubscribe, c.params("load.tick", "cursor", start))
	seen := map[int]int{} // deliveries overtake each other
	until := func(enough func() bool) {
		c.Next(func(g mcptest.Delivered) bool {
			if mcptest.IsEvent(g) {
				seen[g.N()]++
			}
			return enough()
		})
	}
	for round := 1; round <= 3; round++ {
		until(func() bool { return seen[1] >= round && seen[20] >= round })
		// What has not been answered yet is under way, and not replayed.
		until(func() bool { return r.call(wire.MethodSubscribe, c.params("load.tick"))["cursor"] != start })
		r.call(wire.MethodSubscribe, c.params("load.tick", "cursor", start))
	}
}

func TestWebhookRetriesAndThenGivesUp(t *testing.T) {
	r, c := hookRig(t, nil)
	c.Answer(func(g mcptest.Delivered) int {
		switch n := g.N(); {
		case n%10 == 3: // always
			return 503
		case n%10 == 5:
			return 410
		case n%10 == 7 && g.Try == 1:
			return 500
		}
		return 200
	})
	r.call(wire.MethodSubscribe, c.params("load.tick"))
	gap := c.Next(mcptest.OfKind("gap"))
	if s, _ := gap.Body["cursor"].(string); !strings.HasPrefix(s, r.pager.run) {
		t.Errorf("gap: %v", gap.Body)
	}
	var failing, final, once mcptest.Delivered
	for failing.ID == "" || final.ID == "" || once.ID == "" {
		switch g := c.Next(mcptest.IsEvent); g.N() % 10 {
		case 3:
			failing = g
		case 5:
			final = g
		case 7:
			once = g
		}
	}
	c.Next(func(mcptest.Delivered) bool { // the retries overtake and are overtaken
		return c.Tries(failing.ID) >= 3 && c.Tries(once.ID) >= 2
	})
	last := c.Next(mcptest.IsEvent).N() + 30
	c.Next(func(g mcptest.Delivered) bool { return g.N() >= last && g.Kind == "" })
	status := r.call(wire.MethodSubscribe, c.params("load.tick"))["deliveryStatus"].(map[string]any)
	if status["abandoned"].(float64) < 2 {
		t.Errorf("status: %v", status)
	}
	if tries := [...]int{c.Tries(failing.ID), c.Tries(final.ID), c.Tries(once.ID)}; tries != [...]int{3, 1, 2} {
		t.Errorf("tries of 503, 410, and 500 once: %v; want 3, 1, 2", tries)
	}
}

// failChallenges answers challenges with a status and without their echo.
func (c *callback) failChallenges(status int) {
	c.Challenge(func(w http.ResponseWriter, _ string) {
		w.Header().Set("Location", c.URL)
		w.WriteHeader(status)
	})
}

// signal is a log that signals each line.
type signal chan struct{}

func (s signal) Write(line []byte) (int, error) {
	select {
	case s <- struct{}{}:
	default:
	}
	return len(line), nil
}

func (s signal) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(s, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

func TestWebhookIsSuspendedUntilTheNextSubscribe(t *testing.T) {
	suspended := make(signal, 1)
	r, c := hookRig(t, func(o *PagerOptions) {
		o.SuspendAfter, o.Backoff = 50*time.Millisecond, []time.Duration{5 * time.Second}
		o.Log = suspended.log()
	})
	c.Answer(func(mcptest.Delivered) int { return 500 })
	r.call(wire.MethodSubscribe, c.params("load.tick"))
	<-suspended
	first := c.Next(mcptest.IsEvent).N()
	for len(c.Got) > 0 {
		if g := <-c.Got; mcptest.IsEvent(g) {
			first = min(first, g.N())
		}
	}
	status := r.call(wire.MethodSubscribe, c.params("load.tick"))["deliveryStatus"].(map[string]any)
	if status["lastError"] != "http_5xx" || status["failedSince"] == nil {
		t.Errorf("status: %v", status)
	}
	c.Answer(func(mcptest.Delivered) int { return 200 }) // only now: some are still under way
	r.refreshUntil(c, func(g mcptest.Delivered) bool { return g.N() == first && g.Status == 200 })
}

// refreshUntil refreshes a subscription until a delivery matches: failures that were under way at a
// refresh can suspend it again.
func (r *rig) refreshUntil(c *callback, match func(mcptest.Delivered) bool) {
	r.t.Helper()
	for late := time.Now().Add(patience); time.Now().Before(late); {
		r.call(wire.MethodSubscribe, c.params("load.tick"))
		for len(c.Got) > 0 {
			if match(<-c.Got) {
				return
			}
		}
	}
	r.t.Fatal("no delivery matches")
}

func TestWebhookRotationSignsTwice(t *testing.T) {
	r, c := hookRig(t, nil)
	r.call(wire.MethodSubscribe, c.params("load.tick"))
	c.Next(func(g mcptest.Delivered) bool { return mcptest.IsEvent(g) && g.Signatures == 1 })
	c.Rotate()
	r.call(wire.MethodSubscribe, c.params("load.tick"))
	c.Next(func(g mcptest.Delivered) bool { return g.Signatures == 2 })
}

func TestWebhookLeaseEnds(t *testing.T) {
	r, c := hookRig(t, nil)
	p := c.params("load.tick", "ttlMs", 1)
	res := r.call(wire.MethodSubscribe, p)
	until, ok := trust.Untrusted(res["refreshBefore"].(string)).Time()
	if !ok || time.Until(until) > 2*time.Second {
		t.Errorf("refreshBefore %v", res["refreshBefore"])
	}
	r.pager.hooks.Wait()
	if _, e := r.refuse(wire.MethodUnsubscribe, p); e.Name() != wire.NotFound {
		t.Errorf("unsubscribe after the end: %v", e)
	}
}

func TestWebhookRefusals(t *testing.T) {
	r, c := hookRig(t, func(o *PagerOptions) { o.MaxSubscriptions = 1 })
	delivery := func(k, v string) map[string]any {
		p := c.params("load.tick")
		p["delivery"].(map[string]any)[k] = v
		return p
	}
	for _, x := range []struct {
		what          string
		params        map[string]any
		name          wire.Name
		member, value string
	}{
		{"http", delivery("url", "http://127.0.0.1/x"), wire.InvalidParams, "field", "delivery.url"},
		{"user", delivery("url", "https://a@127.0.0.1/x"), wire.InvalidParams, "field", "delivery.url"},
		{"secret", delivery("secret", "whsec_"), wire.InvalidParams, "field", "delivery.secret"},
		{"mode", delivery("mode", "push"), wire.InvalidParams, "field", "delivery.mode"},
		{"ttl", c.params("load.tick", "ttlMs", "long"), wire.InvalidParams, "field", "ttlMs"},
		{"private address", delivery("url", "https://10.0.0.1/x"), wire.CallbackEndpointError, "reason", "connection_refused"},
		{"metadata address", delivery("url", "https://169.254.169.254/x"), wire.CallbackEndpointError, "reason", "connection_refused"},
		{"unknown type", c.params("nothing"), wire.NotFound, "kind", "event"},
		{"lacks the mode", c.params("errors.sampled", "arguments", map[string]any{"service": "search"}), wire.Unsupported, "value", "webhook"},
	} {
		if _, e := r.refuse(wire.MethodSubscribe, x.params); !wire.Is(e, x.name, x.member, x.value) {
			t.Errorf("%s: %v %s", x.what, e, e.Data)
		}
	}
	c.failChallenges(http.StatusOK)
	if _, e := r.refuse(wire.MethodSubscribe, c.params("load.tick")); !wire.Is(e, wire.CallbackEndpointError, "reason", "challenge_failed") {
		t.Errorf("no echo: %v", e)
	}
	c.Challenge(nil)
	r.call(wire.MethodSubscribe, c.params("load.tick"))
	if _, e := r.refuse(wire.MethodSubscribe, c.params("incident.activity")); e.Name() != wire.ResourceExhausted {
		t.Errorf("over the limit: %v", e)
	}
}

func TestWebhookNeedsTrustAndAPrincipal(t *testing.T) {
	r, c := hookRig(t, func(o *PagerOptions) { o.CAFile = filepath.Join(t.TempDir(), "later.pem") })
	if _, e := r.refuse(wire.MethodSubscribe, c.params("load.tick")); !wire.Is(e, wire.CallbackEndpointError, "reason", "tls_error") {
		t.Errorf("without the authority: %v", e)
	}
	pem, err := os.ReadFile(c.CA)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.pager.opts.CAFile, pem, 0o600); err != nil {
		t.Fatal(err)
	}
	r.call(wire.MethodSubscribe, c.params("load.tick"))
	_, f := r.pager.hooks.subscribe(t.Context(), call{params: json.RawMessage(`{}`)})
	if f == nil || f.Name != wire.Forbidden {
		t.Errorf("anonymous: %v", f)
	}
}
