package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// leased makes the rig a webhook whose path is granted, with events between its last
// checkpoint, c5, and the stored position, c7.
func (r *rig) leased() (seen time.Time) {
	seen = r.resumed()
	r.sub.Proved, r.sub.ProvedAt = event.At(text("c5")), seen.Add(-time.Minute)
	r.sub.Before, r.sub.Newest = event.At(text("c4")), text("e5")
	r.sub.Lease.GrantedAt, r.sub.Lease.RefreshBefore = seen, time.Now().Add(time.Hour)
	r.sub.Hook = event.Hook{Path: "/hooks/old", URL: "https://here/hooks/old", Secret: event.NewSecret("whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz")}
	return seen
}

// echoing answers every subscribe with the position that is asked for, and what alter
// makes of that.
func (r *rig) echoing(alter func(n int, res *wire.SubscribeResult)) {
	n := 0
	r.src.subscribe = func(_ int, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
		n++
		res := grant("sub_1", time.Hour)
		res.Cursor = cur(q.At.Cursor.Raw())
		if alter != nil {
			alter(n, &res)
		}
		return res, nil
	}
}

// A failure is a sign of a loss until a proof has covered it, even if the proof that it caused was
// interrupted: then a checkpoint that is too old for the server is a possible gap.
func TestFailureCountsUntilItIsCovered(t *testing.T) {
	failure := event.Failure{Error: text("http_5xx"), Since: text("2000-01-01T00:30:00Z")}
	told := &wire.DeliveryStatus{Active: true, LastError: failure.Error, FailedSince: failure.Since}
	for name, tt := range map[string]struct {
		settled event.Failure
		want    string
	}{
		"not covered": {event.Failure{}, "gap:unproved e8"},
		"covered":     {failure, "e8"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModeWebhook, func(r *rig) {
				seen := r.leased()
				r.sub.Settled, r.sub.Lease.Status = tt.settled, status(told)
				r.offersPoll(7, 0)
				r.src.poll = func(_ int, q wire.PollRequest) (wire.PollResult, error) {
					return wire.PollResult{Truncated: q.At.Cursor.Raw() == "c5", Cursor: cur("c7")}, nil
				}
				r.echoing(func(_ int, res *wire.SubscribeResult) { res.Status = told })
				r.start().pass(2 * time.Minute)
				r.mustDeliver(delivered("e8", time.Now(), "c8"))
				r.wantLog(tt.want)
				equal(t, r.saved().Settled, failure)
				equal(t, r.saved().Proved.Text.Raw(), "c7")
				for _, g := range r.gaps() {
					equal(t, g.From, seen.Add(-time.Minute))
				}
			})
		})
	}
}

// Deliveries between the server's answer and its commit may have passed over an event that the answer
// did not count as failed.
func TestCheckpointIsWhereTheServerWasAsked(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		n := 0
		r.src.subscribe = func(_ int, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
			res := grant("sub_1", time.Hour)
			if n++; n > 1 {
				res.Cursor = cur("c1")
				r.mustDeliver(delivered("e3", time.Now(), "c3"))
			}
			return res, nil
		}
		r.start()
		r.mustDeliver(delivered("e1", time.Now(), "c1"))
		r.runner.Nudge()
		r.pass(time.Second)
		equal(t, r.saved().Proved.Text.Raw(), "c1")
		equal(t, r.saved().Newest.Raw(), "e1")
		r.runner.Nudge()
		r.pass(time.Second)
		equal(t, r.saved().Newest.Raw(), "e3")
	})
}

// A catch-up poll whose position is too old goes on with what the server still holds.
func TestTruncatedCatchUpGoesOn(t *testing.T) {
	for _, mode := range []event.Mode{event.ModePush, event.ModeWebhook} {
		t.Run(string(mode), func(t *testing.T) {
			bubble(t, mode, func(r *rig) {
				r.resumed()
				r.offersPoll(0, 0)
				r.echoing(nil)
				r.src.poll = func(_ int, q wire.PollRequest) (wire.PollResult, error) {
					at := q.At.Cursor.Raw()
					if at == "c7" {
						return wire.PollResult{Truncated: true, HasMore: true, Cursor: cur("c9")}, nil
					}
					var n int
					fmt.Sscanf(at, "c%d", &n)
					if n == 12 {
						return wire.PollResult{Cursor: cur(at)}, nil
					}
					n++
					return wire.PollResult{HasMore: n < 12, Cursor: cur(fmt.Sprint("c", n)), Events: []json.RawMessage{json.RawMessage(occurrence(fmt.Sprint("e", n), time.Now(), ""))}}, nil
				}
				r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
					for s.active("c7"); s.wait(20 * time.Second); {
						s.heartbeat("c7")
					}
					return nil
				}
				r.start().pass(2 * time.Minute)
				r.wantLog("e10 e11 e12 gap:unproved")
			})
		})
	}
}

