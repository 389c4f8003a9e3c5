package engine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// failpoints are the points at which an engine is killed: before and after each commit, and between
// the parts of the work in other goroutines.
var failpoints = []string{
	"decided", "committed", "prepared", "judged", "approved", "ready", "running", "begun", "ended", "settled", "forgotten", "adopted",
}

// crashSeeds is the number of seeds for each failpoint.
func crashSeeds(t *testing.T) int {
	if text := os.Getenv("EVENTDECK_REACT_SEEDS"); text != "" {
		n, err := strconv.Atoi(text)
		must(t, err)
		return n
	}
	if testing.Short() {
		return 5
	}
	return 25
}

// An engine that is killed at each failpoint, several times per seed, decides each record once for
// each rule, begins each attempt at most once, parks commands with unknown outcome, sends a
// webhook under one id, and loses no run.
func TestKillsAtEachFailpoint(t *testing.T) {
	killsAt(t, failpoints, func(t *testing.T, i, seed int) int {
		c := &crash{t: t, r: rand.New(rand.NewPCG(uint64(seed), uint64(i))), point: failpoints[i]}
		c.run()
		return c.kills
	})
}

// killsAt plays a history for each failpoint and seed, until one fails. The history returns how
// often an engine was killed at that point.
func killsAt(t *testing.T, points []string, play func(t *testing.T, point, seed int) (kills int)) {
	t.Helper()
	for i, point := range points {
		kills := 0
		for seed := range crashSeeds(t) {
			if !t.Run(fmt.Sprintf("%s/%d", point, seed), func(t *testing.T) {
				simulated(t, func(t *testing.T) { kills += play(t, i, seed) })
			}) {
				return
			}
		}
		if kills == 0 {
			t.Errorf("no engine was killed at %q", point)
		}
	}
}

// settles decides for the operator until no run is under way, for two hours at most.
func settles(e *Engine, decide func()) {
	for range 720 {
		decide()
		rest(10 * time.Second)
		if v := e.Reactions(); len(v.Waiting)+len(v.Active) == 0 {
			return
		}
	}
}

// crash is one history: records arrive while engines are killed and started again.
type crash struct {
	t     *testing.T
	r     *rand.Rand
	point string
	kills int
	w     *world
	sent  map[string][]uint64 // type -> records
	runs  []react.Run
}

func (c *crash) rules() []react.Rule {
	command, webhook, note, ask, storm := commandRule("command"), webhookRule("webhook"), noteRule("note"), noteRule("ask"), noteRule("storm")
	for i, r := range []*react.Rule{&command, &webhook, &note, &ask, &storm} {
		r.On.Types = react.Types{fmt.Sprintf("type%d", i)}
		r.Key = []string{".k"}
		r.Wait = time.Duration(i) * 300 * time.Millisecond
	}
	ask.Mode = react.ModeAsk
	storm.Key, storm.Wait = nil, 0
	storm.Window = react.Window{Count: 4, Within: 8 * time.Second}
	return []react.Rule{command, webhook, note, ask, storm}
}

func (c *crash) run() {
	c.w = newWorld(c.t, c.rules()...)
	c.sent = map[string][]uint64{}
	c.w.lasts = time.Duration(c.r.IntN(1500)) * time.Millisecond
	c.w.outcome = func(id react.RunID, n int) react.Outcome {
		if c.w.sends[id] > 0 && c.w.sends[id] < 2 && id[0]%2 == 0 {
			return react.OutcomeRetry
		}
		return react.OutcomeDone
	}
	e, _ := c.w.open("", 0)
	arm(c.t, e)
	closed(c.t, e)
	for range 2 + c.r.IntN(3) {
		var l *life
		e, l = c.w.open(c.point, c.r.IntN(6))
		c.live(e, l)
		c.w.change(func() { c.w.cut = c.r.IntN(2) == 0 })
		if l.isDead() {
			c.kills++
		} else {
			l.kill()
		}
		closed(c.t, e)
		if c.r.IntN(2) == 0 {
			rest(time.Duration(c.r.IntN(3000)) * time.Millisecond)
		}
	}
	e, _ = c.w.open("", 0)
	settles(e, func() { c.approve(e) })
	c.runs = runsOf(c.t, e, react.Query{})
	closed(c.t, e)
	c.check()
}

