package demo

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/mcptest"
	"eventdeck/host/receiver"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// callback is a receiver over TLS. answer decides on the status of deliveries.
type callback struct {
	t      *testing.T
	url    string
	ca     string
	got    chan got
	mu     sync.Mutex
	answer func(got) int
	echo   bool
	status int // of the answer to a challenge; 0: success
	entry  receiver.Entry
	said   string // body of the answer to a challenge, in place of its echo
	// redirected: the host followed a redirect.
	redirected bool
	// refused is called when a delivery is refused, which fails the test where it is nil.
	refused func()
}

type got struct {
	id, sub, kind string
	signatures    int
	status        int // what an event was answered with
	stamp         string
	body          map[string]any
}

func (g got) n() float64 {
	data, _ := g.body["data"].(map[string]any)
	n, _ := data["n"].(float64)
	return n
}

func newSecret(t *testing.T) event.Secret {
	t.Helper()
	s, err := event.NewWebhookSecret(nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newCallback(t *testing.T) *callback {
	t.Helper()
	c := &callback{t: t, got: make(chan got, 10000), echo: true, entry: receiver.Entry{Current: newSecret(t)}, answer: func(got) int { return 204 }}
	srv := httptest.NewTLSServer(c)
	t.Cleanup(srv.Close)
	c.url = srv.URL + "/hooks/1"
	c.ca = filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if err := os.WriteFile(c.ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *callback) set(answer func(got) int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = answer
}

func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.redirected = c.redirected || strings.HasSuffix(r.URL.Path, "/redirected")
	if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
		c.t.Errorf("a delivery by %s of %q", r.Method, r.Header.Get("Content-Type"))
	}
	h, err := receiver.ReadHeaders(r.Header)
	if err == nil {
		_, err = h.Verify(body, c.entry, time.Now())
	}
	if err != nil {
		if c.refused == nil {
			c.t.Errorf("a delivery that a receiver refuses: %v", err)
		} else {
			c.refused()
		}
		w.WriteHeader(401)
		return
	}
	g := got{id: h.ID.Raw(), sub: h.ServerID.Raw(), signatures: len(strings.Fields(r.Header.Get(receiver.HeaderSignature))), stamp: r.Header.Get(receiver.HeaderTimestamp)}
	if err := json.Unmarshal(body, &g.body); err != nil {
		c.t.Error(err)
	}
	g.kind, _ = g.body["type"].(string)
	if g.kind == "verification" {
		c.got <- g
		if c.said != "" {
			_, _ = io.WriteString(w, c.said)
			return
		}
		if c.status != 0 {
			w.Header().Set("Location", c.url)
			w.WriteHeader(c.status)
		}
		if c.echo {
			_ = json.NewEncoder(w).Encode(map[string]any{"challenge": g.body["challenge"]})
		}
		return
	}
	g.status = c.answer(g)
	c.got <- g
	if g.status == http.StatusFound {
		w.Header().Set("Location", c.url+"/redirected")
	}
	w.WriteHeader(g.status)
}

// patience bounds every wait for a cause; it is never waited out when all is well.
const patience = time.Minute

// next returns the next delivery for which want is true.
func (c *callback) next(want func(got) bool) got {
	c.t.Helper()
	return mcptest.Next(c.t, c.got, want)
}

func isEvent(g got) bool             { return g.kind == "" }
func ofKind(k string) func(got) bool { return func(g got) bool { return g.kind == k } }

func (c *callback) params(name string, more ...any) map[string]any {
	delivery := map[string]any{"mode": "webhook", "url": c.url, "secret": c.entry.Current.Reveal()}
	return sub(name, append([]any{"delivery", delivery}, more...)...)
}

// hookRig is a pager with short waits, and a callback that it trusts.
func hookRig(t *testing.T, change func(*PagerOptions)) (*rig, *callback) {
	c := newCallback(t)
	opts := PagerOptions{Rate: 100, CAFile: c.ca, Backoff: []time.Duration{10 * time.Millisecond, 20 * time.Millisecond}}
	if change != nil {
		change(&opts)
	}
	return newRig(t, opts), c
}

func TestWebhookVerifiesThenDelivers(t *testing.T) {
	r, c := hookRig(t, nil)
	res := r.call(wire.MethodSubscribe, c.params("load.tick"))
	if first := <-c.got; first.kind != "verification" || !strings.HasPrefix(first.id, "msg_verification_") {
		t.Fatalf("first delivery: %+v", first)
	}
	if res["refreshBefore"] == nil || res["cursor"] == nil || res["truncated"] != false {
		t.Errorf("result: %v", res)
	}
	seen := map[float64]bool{}
	for len(seen) < 50 {
		g := c.next(isEvent)
		if g.sub != res["id"] || g.id != g.body["eventId"] {
			t.Fatalf("delivery %+v for subscription %v", g, res["id"])
		}
		seen[g.n()] = true
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
	case g := <-c.got:
		for ; g.kind != "verification" && len(c.got) > 0; g = <-c.got {
		}
		if g.kind == "verification" {
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
	seen := map[float64]int{} // deliveries overtake each other
	until := func(enough func() bool) {
		c.next(func(g got) bool {
			if isEvent(g) {
				seen[g.n()]++
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
	tries := map[string]int{}
	c.set(func(g got) int {
		tries[g.id]++
		switch n := int(g.n()); {
		case n%10 == 3: // always
			return 503
		case n%10 == 5:
			return 410
		case n%10 == 7 && tries[g.id] == 1:
			return 500
		}
		return 200
	})
	r.call(wire.MethodSubscribe, c.params("load.tick"))
	gap := c.next(ofKind("gap"))
	if s, _ := gap.body["cursor"].(string); !strings.HasPrefix(s, r.pager.run) {
		t.Errorf("gap: %v", gap.body)
	}
	var failing, final, once got
	for failing.id == "" || final.id == "" || once.id == "" {
		switch g := c.next(isEvent); int(g.n()) % 10 {
		case 3:
			failing = g
		case 5:
			final = g
		case 7:
			once = g
		}
	}
	c.next(func(got) bool { // the retries overtake and are overtaken
		c.mu.Lock()
		defer c.mu.Unlock()
		return tries[failing.id] >= 3 && tries[once.id] >= 2
	})
	last := c.next(isEvent).n() + 30
	c.next(func(g got) bool { return g.n() >= last && g.kind == "" })
	status := r.call(wire.MethodSubscribe, c.params("load.tick"))["deliveryStatus"].(map[string]any)
	if status["abandoned"].(float64) < 2 {
		t.Errorf("status: %v", status)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if tries[failing.id] != 3 || tries[final.id] != 1 || tries[once.id] != 2 {
		t.Errorf("tries: 503 %d, 410 %d, 500 once %d; want 3, 1, 2", tries[failing.id], tries[final.id], tries[once.id])
	}
}

// answerChallenge changes what a challenge is answered with. Nothing is echoed.
func (c *callback) answerChallenge(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status, c.echo = status, false
}

// say answers challenges with a text.
func (c *callback) say(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said = text
}

// signal is a log that only tells that there was a line.
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
	c.set(func(got) int { return 500 })
	r.call(wire.MethodSubscribe, c.params("load.tick"))
	<-suspended
	first := c.next(isEvent).n()
	for len(c.got) > 0 {
		if g := <-c.got; isEvent(g) {
			first = min(first, g.n())
		}
	}
	status := r.call(wire.MethodSubscribe, c.params("load.tick"))["deliveryStatus"].(map[string]any)
	if status["lastError"] != "http_5xx" || status["failedSince"] == nil {
		t.Errorf("status: %v", status)
	}
	c.set(func(got) int { return 200 }) // only now: some are still under way
	r.call(wire.MethodSubscribe, c.params("load.tick"))
	c.next(func(g got) bool { return g.n() == first && g.status == 200 })
}

func TestWebhookRotationSignsTwice(t *testing.T) {
	r, c := hookRig(t, nil)
	r.call(wire.MethodSubscribe, c.params("load.tick"))
	c.next(func(g got) bool { return isEvent(g) && g.signatures == 1 })
	c.mu.Lock()
	c.entry.Previous, c.entry.PreviousUntil = c.entry.Current, time.Now().Add(time.Hour)
	c.entry.Current = newSecret(t)
	c.mu.Unlock()
	r.call(wire.MethodSubscribe, c.params("load.tick"))
	c.next(func(g got) bool { return g.signatures == 2 })
}

func TestWebhookTerminates(t *testing.T) {
	r, c := hookRig(t, nil)
	r.call(wire.MethodSubscribe, c.params("load.tick"))
	c.next(isEvent)
	r.pager.Revoke()
	g := c.next(ofKind("terminated"))
	if code := g.body["error"].(map[string]any)["code"]; code != float64(wire.ProfileSEP.Code(wire.Forbidden)) {
		t.Errorf("terminated: %v", g.body)
	}
}

func TestWebhookLeaseEnds(t *testing.T) {
	r, c := hookRig(t, nil)
	p := c.params("load.tick", "ttlMs", 1)
	res := r.call(wire.MethodSubscribe, p)
	until, ok := wire.ParseTime(trust.Untrusted(res["refreshBefore"].(string)))
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
	c.mu.Lock()
	c.echo = false
	c.mu.Unlock()
	if _, e := r.refuse(wire.MethodSubscribe, c.params("load.tick")); !wire.Is(e, wire.CallbackEndpointError, "reason", "challenge_failed") {
		t.Errorf("no echo: %v", e)
	}
	c.mu.Lock()
	c.echo = true
	c.mu.Unlock()
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
	pem, err := os.ReadFile(c.ca)
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
