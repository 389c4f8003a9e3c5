package delivery

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

func TestPollBootstrapsWithNullAndGoesOnFromTheCursor(t *testing.T) {
	bubble(t, event.ModePoll, func(r *rig) {
		r.src.poll = func(n int, _ wire.PollRequest) (wire.PollResult, error) {
			switch n {
			case 1:
				return wire.PollResult{Cursor: cur("0")}, nil
			case 2:
				return wire.PollResult{Events: raw(occurrence("e1", time.Now(), "")), Cursor: cur("1")}, nil
			}
			return wire.PollResult{}, nil // an absent cursor keeps the held one
		}
		r.start()
		r.wantState(event.StatePolling)
		if err := r.runner.Confirmed(r.t.Context()); err != nil {
			t.Error(err)
		}
		r.pass(3500 * time.Millisecond)
		equal(t, r.src.cursors(), "- =0 =1 =1")
		r.wantLog("e1")
		r.wantCursor("=1")
		equal(t, r.saved().Gave, true)
	})
}

func TestPollGoesOnFromTheEventsOwnCursors(t *testing.T) {
	bubble(t, event.ModePoll, func(r *rig) {
		r.src.poll = func(n int, _ wire.PollRequest) (wire.PollResult, error) {
			switch n {
			case 1:
				return wire.PollResult{Events: raw(occurrence("e1", time.Now(), "c1"), occurrence("e2", time.Now(), "c2"))}, nil
			case 2:
				return wire.PollResult{Events: raw(occurrence("e3", time.Now(), "c3")), Cursor: cur("page")}, nil
			}
			return wire.PollResult{}, nil
		}
		r.start().pass(2500 * time.Millisecond)
		equal(t, r.src.cursors(), "- =c2 =page")
		r.wantLog("e1 e2 e3")
		r.wantCursor("=page")
	})
}

func TestPollPause(t *testing.T) {
	tests := map[string]struct{ next, want time.Duration }{
		"absent":   {0, time.Second},
		"negative": {-time.Hour, time.Second},
		"short":    {time.Millisecond, time.Second},
		"asked":    {7 * time.Second, 7 * time.Second},
		"absurd":   {365 * 24 * time.Hour, 5 * time.Minute},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModePoll, func(r *rig) {
				r.src.poll = func(int, wire.PollRequest) (wire.PollResult, error) {
					return wire.PollResult{Cursor: cur("0"), NextPoll: tt.next}, nil
				}
				r.start().pass(tt.want)
				equal(t, r.src.calls(), 2)
				equal(t, r.src.pause(1), tt.want)
				// A pause that is cut short is told, once.
				equal(t, len(r.remarksOf("it is asked after 5m0s, the longest pause")) == 1, tt.next > tt.want)
			})
		})
	}
}

func TestPollDrainsWhileTheServerHasMore(t *testing.T) {
	bubble(t, event.ModePoll, func(r *rig) {
		r.sub.Cursor, r.sub.LastSeen = event.At(cur("0").Text), time.Now().Add(-time.Hour)
		old := time.Now().Add(-time.Minute)
		r.src.poll = func(n int, _ wire.PollRequest) (wire.PollResult, error) {
			id := "e" + string(rune('0'+n))
			return wire.PollResult{Events: raw(occurrence(id, old, "")), Cursor: cur(id), HasMore: n < 4}, nil
		}
		r.start()
		equal(t, r.src.calls(), 4)
		r.wantLog("e1 e2 e3 e4")
		equal(t, r.runner.Status().Replayed, 4)
		r.wantState(event.StatePolling)
		if got := r.log(true); !strings.HasPrefix(got, "<resumed>") {
			t.Errorf("no marker of the resumption first: %s", got)
		}
	})
}

func TestPollDoesNotLoopOnPagesThatBringNothing(t *testing.T) {
	pages := map[string]wire.PollResult{
		"empty":      {HasMore: true, Cursor: cur("0")},
		"repeated":   {HasMore: true, Cursor: cur("0"), Events: raw(occurrence("e1", time.Time{}, ""))},
		"no members": {HasMore: true},
	}
	for name, page := range pages {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModePoll, func(r *rig) {
				r.src.poll = func(int, wire.PollRequest) (wire.PollResult, error) { return page, nil }
				r.start()
				if n := r.src.calls(); n > emptyPages+2 {
					t.Errorf("%d polls without a pause", n)
				}
				n := r.src.calls()
				r.pass(time.Second)
				equal(t, r.src.calls(), n+1)
			})
		})
	}
}

