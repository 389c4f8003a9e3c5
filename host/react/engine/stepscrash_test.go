package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// stepFailpoints are the points at which an engine is killed while runs take steps: those of every
// run, and those around each step.
var stepFailpoints = []string{
	"decided", "committed", "running", "begun", "ended", "adopted",
	"step begins", "step begun", "step asks", "calling", "called", "step ends", "step ended",
}

// An engine that is killed around each step, several times per seed, calls a write tool at most once
// and only if approved, parks runs with unknown calls, and never counts less than was spent.
func TestKillsAtEachStep(t *testing.T) {
	killsAt(t, stepFailpoints, func(t *testing.T, i, seed int) int {
		c := &stepCrash{t: t, r: rand.New(rand.NewPCG(uint64(seed), uint64(i+100))), point: stepFailpoints[i], approved: map[react.RunID]int{}}
		c.run()
		return c.kills
	})
}

// stepCrash is one history of runs that take steps.
type stepCrash struct {
	t        *testing.T
	r        *rand.Rand
	point    string
	kills    int
	w        *world
	approved map[react.RunID]int // approvals of a run
	records  int
}

func (c *stepCrash) rules() []react.Rule {
	task, choose, agent := taskRule("task"), choiceRule("choose"), agentRule("agent")
	for i, r := range []*react.Rule{&task, &choose, &agent} {
		r.On.Types, r.Key = react.Types{fmt.Sprintf("type%d", i)}, []string{".k"}
		r.Limits.Runs = react.Rate{N: 1000, Per: 24 * time.Hour}
	}
	return []react.Rule{task, choose, agent}
}

// planFor returns the planned steps of a run, always the same ones.
func planFor(first react.Request) []planned {
	reading := planned{kind: react.StepTool, tool: "git/log"}
	costly := planned{kind: react.StepModel, bound: 5000, cost: 5000}
	silent := planned{kind: react.StepModel, bound: 700, cost: -1}
	switch first.Kind {
	case react.RequestChoice:
		act := first.Choices[first.Run[0]%2]
		return []planned{asksModel, {next: &react.Request{Kind: react.RequestNote, Act: act.Name, Note: act.Do.Note, Input: []byte("1 ")}}}
	case react.RequestAgent:
		asked := writes
		asked.ask = true
		return []planned{{kind: react.StepPrompt}, reads, asked, asked}
	}
	if first.Run[0]%2 == 0 {
		return []planned{asksModel, reads, silent, writes, asksModel, writes, costly}
	}
	return []planned{costly, reading, asksModel, reads, asksModel}
}

func (c *stepCrash) run() {
	c.w = newWorld(c.t, c.rules()...)
	c.w.plan = planFor
	c.w.lasts = time.Duration(c.r.IntN(800)) * time.Millisecond
	e, _ := c.w.open("", 0)
	arm(c.t, e)
	closed(c.t, e)
	for range 2 + c.r.IntN(3) {
		c.w.change(func() { c.w.cut = c.r.IntN(2) == 0 }) // whether a conversation of an agent can be taken up
		var l *life
		e, l = c.w.open(c.point, c.r.IntN(8))
		c.live(e, l)
		l.mu.Lock()
		if l.dead {
			c.kills++
		}
		l.dead = true
		l.mu.Unlock()
		closed(c.t, e)
		c.w.change(func() { c.w.lives++ })
		c.known(nil)
	}
	e, _ = c.w.open("", 0)
	settles(e, func() { c.decide(e, 0) })
	runs := runsOf(c.t, e, react.Query{})
	c.check(e, runs)
	closed(c.t, e)
}

// live submits records, and decides for the operator, while the engine lives and a moment longer.
func (c *stepCrash) live(e *Engine, l *life) {
	for i := 0; i < 15 && (!l.isDead() || c.r.IntN(3) > 0); i++ {
		c.w.submit(record("pager", fmt.Sprintf("type%d", c.r.IntN(3)), fmt.Sprintf(`{"k":%d}`, c.r.IntN(2))))
		c.records++
		c.decide(e, 8)
		rest(time.Duration(c.r.IntN(900)) * time.Millisecond)
	}
}

// decide approves waiting runs, and denies some.
func (c *stepCrash) decide(e *Engine, denied int) {
	for _, r := range e.Reactions().Waiting {
		if denied > 0 && c.r.IntN(denied) == 0 {
			_ = e.Deny(c.t.Context(), r.ID, "no") // it may be dead, or have just died
			continue
		}
		c.approved[r.ID]++ // also where it died before it was told
		_ = e.Approve(c.t.Context(), r.ID, r.Request.Hash())
	}
}