// After a crash before an opening is proved, the stored positions are those before it, and continuity
// is not proved.
func TestPositionsStayWhileAProofIsOpen(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.leased()
		p := r.offersPoll(7, 0)
		poll := p.poll
		down := true
		r.src.poll = func(n int, q wire.PollRequest) (wire.PollResult, error) {
			if down {
				return wire.PollResult{}, errors.New("reset")
			}
			return poll(n, q)
		}
		r.echoing(func(_ int, res *wire.SubscribeResult) { res.Cursor = cur("c10") })
		r.start().pass(time.Second)
		r.mustDeliver(delivered("e12", time.Now(), "c12"))
		equal(t, r.saved().Cursor.Text.Raw()+" "+r.saved().Proved.Text.Raw(), "c7 c5")
		equal(t, r.saved().Proof, event.ProofProving)
		r.stop()
		equal(t, r.saved().Proof, event.ProofProving)
		down = false
		p.happened(12)
		r.start().pass(2 * time.Minute)
		r.wantLog("e12 e6 e8 e9 e10 e11") // e7 was stored before
		equal(t, r.saved().Cursor.Text.Raw()+" "+r.saved().Proved.Text.Raw(), "c10 c10")
		equal(t, r.saved().Proof, event.ProofProved)
		r.stop()
		equal(t, r.saved().Proof, event.ProofProved)
	})
}

// The proof of a stream's opening is stored.
func TestProofOfAStreamIsStored(t *testing.T) {
	for name, tt := range map[string]struct {
		script func(s *stream)
		want   event.Proof
	}{
		"open":         {func(s *stream) { s.active("c6") }, event.ProofProving},
		"proved":       {func(s *stream) { s.active("c6"); s.again() }, event.ProofProved},
		"possible gap": {func(s *stream) { s.active("c6"); s.event("e9") }, event.ProofPossibleGap},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModePush, func(r *rig) {
				r.resumed()
				r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error { tt.script(s); return s.stay() }
				r.start().pass(time.Second)
				r.stop()
				equal(t, r.saved().Proof, tt.want)
			})
		})
	}
}

// An event on another path, or a late delivery, proves nothing about the new path.
func TestOtherPathsProveNothingOfTheNewOne(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.leased()
		r.failed()
		r.start().pass(time.Second)
		late := delivered("e20", time.Now(), "c20")
		late.Old = true
		r.mustDeliver(late)
		r.mustDeliver(delivered("e5", time.Now(), "c5"))
		r.mustDeliver(onNewPath("e20", "c20"))
		equal(t, r.runner.Status().Proof, event.ProofProving)
		r.pass(time.Minute)
		r.wantLog("e20 e5 gap:unproved")
	})
}

// A sign of a loss counts until it is settled, even if the answer that showed it was lost.
func TestDoubtOutlastsALostAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		challenged bool
		lease      time.Duration
	}{
		"the callback was verified again": {true, time.Hour},
		"the lease ended":                 {false, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModeWebhook, func(r *rig) {
				r.resumed()
				r.deps.Timing.RenewEvery = time.Second
				cut := 0
				r.src.subscribe = func(_ int, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
					res := grant("sub_1", tt.lease)
					res.Cursor = cur(q.At.Cursor.Raw())
					if cut > 0 {
						if cut--; cut > 0 && tt.challenged {
							r.runner.Challenged()
						}
						if cut > 0 {
							sleep(context.Background(), 20*time.Second)
							return res, errors.New("cut")
						}
						res.Cursor = cur("c20")
					}
					return res, nil
				}
				r.start().pass(time.Second)
				r.mustDeliver(delivered("e7", time.Now(), "c7"))
				r.mustDeliver(delivered("e8", time.Now(), "c8"))
				r.wantLog("e8")
				equal(t, r.runner.Status().Proof, event.ProofProved)
				cut = 2
				r.runner.Nudge()
				r.pass(2 * time.Minute)
				if len(r.gaps()) == 0 {
					t.Errorf("no gap: %s", r.log(true))
				}
			})
		})
	}
}

// A delivery that comes after a change of mode does not change the lease of the new mode.
func TestLateDeliveryChangesNoLease(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.sub.Lease.ServerID = text("push-1")
		r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
			s.active("c1")
			return s.stay()
		}
		r.start().pass(time.Second)
		late := delivered("e1", time.Now(), "c9")
		late.ServerID = text("hook-1")
		r.mustDeliver(late)
		r.wantLog("e1")
		r.wantCursor("=c1")
		equal(t, r.saved().Lease.ServerID.Raw(), "push-1")
	})
}

