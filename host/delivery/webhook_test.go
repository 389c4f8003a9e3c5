package delivery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
	"eventdeck/host/wire"
)

func grant(id string, until time.Duration) wire.SubscribeResult {
	return wire.SubscribeResult{ID: trust.Untrusted(id), RefreshBefore: time.Now().Add(until), Expires: true, Cursor: cur("c0")}
}

// granting answers every subscribe with a lease of an hour.
func (r *rig) granting() {
	r.src.subscribe = func(int, wire.SubscribeRequest) (wire.SubscribeResult, error) { return grant("sub_1", time.Hour), nil }
}

func delivered(id string, at time.Time, cursor string) Delivered {
	return Delivered{WebhookID: trust.Untrusted(id), Body: []byte(occurrence(id, at, cursor))}
}

func (r *rig) deliver(d Delivered) error {
	r.t.Helper()
	err := r.runner.Deliver(context.Background(), d)
	synctest.Wait()
	return err
}

func (r *rig) mustDeliver(d Delivered) {
	r.t.Helper()
	if err := r.deliver(d); err != nil {
		r.t.Error(err)
	}
}

func TestHookIsStoredBeforeTheSubscribe(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		var hook event.Hook
		r.deps.TTL = time.Minute
		r.src.subscribe = func(_ int, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
			hook = r.saved().Hook
			if q.URL != hook.URL || q.Secret != hook.Secret.Reveal() || q.URL != "https://here"+hook.Path || q.TTL != time.Minute {
				t.Errorf("sent %q, stored %+v", q.URL, hook)
			}
			if !r.runner.InFlight() {
				t.Error("a verification would be refused")
			}
			return grant("sub_1", time.Hour), nil
		}
		r.start()
		if _, err := hook.Secret.WebhookKey(); err != nil || !strings.HasPrefix(hook.Path, "/hooks/") || len(hook.Path) < 30 {
			t.Errorf("%+v, %v", hook, err)
		}
		r.wantState(event.StateLive)
		equal(t, r.saved().Lease.ServerID.Raw(), "sub_1")
		r.wantCursor("=c0")

		r.pass(59 * time.Second)
		equal(t, r.runner.InFlight(), true)
		r.pass(time.Second)
		equal(t, r.runner.InFlight(), false)

		r.stop()
		was := hook
		r.offersPoll(0, 0)
		r.start() // the same address and secret after a restart
		equal(t, hook, was)
		equal(t, r.src.cursors(), "- =c0 =c0") // and the catch-up poll
	})
}

func TestRefresh(t *testing.T) {
	tests := map[string]struct {
		res  wire.SubscribeResult
		want time.Duration
	}{
		"three quarters of the grant": {wire.SubscribeResult{Expires: true, RefreshBefore: time.Unix(1000, 0)}, 750 * time.Second},
		"null or absent":              {wire.SubscribeResult{}, 225 * time.Second},
		"past":                        {wire.SubscribeResult{Expires: true, RefreshBefore: time.Unix(-1, 0)}, 5 * time.Second},
		"unreadable":                  {wire.SubscribeResult{Expires: true}, 5 * time.Second},
		"short":                       {wire.SubscribeResult{Expires: true, RefreshBefore: time.Unix(2, 0)}, 1500 * time.Millisecond},
		"absurdly short":              {wire.SubscribeResult{Expires: true, RefreshBefore: time.Unix(0, 1)}, leastLease},
		"suspended":                   {wire.SubscribeResult{Status: &wire.DeliveryStatus{}}, 5 * time.Second},
		"suspended, with a time":      {wire.SubscribeResult{Status: &wire.DeliveryStatus{RetryAfter: time.Minute}}, time.Minute},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModeWebhook, func(r *rig) {
				if !tt.res.RefreshBefore.IsZero() {
					tt.res.RefreshBefore = time.Now().Add(tt.res.RefreshBefore.Sub(time.Unix(0, 0)))
				}
				r.src.subscribe = func(int, wire.SubscribeRequest) (wire.SubscribeResult, error) { return tt.res, nil }
				r.start().pass(tt.want)
				equal(t, r.src.calls(), 2)
				equal(t, r.src.pause(1), tt.want)
			})
		})
	}
}

func TestRefreshIsSpreadOverSeventyToEightyPercent(t *testing.T) {
	for jitter, want := range map[float64]time.Duration{0: 70 * time.Second, 1: 80 * time.Second} {
		bubble(t, event.ModeWebhook, func(r *rig) {
			r.deps.Jitter = func() float64 { return jitter }
			r.src.subscribe = func(int, wire.SubscribeRequest) (wire.SubscribeResult, error) {
				return grant("s", 100*time.Second), nil
			}
			r.start().pass(want + time.Millisecond)
			if got := r.src.pause(1).Round(time.Millisecond); got != want {
				t.Errorf("refresh after %v, want %v", got, want)
			}
		})
	}
}

