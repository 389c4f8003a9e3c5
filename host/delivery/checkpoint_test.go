package delivery

import (
	"context"
	"errors"
	"fmt"
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
// position back after a sign of a loss, and the stored event after that must come again on it.
// Meanwhile the lease of the present path continues. Then that path is ended, and takes deliveries
// under way for some time longer.
func TestNewPathProvesAWebhook(t *testing.T) {
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
				s := r.failed()
				s.lease = 8 * time.Second
				r.start().pass(15 * time.Second) // two refreshes
				h := r.saved().Hook
				if h.Path != "/hooks/old" || h.NewPath == "" || h.OldPath != "" || s.ends() != "" {
					t.Errorf("before the proof: %+v, ended %q", h, s.ends())
				}
				equal(t, s.asks(h.Path), "=c7 =c7 =c7")
				equal(t, s.asks(h.NewPath), "=c6 =c6 =c6")
				if tt.replays {
					for _, n := range []string{"7", "8"} {
						r.mustDeliver(onNewPath("e"+n, "c"+n))
					}
				}
				r.pass(time.Minute)
				r.wantLog(tt.want)
				equal(t, s.ends(), "/hooks/old")
				equal(t, r.runner.Status().Proof, tt.proof)
				after := r.saved().Hook
				if after.Path != h.NewPath || after.NewPath != "" || after.OldPath != "/hooks/old" || after.OldURL != "" || after.OldUntil.IsZero() {
					t.Errorf("after the proof: %+v", after)
				}
				for _, g := range r.gaps() {
					equal(t, g.From, seen)
				}
			})
		})
	}
}

// After a crash before a new path is proved, the path is ended, and another one begins at the same
// position once it may: deliveries under way on the first would look like a replay.
func TestUnprovedNewPathBeginsAgain(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.resumedOnPath()
		s := r.failed()
		r.start().pass(time.Second)
		r.mustDeliver(onNewPath("e9", "c9"))
		r.stop()
		first := r.saved().Hook.NewPath
		r.start().pass(time.Minute)
		equal(t, s.ends(), first)
		equal(t, r.runner.Status().Proof, event.ProofProving)
		r.wantCursor("=c7")
		r.pass(59*time.Minute + 10*time.Second)
		next := r.saved().Hook.NewPath
		if next == first || next == "" {
			t.Errorf("path %q after %q", next, first)
		}
		equal(t, s.asks(first)+", "+s.asks(next), "=c6, =c6")
		r.mustDeliver(onNewPath("e7", "c7"))
		r.pass(time.Second)
		equal(t, s.ends(), first+" /hooks/old")
		r.wantCursor("=c7")
		r.wantLog("e9")
	})
}

// At a server that takes one subscription at a time the present path continues one position back,
// behind a possible gap.
func TestServerThatRefusesASecondPath(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.resumedOnPath()
		s := r.failed()
		s.onePath = true
		r.start().pass(time.Minute)
		r.wantState(event.StateLive)
		equal(t, r.runner.Status().Proof, event.ProofPossibleGap)
		equal(t, s.asks("/hooks/old"), "=c7 =c6")
		equal(t, r.saved().Hook.NewPath, "")
		r.wantLog("gap:unproved")
	})
}

// A server that grants no new path is asked for one once in an hour, and the lease of the present
// one continues.
func TestNewPathThatIsNotGranted(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.resumedOnPath()
		s := r.failed()
		s.refusal = errors.New("the callback did not answer the challenge")
		r.start().pass(90 * time.Minute)
		r.wantState(event.StateLive)
		equal(t, r.runner.Status().Proof, event.ProofProving)
		equal(t, len(s.paths()), 3) // the present one, and two tries
		r.wantLog("")
	})
}

