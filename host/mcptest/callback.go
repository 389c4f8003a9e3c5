package mcptest

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/receiver"
)

// Callback is an endpoint for webhook deliveries over TLS. It verifies each like a
// receiver, and fails the test for a forged one. Make it with [NewCallback]. Its methods
// may be called from any goroutine.
type Callback struct {
	URL string         // of the endpoint
	CA  string         // file with its certificate (PEM)
	Got chan Delivered // genuine deliveries, challenges included; room for 10,000
	// Refused, if set before the first delivery, is called for a forged delivery instead of
	// failing the test.
	Refused func()

	t  testing.TB
	mu sync.Mutex
	// answer returns the status for a delivery, challenge answers a challenge; nil: the
	// echo.
	answer     func(Delivered) int
	challenge  func(w http.ResponseWriter, challenge string)
	entry      receiver.Entry
	tries      map[string]int // of deliveries, by id
	redirected bool
}

// Delivered is a genuine delivery.
type Delivered struct {
	ID, Sub    string
	Kind       string // of a control envelope, such as gap; "" for an event
	Signatures int
	Status     int    // of the response
	Try        int    // number of deliveries with this id, from 1
	Stamp      string // time of its signature, as sent
	Body       map[string]any
}

// N returns data.n of an event, 0 for other deliveries.
func (d Delivered) N() int {
	data, _ := d.Body["data"].(map[string]any)
	n, _ := data["n"].(float64)
	return int(n)
}

// IsEvent reports whether a delivery is an event.
func IsEvent(d Delivered) bool { return d.Kind == "" }

// OfKind returns a function that reports whether a delivery is a control envelope of a
// kind.
func OfKind(kind string) func(Delivered) bool {
	return func(d Delivered) bool { return d.Kind == kind }
}

// NewCallback listens on loopback until the end of the test. It echoes challenges and answers
// deliveries with 204.
func NewCallback(t testing.TB) *Callback {
	t.Helper()
	c := &Callback{t: t, Got: make(chan Delivered, 10_000), tries: map[string]int{}, answer: func(Delivered) int { return http.StatusNoContent }}
	c.Rotate()
	srv := httptest.NewTLSServer(c)
	t.Cleanup(srv.Close)
	c.URL, c.CA = srv.URL+"/hooks/1", filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if err := os.WriteFile(c.CA, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

// Answer sets the function that returns the status for a delivery.
func (c *Callback) Answer(answer func(Delivered) int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = answer
}

// Challenge sets the function that answers challenges; nil: with their echo.
func (c *Callback) Challenge(answer func(w http.ResponseWriter, challenge string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.challenge = answer
}

// Rotate changes the secret of deliveries. The previous one is accepted for an hour.
func (c *Callback) Rotate() {
	secret, err := event.NewWebhookSecret(nil)
	if err != nil {
		c.t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entry = receiver.Entry{Current: secret, Previous: c.entry.Current, PreviousUntil: time.Now().Add(time.Hour)}
}

// Secret returns the secret that deliveries must be signed with.
func (c *Callback) Secret() event.Secret {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entry.Current
}

// Delivery returns the delivery member of the params of events/subscribe.
func (c *Callback) Delivery() map[string]any {
	return map[string]any{"mode": "webhook", "url": c.URL, "secret": c.Secret().Reveal()}
}

// Tries returns how often the delivery with an id was sent.
func (c *Callback) Tries(id string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tries[id]
}

// Redirected reports whether a redirect was followed.
func (c *Callback) Redirected() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.redirected
}

// Next waits for the next delivery that is wanted, and skips those before it.
func (c *Callback) Next(wanted func(Delivered) bool) Delivered {
	c.t.Helper()
	return Next(c.t, c.Got, wanted)
}

// ServeHTTP implements [http.Handler].
func (c *Callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
		if c.Refused == nil {
			c.t.Errorf("a delivery that a receiver refuses: %v", err)
		} else {
			c.Refused()
		}
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	d := Delivered{ID: h.ID.Raw(), Sub: h.ServerID.Raw(), Signatures: len(strings.Fields(r.Header.Get(receiver.HeaderSignature))), Stamp: r.Header.Get(receiver.HeaderTimestamp)}
	if err := json.Unmarshal(body, &d.Body); err != nil {
		c.t.Error(err)
	}
	if d.Kind, _ = d.Body["type"].(string); d.Kind == "verification" {
		c.Got <- d
		challenge, _ := d.Body["challenge"].(string)
		if c.challenge != nil {
			c.challenge(w, challenge)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"challenge": challenge}) // the sender asks again if it fails
		return
	}
	c.tries[d.ID]++
	d.Try = c.tries[d.ID]
	d.Status = c.answer(d)
	c.Got <- d
	if d.Status == http.StatusFound {
		w.Header().Set("Location", c.URL+"/redirected")
	}
	w.WriteHeader(d.Status)
}