func TestPollTruncated(t *testing.T) {
	bubble(t, event.ModePoll, func(r *rig) {
		seen := time.Now().Add(-time.Hour).UTC()
		r.sub.Cursor, r.sub.LastSeen, r.sub.CompleteUntil = event.At(cur("7").Text), seen, seen
		r.src.poll = func(n int, _ wire.PollRequest) (wire.PollResult, error) {
			return wire.PollResult{Truncated: n == 1, Cursor: cur("9"), Events: raw(occurrence("e9", time.Now(), ""))}, nil
		}
		r.start()
		r.wantLog("gap:truncated! e9")
		r.wantCursor("=9")
		equal(t, r.gaps(), []event.Gap{{Cause: event.CauseTruncated, From: seen, To: time.Now().UTC(), Certain: true}})
	})
}

func TestPollCursorRejected(t *testing.T) {
	early := &wire.Error{Code: -32014, Message: trust.Untrusted("CursorExpired")}
	for _, refusal := range []error{fault(wire.CodeInvalidParams, `{"field":"cursor"}`), early} {
		bubble(t, event.ModePoll, func(r *rig) {
			r.sub.Cursor, r.sub.LastSeen, r.sub.Gave = event.At(cur("7").Text), time.Now().Add(-time.Hour), true
			r.src.poll = func(_ int, q wire.PollRequest) (wire.PollResult, error) {
				if q.At.Valid && q.At.Cursor.Raw() == "7" {
					return wire.PollResult{}, refusal
				}
				return wire.PollResult{Cursor: cur("0")}, nil
			}
			r.start().pass(time.Second)
			equal(t, r.src.cursors(), "=7 - =0")
			r.wantLog("gap:cursor-rejected!")
			r.wantCursor("=0")
			r.wantState(event.StatePolling)
		})
	}
}

func TestPollNullIsRefusedToo(t *testing.T) {
	bubble(t, event.ModePoll, func(r *rig) {
		r.src.poll = func(int, wire.PollRequest) (wire.PollResult, error) {
			return wire.PollResult{}, fault(wire.CodeInvalidParams, `{"field":"cursor"}`)
		}
		r.start().wantEnded(true)
		equal(t, r.src.calls(), 1)
	})
}

func TestNullCursor(t *testing.T) {
	for name, tt := range map[string]struct {
		gave bool
		want string
	}{
		"keeps one of a type that gives cursors":   {true, "=7"},
		"clears one of a type that never gave one": {false, "-"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModePoll, func(r *rig) {
				r.sub.Cursor, r.sub.Gave = event.At(cur("7").Text), tt.gave
				r.src.poll = func(int, wire.PollRequest) (wire.PollResult, error) { return wire.PollResult{Cursor: null}, nil }
				r.start().pass(time.Second)
				r.wantCursor(tt.want)
				equal(t, r.src.cursors(), "=7 "+tt.want)
			})
		})
	}
}

func TestEmptyCursorIsAPosition(t *testing.T) {
	bubble(t, event.ModePoll, func(r *rig) {
		r.src.poll = func(int, wire.PollRequest) (wire.PollResult, error) { return wire.PollResult{Cursor: cur("")}, nil }
		r.start().pass(time.Second)
		equal(t, r.src.cursors(), "- =")
	})
}

func TestCursorlessTypeLeavesAGapForTheTimeAway(t *testing.T) {
	for state, cause := range map[event.State]event.Cause{
		event.StatePolling: event.CauseNoReplay, event.StateResumed: event.CausePaused,
	} {
		bubble(t, event.ModePoll, func(r *rig) {
			seen := time.Now().Add(-time.Hour).UTC()
			r.sub.LastSeen, r.sub.CompleteUntil, r.sub.State = seen, seen, state
			r.src.poll = func(int, wire.PollRequest) (wire.PollResult, error) { return wire.PollResult{Cursor: null}, nil }
			r.start().pass(10 * time.Second)
			equal(t, r.gaps(), []event.Gap{{Cause: cause, From: seen, To: time.Now().Add(-10 * time.Second).UTC()}})
		})
	}
}

