package eventserver_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"eventdeck/host/event"
	"eventdeck/host/eventserver"
	"eventdeck/host/mcptest"
	"eventdeck/host/receiver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newSender returns a sender that may deliver to a callback.
func newSender(t *testing.T, ca string) *eventserver.Sender {
	t.Helper()
	s := eventserver.NewSender(true, ca, 1)
	t.Cleanup(s.Close)
	return s
}

// Deliveries go to globally routable addresses, and to loopback if that is allowed.
func TestCheckAddress(t *testing.T) {
	for _, a := range []string{"127.0.0.1:443", "[::1]:443", "10.1.2.3:443", "172.16.0.1:443", "192.168.1.1:443", "169.254.169.254:80", "100.64.0.1:443",
		"192.0.0.1:443", "198.18.0.1:443", "224.0.0.1:443", "240.0.0.1:443", "255.255.255.255:443", "0.0.0.0:443", "[::]:443", "[fc00::1]:443", "[fe80::1%eth0]:443",
		"[64:ff9b::7f00:1]:443", "[::ffff:127.0.0.1]:443", "[::ffff:10.0.0.1]:443", "[2001:db8::1]:443", "[ff02::1]:443", "nonsense"} {
		if eventserver.CheckAddress(a, false) == nil {
			t.Errorf("%s was let through", a)
		}
	}
	for _, a := range []string{"8.8.8.8:443", "[2606:4700::1]:443"} {
		if err := eventserver.CheckAddress(a, false); err != nil {
			t.Error(err)
		}
	}
	for _, a := range []string{"127.0.0.1:443", "[::ffff:127.0.0.1]:443"} {
		if err := eventserver.CheckAddress(a, true); err != nil {
			t.Error(err)
		}
	}
}

func TestOutcomesOfDeliveries(t *testing.T) {
	c := mcptest.NewCallback(t)
	s := newSender(t, c.CA)
	send := func(status int) eventserver.Outcome {
		t.Helper()
		c.Answer(func(mcptest.Delivered) int { return status })
		o := s.Send(t.Context(), eventserver.Delivery{URL: c.URL, SubID: "sub_1", WebhookID: "evt_1", Body: []byte(`{"data":{"n":1}}`), Secrets: []event.Secret{c.Secret()}})
		if d := <-c.Got; d.ID != "evt_1" || d.Sub != "sub_1" || d.N() != 1 || d.Signatures != 1 {
			t.Errorf("delivered %+v", d)
		}
		return o
	}
	for status, want := range map[int]eventserver.Outcome{
		200: {OK: true, Answered: true},
		204: {OK: true, Answered: true},
		302: {Answered: true, Category: "http_4xx"},
		401: {Answered: true, Category: "http_4xx"},
		410: {Answered: true, Category: "http_4xx", Final: true},
		413: {Answered: true, Category: "http_4xx", Final: true},
		429: {Answered: true, Category: "http_4xx"},
		500: {Answered: true, Category: "http_5xx"},
		503: {Answered: true, Category: "http_5xx"},
	} {
		if got := send(status); got.OK != want.OK || got.Answered != want.Answered || got.Final != want.Final || got.Category != want.Category || got.Body != nil {
			t.Errorf("%d: %+v", status, got)
		}
	}
	if c.Redirected() {
		t.Error("a redirect was followed")
	}
}