// live submits records while the engine lives, and for a moment longer.
func (c *crash) live(e *Engine, l *life) {
	for i := 0; i < 25 && (!l.isDead() || c.r.IntN(3) > 0); i++ {
		typ := fmt.Sprintf("type%d", c.r.IntN(5))
		seq := c.w.submit(record("pager", typ, fmt.Sprintf(`{"k":%d}`, c.r.IntN(2))))
		c.sent[typ] = append(c.sent[typ], seq)
		if c.r.IntN(3) == 0 {
			c.approve(e)
		}
		rest(time.Duration(c.r.IntN(700)) * time.Millisecond)
	}
}

func (c *crash) approve(e *Engine) {
	for _, r := range e.Reactions().Waiting {
		_ = e.Approve(c.t.Context(), r.ID, r.Request.Hash()) // it may be dead, or have just died
	}
}

func (c *crash) check() {
	t := c.t
	for name, n := range c.w.begun {
		if n != 1 {
			t.Errorf("attempt %s was begun %d times", name, n)
		}
	}
	rules := map[string]int{"command": 0, "webhook": 1, "note": 2, "ask": 3}
	decided := map[string]map[uint64]int{}
	for _, r := range c.runs {
		if !r.State.Over() {
			t.Errorf("run %s of %s is %s: %s", r.ID, r.Rule, r.State, r.Why)
		}
		if decided[r.Rule] == nil {
			decided[r.Rule] = map[uint64]int{}
		}
		for _, seq := range slices.Concat(r.Members.First, r.Members.Last) {
			decided[r.Rule][seq]++
		}
		begun := 0
		for n := 1; n <= 10; n++ {
			begun += c.w.begun[fmt.Sprintf("%s/%d", r.ID, n)]
		}
		switch {
		case r.State == react.Parked && r.Rule != "command":
			t.Errorf("run %s of %s is parked", r.ID, r.Rule)
		case r.Rule == "command" && begun > 1:
			t.Errorf("command run %s was begun %d times; it is %s", r.ID, begun, r.State)
		case r.State == react.Done && begun == 0:
			t.Errorf("run %s is done and was never begun", r.ID)
		case r.State != react.Done && r.State != react.Parked:
			t.Errorf("run %s of %s is %s: %s", r.ID, r.Rule, r.State, r.Why)
		}
	}
	for rule, i := range rules {
		for _, seq := range c.sent[fmt.Sprintf("type%d", i)] {
			if n := decided[rule][seq]; n != 1 {
				t.Errorf("record %d is in %d runs of %s", seq, n, rule)
			}
		}
	}
	c.checkWindow(decided["storm"])
}

// checkWindow recomputes the window over all records.
func (c *crash) checkWindow(got map[uint64]int) {
	rule := c.rules()[4]
	watch := react.NewWatch(&rule)
	fired := map[uint64]int{} // in how many windows that became true a record counted
	for _, seq := range c.sent["type4"] {
		if f, ok := watch.Add("", seq, c.w.records[seq].ReceivedAt); ok {
			for _, s := range c.sent["type4"] {
				if s >= f.From && s <= seq {
					fired[s]++
				}
			}
		}
	}
	for seq := range fired {
		if got[seq] == 0 {
			c.t.Errorf("record %d counted in a window that fired, and is in no run", seq)
		}
	}
	for _, seq := range c.sent["type4"] {
		if got[seq] > fired[seq]+1 { // one more run may have gathered while the window was true
			c.t.Errorf("record %d is in %d runs, and counted %d times", seq, got[seq], fired[seq])
		}
	}
}

// The audit log tells of each start, however often the engine was killed.
func TestEachStartIsInTheAuditLog(t *testing.T) {
	simulated(t, func(t *testing.T) {
		c := &crash{t: t, r: rand.New(rand.NewPCG(1, 2)), point: "begun"}
		c.run()
		started := 0
		for _, a := range c.w.audits {
			if a.Action == "act started" && a.Actor != event.ActorHost {
				started++
			}
		}
		if started < len(c.w.begun) {
			t.Errorf("%d starts in the audit log, %d acts", started, len(c.w.begun))
		}
	})
}
