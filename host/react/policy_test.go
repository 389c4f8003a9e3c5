package react

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// ruleOf returns a rule that may do everything.
func ruleOf(mode Mode) *Rule {
	return &Rule{
		Name: "page", Mode: mode, Age: 15 * time.Minute, Where: "rules.json:2:3",
		Limits: Limits{Runs: Rate{6, time.Hour}, Running: 1, Queue: 100, Spend: 500_000},
		Do:     Do{Webhook: &Webhook{URL: "https://example.com"}},
		Lines:  map[string]string{"mode": "rules.json:4:5", "age": "rules.json:5:5"},
	}
}

func free(mode Mode) Facts {
	return Facts{Now: noon, Rule: ruleOf(mode), Armed: true, NS: Live,
		File: &File{Limits: Limits{Runs: Rate{60, time.Hour}, Running: 4, Queue: 1000}, Lines: map[string]string{"limits.runs": "rules.json:9:3"}}}
}

// restrictions are what can be added to facts; none may loosen what is decided.
var restrictions = map[string]func(*Facts){
	"stopped":    func(f *Facts) { f.Stopped = true },
	"held":       func(f *Facts) { f.Held = "restored" },
	"gone":       func(f *Facts) { f.Gone = true },
	"disarmed":   func(f *Facts) { f.Armed = false },
	"silenced":   func(f *Facts) { f.Silenced = noon.Add(time.Hour) },
	"imported":   func(f *Facts) { f.Imported = true },
	"stale":      func(f *Facts) { f.Stale = true },
	"unsigned":   func(f *Facts) { f.Unsigned = true },
	"gap":        func(f *Facts) { f.AfterGap = true },
	"flagged":    func(f *Facts) { f.Flagged = true },
	"loop":       func(f *Facts) { f.Loop = true },
	"once":       func(f *Facts) { f.OnceUntil = noon.Add(time.Second) },
	"failures":   func(f *Facts) { f.Failures = Breaker },
	"rate":       func(f *Facts) { f.Started = 6 },
	"rate all":   func(f *Facts) { f.StartedAll = 60 },
	"running":    func(f *Facts) { f.Running = 1 },
	"all run":    func(f *Facts) { f.RunningAll = 4 },
	"queue":      func(f *Facts) { f.Queued = 100 },
	"all queue":  func(f *Facts) { f.QueuedAll = 1000 },
	"approvals":  func(f *Facts) { f.Asking = MaxAsking },
	"cost":       func(f *Facts) { f.Cost = 500_001 },
	"unapproved": func(f *Facts) { f.Approved = false },
	"ungranted":  func(f *Facts) { f.Granted = false },
	"unconfined": func(f *Facts) { f.Rule.Do = Do{Command: &Command{Argv: []string{"/bin/true"}}} },
	"ask":        func(f *Facts) { f.Rule.Mode = stricter(f.Rule.Mode, ModeAsk) },
	"shadow":     func(f *Facts) { f.Rule.Mode = ModeShadow },
	"less often": func(f *Facts) { f.Rule.Limits.Runs.N = 1 },
}

func stricter(a, b Mode) Mode {
	if a == ModeShadow {
		return a
	}
	return b
}

func TestRestrictionsNeverLoosenADecision(t *testing.T) {
	var names []string
	for name := range restrictions {
		names = append(names, name)
	}
	slices.Sort(names)
	for seed := range uint64(20_000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		f := free([]Mode{ModeShadow, ModeAsk, ModeAuto}[rng.IntN(3)])
		f.Approved, f.Granted = rng.IntN(2) == 0, rng.IntN(2) == 0
		f.Started = rng.IntN(4)
		if rng.IntN(3) == 0 {
			f.NS = Manual
		}
		said := Judge(f)
		for range 6 {
			name := names[rng.IntN(len(names))]
			restrictions[name](&f)
			next := Judge(f)
			if next.strictness() < said.strictness() {
				t.Fatalf("seed %d: with %q the decision went from %+v to %+v", seed, name, said, next)
			}
			said = next
		}
	}
}

