package eventserver_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eventdeck/host/eventserver"
	"eventdeck/host/mcptest"
	"eventdeck/host/wire"
)

func writeCertificate(t *testing.T, file string, srv *httptest.Server) {
	t.Helper()
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if err := os.WriteFile(file, block, 0o600); err != nil {
		t.Fatal(err)
	}
}

// isRefused checks the name of a refusal, and a member of its data.
func isRefused(t *testing.T, what string, f *eventserver.Refusal, name wire.Name, detail, value string) {
	t.Helper()
	if f == nil || f.Name != name || detail != "" && f.Data[detail] != value {
		t.Errorf("%s: %+v, want %s with %s %q", what, f, name, detail, value)
	}
}

func TestHookRequestsAreChecked(t *testing.T) {
	for what, c := range map[string]struct{ params, field string }{
		"no delivery":     {`{}`, "delivery.url"},
		"not an object":   {`[]`, "params"},
		"another mode":    {`{"delivery":{"mode":"push","url":"https://x.example/"}}`, "delivery.mode"},
		"http":            {`{"delivery":{"url":"http://x.example/"}}`, "delivery.url"},
		"no host":         {`{"delivery":{"url":"https:///x"}}`, "delivery.url"},
		"a user":          {`{"delivery":{"url":"https://u:p@x.example/"}}`, "delivery.url"},
		"a fragment":      {`{"delivery":{"url":"https://x.example/#f"}}`, "delivery.url"},
		"no address":      {`{"delivery":{"url":"https://[::1"}}`, "delivery.url"},
		"a file":          {`{"delivery":{"url":"file:///etc/passwd"}}`, "delivery.url"},
		"good":            {`{"delivery":{"url":"https://x.example/hook?k=1"}}`, ""},
		"good, with mode": {`{"delivery":{"mode":"webhook","url":"https://x.example/"}}`, ""},
	} {
		_, f := eventserver.ReadHookRequest(json.RawMessage(c.params), "someone")
		if c.field != "" {
			isRefused(t, what, f, wire.InvalidParams, "field", c.field)
		} else if f != nil {
			t.Errorf("%s: %+v", what, f)
		}
	}
	_, f := eventserver.ReadHookRequest(json.RawMessage(`{"delivery":{"url":"https://x.example/"}}`), "")
	isRefused(t, "anonymous", f, wire.Forbidden, "reason", "unauthenticated")
	for _, secret := range []string{"", "whsec_", "whsec_c2hvcnQ=", "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"} {
		var p eventserver.HookRequest
		p.Delivery.Secret = secret
		_, f := p.Secret()
		isRefused(t, secret, f, wire.InvalidParams, "field", "delivery.secret")
	}
}

func TestLeasesAreBounded(t *testing.T) {
	const most = 10 * time.Minute
	for ttl, want := range map[string]time.Duration{
		``: most, `null`: most, `60000`: time.Minute, `0`: time.Second, `-1e300`: time.Second, `1e300`: most, `1500.7`: 1500 * time.Millisecond,
	} {
		if got, f := (eventserver.HookRequest{TTL: json.RawMessage(ttl)}).Lease(most); f != nil || got != want {
			t.Errorf("ttlMs %s: %v, %+v, want %v", ttl, got, f, want)
		}
	}
	for _, ttl := range []string{`"60000"`, `true`, `{}`} {
		_, f := eventserver.HookRequest{TTL: json.RawMessage(ttl)}.Lease(most)
		isRefused(t, ttl, f, wire.InvalidParams, "field", "ttlMs")
	}
}

// fakeHook is a subscription that delivers nothing.
type fakeHook struct {
	stop    chan struct{}
	once    sync.Once
	over    atomic.Bool
	granted int
}

func (k *fakeHook) Run(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-k.stop:
	}
	k.over.Store(true)
}

func (k *fakeHook) IsOver() bool { return k.over.Load() }
func (k *fakeHook) Stop()        { k.once.Do(func() { close(k.stop) }) }

// hookServer has webhook subscriptions that deliver to a callback of the test.
type hookServer struct {
	t *testing.T
	*eventserver.Hooks[*fakeHook]
	callback *mcptest.Callback
	end      context.CancelFunc
}