// An answer that leads on though nothing was delivered is asked about once, on the same path: the server
// vouches for it with a deliveryStatus without failure whose last delivery is the last that was taken.
// Otherwise there is a possible gap for each such answer. A restart asks like a refresh.
func TestPositionThatMovedOnAQuietWebhook(t *testing.T) {
	at := func(d time.Duration) *wire.DeliveryStatus { // relative to the only delivery
		return &wire.DeliveryStatus{Active: true, LastDeliveryAt: text(time.Date(2000, 1, 1, 0, 30, 0, 0, time.UTC).Add(d).Format(time.RFC3339Nano))}
	}
	for name, tt := range map[string]struct {
		status *wire.DeliveryStatus
		want   string
		proof  event.Proof
	}{
		"no status":                 {nil, "e1 gap:unproved gap:unproved gap:unproved", event.ProofPossibleGap},
		"the last one was taken":    {at(time.Second), "e1", event.ProofProved},
		"a later one was delivered": {at(time.Minute), "e1 gap:unproved gap:unproved gap:unproved", event.ProofPossibleGap},
		"no last delivery":          {&wire.DeliveryStatus{Active: true}, "e1 gap:unproved gap:unproved gap:unproved", event.ProofPossibleGap},
		"an unreadable last one":    {&wire.DeliveryStatus{Active: true, LastDeliveryAt: text("now")}, "e1 gap:unproved gap:unproved gap:unproved", event.ProofPossibleGap},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModeWebhook, func(r *rig) {
				n := 0
				var urls []string
				r.src.subscribe = func(_ int, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
					urls = append(urls, q.URL)
					n++
					res := grant("s", 2*time.Hour)
					res.Cursor, res.Status = cur(q.At.Cursor.Raw()), tt.status
					if q.At.Cursor.IsZero() {
						res.Cursor = cur("c0")
					}
					if n > 2 {
						res.Cursor = cur(fmt.Sprint("c", n))
					}
					return res, nil
				}
				r.start().pass(30 * time.Minute)
				r.mustDeliver(delivered("e1", time.Now(), "c1"))
				r.pass(time.Minute)
				again := func() {
					r.runner.Nudge()
					r.pass(time.Minute)
				}
				again() // not quiet
				r.wantLog("e1")
				again()
				again()
				r.stop()
				r.start().pass(time.Minute)
				r.wantLog(tt.want)
				equal(t, r.runner.Status().Proof, tt.proof)
				equal(t, len(urls), 5)
				for _, url := range urls {
					equal(t, url, urls[0])
				}
				r.wantCursor("=c5")
				for i, g := range r.gaps()[:max(0, len(r.gaps())-1)] {
					equal(t, r.gaps()[i+1].From, g.To)
				}
			})
		})
	}
}

// While a server has stopped delivering, its positions are not asked about: all that came after the
// checkpoint is, once it delivers again.
func TestSuspensionIsADoubtOnce(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.resumedOnPath()
		n := 0
		r.src.subscribe = func(int, wire.SubscribeRequest) (wire.SubscribeResult, error) {
			n++
			res := grant("s", time.Hour)
			res.Cursor, res.Status = cur(fmt.Sprint("c", 7+n/2)), &wire.DeliveryStatus{Active: n > 10}
			return res, nil
		}
		r.start().pass(time.Minute)
		r.wantLog("")
		equal(t, r.saved().Proved.Text.Raw(), "c7")
		equal(t, r.saved().Hook.NewPath != "", true)
	})
}

// A lease that did not last is in doubt only if the answer leads on from the position that was asked
// for. Then a stored event must come again on a new path.
func TestLeaseThatDidNotLast(t *testing.T) {
	ends := map[string]func(r *rig){
		"it ended meanwhile":            func(r *rig) { r.sub.Lease.RefreshBefore = time.Now().Add(-time.Minute) },
		"it was released":               func(r *rig) { r.sub.Lease = event.Lease{} },
		"the callback is verified":      nil,
		"the machine slept":             nil,
		"a proof was open":              func(r *rig) { r.sub.Proof = event.ProofProving },
		"a delivery is ahead of it":     nil,
		"the address is another one":    func(r *rig) { r.sub.Hook.URL = "https://there/hooks/old" },
		"it lasted, and failed already": nil,
	}
	for name, ended := range ends {
		for _, leadsOn := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", leads on: ", leadsOn), func(t *testing.T) {
				bubble(t, event.ModeWebhook, func(r *rig) {
					r.leased()
					if ended != nil {
						ended(r)
					}
					n := 0
					r.src.subscribe = func(_ int, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
						n++
						switch {
						case name == "the callback is verified" && n == 1:
							r.runner.Challenged()
						case name == "a delivery is ahead of it" && n == 1:
							if err := r.runner.Deliver(context.Background(), delivered("e9", time.Now(), "c9")); err != nil {
								t.Error(err)
							}
						}
						res := grant("s", time.Hour)
						res.Cursor = cur(q.At.Cursor.Raw())
						if name == "it lasted, and failed already" {
							res.Status = &wire.DeliveryStatus{Active: true, LastError: text("timeout")}
						}
						if first := n == 1 && name != "the machine slept" || n == 2 && name == "the machine slept"; first && leadsOn {
							res.Cursor = cur("c12")
						}
						return res, nil
					}
					r.start().pass(time.Second)
					if name == "the machine slept" {
						r.runner.Doubt()
						r.pass(time.Second)
					}
					want := leadsOn || name == "a proof was open" || name == "it lasted, and failed already"
					equal(t, r.saved().Hook.NewPath != "", want)
					equal(t, r.runner.Status().Proof == event.ProofProving, want)
				})
			})
		}
	}
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

