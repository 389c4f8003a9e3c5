package sim_test

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/internal/sim"
	"eventdeck/host/wire"
)

// Limits of the load of proofs on a server (reliability.md).
const (
	extraRequests   = 2 // for each reopening of a subscription that missed nothing
	catchUpsASecond = 5 // polls of one server per second
	catchUpsAtOnce  = 4
)

// calmly is the heartbeat interval of a server that does not test patience.
const calmly = 25 * time.Second

// scaled returns gate, or with EVENTDECK_SIM set bar.
func scaled(gate, bar int) int {
	if os.Getenv(envSoak) != "" {
		return bar
	}
	return gate
}

// gaps returns the number of gap records.
func (c *crowd) gaps() (n int) {
	c.t.Helper()
	for _, s := range c.host.Snapshot().Subs {
		n += int(s.Gaps)
	}
	return n
}

// A server that closes its streams every minute gets few requests apart from its streams,
// and no gap is recorded if nothing is missing. With EVENTDECK_SIM set it runs for a day.
func TestClosedStreamsCostFewRequests(t *testing.T) {
	for name, modes := range map[string][]event.Mode{"push alone": nil, "with poll": {event.ModePoll}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := sim.NewFeed("closed", event.ModePush, modes...)
				f.Deviate(sim.CloseEvery)
				f.CloseAfter = time.Minute
				c := newCrowd(t, []*sim.Feed{f}, calmly, false)
				hours := scaled(2, 24)
				for range hours * 6 {
					f.Add()
					time.Sleep(10 * time.Minute)
				}
				openings := c.network.Faults()["stream closed"] + 1
				streams, polls := c.server.Requests(f, wire.MethodStream), c.server.Requests(f, wire.MethodPoll)
				t.Logf("%d openings, %d streams, %d polls, %d gap records", openings, streams, polls, c.gaps())
				if openings < hours*50 {
					t.Errorf("%d openings: the server did not close its streams", openings)
				}
				if extra := streams - openings + polls; extra > extraRequests*openings {
					t.Errorf("%d extra requests for %d openings", extra, openings)
				}
				if n := c.gaps(); n != 0 {
					t.Errorf("%d gap records, and nothing was missing", n)
				}
			})
		})
	}
}

// Many subscriptions that wake up together catch up at a bounded rate. With EVENTDECK_SIM
// set there are 1,000.
func TestSleepersCatchUpSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		subs := scaled(100, 1000)
		feeds := crowdOf(subs)
		for _, f := range feeds {
			f.Offer(event.ModePoll)
		}
		c := newCrowd(t, feeds, calmly, false)
		c.await(subs)
		for _, f := range feeds {
			f.Add()
		}
		time.Sleep(time.Minute)
		c.cut()
		for _, f := range feeds {
			f.Add()
		}
		time.Sleep(time.Duration(subs) * time.Second / 2) // 5 polls per second, and up to two polls each
		c.mu.Lock()
		defer c.mu.Unlock()
		most := 0
		for i, at := range c.polled {
			n := 0
			for _, later := range c.polled[i:] {
				if later.Sub(at) >= time.Second {
					break
				}
				n++
			}
			most = max(most, n)
		}
		t.Logf("%d polls, %d in the busiest second, %d at once", len(c.polled), most, c.most)
		if len(c.polled) == 0 {
			t.Error("nothing was polled")
		}
		if most > catchUpsASecond || c.most > catchUpsAtOnce {
			t.Errorf("%d polls in a second, %d at once", most, c.most)
		}
	})
}

// A webhook of a healthy server on which nothing happens costs its refreshes: no restart and no
// refresh makes another path, another challenge or a gap record, also if a filter of the
// subscription moves the position with each answer, and with the leases that end meanwhile if
// none does.
func TestQuietWebhookKeepsItsPath(t *testing.T) {
	for name, tt := range map[string]struct {
		modes  []event.Mode
		filter bool
		away   time.Duration // of the host, with a lease of 10 minutes
	}{
		"filtered":            {nil, true, 90 * time.Second},
		"filtered, with poll": {[]event.Mode{event.ModePoll}, true, 90 * time.Second},
		"leases end":          {nil, false, 11 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
				f := sim.NewFeed("quiet", event.ModeWebhook, tt.modes...)
				if tt.filter {
					f.Deviate(sim.Filtered)
				}
				c := newCrowd(t, []*sim.Feed{f}, calmly, false)
				f.Add()
				time.Sleep(time.Hour)
				if n := c.host.Snapshot().Subs[0].Stored; n != 1 {
					t.Errorf("%d events are stored", n)
				}
				for range 20 {
					c.close()
					time.Sleep(tt.away)
					c.start()
					time.Sleep(time.Minute)
				}
				time.Sleep(24 * time.Hour)
				faults := c.network.Faults()
				t.Logf("%d subscribes, %d polls", c.server.Requests(f, wire.MethodSubscribe), c.server.Requests(f, wire.MethodPoll))
				if paths, challenges, gaps := 1+faults["second path"], faults["challenged"], c.gaps(); paths != 1 || challenges != 1 || gaps != 0 {
					t.Errorf("%d paths, %d challenges, %d gap records", paths, challenges, gaps)
				}
				proof := func() event.Proof { return c.host.Snapshot().Subs[0].Status.Proof }
				for range 60 { // a refresh may be a moment ago
					if proof() != event.ProofProved {
						time.Sleep(time.Second)
					}
				}
				if proof() != event.ProofProved {
					t.Errorf("the proof is %s", proof())
				}
			})
		})
	}
}

// A server whose deliveryStatus never clears causes a new path once an hour at most, and no
// gap record. With EVENTDECK_SIM set it runs for a day.
func TestStickyErrorsCauseFewRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))) // in 2000 timestamps have one digit less
		f := sim.NewFeed("sticky", event.ModeWebhook)
		f.Deviate(sim.LastErrorSticky)
		c := newCrowd(t, []*sim.Feed{f}, calmly, false)
		hours := scaled(4, 24)
		for range hours * 6 {
			f.Add()
			time.Sleep(10 * time.Minute)
		}
		paths := c.network.Faults()["second path"]
		t.Logf("%d new paths in %d hours, %d subscribes, %d gap records", paths, hours, c.server.Requests(f, wire.MethodSubscribe), c.gaps())
		if paths > hours {
			t.Errorf("%d new paths in %d hours", paths, hours)
		}
		if n := c.gaps(); n != 0 {
			t.Errorf("%d gap records, and nothing was missing", n)
		}
		if n := c.host.Snapshot().Subs[0].Stored; int(n) != f.Last() {
			t.Errorf("%d of %d events are stored", n, f.Last())
		}
	})
}
