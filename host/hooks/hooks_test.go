package hooks_test

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/hooks"
	"eventdeck/host/receiver"
	"eventdeck/host/redact"
	"eventdeck/host/session"
	"eventdeck/host/trust"
	"eventdeck/store/storetest"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// world holds the dependencies of a service: a store with the subscription "a" at /hooks/a, and
// a clock that a test sets.
type world struct {
	t      *testing.T
	deps   hooks.Deps
	server event.Server

	mu       sync.Mutex
	now      time.Time
	notes    []string
	refusals int
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, now: noon, server: event.Server{Name: "pager"}}
	s := storetest.Open(t)
	w.deps = hooks.Deps{
		PlainHTTP: true, Connections: 8, BadRate: 100,
		Store: s, Secrets: &redact.Set{}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Now: func() time.Time { w.mu.Lock(); defer w.mu.Unlock(); return w.now },
		Server: func(name string) (event.Server, error) {
			if name != "pager" {
				return event.Server{}, fmt.Errorf("no server %q", name)
			}
			return w.server, nil
		},
		Runner:     func(event.SubID) *delivery.Runner { return nil },
		Refused:    func(event.Refusal) { w.mu.Lock(); defer w.mu.Unlock(); w.refusals++ },
		Accepted:   func(event.SubID) {},
		KeepStates: func(context.Context) time.Duration { return 0 },
		Note: func(_ context.Context, e event.AuditEntry) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.notes = append(w.notes, e.Action+": "+e.Detail.Raw())
		},
		Changed: func() {},
		Backoff: func() delivery.Backoff { return &session.Backoff{} },
	}
	w.update(func(sub *event.Subscription) {
		sub.Key = event.Key{Server: "pager", Type: trust.Untrusted("incident.created")}
		sub.Hook = event.Hook{Path: "/hooks/a", Secret: event.NewSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")}
	})
	return w
}

// update changes the subscription, or removes it if the operator ended it.
func (w *world) update(fn func(*event.Subscription), ended ...event.Ended) {
	w.t.Helper()
	storetest.Commit(w.t, w.deps.Store, event.Batch{Sub: "a", Update: fn, Ended: ended, Remove: len(ended) > 0 && ended[0].Removed})
}

func (w *world) pass(d time.Duration) { w.mu.Lock(); w.now = w.now.Add(d); w.mu.Unlock() }

func (w *world) noted(action string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, note := range w.notes {
		if strings.HasPrefix(note, action+":") {
			n++
		}
	}
	return n
}

// serve runs a service until stop is called, which the end of the test does too.
func (w *world) serve() (s *hooks.Service, stop func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s = hooks.New(ctx, w.deps)
	var running sync.WaitGroup
	running.Go(s.Run)
	stop = sync.OnceFunc(func() {
		if err := s.Close(); err != nil {
			w.t.Error(err)
		}
		cancel()
		running.Wait()
	})
	w.t.Cleanup(stop)
	return s, stop
}

func (w *world) post(url, body string) int {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		w.t.Error(err)
	}
	return resp.StatusCode
}

// A lease outlives a restart: the receiver takes the address of the last run again.
func TestReceiverKeepsItsAddressOverARestart(t *testing.T) {
	w := newWorld(t)
	s, stop := w.serve()
	if got := s.Expected(); got != "http://127.0.0.1:…" || s.Listening() != "" {
		t.Errorf("before it is needed: %s, listening %q", got, s.Listening())
	}
	url, err := s.Callback("/hooks/a", "a")
	if err != nil || url != "http://"+s.Listening()+"/hooks/a" {
		t.Fatalf("%s, %v", url, err)
	}
	if again, err := s.Callback("/hooks/a", "a"); err != nil || again != url {
		t.Errorf("%s the second time, %v", again, err)
	}
	stop()
	if _, err := s.Callback("/hooks/a", "a"); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("after it was closed: %v", err)
	}
	next, _ := w.serve()
	if got := next.Expected() + "/hooks/a"; got != url {
		t.Errorf("%s is expected, not %s", got, url)
	}
	if got, err := next.Callback("/hooks/a", "a"); err != nil || got != url {
		t.Errorf("%s after a restart, %v; want %s", got, err, url)
	}
}

func TestCallbackURLIsUsedForCallbacks(t *testing.T) {
	w := newWorld(t)
	w.deps.CallbackURL = "https://deck.example/in/"
	s, _ := w.serve()
	want := s.Expected() + "/hooks/a"
	if url, err := s.Callback("/hooks/a", "a"); err != nil || url != want || url != "https://deck.example/in/hooks/a" {
		t.Errorf("%s, %v", url, err)
	}
}

// Any sender can cause any number of refusals: the audit log gets one of a kind once in a
// while, and the counts stay correct.
func TestRefusedDeliveriesAreNoted(t *testing.T) {
	w := newWorld(t)
	s, stop := w.serve()
	url, err := s.Callback("/hooks/a", "a")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if status := w.post(url, `{}`); status/100 != 4 {
			t.Errorf("a delivery without a signature is answered %d", status)
		}
	}
	if status := w.post(url+"x", `{}`); status != http.StatusNotFound {
		t.Errorf("an unknown path is answered %d", status)
	}
	s.Altered("a", 2)
	stop() // stores everything that waits
	reasons := map[string]int{}
	for _, r := range w.deps.Store.Refusals() {
		reasons[r.Reason]++
	}
	if len(w.deps.Store.Refusals()) != 5 || reasons[receiver.ReasonChanged+" (2 events)"] != 1 || reasons[receiver.ReasonUnknownPath] != 1 {
		t.Errorf("refusals %v", reasons)
	}
	if w.refusals != 4 {
		t.Errorf("the host is told of %d refused requests, want 4", w.refusals)
	}
	if n := w.noted("delivery refused"); n != 3 { // one of a kind in 10 s
		t.Errorf("%d entries in the audit log, want 3: %v", n, w.notes)
	}
}

