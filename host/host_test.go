package host_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"eventdeck/host"
	"eventdeck/host/delivery"
	"eventdeck/host/demo"
	"eventdeck/host/event"
	"eventdeck/host/receiver"
	"eventdeck/host/trust"
	"eventdeck/store"
	"eventdeck/store/seal"
)

func TestMain(m *testing.M) {
	if os.Getenv(bridgePager) != "" {
		os.Exit(serveBridge())
	}
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

// rig is a host on a real store, and a pager on loopback.
type rig struct {
	t     *testing.T
	dir   string
	url   string
	store *store.Store
	host  *host.Host
	spec  event.Server // of the server that is added; its URL is that of the rig
	later atomic.Int64 // how far the host's clock is ahead

	limits host.Limits
	net    host.Network
	random io.Reader // nil: crypto/rand
}

const patience = time.Minute

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir()}
	r.url = r.pager("127.0.0.1:0")
	r.open()
	return r
}

// pager serves until the test ends.
func (r *rig) pager(addr string) string {
	r.t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		r.t.Fatal(err)
	}
	p, err := demo.NewPager(demo.PagerOptions{ServerOptions: demo.ServerOptions{Rate: 200, Speed: 20, CAFile: filepath.Join(r.dir, "ca", "ca.pem"), Stderr: io.Discard}, NextPoll: 50 * time.Millisecond})
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Serve(ctx, l) }()
	r.t.Cleanup(func() {
		cancel()
		<-done
	})
	return "http://" + l.Addr().String() + demo.PagerPath
}