// A poll after a webhook begins at its checkpoint. If that is too old for the server, the time since
// is a possible gap, and the events that still come are stored.
func TestPollAfterAWebhookBeginsAtItsCheckpoint(t *testing.T) {
	for name, tt := range map[string]struct {
		refuse bool
		want   string
	}{
		"truncated": {false, "gap:unproved e8 e9"},
		"refused":   {true, "gap:unproved"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModePoll, func(r *rig) {
				seen := r.leased()
				r.src.poll = func(_ int, q wire.PollRequest) (wire.PollResult, error) {
					if q.At.Cursor.Raw() != "c5" {
						return wire.PollResult{Cursor: cur(q.At.Cursor.Raw())}, nil
					}
					if tt.refuse {
						return wire.PollResult{}, fault(wire.CodeInvalidParams, `{"field":"cursor"}`)
					}
					return wire.PollResult{Truncated: true, Cursor: cur("c9"), Events: raw(occurrence("e8", time.Now(), ""), occurrence("e9", time.Now(), ""))}, nil
				}
				r.start().pass(time.Second)
				r.wantLog(tt.want)
				equal(t, r.gaps()[0].From, seen.Add(-time.Minute))
				equal(t, r.saved().Proved.Valid, false)
				equal(t, r.saved().Proof, event.ProofPossibleGap)
			})
		})
	}
}

// Types may be listed at any moment of an opening: what the first answer shows is always judged.
func TestTypesAreListedDuringAnOpening(t *testing.T) {
	for n := range 12 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			bubble(t, event.ModeWebhook, func(r *rig) {
				r.leased()
				asked := 0
				r.deps.Modes = func(event.Key) []event.Mode {
					if asked++; asked <= n {
						return nil
					}
					return []event.Mode{event.ModeWebhook}
				}
				r.echoing(func(_ int, res *wire.SubscribeResult) { res.Cursor = cur("c9") })
				r.src.poll = func(int, wire.PollRequest) (wire.PollResult, error) {
					return wire.PollResult{}, fault(wire.CodeMethodNotFound, "")
				}
				r.start().pass(time.Minute)
				r.mustDeliver(delivered("e9", time.Now(), "c10"))
				r.pass(3 * time.Minute)
				r.wantLog("gap:unproved e9")
			})
		})
	}
}

// A server that says truncated with every poll leaves one gap a minute, which together cover all missing
// events. After a crash in between it says so again.
func TestTruncatedPollsShareTheirGaps(t *testing.T) {
	bubble(t, event.ModePoll, func(r *rig) {
		r.resumed()
		var n atomic.Int64
		var whole atomic.Bool
		n.Store(7)
		r.src.poll = func(_ int, _ wire.PollRequest) (wire.PollResult, error) {
			at := n.Add(1)
			return wire.PollResult{Truncated: !whole.Load(), Cursor: cur(fmt.Sprint("c", at)), Events: raw(occurrence(fmt.Sprint("e", at), time.Now(), ""))}, nil
		}
		r.start().pass(10*time.Minute + 30*time.Second)
		gaps := r.gaps()
		if len(gaps) < 9 || len(gaps) > 12 {
			t.Errorf("%d gaps", len(gaps))
		}
		for i := range gaps[1:] {
			if gaps[i+1].From.After(gaps[i].To) {
				t.Errorf("nothing tells of %v to %v", gaps[i].To, gaps[i+1].From)
			}
		}
		stored := r.saved().Cursor.Text.Raw()
		if stored == fmt.Sprint("c", n.Load()) {
			t.Error("the position has passed what no gap tells of")
		}
		whole.Store(true)
		r.pass(2 * time.Second)
		equal(t, len(r.gaps()), len(gaps)+1)
		r.wantCursor(fmt.Sprint("=c", n.Load()))
	})
}

// When the server refuses polls and no longer holds the checkpoint, answers of this run say nothing
// about deliveries that were given up before it.
func TestAnswersOfThisRunProveNothingOfTheLast(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		seen := r.leased()
		r.store.ids["e7"] = true
		r.offersPoll(7, 0)
		r.src.poll = func(int, wire.PollRequest) (wire.PollResult, error) {
			return wire.PollResult{}, fault(wire.CodeInvalidParams, `{"field":"cursor"}`) // of another mode
		}
		r.echoing(func(_ int, res *wire.SubscribeResult) {
			res.Truncated = res.Cursor.Text.Raw() == "c4" || res.Cursor.Text.Raw() == "c5"
			res.Status = &wire.DeliveryStatus{Active: true, LastError: text("timeout")}
		})
		r.start().pass(2 * time.Second)
		r.mustDeliver(onNewPath("e7", "c7"))
		r.pass(2 * time.Minute)
		r.wantLog("gap:unproved")
		if g := r.gaps(); len(g) == 1 {
			equal(t, g[0].From, seen.Add(-time.Minute))
		}
	})
}

// A catch-up poll that takes longer than its stream goes on at the same position with the next stream.
func TestCatchUpGoesOnBehindAStreamThatEnded(t *testing.T) {
	bubble(t, event.ModePush, func(r *rig) {
		r.resumed()
		p := r.offersPoll(40, 0) // twenty pages
		r.deps.Pace = func(ctx context.Context) (func(), error) {
			if !sleep(ctx, time.Second) {
				return nil, context.Cause(ctx)
			}
			return func() {}, nil
		}
		r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
			s.active("c7")
			s.wait(4500 * time.Millisecond)
			return errors.New("closed")
		}
		r.start().pass(2 * time.Minute)
		r.wantOnceFrom(8, 40)
		again := 0
		for _, at := range p.positions() {
			if at == "c7" {
				again++
			}
		}
		equal(t, again, 1)
	})
}
