package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/store/storetest"
)

// states returns the evidence of the state records of a word.
func (r *rig) states(word event.State) (out []string) {
	r.t.Helper()
	err := r.store.Forward(1, func(rec event.Record) bool {
		if rec.Kind == event.KindState && rec.State.State == word {
			out = append(out, string(rec.Mode)+": "+rec.State.Evidence)
		}
		return true
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

func TestSetModeKeepsThePosition(t *testing.T) {
	r := newRig(t)
	sub := r.subscribe(event.ModePush, host.From{})
	var want []string
	was := event.ModePush
	for _, mode := range []event.Mode{event.ModePoll, event.ModeWebhook, event.ModePush, event.ModeWebhook, event.ModePoll} {
		r.awaitStored(r.host.Snapshot().Subs[0].Stored + 10)
		if err := r.host.SetMode(r.ctx(), sub.ID, mode); err != nil {
			t.Fatal(err)
		}
		want = append(want, string(mode)+": mode switched "+string(was)+" -> "+string(mode)+": by the operator")
		was = mode
	}
	r.awaitStored(r.host.Snapshot().Subs[0].Stored + 10)
	if err := r.host.SetMode(r.ctx(), sub.ID, event.ModePoll); err != nil { // no change
		t.Fatal(err)
	}
	if got := r.states(event.StateSwitched); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if _, gaps := r.ids(); gaps != 0 {
		t.Errorf("%d gaps, want none", gaps)
	}
	if stored, err := r.store.Subscription(sub.ID); err != nil || stored.Lease != (event.Lease{}) {
		t.Errorf("a lease is left: %+v, %v", stored.Lease, err)
	}
	r.wantNumbers()
}

// wantNumbers checks that the numbers of load.tick have no hole.
func (r *rig) wantNumbers() {
	r.t.Helper()
	have := map[int]bool{}
	low, high := 1<<62, 0
	err := r.store.Forward(1, func(rec event.Record) bool {
		var data struct{ N int }
		if rec.Kind == event.KindEvent && json.Unmarshal(rec.Data, &data) == nil {
			have[data.N] = true
			low, high = min(low, data.N), max(high, data.N)
		}
		return true
	})
	if err != nil {
		r.t.Fatal(err)
	}
	for n := low; n <= high; n++ {
		if !have[n] {
			r.t.Errorf("event %d of %d to %d is missing", n, low, high)
		}
	}
}

// A subscription that already runs as requested is not opened again.
func TestSubscribingAgainOpensNothing(t *testing.T) {
	r := newRig(t)
	for _, mode := range []event.Mode{event.ModePush, event.ModePoll} {
		r.subscribe(mode, host.From{Saved: true})
		opened := r.host.Snapshot().Subs[0].Status.Opened
		r.subscribe(mode, host.From{Saved: true})
		if again := r.host.Snapshot().Subs[0].Status.Opened; !again.Equal(opened) {
			t.Errorf("%s: opened at %v and at %v", mode, opened, again)
		}
	}
}

func TestSetModeRefusesWhatTheTypeLacks(t *testing.T) {
	r := newRig(t)
	sub := r.subscribe(event.ModePush, host.From{})
	if err := r.host.SetMode(r.ctx(), sub.ID, "smoke"); !errors.Is(err, host.ErrMode) {
		t.Errorf("got %v", err)
	}
	if err := r.host.SetMode(r.ctx(), "nobody", event.ModePoll); !errors.Is(err, event.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	r.awaitStored(5)
	if err := r.host.Pause(r.ctx(), sub.ID); err != nil {
		t.Fatal(err)
	}
	if err := r.host.SetMode(r.ctx(), sub.ID, event.ModePoll); err != nil {
		t.Fatal(err)
	}
	if v := r.host.Snapshot().Subs[0]; v.Mode != event.ModePoll || v.Status.State != event.StatePaused {
		t.Errorf("paused: %s, %s", v.Mode, v.Status.State)
	}
	if err := r.host.Refresh(r.ctx(), sub.ID); !errors.Is(err, host.ErrStopped) || !strings.Contains(err.Error(), "paused") {
		t.Errorf("refresh of a paused one: %v", err)
	}
}

func TestRefreshAndResetCursor(t *testing.T) {
	r := newRig(t)
	sub := r.subscribe(event.ModePush, host.From{})
	r.awaitStored(5)
	if err := r.host.Refresh(r.ctx(), sub.ID); err != nil {
		t.Fatal(err)
	}
	r.awaitStored(r.host.Snapshot().Subs[0].Stored + 5)
	var first event.Cursor
	if err := r.store.Forward(1, func(rec event.Record) bool {
		first = rec.Cursor
		return !first.Valid
	}); err != nil {
		t.Fatal(err)
	}
	before := r.host.Snapshot().Subs[0]
	if err := r.host.ResetCursor(r.ctx(), sub.ID, host.From{Cursor: first}); err != nil {
		t.Fatal(err)
	}
	// Stored events come again and are dropped.
	r.await("duplicates", func(s host.Snapshot) bool { return s.Subs[0].Dropped >= before.Stored-2 })
	if err := r.host.ResetCursor(r.ctx(), sub.ID, host.From{}); err != nil {
		t.Fatal(err)
	}
	r.awaitStored(r.host.Snapshot().Subs[0].Stored + 5)
	if _, gaps := r.ids(); gaps != 0 {
		t.Errorf("%d gaps, want none", gaps)
	}
	if got := r.acts(); !slices.Equal(got, []string{"operator: subscribe", "operator: refresh", "operator: reset cursor", "operator: reset cursor"}) {
		t.Errorf("acts %q", got)
	}
}

// A stream that the server can resume goes on where it stopped, not where the operator
// set the position.
func TestNewPositionDropsTheResumableStream(t *testing.T) {
	r := newRig(t)
	sub := r.subscribe(event.ModePoll, host.From{})
	set := func() {
		storetest.Commit(t, r.store, event.Batch{Sub: sub.ID, Update: func(s *event.Subscription) { s.Resume = event.NewSecret("token") }})
	}
	for name, verb := range map[string]func() error{
		"reset": func() error { return r.host.ResetCursor(r.ctx(), sub.ID, host.From{}) },
		"subscribe": func() error {
			_, err := r.host.Subscribe(r.ctx(), host.Request{Server: "pager", Type: sub.Key.Type, Mode: event.ModePoll})
			return err
		},
	} {
		set()
		if err := verb(); err != nil {
			t.Fatal(err)
		}
		if got, err := r.store.Subscription(sub.ID); err != nil || !got.Resume.IsZero() {
			t.Errorf("%s: the stream is still there, %v", name, err)
		}
	}
}

func TestReconnectAndRemoveServer(t *testing.T) {
	r := newRig(t)
	sub := r.subscribe(event.ModeWebhook, host.From{})
	r.awaitStored(3)
	since := r.host.Snapshot().Servers[0].Since
	if err := r.host.Reconnect("pager"); err != nil {
		t.Fatal(err)
	}
	r.await("another connection", func(s host.Snapshot) bool {
		v := s.Servers[0]
		return v.Reach == host.ReachReady && v.Since.After(since) && v.TypesKnown
	})
	if err := r.host.Reconnect("nobody"); !errors.Is(err, host.ErrUnknownServer) {
		t.Errorf("got %v", err)
	}
	stored, err := r.store.Subscription(sub.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.host.RemoveServer(r.ctx(), "pager"); err != nil {
		t.Fatal(err)
	}
	if s := r.host.Snapshot(); len(s.Servers) != 0 || len(s.Subs) != 0 {
		t.Errorf("left: %+v, %+v", s.Servers, s.Subs)
	}
	if got := r.deliver(stored.Hook.URL); got != http.StatusGone {
		t.Errorf("a delivery is answered %d, want 410", got)
	}
	if err := r.host.RemoveServer(r.ctx(), "pager"); !errors.Is(err, host.ErrUnknownServer) {
		t.Errorf("got %v", err)
	}
}

// A server is dialed at once, even in a pause of minutes.
func TestReconnectEndsAPause(t *testing.T) {
	r := newRig(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	r.host.AddServer(event.Server{Name: "second", URL: "http://" + addr + "/mcp"})
	r.await("the refusal", func(s host.Snapshot) bool { return s.Servers[1].Reach == host.ReachRefused })
	l.Close()
	r.pager(addr)
	if err := r.host.Reconnect("second"); err != nil {
		t.Fatal(err)
	}
	r.await("the connection", func(s host.Snapshot) bool { return s.Servers[1].Reach == host.ReachReady })
}

func TestTestServerKeepsNothing(t *testing.T) {
	r := newRig(t)
	v, err := r.host.TestServer(r.ctx(), event.Server{Name: "other", URL: r.url})
	if err != nil || v.Reach != host.ReachReady || !v.TypesKnown || len(v.Types) == 0 {
		t.Errorf("%+v, %v", v, err)
	}
	if n := len(r.host.Snapshot().Servers); n != 1 {
		t.Errorf("%d servers", n)
	}
	v, err = r.host.TestServer(r.ctx(), event.Server{Name: "other", URL: "not an address"})
	if err == nil || v.Reach != host.ReachFault || v.Err == "" {
		t.Errorf("%+v, %v", v, err)
	}
	fault := errors.New("needs ${TOKEN}")
	if v, err = r.host.TestServer(r.ctx(), event.Server{Name: "other", Fault: fault}); !errors.Is(err, fault) || v.Reach != host.ReachFault {
		t.Errorf("%+v, %v", v, err)
	}
}

// One server that does not answer does not hold up the pause of another.
func TestServersDoNotWaitForEachOther(t *testing.T) {
	r := newRig(t)
	release := make(chan struct{})
	stuck := make(chan struct{}, 8)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		select {
		case stuck <- struct{}{}:
		default:
		}
		select {
		case <-release:
		case <-req.Context().Done():
		}
	})}
	go srv.Serve(l)
	defer srv.Close()
	defer close(release)
	key := event.Key{Server: "stuck", Type: trust.Untrusted("t"), Args: []byte("{}")}
	err = r.store.Submit(r.ctx(), event.Batch{Sub: key.ID(), Update: func(s *event.Subscription) {
		s.ID, s.Key, s.Mode, s.Created, s.Hook = key.ID(), key, event.ModeWebhook, time.Now(), event.Hook{URL: "https://127.0.0.1:1/hooks/x", Path: "/hooks/x"}
	}})
	if err != nil {
		t.Fatal(err)
	}
	sub := r.subscribe(event.ModePush, host.From{})
	r.host.AddServer(event.Server{Name: "stuck", URL: "http://" + l.Addr().String() + "/mcp"})
	<-stuck
	paused := make(chan error, 1)
	ctx, giveUp := context.WithCancel(r.ctx())
	go func() { paused <- r.host.Pause(ctx, key.ID()) }() // waits for the unsubscribe at the server
	r.await("the first pause to begin", func(s host.Snapshot) bool {
		return slices.ContainsFunc(s.Subs, func(v host.SubscriptionView) bool { return v.ID == key.ID() })
	})
	if err := r.host.Pause(r.ctx(), sub.ID); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-paused:
		t.Errorf("the pause at the stuck server was already over: %v", err)
	default:
	}
	giveUp()
	if err := <-paused; !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}

func TestPreviewMatchesTheRequest(t *testing.T) {
	r := newRig(t)
	r.subscribe(event.ModeWebhook, host.From{})
	r.awaitStored(1)
	typ := trust.Untrusted("load.tick")
	cases := []struct {
		req     host.Request
		method  string
		params  string
		command string
	}{
		{host.Request{Server: "pager", Type: typ}, "events/stream", `{"name":"load.tick","arguments":{},"cursor":null}`, "eventdeck tail pager load.tick"},
		{host.Request{Server: "pager", Type: typ, Mode: event.ModePoll, Args: []byte(`{"b":"it's", "a":1}`), From: host.From{Cursor: event.At(trust.Untrusted("c 1"))}, MaxAge: time.Minute},
			"events/poll", `{"name":"load.tick","arguments":{"a":1,"b":"it's"},"cursor":"c 1","maxAgeMs":60000}`,
			`eventdeck tail pager load.tick --args '{"a":1,"b":"it'\''s"}' --mode poll --from 'c 1' --max-age 1m0s`},
	}
	for _, c := range cases {
		p, err := r.host.Preview(c.req)
		if err != nil || p.Method != c.method || string(p.Params) != c.params || p.Command != c.command {
			t.Errorf("%v\n%s %s\n%s", err, p.Method, p.Params, p.Command)
		}
	}
	p, err := r.host.Preview(host.Request{Server: "pager", Type: typ, From: host.From{Saved: true}})
	stored := r.host.Snapshot().Subs[0]
	if err != nil || p.Mode != event.ModeWebhook || !strings.Contains(string(p.Params), stored.Hook.URL) || strings.Contains(string(p.Params), stored.Hook.Secret.Reveal()) || !strings.Contains(string(p.Params), "whsec_…") {
		t.Errorf("%v: %+v %s", err, p, p.Params)
	}
	var found bool
	r.host.Wire().After(0, func(_ uint64, f host.WireFrame) bool {
		found = found || f.Sent && strings.Contains(f.Frame.Raw(), stored.Hook.Secret.String())
		return !found
	})
	if !found {
		t.Error("the secret is masked otherwise than on the wire")
	}
	p, err = r.host.Preview(host.Request{Server: "pager", Type: trust.Untrusted("a\x1b[31m\nb'"), Mode: event.ModePoll})
	if err != nil || p.Command != `eventdeck tail pager $'a\x1b[31m\x0ab\'' --mode poll` {
		t.Errorf("%v: %s", err, p.Command)
	}
	if _, err = r.host.Preview(host.Request{Server: "pager", Type: typ, Mode: "smoke"}); !errors.Is(err, host.ErrMode) {
		t.Errorf("got %v", err)
	}
}

// When a server refuses a mode, for good or for now, its reason is returned at once, and the
// subscription goes on in its mode.
func TestModeThatTheServerRefusesIsUndone(t *testing.T) {
	for name, c := range map[string]struct {
		code    int
		message string
		to      event.Mode
	}{
		"for now":     {-32025, "all streams are taken", event.ModePush},
		"for good":    {-32026, "no streams here today", event.ModePush},
		"by accident": {-32603, "the database is down", event.ModePush},
		"no rights":   {-32024, "not for you", event.ModeWebhook},
		"no callback": {-32027, "cannot reach you", event.ModeWebhook},
	} {
		t.Run(name, func(t *testing.T) {
			refusal := fmt.Sprintf(`"error":{"code":%d,"message":%q}`, c.code, c.message)
			s := &strange{list: func(int64) string { return `"result":{"events":[{"name":"a","delivery":["poll","push","webhook"]}]}` }}
			s.poll = `"result":{"cursor":"1"}`
			s.stream, s.subscribe = refusal, func(int64) string { return refusal }
			h := hostOn(t, s, host.Options{PlainHTTP: true})
			r := &rig{t: t, host: h}
			sub, err := h.Subscribe(r.ctx(), host.Request{Server: "strange", Type: trust.Untrusted("a"), Mode: event.ModePoll})
			if err != nil {
				t.Fatal(err)
			}
			if err := h.SetMode(r.ctx(), sub.ID, c.to); err == nil || !strings.Contains(err.Error(), c.message) || !strings.Contains(err.Error(), "still poll") {
				t.Errorf("told: %v", err)
			}
			if v := h.Snapshot().Subs[0]; v.Mode != event.ModePoll {
				t.Errorf("the mode is %s", v.Mode)
			}
			r.await("the old mode", func(s host.Snapshot) bool { return s.Subs[0].Status.State == event.StatePolling })
		})
	}
}

// The same holds for a server that does not answer.
func TestModeWithoutAnAnswerIsUndone(t *testing.T) {
	s := &strange{list: func(int64) string { return `"result":{"events":[{"name":"a","delivery":["poll","webhook"]}]}` }}
	s.poll = `"result":{"cursor":"1"}`
	asked, release := make(chan struct{}), make(chan struct{})
	s.subscribe = func(n int64) string {
		if n == 1 {
			close(asked)
		}
		<-release
		return `"result":{}`
	}
	h := hostOn(t, s, host.Options{PlainHTTP: true, Timing: delivery.Timing{ConnectWithin: time.Second}})
	t.Cleanup(func() { close(release) })
	r := &rig{t: t, host: h}
	sub, err := h.Subscribe(r.ctx(), host.Request{Server: "strange", Type: trust.Untrusted("a"), Mode: event.ModePoll})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.SetMode(r.ctx(), sub.ID, event.ModeWebhook); err == nil || !strings.Contains(err.Error(), "did not answer in time") {
		t.Errorf("told: %v", err)
	}
	<-asked
	r.await("the old mode", func(s host.Snapshot) bool {
		return s.Subs[0].Mode == event.ModePoll && s.Subs[0].Status.State == event.StatePolling
	})
}