func TestRefreshCarriesTheNewestCursorAndTakesANewID(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.src.subscribe = func(n int, _ wire.SubscribeRequest) (wire.SubscribeResult, error) {
			res := grant(fmt.Sprint("sub_", n), 100*time.Second)
			if n > 1 {
				res.Cursor = wire.Cursor{}
			}
			if n == 3 {
				res.ID = trust.Text{}
			}
			return res, nil
		}
		r.start()
		r.mustDeliver(delivered("e1", time.Now(), "c1"))
		r.mustDeliver(delivered("e2", time.Now(), "c2"))
		r.pass(76 * time.Second)
		equal(t, r.src.cursors(), "- =c2")
		equal(t, r.saved().Lease.ServerID.Raw(), "sub_2")
		r.runner.Nudge()
		r.pass(0)
		equal(t, r.src.cursors(), "- =c2 =c2")
		equal(t, r.saved().Lease.ServerID.Raw(), "sub_2")
		d := delivered("e3", time.Now(), "")
		d.ServerID = trust.Untrusted("sub_9")
		r.mustDeliver(d)
		equal(t, r.saved().Lease.ServerID.Raw(), "sub_9")
		r.wantCursor("=c2")
		r.wantLog("e1 e2 e3")
	})
}

func TestSuspension(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.src.subscribe = func(n int, _ wire.SubscribeRequest) (wire.SubscribeResult, error) {
			res := grant("s", time.Hour)
			res.Status = &wire.DeliveryStatus{Active: n != 2, LastError: trust.Untrusted("http_5xx")}
			return res, nil
		}
		r.start()
		r.wantState(event.StateLive)
		r.runner.Nudge()
		r.pass(0)
		r.wantState(event.StateSuspended)
		equal(t, r.saved().Lease.Status.LastError.Raw(), "http_5xx")
		if s := r.saved(); s.State != event.StateSuspended || !strings.Contains(s.Evidence, "http_5xx") {
			t.Errorf("%s: %s", s.State, s.Evidence)
		}
		r.pass(5 * time.Second)
		r.wantState(event.StateLive)
		equal(t, r.log(true), "<live> <suspended> <live>")
	})
}

func TestWebhookGaps(t *testing.T) {
	tests := map[string]struct {
		cursor, truncated bool
		lease             time.Duration // until the old lease ends
		vouches           bool
		want              string
	}{
		"replay":                             {cursor: true, lease: -time.Minute},
		"truncated":                          {cursor: true, truncated: true, lease: time.Hour, want: "gap:truncated!"},
		"without replay, lapsed":             {lease: -time.Minute, want: "gap:lapsed"},
		"without replay, not lapsed":         {lease: time.Hour, want: "gap:no-replay"},
		"without replay, vouched for":        {lease: time.Hour, vouches: true},
		"without replay, vouched and lapsed": {lease: -time.Minute, vouches: true, want: "gap:lapsed"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModeWebhook, func(r *rig) {
				seen := r.resumed()
				if !tt.cursor {
					r.sub.Cursor, r.sub.Gave = event.Cursor{}, false
				}
				r.sub.Lease.GrantedAt, r.sub.Lease.RefreshBefore = seen, time.Now().Add(tt.lease)
				r.src.subscribe = func(int, wire.SubscribeRequest) (wire.SubscribeResult, error) {
					time.Sleep(time.Second)
					if err := r.runner.Deliver(context.Background(), delivered("e1", time.Now(), "")); err != nil { // ahead of the answer
						t.Error(err)
					}
					res := grant("s", time.Hour)
					res.Truncated, res.Cursor = tt.truncated, wire.Cursor{}
					if tt.vouches {
						res.Status = &wire.DeliveryStatus{Active: true}
					}
					return res, nil
				}
				r.start().pass(3 * time.Second)
				r.wantLog(strings.TrimSpace("e1 " + tt.want))
				for _, g := range r.gaps() {
					equal(t, g.From, seen)
				}
			})
		})
	}
}

func TestWebhookCursorRejected(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.resumed()
		r.src.subscribe = func(_ int, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
			if q.At.Valid {
				return wire.SubscribeResult{}, fault(wire.CodeInvalidParams, `{"field":"cursor"}`)
			}
			return grant("s", time.Hour), nil
		}
		r.start()
		equal(t, r.src.cursors(), "=c7 -")
		r.wantLog("gap:cursor-rejected!")
		r.wantCursor("=c0")
		r.wantState(event.StateLive)
	})
}