// known compares the journal with what was really done.
func (c *stepCrash) known(runs []react.Run) {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	days, paid := int64(0), int64(0)
	for key, value := range c.w.tables[event.TableReact] {
		if strings.HasPrefix(key, prefixSpend) {
			var micro int64
			if _, err := fmt.Sscan(string(value), &micro); err != nil {
				c.t.Error(err)
			}
			days += micro
		}
	}
	for _, micro := range c.w.paid {
		paid += micro
	}
	if days < paid {
		c.t.Errorf("%d were spent, and %d are known", paid, days)
	}
	all := int64(0)
	for _, r := range runs {
		all += r.Spend
		paid, most := c.w.paid[r.ID], int64(c.w.lives)*5000
		if r.Spend < paid || r.Spend > paid+most {
			c.t.Errorf("run %s spent %d, and knows of %d", r.ID, paid, r.Spend)
		}
	}
	if runs != nil && all != days {
		c.t.Errorf("the runs spent %d, the days %d", all, days)
	}
}

func (c *stepCrash) check(e *Engine, runs []react.Run) {
	t := c.t
	c.known(runs)
	for name, n := range c.w.begun {
		if n != 1 {
			t.Errorf("attempt %s was begun %d times", name, n)
		}
	}
	writes := map[react.RunID]int{}
	for name, n := range c.w.wrote {
		id, _, _ := strings.Cut(name, "/")
		if writes[react.RunID(id)]++; n != 1 {
			t.Errorf("what writes was called %d times: %s", n, name)
		}
	}
	begun := 0
	for _, r := range runs {
		if writes[r.ID] > c.approved[r.ID] {
			t.Errorf("run %s wrote %d times and was approved %d times", r.ID, writes[r.ID], c.approved[r.ID])
		}
		if r.Rule == "task" && r.Attempt > 0 {
			begun++
		}
		c.checkEnd(e, r)
	}
	starts := 0
	must(t, e.query(t.Context(), func() error {
		starts = len(e.rules["task"].starts)
		for k, g := range e.groups {
			if g.frozen != 0 || g.fresh != 0 || g.running != 0 {
				t.Errorf("group %v: %+v", k, g)
			}
		}
		if e.asking != 0 || e.busy != 0 || len(e.spent.out) != 0 || len(e.stopSwitch.live) != 0 {
			t.Errorf("%d ask, %d are busy, %d are out, %d live", e.asking, e.busy, len(e.spent.out), len(e.stopSwitch.live))
		}
		return nil
	}))
	if starts != begun {
		t.Errorf("%d runs of steps were begun, %d starts count", begun, starts)
	}
}

// checkEnd checks the outcome of a run, and settles it if it is parked.
func (c *stepCrash) checkEnd(e *Engine, r react.Run) {
	t := c.t
	all, err := e.Steps(t.Context(), r.ID)
	must(t, err)
	unknown := slices.ContainsFunc(all, func(s react.Step) bool {
		return s.State == react.StepBegun && s.Kind == react.StepTool && s.Class == react.ToolWrite
	})
	cost := int64(0)
	for i, s := range all {
		if cost += s.Cost; s.N != i+1 || s.Tries > react.StepTries {
			t.Errorf("run %s has step %d as number %d with %d tries", r.ID, s.N, i+1, s.Tries)
		}
	}
	if cost != r.Spend {
		t.Errorf("the steps of run %s cost %d, the run %d", r.ID, cost, r.Spend)
	}
	tool := e.ruleViewOf(r.Rule).Unknown["pager/undo"] != ""
	switch {
	case r.State == react.Parked && (unknown || r.Rule == "agent"):
		if unknown && !tool {
			t.Errorf("run %s of %s is parked, and its rule may call the tool", r.ID, r.Rule)
		}
		must(t, e.Settle(t.Context(), r.ID, true, ""))
	case unknown:
		t.Errorf("run %s of %s is %s, and a call is not known", r.ID, r.Rule, r.State)
	case r.State == react.Done, r.State == react.Denied:
	case r.State == react.Failed && strings.Contains(r.Why, "times"):
	case r.State == react.Expired && r.Rule != "agent": // it died before it was told
	default:
		t.Errorf("run %s of %s is %s: %s; %+v", r.ID, r.Rule, r.State, r.Why, all)
	}
	if r.Rule == "choose" && r.State == react.Done && (r.Request.Kind != react.RequestNote || r.Began == nil || r.Steps != 1) {
		t.Errorf("run %s did not do what was chosen: %+v", r.ID, r.Request)
	}
}

func (e *Engine) ruleViewOf(name string) react.RuleView {
	for _, v := range e.Reactions().Rules {
		if v.Rule.Name == name {
			return v
		}
	}
	return react.RuleView{}
}