func newHookServer(t *testing.T) *hookServer {
	t.Helper()
	c := mcptest.NewCallback(t)
	h := eventserver.NewHooks[*fakeHook](eventserver.NewVerifier(rand.Reader))
	h.Sender, h.Longest, h.Most = eventserver.NewSender(true, c.CA, 1), time.Hour, 2
	ctx, cancel := context.WithCancel(context.Background())
	h.Begin(ctx)
	t.Cleanup(func() {
		cancel()
		h.Wait()
	})
	return &hookServer{t, h, c, cancel}
}

func (s *hookServer) params() json.RawMessage {
	s.t.Helper()
	raw, err := json.Marshal(map[string]any{"delivery": s.callback.Delivery()})
	if err != nil {
		s.t.Fatal(err)
	}
	return raw
}

// of returns what Check and Unsubscribe resolve a request to.
func of(name string) func() (string, string, *eventserver.Refusal) {
	return func() (string, string, *eventserver.Refusal) { return name, "{}", nil }
}

// subscribe answers a request for a type. hook is the subscription, fresh whether it was made.
func (s *hookServer) subscribe(principal, name string) (hook *fakeHook, fresh bool, f *eventserver.Refusal) {
	s.t.Helper()
	asked, f := s.Check(s.t.Context(), s.params(), principal, of(name))
	if f != nil {
		return nil, false, f
	}
	_, f = s.Grant(asked, func() *fakeHook { return &fakeHook{stop: make(chan struct{})} }, func(k *fakeHook, isFresh bool) map[string]any {
		hook, fresh = k, isFresh
		k.granted++
		return map[string]any{}
	})
	return hook, fresh, f
}

func TestSubscribingRefreshingAndEnding(t *testing.T) {
	s := newHookServer(t)
	hook, fresh, f := s.subscribe("a", "x")
	if f != nil || !fresh {
		t.Fatalf("%t, %+v", fresh, f)
	}
	if d := <-s.callback.Got; d.Kind != "verification" || d.Sub != eventserver.HookID("a", s.callback.URL, "x", "{}") {
		t.Errorf("verified by %+v", d)
	}
	again, fresh, f := s.subscribe("a", "x")
	if f != nil || fresh || again != hook || hook.granted != 2 || len(s.callback.Got) > 0 {
		t.Errorf("refreshed: %+v, fresh %t, %+v, %d further requests", again, fresh, f, len(s.callback.Got))
	}
	// Principals do not see each other's subscriptions.
	if _, f := s.Unsubscribe(s.params(), "b", of("x")); f == nil {
		t.Error("another principal ended it")
	}
	if _, f := s.Unsubscribe(s.params(), "a", of("x")); f != nil {
		t.Errorf("unsubscribe: %+v", f)
	}
	<-hook.stop
	_, f = s.Unsubscribe(s.params(), "a", of("x"))
	isRefused(t, "again", f, wire.NotFound, "kind", "subscription")
	if next, fresh, f := s.subscribe("a", "x"); f != nil || !fresh || next == hook {
		t.Errorf("after its end: fresh %t, %+v", fresh, f)
	}
}

// A subscription that has just ended is replaced, though its worker may not have returned.
func TestEndedSubscriptionsAreReplaced(t *testing.T) {
	s := newHookServer(t)
	first, _, _ := s.subscribe("a", "x")
	first.over.Store(true)
	if next, fresh, f := s.subscribe("a", "x"); f != nil || !fresh || next == first {
		t.Errorf("fresh %t, %+v", fresh, f)
	}
	first.Stop() // its worker must not remove the new one
}

func TestSubscriptionsOfAPrincipalAreBounded(t *testing.T) {
	s := newHookServer(t)
	for _, name := range []string{"x", "y"} {
		if _, _, f := s.subscribe("a", name); f != nil {
			t.Fatal(f)
		}
	}
	for len(s.callback.Got) > 0 {
		<-s.callback.Got
	}
	s.Verifier.Forget("a", s.callback.URL)
	_, _, f := s.subscribe("a", "z")
	isRefused(t, "one more", f, wire.ResourceExhausted, "limit", "subscriptions")
	if f != nil && f.Data["max"] != 2 || len(s.callback.Got) > 0 {
		t.Errorf("%+v; %d requests were made for it", f, len(s.callback.Got))
	}
	if _, _, f := s.subscribe("a", "y"); f != nil {
		t.Errorf("a refresh at the bound: %+v", f)
	}
	if _, _, f := s.subscribe("b", "z"); f != nil {
		t.Errorf("another principal: %+v", f)
	}
}