func TestNewAddressReleasesTheOld(t *testing.T) {
	for name, err := range map[string]error{"known": nil, "forgotten": fault(-32011, ""), "out of reach": errors.New("reset")} {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModeWebhook, func(r *rig) {
				r.sub.Hook = event.Hook{URL: "https://old/hooks/p", Path: "/hooks/p"}
				r.src.unsubscribe = func(wire.UnsubscribeRequest) error { return err }
				r.granting()
				r.start()
				equal(t, r.src.ended, []string{"https://old/hooks/p"})
				equal(t, r.saved().Hook.URL, "https://here/hooks/p")
			})
		})
	}
}

func TestNoCallbackAddress(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.deps.Callback = func(string) (string, error) { return "", errors.New("no port") }
		r.start()
		r.wantState(event.StateBackoff)
		equal(t, r.src.calls(), 0)
		r.deps.Random = strings.NewReader("")
		r.stop()
		r.store.mu.Lock()
		r.store.subs[subID] = r.sub
		r.store.mu.Unlock()
		r.start()
		r.wantState(event.StateBackoff)
	})
}

func TestDeliverReturnsAfterTheCommit(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.granting()
		r.start()
		hold := make(chan struct{})
		r.store.mu.Lock()
		r.store.hold = hold
		r.store.mu.Unlock()
		answer := make(chan error, 1)
		go func() { answer <- r.runner.Deliver(context.Background(), delivered("e1", time.Now(), "c1")) }()
		synctest.Wait()
		select {
		case err := <-answer:
			t.Fatal("answered before the commit:", err)
		default:
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		late := errors.New("the request is over")
		cancel(late)
		if err := r.runner.Deliver(ctx, delivered("e2", time.Now(), "c2")); !errors.Is(err, late) {
			t.Errorf("%v", err)
		}
		close(hold)
		if err := <-answer; err != nil {
			t.Error(err)
		}
		r.wantLog("e1 e2")
	})
}

func TestDeliveries(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.granting()
		r.start()
		points := 0
		r.mustDeliver(delivered("e1", time.Now(), "c1"))
		r.mustDeliver(delivered("e1", time.Now(), "c1"))
		equal(t, r.runner.Status().Duplicates, 1)
		changed := delivered("e1", time.Now(), "c1")
		changed.Body = []byte(strings.Replace(string(changed.Body), `"data":{`, `"data":{"more":1,`, 1))
		if err := r.deliver(changed); !errors.Is(err, ErrChanged) {
			t.Errorf("%v", err)
		}

		other := delivered("e2", time.Now(), "c2")
		other.WebhookID = trust.Untrusted("msg_2")
		r.mustDeliver(other)

		bad := Delivered{WebhookID: trust.Untrusted("e3"), Body: []byte(`{"eventId":"e3","eventId":"e4","cursor":"c3"}`)}
		if err := r.deliver(bad); !errors.Is(err, ErrRejected) {
			t.Errorf("%v", err)
		}
		malformed := Delivered{Kind: DeliveredMalformed, WebhookID: trust.Untrusted("x"), Body: []byte(`[`), Refused: strict.ErrSyntax}
		if err := r.deliver(malformed); !errors.Is(err, ErrRejected) {
			t.Errorf("%v", err)
		}
		r.wantCursor("=c3")
		r.mustDeliver(Delivered{Kind: DeliveredGap, WebhookID: trust.Untrusted("msg_gap_1"), Body: []byte(`{"type":"gap","cursor":"c9"}`)})
		r.wantCursor("=c9")
		r.wantLog("e1 e2 rejected rejected gap:gap!")
		for _, rec := range r.store.all() {
			if rec.Kind == event.KindGap {
				equal(t, rec.WebhookID.Raw(), "msg_gap_1")
			}
			if rec.Kind == event.KindEvent {
				points++
				// e2 came as message msg_2: an id of the message is usual, so it is no flag.
				if len(rec.Flags) != 0 || rec.WebhookID.IsZero() || rec.Data == nil {
					t.Errorf("%+v", rec)
				}
			}
		}
		equal(t, points, 2)
		equal(t, r.runner.Status().LastDelivery, time.Now())
	})
}

func TestFailedDeliveryIsNotAcknowledgedAndBlocksNoOther(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		reachable := true
		r.src.subscribe = func(int, wire.SubscribeRequest) (wire.SubscribeResult, error) {
			if !reachable {
				return wire.SubscribeResult{}, errors.New("no route")
			}
			return grant("s", time.Hour), nil
		}
		r.start()
		reachable = false
		r.store.failWith(func(event.Batch) error { return event.ErrFull })
		if err := r.deliver(delivered("e1", time.Now(), "c1")); !errors.Is(err, event.ErrFull) {
			t.Errorf("%v", err)
		}
		r.store.failWith(nil)
		r.wantState(event.StateBackoff)
		// There is room again; the server cannot be asked, but it delivers.
		r.mustDeliver(delivered("e1", time.Now(), "c1"))
		r.wantLog("e1")
	})
}

