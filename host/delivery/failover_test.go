package delivery

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

var allModes = []event.Mode{event.ModePoll, event.ModePush, event.ModeWebhook}

// switches returns the changes of mode in the log.
func (r *rig) switches() string {
	var out []string
	for _, rec := range r.store.all() {
		if rec.Kind == event.KindState && rec.State.State == event.StateSwitched {
			words, _, _ := strings.Cut(strings.TrimPrefix(rec.State.Evidence, "mode switched "), ":")
			out = append(out, strings.ReplaceAll(words, " -> ", ">"))
		}
	}
	return strings.Join(out, " ")
}

func (r *rig) wantSwitches(want string) {
	r.t.Helper()
	if got := r.switches(); got != want {
		r.t.Errorf("switches %q, want %q", got, want)
	}
}

// failing makes a subscription whose modes fail as long as their flags say so.
func failing(r *rig) (push, webhook, poll *atomic.Bool) {
	push, webhook, poll = new(atomic.Bool), new(atomic.Bool), new(atomic.Bool)
	r.sub.Failover = true
	r.sub.Cursor = event.At(cur("0").Text)
	r.deps.Modes = func(event.Key) []event.Mode { return allModes }
	h := &history{rand: rand.New(rand.NewPCG(1, 1))}
	cut := errors.New("cut")
	r.src.poll = func(n int, q wire.PollRequest) (wire.PollResult, error) {
		if poll.Load() {
			return wire.PollResult{}, cut
		}
		return wire.PollResult{Cursor: cur(q.At.Cursor.Raw())}, nil
	}
	r.src.stream = func(n int, q wire.StreamRequest, s *stream) error {
		if push.Load() {
			return cut
		}
		s.active(q.At.Cursor.Raw())
		for s.wait(10 * time.Second) {
			s.heartbeat(q.At.Cursor.Raw())
		}
		return s.ctx.Err()
	}
	r.src.subscribe = func(n int, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
		if webhook.Load() {
			return wire.SubscribeResult{}, cut
		}
		return h.subscribe(n, q)
	}
	return push, webhook, poll
}

func TestFailoverGoesOnAndComesBack(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		push, webhook, _ := failing(r)
		push.Store(true)
		webhook.Store(true)
		r.start()
		r.pass(2 * time.Minute)
		r.wantState(event.StatePolling)
		if sub := r.saved(); sub.Mode != event.ModePoll || sub.Preferred != event.ModePush || !sub.Failover {
			t.Errorf("stored as %s, preferred %s", sub.Mode, sub.Preferred)
		}
		if s := r.runner.Status(); s.Mode != event.ModePoll || s.Preferred != event.ModePush || s.PreferredTry.IsZero() {
			t.Errorf("%+v", s)
		}
		r.pass(20 * time.Minute) // the pauses between the trials grow
		trials := strings.Count(r.switches(), "poll>push")
		if trials < 2 || trials > 5 {
			t.Errorf("%d trials: %s", trials, r.switches())
		}
		push.Store(false)
		r.pass(time.Hour)
		r.wantState(event.StateLive)
		if sub := r.saved(); sub.Mode != event.ModePush || sub.Preferred != "" {
			t.Errorf("stored as %s, preferred %q", sub.Mode, sub.Preferred)
		}
		if !strings.HasPrefix(r.switches(), "push>webhook webhook>poll poll>push push>poll") || !strings.HasSuffix(r.switches(), "poll>push") {
			t.Errorf("switches %s", r.switches())
		}
		if r.wantLog(""); len(r.store.audits()) != len(strings.Fields(r.switches())) {
			t.Errorf("%d audit entries", len(r.store.audits()))
		}
	})
}

func TestFailoverIsOffUnlessAskedFor(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		push, _, _ := failing(r)
		r.sub.Failover = false
		push.Store(true)
		r.start().pass(10 * time.Minute)
		r.wantSwitches("")
		r.runner.SetFailover(true, event.ModePush)
		r.pass(5 * time.Minute)
		before := r.switches()
		if !strings.HasPrefix(before, "push>webhook") {
			t.Errorf("switches %q", before)
		}
		r.runner.SetFailover(false, r.runner.Mode())
		r.pass(time.Hour)
		r.wantSwitches(before)
	})
}

