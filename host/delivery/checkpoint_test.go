package delivery

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// A server whose deliveries failed while the host was away gives them up, and answers
// later positions as if nothing were missing.
func TestCatchUpBringsWhatAWebhookGaveUp(t *testing.T) {
	failing := &wire.DeliveryStatus{Active: true, LastError: text("timeout"), FailedSince: text("2000-01-01T00:30:00Z")}
	for name, tt := range map[string]struct {
		live   bool // it happens between two refreshes
		answer func(res *wire.SubscribeResult)
	}{
		"at a restart":                      {false, func(*wire.SubscribeResult) {}},
		"at a restart, with a failure":      {false, func(res *wire.SubscribeResult) { res.Status = failing }},
		"at a refresh that shows a failure": {true, func(res *wire.SubscribeResult) { res.Status = failing }},
		"at a refresh that leads on":        {true, func(res *wire.SubscribeResult) { res.Cursor = cur("c11") }},
		"at a refresh that ends a suspension": {true, func(res *wire.SubscribeResult) {
			res.Status = &wire.DeliveryStatus{Active: true}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModeWebhook, func(r *rig) {
				r.resumed()
				p := r.offersPoll(7, 0)
				lost := !tt.live
				r.src.subscribe = func(n int, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
					res := grant("sub_1", 10*time.Minute)
					res.Cursor = cur(q.At.Cursor.Raw())
					if name == "at a refresh that ends a suspension" && n < 3 {
						res.Status = &wire.DeliveryStatus{}
						return res, nil
					}
					if lost {
						p.happened(11)
						res.Cursor = cur("c11")
						tt.answer(&res)
					}
					return res, nil
				}
				r.start().pass(time.Minute)
				if tt.live {
					lost = true
					r.runner.Nudge()
					r.pass(2 * time.Minute)
				}
				r.wantLog("e8 e9 e10 e11")
				r.wantCursor("=c11")
				equal(t, r.saved().Proved.Text.Raw(), "c11")
				equal(t, r.runner.Status().Proof, event.ProofProved)
			})
		})
	}
}

// Events that were given up before deliveries succeeded again are requested too: the catch-up begins
// at the position of the last answer without a failure, not at the newest.
func TestDeliveriesBehindAHoleDoNotHideIt(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.resumed()
		p := r.offersPoll(7, 0)
		r.src.subscribe = func(n int, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
			res := grant("sub_1", 10*time.Minute)
			res.Cursor = cur(q.At.Cursor.Raw())
			if p.newest() > 7 {
				res.Status = &wire.DeliveryStatus{Active: true, LastError: text("http_5xx")}
			}
			return res, nil
		}
		r.start().pass(time.Minute)
		p.happened(12)
		r.mustDeliver(delivered("e12", time.Now(), "c12"))
		r.wantCursor("=c12")
		equal(t, r.saved().Proved.Text.Raw(), "c7")
		p.forget()
		r.pass(10 * time.Minute)
		r.wantLog("e12 e8 e9 e10 e11")
		equal(t, p.positions()[0], "c7")
		equal(t, r.saved().Proved.Text.Raw(), "c12")
	})
}

// A server that verifies the callback of a subscription that it knows has forgotten it.
func TestChallengeOfAKnownSubscriptionIsProved(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.resumed()
		p := r.offersPoll(7, 0)
		r.src.subscribe = func(_ int, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
			if p.newest() > 7 {
				r.runner.Challenged()
			}
			res := grant("sub_1", 10*time.Minute)
			res.Cursor = cur(q.At.Cursor.Raw())
			return res, nil
		}
		r.start().pass(time.Minute)
		asked := len(p.positions())
		r.runner.Nudge()
		r.pass(time.Minute)
		equal(t, len(p.positions()), asked) // nothing speaks for a loss
		p.happened(9)
		r.runner.Nudge()
		r.pass(time.Minute)
		r.wantLog("e8 e9")
	})
}