func TestRefusalsEndASubscription(t *testing.T) {
	tests := map[string]struct {
		err  error
		want event.State
	}{
		"forbidden, SEP":    {fault(-32024, ""), event.StateDenied},
		"forbidden, sketch": {fault(-32012, ""), event.StateDenied},
		"by the transport":  {wire.ErrDenied, event.StateDenied},
		"not found":         {fault(-32023, ""), event.StateEnded},
		"type not found":    {fault(-32011, `{"kind":"event"}`), event.StateEnded},
		"unsupported":       {fault(-32026, ""), event.StateEnded},
		"schema changed":    {fault(-32026, `{"reason":"schema_changed"}`), event.StateEnded},
		"invalid params":    {fault(-32602, `{"field":"arguments"}`), event.StateEnded},
		"method not found":  {fault(-32601, ""), event.StateEnded},
		"header mismatch":   {fault(-32020, ""), event.StateEnded},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModePoll, func(r *rig) {
				r.src.poll = func(int, wire.PollRequest) (wire.PollResult, error) { return wire.PollResult{}, tt.err }
				r.start().wantEnded(true)
				r.wantState(tt.want)
				equal(t, r.src.calls(), 1)
				equal(t, r.saved().State, tt.want)
				if err := r.runner.Confirmed(r.t.Context()); !errors.Is(err, tt.err) {
					t.Errorf("Confirmed: %v", err)
				}
			})
		})
	}
}

func TestOtherErrorsAreTriedAgain(t *testing.T) {
	for name, err := range map[string]error{
		"transport":          errors.New("connection reset"),
		"resource exhausted": fault(-32025, ""),
		"callback":           fault(-32027, ""),
		"unknown":            fault(-32000, ""),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModePoll, func(r *rig) {
				r.sub.Cursor = event.At(cur("7").Text)
				r.src.poll = func(n int, _ wire.PollRequest) (wire.PollResult, error) {
					if n < 4 {
						return wire.PollResult{}, err
					}
					return wire.PollResult{Cursor: cur("8")}, nil
				}
				r.start()
				r.wantState(event.StateBackoff)
				if s := r.runner.Status(); s.Attempt != 1 || s.Error.Raw() != err.Error() || !s.NextTry.Equal(time.Now().Add(time.Second)) {
					t.Errorf("%+v", s)
				}
				r.pass(7 * time.Second)
				r.wantState(event.StatePolling)
				if s := r.runner.Status(); s.Attempt != 0 || !s.Error.IsZero() {
					t.Errorf("%+v", s)
				}
				equal(t, r.src.cursors(), "=7 =7 =7 =7")
				equal(t, []time.Duration{r.src.pause(1), r.src.pause(2), r.src.pause(3)}, []time.Duration{1e9, 2e9, 4e9})
			})
		})
	}
}

// The server's error is stored with the subscription, from the first attempt on.
func TestAnsweredErrorsAreShown(t *testing.T) {
	for name, err := range map[string]error{
		"ResourceExhausted":     fault(-32025, `{"limit":"subscriptions"}`),
		"CallbackEndpointError": fault(-32015, `{"reason":"tls_error"}`),
	} {
		for _, mode := range allModes {
			t.Run(name+" "+string(mode), func(t *testing.T) {
				bubble(t, mode, func(r *rig) {
					r.src.poll = func(int, wire.PollRequest) (wire.PollResult, error) { return wire.PollResult{}, err }
					r.src.stream = func(int, wire.StreamRequest, *stream) error { return err }
					r.src.subscribe = func(int, wire.SubscribeRequest) (wire.SubscribeResult, error) {
						return wire.SubscribeResult{}, err
					}
					r.start().pass(5 * time.Second)
					r.wantState(event.StateBackoff)
					for _, got := range []trust.Text{r.runner.Status().Error, r.saved().Error} {
						if !strings.Contains(got.Raw(), name) || got.Raw() != err.Error() {
							t.Errorf("shown as %q", got.Raw())
						}
					}
					if got := r.log(true); got != "<backoff>" || r.saved().Evidence != "the server refused for now" {
						t.Errorf("log %s, evidence %q", got, r.saved().Evidence)
					}
				})
			})
		}
	}
}