// A run that starts in the mode of a failover comes back to the preferred one.
func TestFailoverOutlivesARestart(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		push, _, _ := failing(r)
		push.Store(true)
		r.start().pass(time.Minute)
		r.wantSwitches("push>webhook")
		r.stop()
		push.Store(false)
		r.start().pass(2 * time.Minute)
		r.wantSwitches("push>webhook webhook>push")
		r.wantState(event.StateLive)
	})
}

// A lease on which the server stopped delivering counts as a failure too, and is ended at the server.
func TestSuspendedLeaseFailsOver(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		failing(r)
		r.src.subscribe = func(int, wire.SubscribeRequest) (wire.SubscribeResult, error) {
			return wire.SubscribeResult{ID: text("s"), Expires: true, RefreshBefore: time.Now().Add(time.Minute), Status: &wire.DeliveryStatus{LastError: text("http_5xx")}}, nil
		}
		r.start().pass(50 * time.Second)
		r.wantSwitches("webhook>push")
		r.wantState(event.StateLive)
		if len(r.src.ended) != 1 {
			t.Errorf("unsubscribed: %q", r.src.ended)
		}
	})
}

// An answer about the subscription itself holds in every mode.
func TestFailoverIsNotForRefusals(t *testing.T) {
	for code, want := range map[int]string{-32024: "", -32602: "", -32601: "push>webhook", -32026: "push>webhook"} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			bubble(t, event.ModePush, func(r *rig) {
				failing(r)
				r.src.stream = func(int, wire.StreamRequest, *stream) error { return fault(code, "") }
				r.start().pass(30 * time.Second)
				r.wantSwitches(want)
				r.wantEnded(want == "")
			})
		})
	}
}

// A type without positions is not moved while the other mode works: each move
// would lose events.
func TestFailoverWithoutReplayStays(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		push, _, _ := failing(r)
		r.sub.Cursor = event.Cursor{}
		r.deps.Modes = func(event.Key) []event.Mode { return []event.Mode{event.ModePush, event.ModePoll} }
		r.src.poll = func(int, wire.PollRequest) (wire.PollResult, error) { return wire.PollResult{Cursor: null}, nil }
		push.Store(true)
		r.start().pass(3 * time.Hour)
		r.wantSwitches("push>poll")
	})
}

// TestFailoverLosesNothing runs through failing modes, cuts, failed commits and restarts, drawn from a
// seed.
func TestFailoverLosesNothing(t *testing.T) {
	const events = 200
	moves := 0
	for seed := range uint64(15) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bubble(t, allModes[seed%3], func(r *rig) {
				h := &history{rand: rand.New(rand.NewPCG(seed, 2))}
				r.sub.Failover, r.sub.Cursor = true, event.At(cur("0").Text)
				r.deps.Modes = func(event.Key) []event.Mode { return allModes }
				r.deps.Timing.FailoverAfter, r.deps.Timing.PreferredMin = 5*time.Second, 10*time.Second
				var down [3]atomic.Bool
				cut := errors.New("down")
				r.src.poll = func(n int, q wire.PollRequest) (wire.PollResult, error) {
					if down[0].Load() {
						return wire.PollResult{}, cut
					}
					return h.poll(n, q)
				}
				r.src.stream = func(n int, q wire.StreamRequest, s *stream) error {
					if down[1].Load() {
						return cut
					}
					return h.stream(n, q, s)
				}
				r.src.subscribe = func(n int, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
					if down[2].Load() {
						return wire.SubscribeResult{}, cut
					}
					return h.subscribe(n, q)
				}
				deliver := func() {
					// Some come late, after the mode was left.
					if !down[2].Load() && (r.runner.Mode() == event.ModeWebhook || h.chance(0.1)) {
						h.deliver(context.Background(), r.runner)
					}
				}
				h.disturb(r.store, 0.03)
				r.start()
				for h.last() < events {
					h.happen()
					r.pass(time.Duration(h.n(800)) * time.Millisecond)
					deliver()
					if i := h.n(60); i < 3 {
						down[i].Store(!down[i].Load())
					}
					if h.chance(0.02) {
						r.stop()
						r.start()
					}
					r.wantNothingPassedOver()
				}
				r.store.failWith(nil)
				for i := range down {
					down[i].Store(false)
				}
				for range 900 { // longer than the longest pause between attempts
					r.pass(time.Second)
					deliver()
				}
				synctest.Wait()
				r.wantNothingPassedOver()
				r.wantOnce(events)
				moves += len(strings.Fields(r.switches()))
			})
		})
	}
	if moves < 30 {
		t.Errorf("only %d changes of mode were lived through", moves)
	}
}