// Events that come again on a new path have positions before the stored one, which is proved: those
// positions are ignored.
func TestPositionsOfAReplayAreNotTaken(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		r.leased()
		r.sub.Proved, r.sub.Before, r.sub.Newest = r.sub.Cursor, event.At(text("c4")), text("e5")
		for _, id := range []string{"e5", "e6", "e7"} {
			r.store.ids[id] = true
		}
		s := r.failed()
		r.start().pass(time.Second)
		for _, d := range [][2]string{{"e6", "c4b"}, {"e5", "c5"}, {"e7", "c6"}} {
			r.mustDeliver(onNewPath(d[0], d[1]))
		}
		r.pass(time.Second)
		equal(t, r.runner.Status().Proof, event.ProofProved)
		r.wantCursor("=c7")
		r.runner.Nudge()
		r.pass(time.Second)
		equal(t, s.asks(r.saved().Hook.Path), "=c4 =c7 =c7")
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

// onNewPath is a delivery on the path that is being proved.
func onNewPath(id, cursor string) Delivered {
	d := delivered(id, time.Now(), cursor)
	d.New = true
	return d
}

// failedServer answers every subscribe with the position that is asked for. On the path /hooks/old it
// reports deliveries that failed.
type failedServer struct {
	lease   time.Duration
	onePath bool  // it refuses another path
	refusal error // of another path; nil: none

	mu    sync.Mutex
	asked []string // path and position of each subscribe
	ended []string // paths that were unsubscribed
}

// failed makes the rig's server one whose deliveries failed.
func (r *rig) failed() *failedServer {
	s := &failedServer{lease: time.Hour}
	r.src.subscribe = func(_ int, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
		path := strings.TrimPrefix(q.URL, "https://here")
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked = append(s.asked, path+" ="+q.At.Cursor.Raw())
		res := grant("sub_1", s.lease)
		res.Cursor = cur(q.At.Cursor.Raw())
		switch {
		case path == "/hooks/old":
			res.Status = &wire.DeliveryStatus{Active: true, LastError: text("timeout"), FailedSince: text("2000-01-01T00:30:00Z")}
		case s.onePath:
			return wire.SubscribeResult{}, fault(-32025, `{"limit":"subscriptions"}`)
		case s.refusal != nil:
			return wire.SubscribeResult{}, s.refusal
		}
		return res, nil
	}
	r.src.unsubscribe = func(q wire.UnsubscribeRequest) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ended = append(s.ended, strings.TrimPrefix(q.URL, "https://here"))
		return nil
	}
	return s
}

// asks returns the positions that were asked for on a path, ends the paths that were ended, and paths
// all paths that were asked for.
func (s *failedServer) asks(path string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var at []string
	for _, asked := range s.asked {
		if on, position, _ := strings.Cut(asked, " "); on == path {
			at = append(at, position)
		}
	}
	return strings.Join(at, " ")
}

func (s *failedServer) ends() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.ended, " ")
}

func (s *failedServer) paths() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]bool{}
	for _, asked := range s.asked {
		path, _, _ := strings.Cut(asked, " ")
		all[path] = true
	}
	return all
}

// An event of before this run that is delivered on a lease that lasted has waited while the host was
// away, and others may have been given up, unless the server vouched for none.
func TestDeliveryThatWaitedIsADoubt(t *testing.T) {
	for name, tt := range map[string]struct {
		status   *wire.DeliveryStatus
		lease    time.Duration
		occurred time.Duration // from the start
		want     bool
	}{
		"no status":                   {nil, time.Hour, -time.Second, true},
		"the server vouched":          {&wire.DeliveryStatus{Active: true, LastDeliveryAt: text("2000-01-01T00:00:00Z")}, time.Hour, -time.Second, false},
		"the lease ended":             {nil, -time.Second, -time.Second, false},
		"an event since the start":    {nil, time.Hour, time.Second, false},
		"status without the last one": {&wire.DeliveryStatus{Active: true}, time.Hour, -time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, event.ModeWebhook, func(r *rig) {
				r.leased()
				r.sub.Lease.RefreshBefore, r.sub.Lease.Delivered = time.Now().Add(tt.lease), true
				r.sub.Received = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
				r.echoing(func(_ int, res *wire.SubscribeResult) { res.Status = tt.status })
				began := time.Now()
				r.start().pass(time.Minute)
				r.mustDeliver(delivered("e9", began.Add(tt.occurred), "c9"))
				r.pass(time.Second)
				equal(t, r.saved().Hook.NewPath != "", tt.want)
			})
		})
	}
}