// A malformed answer is shown as such, and not as the end of the connection.
func TestMalformedAnswersAreShownAsSuch(t *testing.T) {
	bubble(t, event.ModePoll, func(r *rig) {
		r.src.poll = func(n int, _ wire.PollRequest) (wire.PollResult, error) {
			if n == 1 {
				return wire.PollResult{}, nil
			}
			return wire.PollResult{}, fmt.Errorf("%w: the events of events/poll", wire.ErrMalformed)
		}
		r.start().pass(5 * time.Second)
		r.wantState(event.StateBackoff)
		if got := r.saved().Evidence; got != "the server's answer cannot be used" {
			t.Errorf("evidence %q", got)
		}
	})
}

// A server may need a moment; one that keeps answering so does not accept the subscription.
func TestInternalErrorAtTheStartIsTriedAgain(t *testing.T) {
	bubble(t, event.ModePoll, func(r *rig) {
		fails := 3
		r.src.poll = func(n int, _ wire.PollRequest) (wire.PollResult, error) {
			if n <= fails {
				return wire.PollResult{}, fault(wire.CodeInternal, "")
			}
			return wire.PollResult{Cursor: cur("1")}, nil
		}
		r.start().pass(10 * time.Second)
		r.wantState(event.StatePolling)
	})
	bubble(t, event.ModePoll, func(r *rig) {
		r.src.poll = func(int, wire.PollRequest) (wire.PollResult, error) {
			return wire.PollResult{}, fault(wire.CodeInternal, "")
		}
		r.start().pass(time.Minute)
		r.wantEnded(true)
		r.wantState(event.StateEnded)
		equal(t, r.src.calls(), startTries)
	})
}

func TestInternalErrorDoesNotEndAKnownSubscription(t *testing.T) {
	bubble(t, event.ModePoll, func(r *rig) {
		r.sub.Cursor, r.sub.LastSeen = event.At(cur("7").Text), time.Now().Add(-time.Hour)
		r.src.poll = func(int, wire.PollRequest) (wire.PollResult, error) {
			return wire.PollResult{}, fault(wire.CodeInternal, "")
		}
		r.start().wantEnded(false)
		r.wantState(event.StateBackoff)
	})
}

func TestPollStoresBeforeItAsksAgain(t *testing.T) {
	bubble(t, event.ModePoll, func(r *rig) {
		r.store.hold = make(chan struct{})
		r.src.poll = func(n int, _ wire.PollRequest) (wire.PollResult, error) {
			return wire.PollResult{Events: raw(occurrence("e", time.Now(), "")), Cursor: cur("1"), HasMore: true}, nil
		}
		r.start().pass(time.Minute)
		equal(t, r.src.calls(), 1)
		close(r.store.hold)
		r.pass(0)
		if r.src.calls() < 2 {
			t.Error("did not go on after the commit")
		}
	})
}

func TestPollStoresAPayloadThatItRefuses(t *testing.T) {
	bubble(t, event.ModePoll, func(r *rig) {
		bad := `{"eventId":"a","eventId":"b"}`
		r.src.poll = func(n int, _ wire.PollRequest) (wire.PollResult, error) {
			if n > 1 {
				return wire.PollResult{}, nil
			}
			return wire.PollResult{Events: raw(bad, occurrence("e1", time.Now(), "")), Cursor: cur("2")}, nil
		}
		r.start()
		r.wantLog("rejected e1")
		r.wantCursor("=2")
		for _, rec := range r.store.all() {
			if rec.Kind == event.KindRejected && (string(rec.Raw) != bad || rec.Reason.IsZero() || strings.Contains(rec.Reason.Raw(), "refused")) {
				t.Errorf("%+v", rec)
			}
		}
	})
}