// A server that could not end the lease goes on delivering to the old address. Deliveries without a
// pause must not keep the next mode from beginning.
func TestLateDeliveriesDoNotHoldUpTheNextMode(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		_, _, _ = failing(r)
		r.store.delay = 10 * time.Millisecond
		var late sync.WaitGroup
		defer late.Wait()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		r.src.ready = func(context.Context) error {
			for lane := range 2 {
				late.Go(func() {
					sleep(ctx, time.Duration(lane)*5*time.Millisecond)
					for n := 0; ctx.Err() == nil; n++ {
						_ = r.runner.Deliver(ctx, delivered(fmt.Sprintf("e%d-%d", lane, n), time.Now(), ""))
					}
				})
			}
			r.src.ready = nil
			sleep(ctx, time.Second)
			return nil
		}
		r.start().pass(10 * time.Second)
		r.wantState(event.StateLive)
	})
}

// A server that did not confirm the end of a lease may go on delivering: it is reported as an orphan.
func TestOrphansOfAFailoverAreReported(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		_, webhook, _ := failing(r)
		var left []event.Subscription
		r.deps.Orphaned = func(_ context.Context, sub event.Subscription) { left = append(left, sub) }
		r.src.unsubscribe = func(wire.UnsubscribeRequest) error { return errors.New("cut") }
		r.start().pass(time.Second)
		url := r.saved().Hook.URL
		webhook.Store(true)
		r.runner.Nudge()
		r.pass(time.Minute)
		r.wantSwitches("webhook>push")
		if len(left) != 1 || left[0].Mode != event.ModeWebhook || left[0].Hook.URL != url {
			t.Errorf("left %+v", left)
		}
	})
}

// A termination by the server is reported even if the preferred mode becomes due before the stream is
// closed.
func TestTerminationDuringATrialIsReported(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		failing(r)
		r.sub.Preferred, r.sub.Gave = event.ModeWebhook, true
		r.deps.Timing.PreferredMin = time.Minute
		r.src.stream = func(n int, q wire.StreamRequest, s *stream) error {
			s.active(q.At.Cursor.Raw())
			s.wait(59 * time.Second)
			s.note(wire.NoteTerminated, `{"error":{"code":-32024,"message":"Forbidden"}}`)
			time.Sleep(2 * time.Second) // to close takes longer than what is left
			return s.ctx.Err()
		}
		r.start().pass(5 * time.Minute)
		r.wantState(event.StateDenied)
		r.wantSwitches("")
	})
}

// A choice of the operator holds even while a change of mode is being stored.
func TestFailoverSetDuringAModeChangeHolds(t *testing.T) {
	for on, want := range map[bool]event.Mode{true: event.ModeWebhook, false: ""} {
		bubble(t, event.ModeWebhook, func(r *rig) {
			_, webhook, _ := failing(r)
			webhook.Store(true)
			r.sub.Preferred = event.ModePush
			r.deps.Timing.PreferredMin = time.Hour
			r.store.failWith(func(b event.Batch) error {
				if len(b.Audit) == 0 || b.Audit[0].Action != ActionSwitched {
					return nil
				}
				r.store.mu.Lock() // it is stored before the move
				sub := r.store.subs[subID]
				sub.Failover, sub.Preferred = on, ""
				r.store.subs[subID] = sub
				r.store.mu.Unlock()
				r.runner.SetFailover(on, sub.Mode)
				return nil
			})
			r.start().pass(5 * time.Minute)
			r.wantSwitches("webhook>poll")
			if sub := r.saved(); sub.Mode != event.ModePoll || sub.Preferred != want {
				t.Errorf("failover %t: stored as %s, preferred %q, want %q", on, sub.Mode, sub.Preferred, want)
			}
			if got := r.runner.Status().Preferred; got != want {
				t.Errorf("failover %t: it is said that %q is preferred, want %q", on, got, want)
			}
		})
	}
}