func TestSubscribeIsRefusedAfterTheEnd(t *testing.T) {
	s := newHookServer(t)
	s.end()
	_, _, f := s.subscribe("a", "x")
	isRefused(t, "after the end", f, wire.CallbackEndpointError, "reason", "connection_refused")
}

// Errors in a request are found before anything is sent.
func TestNothingIsSentForABadRequest(t *testing.T) {
	s := newHookServer(t)
	for what, c := range map[string]struct {
		delivery map[string]any
		ttl      any
		resolve  func() (string, string, *eventserver.Refusal)
		name     wire.Name
	}{
		"secret": {map[string]any{"url": s.callback.URL, "secret": "whsec_"}, nil, of("x"), wire.InvalidParams},
		"lease":  {s.callback.Delivery(), "long", of("x"), wire.InvalidParams},
		"type": {s.callback.Delivery(), nil, func() (string, string, *eventserver.Refusal) {
			return "", "", eventserver.Refuse(wire.NotFound, "no such type", nil)
		}, wire.NotFound},
	} {
		params, err := json.Marshal(map[string]any{"delivery": c.delivery, "ttlMs": c.ttl})
		if err != nil {
			t.Fatal(err)
		}
		_, f := s.Check(t.Context(), params, "a", c.resolve)
		isRefused(t, what, f, c.name, "", "")
	}
	if len(s.callback.Got) > 0 {
		t.Errorf("sent %+v", <-s.callback.Got)
	}
}

// A callback proves that it wants deliveries with the echo of a random challenge.
func TestVerifierDemandsTheEcho(t *testing.T) {
	c := mcptest.NewCallback(t)
	sender, v := newSender(t, c.CA), eventserver.NewVerifier(rand.Reader)
	verify := func() *eventserver.Refusal {
		return v.Verify(t.Context(), sender, "sub_1", "a", c.URL, c.Secret())
	}
	for what, answer := range map[string]func(w http.ResponseWriter, challenge string){
		"nothing":            func(http.ResponseWriter, string) {},
		"another text":       func(w http.ResponseWriter, _ string) { fmt.Fprint(w, "hello") },
		"another challenge":  func(w http.ResponseWriter, ch string) { fmt.Fprintf(w, `{"challenge":%q}`, ch[1:]+"0") },
		"an empty challenge": func(w http.ResponseWriter, _ string) { fmt.Fprint(w, `{"challenge":""}`) },
		"null":               func(w http.ResponseWriter, _ string) { fmt.Fprint(w, `null`) },
		"the echo and no":    func(w http.ResponseWriter, ch string) { w.WriteHeader(403); fmt.Fprintf(w, `{"challenge":%q}`, ch) },
		"the echo elsewhere": func(w http.ResponseWriter, ch string) {
			w.Header().Set("Location", "/")
			w.WriteHeader(302)
			fmt.Fprintf(w, `{"challenge":%q}`, ch)
		},
		"the echo and failure": func(w http.ResponseWriter, ch string) { w.WriteHeader(500); fmt.Fprintf(w, `{"challenge":%q}`, ch) },
	} {
		c.Challenge(answer)
		isRefused(t, what, verify(), wire.CallbackEndpointError, "reason", "challenge_failed")
	}
	c.Challenge(nil)
	if f := verify(); f != nil {
		t.Fatalf("the echo: %+v", f)
	}
	seen := map[any]bool{}
	for len(c.Got) > 0 {
		d := <-c.Got
		if challenge := d.Body["challenge"]; seen[challenge] || len(challenge.(string)) < 32 {
			t.Errorf("challenge %v", challenge)
		} else {
			seen[challenge] = true
		}
	}
	c.Challenge(func(http.ResponseWriter, string) { t.Error("it was verified again") })
	if f := verify(); f != nil {
		t.Error(f)
	}
	c.Challenge(nil)
	if v.Forget("a", c.URL); verify() != nil || len(c.Got) != 1 {
		t.Errorf("once it is forgotten: %d requests", len(c.Got))
	}
	<-c.Got
	if v.Verify(t.Context(), sender, "sub_1", "b", c.URL, c.Secret()); len(c.Got) != 1 {
		t.Error("what one principal proved holds for another")
	}
}

