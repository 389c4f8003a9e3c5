package host_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/mcptest"
	"eventdeck/host/receiver"
	"eventdeck/host/trust"
)

// hookServer is a server with one type. It delivers by webhook what a test tells it to.
type hookServer struct {
	t   *testing.T
	rig *rig
	url string

	mu     sync.Mutex
	hook   string // callback of the newest subscribe
	secret event.Secret
	ended  []string // callbacks that were unsubscribed
	refuse bool     // subscribes and unsubscribes
	keys   []ed25519.PublicKey
	asked  int // for the keys
}

// hookRig is a rig with a hookServer in place of the pager.
func hookRig(t *testing.T, spec event.Server) (*rig, *hookServer) {
	t.Helper()
	return hookRigOn(t, spec, host.Network{})
}

func hookRigOn(t *testing.T, spec event.Server, network host.Network) (*rig, *hookServer) {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), spec: spec, net: network}
	s := &hookServer{t: t, rig: r}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	s.url = web.URL
	r.url = web.URL + "/mcp"
	r.open()
	return r, s
}

// subscribedHookRig is a hookRig with a subscription by webhook.
func subscribedHookRig(t *testing.T, spec event.Server) (*rig, *hookServer, event.Subscription) {
	t.Helper()
	r, s := hookRig(t, spec)
	sub, err := r.host.Subscribe(r.ctx(), r.tick())
	if err != nil {
		t.Fatal(err)
	}
	return r, s, sub
}

// callback returns the callback of the newest subscribe.
func (s *hookServer) callback() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hook
}

// wrongSecret is one that the host did not give to the server.
var wrongSecret = event.NewSecret("whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz")

// signWith has deliveries signed with another secret, and returns the one before.
func (s *hookServer) signWith(secret event.Secret) (before event.Secret) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, s.secret = s.secret, secret
	return before
}

// ServeHTTP implements [http.Handler].
func (s *hookServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == receiver.WellKnownKeys {
		s.serveKeys(w)
		return
	}
	m, ok := mcptest.Read(w, r)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	result := mcptest.NoMethod
	switch {
	case m.Method == "server/discover":
		result = mcptest.Discovered("hooks")
	case m.Method == "events/list":
		result = `"result":{"events":[{"name":"load.tick","delivery":["webhook"]}]}`
	case s.refuse:
		result = `"error":{"code":-32603,"message":"not now"}`
	case m.Method == "events/subscribe":
		s.hook, s.secret = m.Params.Delivery.URL, event.NewSecret(m.Params.Delivery.Secret)
		result = fmt.Sprintf(`"result":{"id":"remote","refreshBefore":%q,"cursor":null}`, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	case m.Method == "events/unsubscribe":
		s.ended = append(s.ended, m.Params.Delivery.URL)
		result = `"result":{}`
	}
	m.Answer(w, result)
}

func (s *hookServer) serveKeys(w http.ResponseWriter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if s.keys == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	var keys []string
	for _, k := range s.keys {
		keys = append(keys, fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","x":%q}`, base64.RawURLEncoding.EncodeToString(k)))
	}
	fmt.Fprintf(w, `{"keys":[%s]}`, strings.Join(keys, ","))
}

// deliver sends a delivery with the given id and body, signed by the secret and,
// if there is one, a key of the server. It returns the status.
func (s *hookServer) deliver(id, body string, key ed25519.PrivateKey) int {
	s.t.Helper()
	s.mu.Lock()
	hook, secret := s.hook, s.secret
	s.mu.Unlock()
	return s.deliverTo(hook, secret, id, body, key)
}

func (s *hookServer) deliverTo(hook string, secret event.Secret, id, body string, key ed25519.PrivateKey) int {
	s.t.Helper()
	client := s.rig.client()
	defer client.CloseIdleConnections()
	return s.rig.send(client, hook, secret, key, id, body)
}

func occurrence(id string) string {
	return fmt.Sprintf(`{"eventId":%q,"name":"load.tick","timestamp":"2026-02-19T16:00:00Z","data":{"id":%q}}`, id, id)
}

func (r *rig) tick() host.Request {
	return host.Request{Server: "pager", Type: trust.Untrusted("load.tick"), Mode: event.ModeWebhook}
}

// eventually waits until ok returns true.
func (r *rig) eventually(what string, ok func() bool) {
	r.t.Helper()
	deadline := time.After(patience)
	for !ok() {
		select {
		case <-deadline:
			r.t.Fatalf("%s did not happen", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}