// A late webhook delivery, after a change of mode, for which the store has no room is not acknowledged.
// Polled events do not wait for it.
func TestRefusedLateDeliveryEndsNoPoll(t *testing.T) {
	bubble(t, event.ModePoll, func(r *rig) {
		r.src.poll = func(int, wire.PollRequest) (wire.PollResult, error) { return wire.PollResult{Cursor: cur("c1")}, nil }
		r.start().pass(500 * time.Millisecond)
		release := r.store.fill()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := r.runner.Deliver(ctx, delivered("e1", time.Now(), "c1")); !errors.Is(err, context.Canceled) {
			t.Errorf("a delivery without room: %v", err)
		}
		release()
		r.pass(2 * time.Second)
		equal(t, r.src.calls(), 3)
		if got := r.log(true); got != "<polling>" {
			t.Errorf("log: %s", got)
		}
	})
}

func TestTerminatedEnvelope(t *testing.T) {
	forbidden := Delivered{Kind: DeliveredTerminated, Body: []byte(`{"type":"terminated","error":{"code":-32024},"cursor":"c5"}`)}
	t.Run("of a living one", func(t *testing.T) {
		bubble(t, event.ModeWebhook, func(r *rig) {
			r.granting()
			r.start()
			r.mustDeliver(forbidden)
			r.wantEnded(true)
			r.wantState(event.StateDenied)
			if err := r.deliver(delivered("e1", time.Now(), "")); !errors.Is(err, ErrStopped) {
				t.Errorf("after the end: %v", err)
			}
			r.wantLog("")
		})
	})
	t.Run("during a pause", func(t *testing.T) {
		bubble(t, event.ModeWebhook, func(r *rig) {
			r.src.subscribe = func(int, wire.SubscribeRequest) (wire.SubscribeResult, error) {
				return wire.SubscribeResult{}, errors.New("reset")
			}
			r.start()
			r.mustDeliver(forbidden)
			r.pass(time.Second)
			r.wantEnded(true)
			r.wantState(event.StateDenied)
			equal(t, r.src.calls(), 1)
		})
	})
	t.Run("of a type that is listed again", func(t *testing.T) {
		bubble(t, event.ModeWebhook, func(r *rig) {
			r.deps.Relist = func(context.Context, event.Key, event.Mode) error { return nil }
			r.granting()
			r.start()
			r.mustDeliver(Delivered{Kind: DeliveredTerminated, Body: []byte(`{"error":{"code":-32011,"data":{"kind":"event"}}}`)})
			r.pass(10 * time.Second)
			r.wantState(event.StateLive)
			equal(t, r.src.calls(), 2)
		})
	})
}

func TestEveryPathOfAnEndedSubscriptionIsRemembered(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.resumedOnPath()
		r.sub.Hook.OldPath, r.sub.Hook.OldUntil = "/hooks/older", time.Now().Add(time.Hour)
		r.src.subscribe = func(int, wire.SubscribeRequest) (wire.SubscribeResult, error) {
			return wire.SubscribeResult{}, fault(wire.ProfileSEP.Code(wire.Forbidden), "")
		}
		r.start().pass(time.Second)
		r.wantState(event.StateDenied)
		paths := map[string]bool{}
		for _, e := range r.store.ended {
			paths[e.Path] = !e.Removed
		}
		hook := r.saved().Hook
		equal(t, paths, map[string]bool{hook.Path: true, hook.OldPath: true})
		if hook.OldPath == "" {
			t.Error("the subscription ended with one path")
		}
	})
}

func TestRemovedSubscriptionDoesNotComeBack(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.granting()
		r.start()
		r.stop()
		r.store.mu.Lock()
		delete(r.store.subs, subID)
		r.store.mu.Unlock()
		if err := r.deliver(delivered("e1", time.Now(), "c1")); !errors.Is(err, ErrStopped) {
			t.Errorf("%v", err)
		}
		if _, err := r.store.Subscription(subID); err == nil {
			t.Error("a delivery brought the subscription back")
		}
	})
}

func TestFailpoints(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		points := make(chan string, 9)
		r.deps.Failpoint = func(name string) { points <- name }
		r.granting()
		r.start()
		equal(t, <-points, FailSubscribed)
		equal(t, <-points, FailCommitted)
	})
}

func TestRelease(t *testing.T) {
	src := &source{unsubscribe: func(wire.UnsubscribeRequest) error { return fault(-32023, "") }}
	if err := Release(t.Context(), src, event.Subscription{}); err != nil || src.ended != nil {
		t.Errorf("without an address: %v", err)
	}
	if err := Release(t.Context(), src, event.Subscription{Hook: event.Hook{URL: "https://x"}}); err != nil {
		t.Errorf("not found: %v", err)
	}
}