// Nothing is sent without TLS, to a forbidden address, to a server whose certificate is not
// trusted, or without a valid secret.
func TestDeliveriesThatAreRefusedLocally(t *testing.T) {
	c := mcptest.NewCallback(t)
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a delivery without TLS") }))
	defer plain.Close()
	public := eventserver.NewSender(false, c.CA, 1)
	defer public.Close()
	closed := httptest.NewTLSServer(nil)
	closed.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	secret := []event.Secret{c.Secret()}
	trusting, stranger := newSender(t, c.CA), newSender(t, filepath.Join(t.TempDir(), "none.pem"))
	for name, x := range map[string]struct {
		sender   *eventserver.Sender
		ctx      context.Context
		url      string
		secrets  []event.Secret
		category string
	}{
		"loopback":         {public, t.Context(), c.URL, secret, "connection_refused"},
		"another name":     {public, t.Context(), strings.Replace(c.URL, "127.0.0.1", "localhost", 1), secret, "connection_refused"},
		"no TLS":           {trusting, t.Context(), plain.URL, secret, "connection_refused"},
		"no listener":      {trusting, t.Context(), closed.URL, secret, "connection_refused"},
		"no address":       {trusting, t.Context(), "https://[::1", secret, "connection_refused"},
		"a stranger":       {stranger, t.Context(), c.URL, secret, "tls_error"},
		"no such secret":   {trusting, t.Context(), c.URL, []event.Secret{event.NewSecret("x")}, "connection_refused"},
		"the context ends": {trusting, ended, c.URL, secret, "connection_refused"},
	} {
		o := x.sender.Send(x.ctx, eventserver.Delivery{URL: x.url, WebhookID: "w", Body: []byte(`{}`), Secrets: x.secrets})
		if o.OK || o.Answered || o.Final || o.Category != x.category {
			t.Errorf("%s: %+v", name, o)
		}
	}
	if len(c.Got) > 0 {
		t.Errorf("delivered %+v", <-c.Got)
	}
}

// The authorities are read for each connection: the file may be made later.
func TestAuthoritiesAreReadForEachConnection(t *testing.T) {
	c := mcptest.NewCallback(t)
	file := filepath.Join(t.TempDir(), "later.pem")
	s := newSender(t, file)
	d := eventserver.Delivery{URL: c.URL, SubID: "s", WebhookID: "w", Body: []byte(`{}`), Secrets: []event.Secret{c.Secret()}}
	if o := s.Send(t.Context(), d); o.Category != "tls_error" {
		t.Errorf("before: %+v", o)
	}
	pem, err := os.ReadFile(c.CA)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, pem, 0o600); err != nil {
		t.Fatal(err)
	}
	if o := s.Send(t.Context(), d); !o.OK {
		t.Errorf("after: %+v", o)
	}
}

// The response of a callback is read up to a bound.
func TestResponsesAreBounded(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", r.Header.Get(receiver.HeaderID))
		_, _ = w.Write([]byte(strings.Repeat("x", 1<<20))) // the sender stops reading
	}))
	defer srv.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	writeCertificate(t, file, srv)
	s := newSender(t, file)
	for retry, wait := range map[string]time.Duration{"7": 7 * time.Second, "-1": 0, "soon": 0, "999999": 5 * time.Minute} {
		o := s.Send(t.Context(), eventserver.Delivery{URL: srv.URL, WebhookID: retry, WantBody: true})
		if o.Wait != wait || len(o.Body) != 64<<10 {
			t.Errorf("Retry-After %s: %v, %d bytes", retry, o.Wait, len(o.Body))
		}
	}
}

// A server with a key of its own signs with it beside the secrets, and publishes it.
func TestServerKeySignsToo(t *testing.T) {
	key, err := eventserver.NewServerKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := mcptest.NewCallback(t)
	s := newSender(t, c.CA)
	s.Key = key
	s.Send(t.Context(), eventserver.Delivery{URL: c.URL, SubID: "s", WebhookID: "w", Body: []byte(`{}`), Secrets: []event.Secret{c.Secret()}})
	if d := <-c.Got; d.Signatures != 2 {
		t.Errorf("%d signatures", d.Signatures)
	}
	for method, status := range map[string]int{http.MethodGet: 200, http.MethodHead: 200, http.MethodPost: 405} {
		w := httptest.NewRecorder()
		eventserver.ServeKeys(key)(w, httptest.NewRequest(method, receiver.WellKnownKeys, nil))
		if w.Code != status || status == 200 && (!strings.Contains(w.Body.String(), `"crv":"Ed25519"`) || strings.Contains(w.Body.String(), `"d":`)) {
			t.Errorf("%s: %d %s", method, w.Code, w.Body)
		}
	}
	if _, err := eventserver.NewServerKey(strings.NewReader("short")); err == nil {
		t.Error("a key was made without enough randomness")
	}
}