func TestDoubtIsProvedInEveryMode(t *testing.T) {
	for _, mode := range []event.Mode{event.ModePush, event.ModeWebhook, event.ModePoll} {
		t.Run(string(mode), func(t *testing.T) {
			bubble(t, mode, func(r *rig) {
				r.resumed()
				p := r.offersPoll(7, 0)
				r.src.subscribe = func(_ int, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
					res := grant("sub_1", time.Hour)
					res.Cursor = cur(q.At.Cursor.Raw())
					return res, nil
				}
				r.src.stream = func(_ int, _ wire.StreamRequest, s *stream) error {
					s.active("c7")
					for s.wait(20 * time.Second) {
						s.heartbeat("c7")
					}
					return nil
				}
				r.start().pass(time.Minute)
				equal(t, r.runner.Status().Proof, event.ProofProved)
				p.happened(8)
				r.runner.Doubt()
				r.pass(time.Minute)
				r.wantLog("e8")
				equal(t, r.runner.Status().Proof, event.ProofProved)
			})
		})
	}
}

// Where the type cannot be polled, a path that the server does not know is opened one
// position back, and the stored event after that must come again on it. Then the old path is ended,
// and takes deliveries under way for some time longer.
func TestFreshPathProvesAWebhook(t *testing.T) {
	for name, tt := range map[string]struct {
		replays bool
		want    string
		proof   event.Proof
	}{
		"the stored event comes again": {true, "e8", event.ProofProved},
		"nothing is replayed":          {false, "gap:unproved", event.ProofPossibleGap},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModeWebhook, func(r *rig) {
				seen := r.resumedOnPath()
				var asked []string
				r.src.subscribe = func(_ int, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
					asked = append(asked, q.At.Cursor.Raw()+" "+strings.TrimPrefix(q.URL, "https://here"))
					res := grant("sub_1", time.Hour)
					res.Cursor = cur(q.At.Cursor.Raw())
					return res, nil
				}
				var mu sync.Mutex
				var all []string
				r.src.unsubscribe = func(q wire.UnsubscribeRequest) error {
					mu.Lock()
					defer mu.Unlock()
					all = append(all, q.URL)
					return nil
				}
				ended := func() []string {
					mu.Lock()
					defer mu.Unlock()
					return slices.Clone(all)
				}
				r.start().pass(time.Second)
				h := r.saved().Hook
				if h.OldPath != "/hooks/old" || !h.OldUntil.IsZero() || len(ended()) != 0 {
					t.Errorf("before the proof: %+v, ended %q", h, ended())
				}
				if tt.replays {
					for _, n := range []string{"7", "8"} {
						r.mustDeliver(delivered("e"+n, time.Now(), "c"+n))
					}
				}
				r.pass(time.Minute)
				r.wantLog(tt.want)
				equal(t, asked[0], "c6 "+h.Path)
				equal(t, strings.Join(ended(), " "), "https://here/hooks/old")
				equal(t, r.runner.Status().Proof, tt.proof)
				if h = r.saved().Hook; h.OldPath != "/hooks/old" || h.OldURL != "" || h.OldUntil.IsZero() {
					t.Errorf("after the proof: %+v", h)
				}
				for _, g := range r.gaps() {
					equal(t, g.From, seen)
				}
			})
		})
	}
}

// After a crash before a fresh path is proved, the path is ended and another one begins at the same
// position: deliveries under way on the first would look like a replay.
func TestUnprovedFreshPathBeginsAgain(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.resumedOnPath()
		var said []string
		r.src.subscribe = func(_ int, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
			said = append(said, q.At.Cursor.Raw()+" "+q.URL)
			res := grant("sub_1", time.Hour)
			res.Cursor = cur("c9")
			return res, nil
		}
		r.src.unsubscribe = func(q wire.UnsubscribeRequest) error {
			said = append(said, "end "+q.URL)
			return nil
		}
		r.start().pass(time.Second)
		r.mustDeliver(delivered("e9", time.Now(), "c9"))
		r.stop()
		url := r.saved().Hook.URL
		r.start().pass(time.Second)
		r.mustDeliver(delivered("e7", time.Now(), "c7"))
		r.pass(time.Second)
		next := r.saved().Hook.URL
		equal(t, strings.Join(said, ", "), "c6 "+url+", end "+url+", c6 "+next+", end https://here/hooks/old")
		if next == url {
			t.Error("the path is used again")
		}
		r.wantCursor("=c7")
		r.wantLog("e9")
	})
}