func (r *rig) open() {
	r.t.Helper()
	s, err := store.Open(context.Background(), store.Options{Dir: filepath.Join(r.dir, "data"), Keyring: seal.NoKeyring()})
	if err != nil {
		r.t.Fatal(err)
	}
	h, err := host.New(host.Options{
		Store: s, CADir: filepath.Join(r.dir, "ca"), Limits: r.limits,
		Now:     func() time.Time { return time.Now().Add(time.Duration(r.later.Load())) },
		Timing:  delivery.Timing{PollFloor: 50 * time.Millisecond, BackoffMin: 20 * time.Millisecond},
		Network: r.net, Random: r.random,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.spec.Name, r.spec.URL = "pager", r.url
	h.AddServer(r.spec)
	r.store, r.host = s, h
	r.t.Cleanup(r.close)
}

func (r *rig) close() {
	if err := errors.Join(r.host.Close(), r.store.Close()); err != nil {
		r.t.Error(err)
	}
}

func (r *rig) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	r.t.Cleanup(cancel)
	return ctx
}

func (r *rig) subscribe(mode event.Mode, from host.From) event.Subscription {
	r.t.Helper()
	sub, err := r.host.Subscribe(r.ctx(), host.Request{Server: "pager", Type: trust.Untrusted("load.tick"), Mode: mode, From: from})
	if err != nil {
		r.t.Fatalf("subscribe by %s: %v", mode, err)
	}
	return sub
}

// await waits until the snapshot shows what is wanted.
func (r *rig) await(what string, ok func(host.Snapshot) bool) host.Snapshot {
	r.t.Helper()
	changed, stop := r.host.Changed()
	defer stop()
	deadline := time.After(patience)
	for {
		snap := r.host.Snapshot()
		if ok(snap) {
			return snap
		}
		select {
		case <-changed:
		case <-deadline:
			r.t.Fatalf("%s did not happen: %+v", what, snap.Subs)
		}
	}
}

func (r *rig) awaitStored(n uint64) host.Snapshot {
	r.t.Helper()
	return r.await("storing", func(s host.Snapshot) bool { return len(s.Subs) == 1 && s.Subs[0].Stored >= n })
}

// ids returns the event ids of the log in order and how many gaps there are.
func (r *rig) ids() (ids []string, gaps int) {
	r.t.Helper()
	seen := map[string]bool{}
	err := r.store.Forward(1, func(rec event.Record) bool {
		switch rec.Kind {
		case event.KindEvent:
			id := rec.EventID.Raw()
			if seen[id] {
				r.t.Errorf("%s is stored twice", id)
			}
			seen[id] = true
			ids = append(ids, id)
		case event.KindGap:
			gaps++
		}
		return true
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return ids, gaps
}

// While the sealing key cannot be had, what needs no secret runs, and a webhook waits and keeps its
// secret. It continues by itself once the key is back, without a gap.
func TestLockedSecretsDelayOnlyWhatNeedsThem(t *testing.T) {
	r := newRig(t)
	r.subscribe(event.ModeWebhook, host.From{})
	r.awaitStored(3)
	before := r.host.Snapshot().Subs[0].Hook
	key, aside := filepath.Join(r.dir, "data", seal.FileKey), filepath.Join(r.dir, "key")
	r.close()
	if err := os.Rename(key, aside); err != nil {
		t.Fatal(err)
	}
	r.open()
	snap := r.await("waiting", func(s host.Snapshot) bool { return len(s.Subs) == 1 && s.Subs[0].Status.Reason == event.ReasonLocked })
	if v := snap.Subs[0]; !errors.Is(snap.Store.Locked, event.ErrKeyLocked) || !strings.Contains(v.Status.Error.Raw(), key) || !v.Running {
		t.Errorf("%v, %+v", snap.Store.Locked, v.Status)
	}
	if err := r.host.RotateSecret(r.ctx(), snap.Subs[0].ID); !errors.Is(err, event.ErrKeyLocked) {
		t.Errorf("a new secret: %v", err)
	}
	other, err := r.host.Subscribe(r.ctx(), host.Request{Server: "pager", Type: trust.Untrusted("incident.changed"), Mode: event.ModePoll})
	if err != nil || other.ID == snap.Subs[0].ID {
		t.Errorf("a subscription that needs no secret: %v", err)
	}
	if err := os.Rename(aside, key); err != nil {
		t.Fatal(err)
	}
	snap = r.await("going on", func(s host.Snapshot) bool { return s.Subs[0].Status.State == event.StateLive && s.Subs[0].Stored > 3 })
	if v := snap.Subs[0]; v.Hook.Secret != before.Secret || snap.Store.Locked != nil {
		t.Errorf("another secret %t, %v", v.Hook.Secret != before.Secret, snap.Store.Locked)
	}
	if _, gaps := r.ids(); gaps != 0 {
		t.Errorf("%d gaps", gaps)
	}
}

func TestEachModeStoresAndResumes(t *testing.T) {
	for _, mode := range []event.Mode{event.ModePush, event.ModePoll, event.ModeWebhook} {
		t.Run(string(mode), func(t *testing.T) {
			r := newRig(t)
			sub := r.subscribe(mode, host.From{})
			r.awaitStored(20)
			before := r.store.Last()
			r.close()

			r.open() // starts the stored subscriptions
			snap := r.awaitStored(20)
			if snap.Subs[0].ID != sub.ID || snap.Subs[0].Mode != mode {
				t.Errorf("resumed %s %s, want %s %s", snap.Subs[0].ID, snap.Subs[0].Mode, sub.ID, mode)
			}
			// Deliveries may be ahead of the answer to the subscribe, and so of the marker.
			r.await("a marker that says delivery was resumed", func(host.Snapshot) bool {
				found := false
				err := r.host.Log().After(before, func(rec event.Record) bool {
					found = rec.Kind == event.KindState && rec.State.State == event.StateResumed
					return !found
				})
				if err != nil {
					t.Fatal(err)
				}
				return found
			})
			if _, gaps := r.ids(); gaps != 0 {
				t.Errorf("%d gaps, want none", gaps)
			}
		})
	}
}

func TestModeSwitchKeepsTheCursor(t *testing.T) {
	r := newRig(t)
	for _, mode := range []event.Mode{event.ModePoll, event.ModePush, event.ModeWebhook, event.ModePoll} {
		n := r.host.Snapshot()
		want := uint64(10)
		if len(n.Subs) > 0 {
			want += n.Subs[0].Stored
		}
		r.subscribe(mode, host.From{Saved: true})
		r.awaitStored(want)
	}
	if _, gaps := r.ids(); gaps != 0 {
		t.Errorf("%d gaps, want none", gaps)
	}
}

func TestAutoKeepsTheSavedMode(t *testing.T) {
	r := newRig(t)
	r.subscribe(event.ModePoll, host.From{})
	if sub := r.subscribe(event.ModeAuto, host.From{Saved: true}); sub.Mode != event.ModePoll {
		t.Errorf("goes on by %s, want poll as before", sub.Mode)
	}
	if sub := r.subscribe(event.ModeAuto, host.From{}); sub.Mode != event.ModePush {
		t.Errorf("begins anew by %s, want push", sub.Mode)
	}
}

func TestPauseKeepsThePosition(t *testing.T) {
	r := newRig(t)
	sub := r.subscribe(event.ModePush, host.From{})
	r.awaitStored(5)
	if err := r.host.Pause(r.ctx(), sub.ID); err != nil {
		t.Fatal(err)
	}
	snap := r.host.Snapshot()
	if snap.Subs[0].Status.State != event.StatePaused {
		t.Errorf("state %s, want paused", snap.Subs[0].Status.State)
	}
	last := r.store.Last()
	if err := r.host.Resume(r.ctx(), sub.ID); err != nil {
		t.Fatal(err)
	}
	snap = r.await("going on", func(host.Snapshot) bool { return r.store.Last() > last+5 })
	if stored := snap.Subs[0].State; stored != event.StateLive {
		t.Errorf("stored as %s, want live", stored)
	}
	if _, gaps := r.ids(); gaps != 0 {
		t.Errorf("%d gaps, want none", gaps)
	}
}

func TestUnsubscribeEndsThePath(t *testing.T) {
	r := newRig(t)
	sub := r.webhook(3)
	if err := r.host.Unsubscribe(r.ctx(), sub.ID); err != nil {
		t.Fatal(err)
	}
	if n := len(r.host.Snapshot().Subs); n != 0 {
		t.Fatalf("%d subscriptions are left", n)
	}
	if got := r.deliver(sub.Hook.URL); got != http.StatusGone {
		t.Errorf("a delivery to the removed path is answered %d, want 410", got)
	}
	if got := r.deliver(strings.TrimSuffix(sub.Hook.URL, sub.Hook.Path) + "/hooks/unknown"); got != http.StatusNotFound {
		t.Errorf("a delivery to an unknown path is answered %d, want 404", got)
	}
	r.await("noting the refusals", func(host.Snapshot) bool { return len(r.host.Refusals()) >= 2 })
}

// deliver posts a delivery with a wrong signature and returns the status.
func (r *rig) deliver(url string) int {
	r.t.Helper()
	client := r.client()
	defer client.CloseIdleConnections()
	return r.post(client, url)
}

func (r *rig) post(client *http.Client, url string) int {
	r.t.Helper()
	secret, err := event.NewWebhookSecret(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.deliverAs(client, url, secret, "x")
}

// deliverAs posts an event signed with a secret and returns the status.
func (r *rig) deliverAs(client *http.Client, url string, secret event.Secret, id string) int {
	r.t.Helper()
	body := fmt.Sprintf(`{"eventId":%q,"name":"load.tick","timestamp":"2026-01-01T00:00:00Z","data":{"n":0}}`, id)
	return r.send(client, url, secret, nil, id, body)
}

// send posts a delivery that is signed with a secret and, unless it is nil, a key of the server, at
// the time of the host's clock. It returns the status.
func (r *rig) send(client *http.Client, url string, secret event.Secret, key ed25519.PrivateKey, id, body string) int {
	r.t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	now := time.Now().Add(time.Duration(r.later.Load()))
	sig, err := receiver.Sign(secret, id, now, []byte(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if key != nil {
		sig += " " + receiver.SignWithKey(key, id, now.Unix(), []byte(body))
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", receiver.HeaderID: id, receiver.HeaderTimestamp: unix(now), receiver.HeaderSignature: sig,
	} {
		req.Header.Set(name, value)
	}
	resp, err := client.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

func TestErrorsNameWhatIsWrong(t *testing.T) {
	r := newRig(t)
	cases := []struct {
		name string
		req  host.Request
		want error
		says string
	}{
		{"unknown server", host.Request{Server: "nobody"}, host.ErrUnknownServer, "nobody"},
		{"unknown type", host.Request{Server: "pager", Type: trust.Untrusted("no.such")}, host.ErrUnknownType, "no.such"},
		{"misspelled type", host.Request{Server: "pager", Type: trust.Untrusted("laod.tick")}, host.ErrUnknownType, `"laod.tick" at pager; did you mean "load.tick"?`},
		{"mode that the type lacks", host.Request{Server: "pager", Type: trust.Untrusted("page.sent"), Mode: event.ModePush}, host.ErrMode, "webhook"},
		{"mode that is none", host.Request{Server: "pager", Type: trust.Untrusted("load.tick"), Mode: "smoke"}, host.ErrMode, "smoke"},
		{"arguments that are no object", host.Request{Server: "pager", Type: trust.Untrusted("load.tick"), Args: []byte(`[1]`)}, host.ErrArguments, "object"},
		{"arguments twice", host.Request{Server: "pager", Type: trust.Untrusted("load.tick"), Args: []byte(`{"a":1,"a":2}`)}, host.ErrArguments, "duplicate"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := r.host.Subscribe(r.ctx(), c.req)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %v that says %q", err, c.want, c.says)
			}
		})
	}
	if n := len(r.host.Snapshot().Subs); n != 0 {
		t.Errorf("%d subscriptions stand after refused requests", n)
	}
}

// A cursor that the server refuses or does not know leaves a gap, never silence.
func TestForeignCursorLeavesAGap(t *testing.T) {
	for _, mode := range []event.Mode{event.ModePush, event.ModePoll, event.ModeWebhook} {
		t.Run(string(mode), func(t *testing.T) {
			r := newRig(t)
			r.subscribe(mode, host.From{Cursor: event.At(trust.Untrusted("of-another-run.5"))})
			r.awaitStored(3)
			// A delivery can come before the answer that tells of the gap.
			r.await("a gap record", func(host.Snapshot) bool { _, gaps := r.ids(); return gaps > 0 })
		})
	}
}

// A server whose description cannot be used is shown with its fault, and the others work.
func TestFaultyServerIsShown(t *testing.T) {
	r := newRig(t)
	fault := errors.New("needs ${TOKEN}, which is not set")
	r.host.AddServer(event.Server{Name: "broken", Fault: fault})
	if _, err := r.host.Connected(r.ctx(), "broken", true); !errors.Is(err, fault) {
		t.Errorf("got %v, want the fault", err)
	}
	snap := r.await("both servers", func(s host.Snapshot) bool { return len(s.Servers) == 2 && s.Servers[0].Reach == host.ReachReady })
	if v := snap.Servers[1]; v.Reach != host.ReachFault || !strings.Contains(v.Err, "TOKEN") || !v.NextTry.IsZero() {
		t.Errorf("shown as %s, %q, next try %v", v.Reach, v.Err, v.NextTry)
	}
}

func TestUnreachableServerIsReportedAtOnce(t *testing.T) {
	r := newRig(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	r.host.AddServer(event.Server{Name: "gone", URL: "http://" + addr + "/mcp"})
	_, err = r.host.Connected(r.ctx(), "gone", true)
	if !errors.Is(err, host.ErrUnreachable) {
		t.Fatalf("got %v, want ErrUnreachable", err)
	}
	r.await("showing the failure", func(s host.Snapshot) bool {
		return len(s.Servers) == 2 && s.Servers[1].Reach == host.ReachBackoff && s.Servers[1].Err != "" && !s.Servers[1].NextTry.IsZero()
	})
}