func TestPollFailedCommitSkipsNothing(t *testing.T) {
	bubble(t, event.ModePoll, func(r *rig) {
		server := []string{"e1", "e2", "e3"}
		r.src.poll = func(_ int, q wire.PollRequest) (wire.PollResult, error) {
			at := 0
			if q.At.Valid {
				at = int(q.At.Cursor.Raw()[0] - '0')
			}
			if at == len(server) {
				return wire.PollResult{}, nil
			}
			return wire.PollResult{Events: raw(occurrence(server[at], time.Now(), "")), Cursor: cur(string(rune('1' + at))), HasMore: true}, nil
		}
		failures := 2
		r.store.failWith(func(b event.Batch) error {
			if b.Cursor != nil && b.Cursor.Text.Raw() == "2" && failures > 0 {
				failures--
				return event.ErrFull
			}
			return nil
		})
		r.start()
		r.wantState(event.StateBackoff)
		if !strings.Contains(r.runner.Status().Error.Raw(), event.ErrFull.Error()) {
			t.Errorf("%v", r.runner.Status().Error)
		}
		r.pass(5 * time.Second)
		r.wantLog("e1 e2 e3")
		r.wantCursor("=3")
		equal(t, failures, 0)
	})
}

// Events that were received and not stored are missing too.
func TestGapOfACursorlessTypeBeginsAtWhatIsStored(t *testing.T) {
	bubble(t, event.ModePoll, func(r *rig) {
		r.src.poll = func(n int, _ wire.PollRequest) (wire.PollResult, error) {
			if n == 2 {
				return wire.PollResult{Events: raw(occurrence("e1", time.Now(), "")), Cursor: null, NextPoll: time.Hour}, nil
			}
			return wire.PollResult{Cursor: null, NextPoll: time.Minute}, nil
		}
		r.store.failWith(func(b event.Batch) error {
			if len(b.Records) > 0 && b.Records[0].Kind == event.KindEvent {
				return event.ErrFull
			}
			return nil
		})
		began := time.Now().UTC()
		r.start().pass(2 * time.Minute)
		if g := r.gaps(); len(g) != 1 || !g[0].From.Equal(began) {
			t.Errorf("gaps %+v, nothing is missing until %v", g, began)
		}
	})
}

// An answer that is too large is asked for again in smaller parts, until the server
// has no more. A single event that is too large is an error that says what to do.
func TestPollAsksForLessWhenTheAnswerIsTooLarge(t *testing.T) {
	large := fmt.Errorf("answer: %w", wire.ErrTooLarge)
	bubble(t, event.ModePoll, func(r *rig) {
		r.sub.Cursor = event.At(cur("0").Text)
		var asked []int
		r.src.poll = func(n int, q wire.PollRequest) (wire.PollResult, error) {
			asked = append(asked, q.MaxEvents)
			switch {
			case n > 5:
				return wire.PollResult{Cursor: cur("2")}, nil
			case q.MaxEvents == 0 || q.MaxEvents > 32:
				return wire.PollResult{}, large
			}
			return wire.PollResult{Events: raw(occurrence(fmt.Sprint("e", n), time.Now(), "")), Cursor: cur(fmt.Sprint(n)), HasMore: n == 3}, nil
		}
		r.start().pass(3500 * time.Millisecond)
		r.wantState(event.StatePolling)
		r.wantLog("e3 e4")
		if want := []int{0, 128, 32, 32, 0}; !slices.Equal(asked[:5], want) {
			t.Errorf("asked for %v, want %v", asked, want)
		}
		if s := r.runner.Status(); !s.Error.IsZero() {
			t.Errorf("%v", s.Error)
		}
	})
	bubble(t, event.ModePoll, func(r *rig) {
		r.sub.Cursor = event.At(cur("0").Text)
		var asked []int
		r.src.poll = func(n int, q wire.PollRequest) (wire.PollResult, error) {
			asked = append(asked, q.MaxEvents)
			if n > 6 {
				return wire.PollResult{Cursor: cur("1")}, nil
			}
			return wire.PollResult{}, large
		}
		r.start()
		r.wantState(event.StateBackoff)
		if want := []int{0, 128, 32, 8, 2, 1}; !slices.Equal(asked, want) {
			t.Errorf("asked for %v, want %v", asked, want)
		}
		if why := r.runner.Status().Error.Raw(); !strings.Contains(why, "reset the cursor") || !strings.Contains(why, "too large") {
			t.Errorf("%s", why)
		}
		r.pass(2 * time.Second)
		r.wantState(event.StatePolling) // the server accepts it again
	})
}