// A forbidden address is refused like one where no server listens.
func TestVerifierGivesTheReasonWithoutTheResponse(t *testing.T) {
	c := mcptest.NewCallback(t)
	public := eventserver.NewSender(false, c.CA, 1)
	defer public.Close()
	v := eventserver.NewVerifier(rand.Reader)
	for _, url := range []string{c.URL, "https://10.0.0.1/", "https://169.254.169.254/latest/meta-data", "https://[fe80::1]/"} {
		isRefused(t, url, v.Verify(t.Context(), public, "s", "a", url, c.Secret()), wire.CallbackEndpointError, "reason", "connection_refused")
	}
	c.Challenge(func(w http.ResponseWriter, _ string) { fmt.Fprint(w, "internal: password hunter2") })
	f := v.Verify(t.Context(), newSender(t, c.CA), "s", "a", c.URL, c.Secret())
	isRefused(t, "another answer", f, wire.CallbackEndpointError, "reason", "challenge_failed")
	if len(f.Data) != 1 {
		t.Errorf("data %v", f.Data)
	}
}

// A verification that waits for a slot ends with its request.
func TestConcurrentVerificationsAreBounded(t *testing.T) {
	c := mcptest.NewCallback(t)
	hold, begun := make(chan struct{}), make(chan struct{}, 8)
	srv := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		begun <- struct{}{}
		<-hold
	}))
	defer srv.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	writeCertificate(t, file, srv)
	sender, v := newSender(t, file), eventserver.NewVerifier(rand.Reader)
	var under sync.WaitGroup
	for i := range 8 {
		under.Go(func() { v.Verify(t.Context(), sender, "s", fmt.Sprint(i), srv.URL, c.Secret()) })
	}
	for range 8 {
		<-begun
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	isRefused(t, "the ninth", v.Verify(ctx, sender, "s", "9", srv.URL, c.Secret()), wire.CallbackEndpointError, "reason", "timeout")
	close(hold)
	under.Wait()
}

func TestHookIDsFollowFromTheirKeys(t *testing.T) {
	id := eventserver.HookID("a", "https://x/", "t", "{}")
	if id != eventserver.HookID("a", "https://x/", "t", "{}") || len(id) != len("sub_")+24 {
		t.Errorf("id %q", id)
	}
	seen := map[string]bool{id: true}
	for _, key := range [][4]string{{"b", "https://x/", "t", "{}"}, {"a", "https://y/", "t", "{}"}, {"a", "https://x/", "u", "{}"}, {"a", "https://x/", "t", `{"a":1}`}, {"", "ahttps://x/", "t", "{}"}} {
		other := eventserver.HookID(key[0], key[1], key[2], key[3])
		if seen[other] {
			t.Errorf("%v has the id of another key", key)
		}
		seen[other] = true
	}
}

// The memory of verifications is bounded: a principal could verify any number of addresses.
func TestVerifiedCallbacksAreBounded(t *testing.T) {
	c := mcptest.NewCallback(t)
	sender, v := newSender(t, c.CA), eventserver.NewVerifier(rand.Reader)
	const most = 1_000
	verifyAll := func(n int) (challenges int) {
		for i := range n {
			if f := v.Verify(t.Context(), sender, "s", "a", fmt.Sprintf("%s?%d", c.URL, i), c.Secret()); f != nil {
				t.Fatal(f)
			}
		}
		challenges = len(c.Got)
		for len(c.Got) > 0 {
			<-c.Got
		}
		return challenges
	}
	if n := verifyAll(most); n != most {
		t.Errorf("%d of %d were verified", n, most)
	}
	if n := verifyAll(most); n != 0 {
		t.Errorf("%d of %d were forgotten", n, most)
	}
	verifyAll(most + 1)
	if n := verifyAll(most + 1); n == 0 {
		t.Errorf("%d are remembered", most+1)
	}
}