// At a server that takes one subscription at a time the old one is ended first.
func TestServerThatRefusesASecondPath(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.resumedOnPath()
		ended := false
		r.src.unsubscribe = func(wire.UnsubscribeRequest) error { ended = true; return nil }
		r.src.subscribe = func(_ int, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
			if !ended {
				return wire.SubscribeResult{}, fault(-32025, `{"limit":"subscriptions"}`)
			}
			res := grant("sub_1", time.Hour)
			res.Cursor = cur(q.At.Cursor.Raw())
			return res, nil
		}
		r.start().pass(time.Second)
		r.mustDeliver(delivered("e7", time.Now(), "c7"))
		r.pass(time.Second)
		r.wantState(event.StateLive)
		equal(t, r.runner.Status().Proof, event.ProofProved)
		r.wantLog("")
	})
}

// The proved position and the event after it follow answers without a failure.
func TestCheckpointsFollowCleanAnswers(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		at := 0
		r.src.subscribe = func(_ int, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
			res := grant("sub_1", time.Hour)
			res.Cursor = cur(fmt.Sprint("c", at))
			return res, nil
		}
		r.start()
		equal(t, r.saved().Proved.Text.Raw(), "c0")
		for at = 1; at <= 3; at++ {
			r.pass(time.Second)
			r.mustDeliver(delivered(fmt.Sprint("e", at), time.Now(), fmt.Sprint("c", at)))
			equal(t, r.saved().Proved.Text.Raw(), fmt.Sprint("c", at-1))
			r.runner.Nudge()
			r.pass(time.Second)
			equal(t, r.saved().Proved.Text.Raw(), fmt.Sprint("c", at))
			equal(t, r.saved().Before.Text.Raw(), fmt.Sprint("c", at-1))
			equal(t, r.saved().Newest.Raw(), fmt.Sprint("e", at))
		}
	})
}

// Events that come again on a fresh path have positions before the stored one, which is proved: those
// positions are ignored.
func TestPositionsOfAReplayAreNotTaken(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.leased()
		r.sub.Proved, r.sub.Before, r.sub.Newest = r.sub.Cursor, event.At(text("c4")), text("e5")
		for _, id := range []string{"e5", "e6", "e7"} {
			r.store.ids[id] = true
		}
		r.echoing(nil)
		r.start().pass(time.Second)
		for _, d := range [][2]string{{"e6", "c4b"}, {"e5", "c5"}, {"e7", "c6"}} {
			r.mustDeliver(delivered(d[0], time.Now(), d[1]))
		}
		r.pass(time.Second)
		equal(t, r.runner.Status().Proof, event.ProofProved)
		r.wantCursor("=c7")
		r.runner.Nudge()
		r.pass(time.Second)
		equal(t, r.src.cursors(), "=c4 =c7")
		r.mustDeliver(delivered("e8", time.Now(), "c8"))
		r.wantCursor("=c8")
		r.wantLog("e8")
	})
}

// resumedOnPath is [rig.resumed] for a webhook with a lease on the path /hooks/old.
func (r *rig) resumedOnPath() (seen time.Time) {
	seen = r.resumed()
	r.sub.Lease.GrantedAt = seen
	r.sub.Hook = event.Hook{Path: "/hooks/old", URL: "https://here/hooks/old", Secret: event.NewSecret("whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz")}
	return seen
}
