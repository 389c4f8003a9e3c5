package demo

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"eventdeck/host/mcptest"
	"eventdeck/host/wire"
)

// faulty is a pager with faults, and a callback that it trusts.
func faulty(t *testing.T, faults ...string) (*rig, *callback) {
	return hookRig(t, func(o *PagerOptions) { o.Faults, o.Heartbeat = faults, 100*time.Millisecond })
}

// tick returns the cursor after event n of load.tick.
func (r *rig) tick(n uint64) string {
	return r.pager.cursor(r.pager.types[len(r.pager.types)-1].feed, n)
}

// await waits until n ticks have happened.
func (r *rig) await(n uint64) {
	feed := r.pager.types[len(r.pager.types)-1].feed
	for feed.count(time.Now()) < n {
		time.Sleep(time.Until(feed.when(n)))
	}
}

// Each fault is visible on the wire.
func TestFaults(t *testing.T) {
	tests := map[string]func(t *testing.T, name string){
		faultLiveIgnored: func(t *testing.T, name string) {
			r, c := faulty(t, name)
			res := r.call(wire.MethodSubscribe, c.params("load.tick", "cursor", r.tick(0)))
			if res["cursor"] != r.tick(0) {
				t.Errorf("a fresh key begins at %v", res["cursor"])
			}
			c.Next(func(g mcptest.Delivered) bool { return g.N() == 1 })
			for res["cursor"] == r.tick(0) { // deliveries under way move it
				res = r.call(wire.MethodSubscribe, c.params("load.tick", "cursor", r.tick(0)))
			}
			if res["truncated"] != false {
				t.Errorf("live key: %v", res)
			}
			last := c.Next(mcptest.IsEvent).N() + 20
			c.Next(func(g mcptest.Delivered) bool {
				if g.N() == 1 {
					t.Error("event 1 was replayed")
				}
				return g.N() >= last
			})
		},
		faultReplayNever: func(t *testing.T, name string) {
			r, c := faulty(t, name)
			r.await(5)
			res := r.call(wire.MethodSubscribe, c.params("load.tick", "cursor", r.tick(0)))
			if res["cursor"] == r.tick(0) || res["truncated"] != false {
				t.Errorf("subscribe: %v", res)
			}
			if n := c.Next(mcptest.IsEvent).N(); n < 5 {
				t.Errorf("event %v was replayed", n)
			}
			s := r.open(1, wire.MethodStream, sub("load.tick", "cursor", r.tick(0)))
			if a := s.until(wire.NoteActive); a["cursor"] == r.tick(0) || a["truncated"] != false {
				t.Errorf("active: %v", a)
			}
			if e := s.until(wire.NoteEvent); e["cursor"] == r.tick(1) {
				t.Error("event 1 was replayed by push")
			}
			if page := r.call(wire.MethodPoll, sub("load.tick", "cursor", r.tick(0))); len(page["events"].([]any)) < 5 {
				t.Error("poll does not replay")
			}
		},
		faultEcho: func(t *testing.T, name string) {
			r, _ := faulty(t, name)
			r.await(5)
			s := r.open(1, wire.MethodStream, sub("load.tick", "cursor", r.tick(0)))
			if a := s.until(wire.NoteActive); a["cursor"] != r.tick(0) || a["truncated"] != false {
				t.Errorf("active: %v", a)
			}
			if m, p, _ := s.next(); m.Method != wire.NoteEvent || p["data"].(map[string]any)["n"].(float64) < 6 {
				t.Errorf("first: %s %v", m.Method, p)
			}
			s.until(wire.NoteHeartbeat)
		},
		faultEchoHeartbeat: func(t *testing.T, name string) {
			r, _ := faulty(t, name)
			r.await(5)
			s := r.open(1, wire.MethodStream, sub("load.tick", "cursor", r.tick(0)))
			if a := s.until(wire.NoteActive); a["cursor"] != r.tick(0) {
				t.Errorf("active: %v", a)
			}
			for {
				m, p, ok := s.next()
				if !ok {
					t.Fatal("no heartbeat")
				}
				if m.Method == wire.NoteHeartbeat {
					if p["cursor"] == r.tick(0) {
						t.Errorf("heartbeat: %v", p)
					}
					return
				}
				if p["data"].(map[string]any)["n"].(float64) < 6 {
					t.Errorf("replayed: %v", p)
				}
			}
		},
		faultRetriesShort: func(t *testing.T, name string) {
			r, c := faulty(t, name)
			c.Answer(func(mcptest.Delivered) int { return 503 })
			began := time.Now()
			r.call(wire.MethodSubscribe, c.params("load.tick"))
			first := c.Next(mcptest.IsEvent).ID
			for range 3 {
				c.Next(func(g mcptest.Delivered) bool { return g.ID == first })
			}
			if d := time.Since(began); d < 1400*time.Millisecond {
				t.Errorf("four tries took %v", d)
			}
			c.Answer(func(mcptest.Delivered) int { return 200 })
			began = time.Now()
			c.Next(func(g mcptest.Delivered) bool {
				if g.Kind == "gap" || g.ID == first {
					t.Errorf("after the last try came %+v", g)
				}
				return time.Since(began) > time.Second
			})
			status := r.call(wire.MethodSubscribe, c.params("load.tick"))["deliveryStatus"].(map[string]any)
			if status["abandoned"] == float64(0) {
				t.Errorf("status: %v", status)
			}
		},
		faultForgotten: func(t *testing.T, name string) {
			r, c := faulty(t, name+"=200ms")
			r.call(wire.MethodSubscribe, c.params("load.tick"))
			c.Next(mcptest.OfKind("verification"))
			r.pager.hooks.Wait()
			if _, e := r.refuse(wire.MethodUnsubscribe, c.params("load.tick")); e.Name() != wire.NotFound {
				t.Errorf("unsubscribe: %v", e)
			}
			r.call(wire.MethodSubscribe, c.params("load.tick"))
			c.Next(mcptest.OfKind("verification"))
		},
		faultUnconfirmed: func(t *testing.T, name string) {
			r, _ := faulty(t, name)
			s := r.open(1, wire.MethodStream, sub("load.tick"))
			for range 50 {
				if m, _, ok := s.next(); !ok || m.Method != wire.NoteEvent {
					t.Fatalf("got %q", m.Method)
				}
			}
		},
		faultChallenge: func(t *testing.T, name string) {
			r, c := faulty(t, name)
			if _, e := r.refuse(wire.MethodSubscribe, c.params("load.tick")); !wire.Is(e, wire.CallbackEndpointError, "reason", "challenge_failed") {
				t.Errorf("subscribe: %v", e)
			}
			if g := <-c.Got; g.Kind != "verification" {
				t.Errorf("got %+v", g)
			}
		},
		faultGrantKept: func(t *testing.T, name string) {
			r, c := faulty(t, name)
			r.call(wire.MethodSubscribe, c.params("load.tick", "ttlMs", 1))
			ended := time.Now().Add(time.Second + 500*time.Millisecond)
			c.Next(func(g mcptest.Delivered) bool { return mcptest.IsEvent(g) && time.Now().After(ended) })
			r.call(wire.MethodUnsubscribe, c.params("load.tick"))
		},
		faultPollLags: func(t *testing.T, name string) {
			r, _ := faulty(t, name+"=1h")
			r.await(5)
			page := r.call(wire.MethodPoll, sub("load.tick", "cursor", r.tick(0)))
			if len(page["events"].([]any)) != 0 || page["cursor"] != r.tick(0) || page["truncated"] != false {
				t.Errorf("poll: %v", page)
			}
			r.open(1, wire.MethodStream, sub("load.tick", "cursor", r.tick(0))).until(wire.NoteEvent)
		},
		faultPollForeign: func(t *testing.T, name string) {
			r, _ := faulty(t, name)
			r.await(5)
			own := r.call(wire.MethodPoll, sub("load.tick"))["cursor"]
			if page := r.call(wire.MethodPoll, sub("load.tick", "cursor", own)); page["truncated"] != false {
				t.Errorf("its own cursor: %v", page)
			}
			if _, e := r.refuse(wire.MethodPoll, sub("load.tick", "cursor", r.tick(0))); !wire.Is(e, wire.InvalidParams, "field", "cursor") {
				t.Errorf("a cursor of push: %v", e)
			}
			if a := r.open(1, wire.MethodStream, sub("load.tick", "cursor", own)).until(wire.NoteActive); a["truncated"] != true {
				t.Errorf("a cursor of poll: %v", a)
			}
		},
		faultLastErrorSticky: func(t *testing.T, name string) {
			r, c := faulty(t, name)
			r.call(wire.MethodSubscribe, c.params("load.tick"))
			c.Next(func(g mcptest.Delivered) bool { return mcptest.IsEvent(g) && g.Status == 204 })
			status := func() map[string]any {
				return r.call(wire.MethodSubscribe, c.params("load.tick"))["deliveryStatus"].(map[string]any)
			}
			first, second := status(), status()
			if first["active"] != true || first["lastError"] != "http_5xx" || first["failedSince"] == nil || first["failedSince"] != second["failedSince"] {
				t.Errorf("status: %v, then %v", first, second)
			}
		},
		faultCloseEvery: func(t *testing.T, name string) {
			r, _ := faulty(t, name+"=300ms")
			began := time.Now()
			s := r.open(1, wire.MethodStream, sub("load.tick"))
			for {
				m, _, ok := s.next()
				if !ok {
					t.Fatal("no final result")
				}
				if m.IsResponse() {
					break
				}
			}
			if d := time.Since(began); d < 300*time.Millisecond {
				t.Errorf("closed after %v", d)
			}
		},
		faultSignatureOnce: func(t *testing.T, name string) {
			c := newCallback(t)
			refused := make(chan int, 1000)
			c.Refused = func() { refused <- 1 }
			r := newRig(t, PagerOptions{ServerOptions: ServerOptions{Rate: 100, CAFile: c.CA}, Faults: []string{name}, Backoff: []time.Duration{10 * time.Millisecond}})
			r.call(wire.MethodSubscribe, c.params("load.tick"))
			c.Next(mcptest.OfKind("verification"))
			<-refused
			c.Next(mcptest.IsEvent)
			c.Next(mcptest.IsEvent)
			if len(refused) > 0 {
				t.Error("more than the first delivery is signed wrongly")
			}
		},
		faultSignature: func(t *testing.T, name string) {
			c := newCallback(t)
			refused := make(chan int, 1000)
			c.Refused = func() { refused <- 1 }
			r := newRig(t, PagerOptions{ServerOptions: ServerOptions{Rate: 100, CAFile: c.CA}, Faults: []string{name}})
			r.call(wire.MethodSubscribe, c.params("load.tick"))
			c.Next(mcptest.OfKind("verification"))
			for range 3 {
				<-refused
			}
			if len(c.Got) > 0 {
				t.Errorf("%d deliveries are signed rightly", len(c.Got))
			}
		},
		faultErrors: func(t *testing.T, name string) {
			r, _ := faulty(t, name+"=100ms")
			s := r.open(1, wire.MethodStream, sub("load.tick"))
			for range 2 {
				if p := s.until(wire.NoteError); p["error"].(map[string]any)["code"] != float64(wire.CodeInternal) {
					t.Errorf("error: %v", p)
				}
				s.until(wire.NoteEvent)
			}
		},
		faultQuota: func(t *testing.T, name string) {
			r, c := faulty(t, name)
			for _, method := range []string{wire.MethodPoll, wire.MethodStream, wire.MethodSubscribe} {
				if _, e := r.refuse(method, c.params("load.tick")); !wire.Is(e, wire.ResourceExhausted, "limit", "subscriptions") {
					t.Errorf("%s: %v", method, e)
				}
			}
			r.call(wire.MethodList, nil)
		},
	}
	for _, f := range Faults() {
		test := tests[f.Name]
		if test == nil {
			t.Errorf("fault %s has no test", f.Name)
			continue
		}
		t.Run(f.Name, func(t *testing.T) { test(t, f.Name) })
	}
}

// Chat has the faults of push and poll.
func TestFaultsOfChat(t *testing.T) {
	c := startChat(t, ChatOptions{Rate: 100, Faults: []string{faultUnconfirmed}})
	c.request(7, wire.MethodStream, `{"name":"load.tick","arguments":{},"cursor":null}`)
	if m, _ := c.until(func(wire.Message) bool { return true }); m.Method != wire.NoteEvent {
		t.Errorf("first came %s", m.Method)
	}
}

// Unknown faults and wrong durations are refused.
func TestFaultsAreChecked(t *testing.T) {
	for _, bad := range []string{"nonsense", "", "push-echo=5s", "close-every=", "close-every=-1s", "close-every=soon"} {
		if _, err := NewPager(PagerOptions{Faults: []string{bad}}); !errors.Is(err, ErrOptions) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := RunChat(t.Context(), ChatOptions{Faults: []string{faultRetriesShort}}, http.NoBody, io.Discard, io.Discard); !errors.Is(err, ErrOptions) {
		t.Errorf("chat has no webhooks: %v", err)
	}
}