func TestSubscriptionThatDoesNotRunTakesNoDelivery(t *testing.T) {
	s, _ := newWorld(t).serve()
	if err := s.Deliver(t.Context(), receiver.Delivery{Sub: "a", Body: []byte("{}")}); !errors.Is(err, receiver.ErrBusy) {
		t.Errorf("error %v, want ErrBusy", err)
	}
}

// The path of a subscription that its server ended tells senders to retry for a day; the path
// of one that the operator removed is gone for good.
func TestPathsOfEndedSubscriptions(t *testing.T) {
	w := newWorld(t)
	w.update(func(sub *event.Subscription) { sub.State = event.StateEnded }, event.Ended{Path: "/hooks/a", At: w.now})
	s, _ := w.serve()
	state := func(want receiver.PathState) {
		t.Helper()
		if _, got := s.Lookup("/hooks/a"); got != want {
			t.Errorf("state %v, want %v", got, want)
		}
	}
	state(receiver.PathEnded)
	w.pass(24 * time.Hour)
	state(receiver.PathUnknown)
	w.update(nil, event.Ended{Path: "/hooks/a", At: w.now, Removed: true})
	s, _ = w.serve()
	state(receiver.PathRemoved)
	s.AddPath("/hooks/b", "b")
	s.Remove("b")
	if _, got := s.Lookup("/hooks/b"); got != receiver.PathRemoved {
		t.Errorf("a forgotten path: %v", got)
	}
}

// keyServer publishes a key, unless it is down.
type keyServer struct {
	*httptest.Server
	asked atomic.Int32
	down  atomic.Bool
	key   atomic.Value // ed25519.PublicKey
}

func newKeyServer(t *testing.T) *keyServer {
	k := &keyServer{}
	k.publish(1)
	k.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		k.asked.Add(1)
		if k.down.Load() || r.URL.Path != receiver.WellKnownKeys {
			rw.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		key, _ := k.key.Load().(ed25519.PublicKey)
		fmt.Fprintf(rw, `{"keys":[{"kty":"OKP","crv":"Ed25519","x":%q}]}`, base64.RawURLEncoding.EncodeToString(key))
	}))
	t.Cleanup(k.Close)
	return k
}

// publish replaces the key.
func (k *keyServer) publish(seed byte) {
	private := ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune('a'+seed)), ed25519.SeedSize)))
	k.key.Store(private.Public().(ed25519.PublicKey))
}

func TestKeysOfAServerArePinned(t *testing.T) {
	w, k := newWorld(t), newKeyServer(t)
	w.server = event.Server{Name: "pager", URL: k.URL + "/mcp", RequireServerKey: true}
	s, _ := w.serve()
	if entry, state := s.Lookup("/hooks/a"); state != receiver.PathKnown || !entry.KeyRequired || len(entry.Keys) != 0 {
		t.Errorf("before they are read: %v, %d keys", state, len(entry.Keys))
	}
	if err := s.Ready(t.Context(), "pager"); err != nil {
		t.Fatal(err)
	}
	entry, _ := s.Lookup("/hooks/a")
	if len(entry.Keys) != 1 || !entry.Keys[0].Equal(k.key.Load().(ed25519.PublicKey)) || !entry.KeysFresh {
		t.Errorf("%d keys, fresh %v", len(entry.Keys), entry.KeysFresh)
	}
	if w.noted("signing keys changed") != 1 {
		t.Errorf("the audit log has %v", w.notes)
	}
	asked := k.asked.Load()
	next, _ := w.serve() // another process on the same store
	if entry, _ := next.Lookup("/hooks/a"); len(entry.Keys) != 1 || k.asked.Load() != asked {
		t.Errorf("after a restart: %d keys, asked %d times", len(entry.Keys), k.asked.Load())
	}
	w.pass(8 * 24 * time.Hour)
	k.down.Store(true)
	if entry, _ := next.Lookup("/hooks/a"); len(entry.Keys) != 0 {
		t.Error("keys that are eight days old are believed")
	}
}

func TestServerKeysThatCannotBeRead(t *testing.T) {
	w, k := newWorld(t), newKeyServer(t)
	k.down.Store(true)
	w.server = event.Server{Name: "pager", URL: k.URL, RequireServerKey: true}
	s, _ := w.serve()
	for range 5 {
		if err := s.Ready(t.Context(), "pager"); !errors.Is(err, hooks.ErrServerKeys) || !strings.Contains(err.Error(), "503") {
			t.Fatalf("error %v", err)
		}
	}
	if n := k.asked.Load(); n != 1 {
		t.Errorf("asked %d times within a minute", n)
	}
	k.down.Store(false)
	w.pass(time.Minute)
	if err := s.Ready(t.Context(), "pager"); err != nil {
		t.Errorf("a minute later: %v", err)
	}
	if err := s.Ready(t.Context(), "chat"); err == nil || errors.Is(err, hooks.ErrServerKeys) {
		t.Errorf("a server that is not configured: %v", err)
	}
	for _, url := range []string{"http://pager.example", "ftp://pager.example", ""} {
		w.server.URL = url
		if err := s.Ready(t.Context(), "pager"); !errors.Is(err, hooks.ErrServerKeys) {
			t.Errorf("keys of %q: error %v", url, err)
		}
	}
}