func TestDecisionsNameTheirLine(t *testing.T) {
	for _, c := range []struct {
		name  string
		facts func(*Facts)
		want  Decision
	}{
		{"nothing against it", func(*Facts) {}, Decision{State: Ready, Now: true, Cause: CauseMode, Line: "rules.json:4:5"}},
		{"stop", restrictions["stopped"], Decision{State: Ready, Cause: CauseStop}},
		{"stop of what asks", func(f *Facts) { f.Stopped, f.Armed = true, false }, Decision{State: Asking, Cause: CauseDisarmed, Line: "rules.json:2:3"}},
		{"stop of what was approved", func(f *Facts) { f.Stopped, f.Armed, f.Approved = true, false, true }, Decision{State: Ready, Cause: CauseStop}},
		{"approved", func(f *Facts) { f.Rule.Mode, f.Approved, f.Stale = ModeAsk, true, true }, Decision{State: Ready, Now: true, Cause: CauseApproved, Line: "rules.json:4:5"}},
		{"asks, and is not armed", func(f *Facts) { f.Rule.Mode, f.Armed = ModeAsk, false }, Decision{State: Asking, Cause: CauseMode, Line: "rules.json:4:5"}},
		{"granted", func(f *Facts) { f.Rule.Mode, f.Armed, f.Granted = ModeAsk, false, true }, Decision{State: Ready, Now: true, Cause: CauseApproved, Line: "rules.json:4:5"}},
		{"granted, and flagged", func(f *Facts) { f.Rule.Mode, f.Granted, f.Flagged = ModeAsk, true, true }, Decision{State: Asking, Cause: CauseFlag, Line: "rules.json:2:3"}},
		{"granted, and by hand", func(f *Facts) { f.Granted, f.NS = true, Manual }, Decision{State: Asking, Cause: CauseOrigin, Line: "rules.json:2:3"}},
		{"granted, and failing", func(f *Facts) { f.Granted, f.Failures = true, Breaker }, Decision{State: Asking, Cause: CauseBreaker, Line: "rules.json:2:3"}},
		{"approved and silenced", func(f *Facts) { f.Approved = true; f.Silenced = noon.Add(1) }, Decision{State: Suppressed, Cause: CauseSilence, Line: "rules.json:2:3"}},
		{"silence that is over", func(f *Facts) { f.Silenced = noon }, Decision{State: Ready, Now: true, Cause: CauseMode, Line: "rules.json:4:5"}},
		{"stale", restrictions["stale"], Decision{State: Asking, Cause: CauseAge, Line: "rules.json:5:5"}},
		{"once", restrictions["once"], Decision{State: Suppressed, Cause: CauseOnce, Line: "rules.json:2:3"}},
		{"once by hand", func(f *Facts) { f.NS = Manual; f.OnceUntil = noon.Add(1) }, Decision{State: Asking, Cause: CauseOrigin, Line: "rules.json:2:3"}},
		{"once by hand, approved", func(f *Facts) { f.NS, f.Approved = Manual, true; f.OnceUntil = noon.Add(1) }, Decision{State: Ready, Now: true, Cause: CauseApproved, Line: "rules.json:4:5"}},
		{"rate", func(f *Facts) { f.Started = 6; f.StartedUntil = noon.Add(time.Minute) }, Decision{State: Ready, Until: noon.Add(time.Minute), Cause: CauseRate, Line: "rules.json:2:3"}},
		{"rate of all", func(f *Facts) { f.StartedAll = 60 }, Decision{State: Ready, Cause: CauseRate, Line: "rules.json:9:3"}},
		{"unconfined", restrictions["unconfined"], Decision{State: Asking, Cause: CauseShape, Line: "rules.json:2:3"}},
		{"cannot be made", func(f *Facts) { f.Unprepared = "no secret" }, Decision{State: Suppressed, Cause: CausePrepare, Line: "rules.json:2:3"}},
		{"cannot be made, by hand", func(f *Facts) { f.Unprepared, f.NS, f.Approved = "no secret", Manual, true }, Decision{State: Ready, Now: true, Cause: CauseApproved, Line: "rules.json:4:5"}},
		{"no boundary", func(f *Facts) { f.Unbounded, f.Approved = "no Landlock", true }, Decision{State: Suppressed, Cause: CauseBoundary, Line: "rules.json:2:3"}},
		{"shadow", func(f *Facts) { f.Rule.Mode, f.Approved = ModeShadow, true }, Decision{State: WouldRun, Cause: CauseMode, Line: "rules.json:4:5"}},
		{"no mode at all", func(f *Facts) { f.Rule.Mode = "" }, Decision{State: WouldRun, Cause: CauseMode, Line: "rules.json:4:5"}},
		{"asks are full", func(f *Facts) { f.Armed, f.Asking = false, MaxAsking }, Decision{State: Suppressed, Cause: CauseApprovals}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := free(ModeAuto)
			c.facts(&f)
			got := Judge(f)
			if got.Why == "" {
				t.Error("no reason")
			}
			got.Why = ""
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
