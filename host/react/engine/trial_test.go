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

// A trial reports what the engine did with the same records.
func TestATrialTellsWhatShadowRecorded(t *testing.T) { trialsTellTheSame(t, shadows, nil) }

// The same for rules that act, with once values and replays.
func TestATrialTellsWhatArmedRulesDid(t *testing.T) {
	trialsTellTheSame(t, autos, func(rng *rand.Rand, r *event.Record) { r.Replayed = rng.IntN(3) == 0 })
}

// The same for replays after silence: older than the age of the rule they ask, otherwise they act.
// The host is away once.
func TestATrialTellsWhichReplaysAsk(t *testing.T) {
	trialsTellTheSame(t, func(rng *rand.Rand) []react.Rule {
		rules := shadows(rng)[:2]
		for i := range rules {
			rules[i].Mode, rules[i].Age = react.ModeAuto, time.Duration(10+rng.IntN(60))*time.Second
		}
		return rules
	}, func(rng *rand.Rand, r *event.Record) {
		if r.Replayed = rng.IntN(4) == 0; r.Replayed {
			rest(time.Duration(rng.IntN(60)) * time.Second)
			r.ReceivedAt = time.Now().UTC()
		}
	})
}

// trialsTellTheSame compares the outcome of records in an engine and in a trial.
func trialsTellTheSame(t *testing.T, make func(*rand.Rand) []react.Rule, arrives func(*rand.Rand, *event.Record)) {
	for seed := range uint64(40) {
		simulated(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 4))
			rules := make(rng)
			w := newWorld(t, rules...)
			e, _ := w.open("", 0)
			defer func() { closed(t, e) }()
			arm(t, e)
			var records []event.Record
			for i := range 60 {
				if i == 30 && arrives != nil {
					rest(2 * time.Minute) // nothing gathers
					closed(t, e)
					rest(time.Minute)
					e, _ = w.open("", 0)
				}
				r := record("pager", "incident", fmt.Sprintf(`{"k":%d,"p":%d}`, rng.IntN(3), rng.IntN(2)))
				if i > 0 && arrives != nil {
					arrives(rng, &r)
				}
				r.Seq = w.submit(r)
				records = append(records, r)
				rest(time.Duration(1+rng.IntN(8))*time.Second + time.Duration(rng.IntN(900))*time.Millisecond)
			}
			rest(2 * time.Minute)
			var recorded []string
			for _, r := range runsOf(t, e, react.Query{Limit: 1000}) {
				if r.State == react.Suppressed {
					continue // it is counted too
				}
				last := r.Members.First[len(r.Members.First)-1]
				recorded = append(recorded, fmt.Sprintf("%03d %s %s key=%s n=%d to %d", r.Members.First[0], r.Rule, r.State, r.Key, r.Members.Count, last))
			}
			for _, v := range e.Reactions().Rules {
				for why, n := range v.Suppressed {
					recorded = append(recorded, fmt.Sprintf("%s suppressed %d: %s", v.Rule.Name, n, why))
				}
			}
			var told []string
			suppressed := map[string]uint64{} // rule and cause
			set, err := react.Compile(w.file, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			try := New(set, func(r Result) {
				switch r.State {
				case react.Suppressed:
					suppressed[r.Rule+" "+string(r.Cause)] += r.Members
					return
				case react.Ready:
					r.State = react.Done
				}
				told = append(told, fmt.Sprintf("%03d %s %s key=%s n=%d to %d", r.First, r.Rule, r.State, r.Key, r.Members, r.Last))
			})
			for i := range records {
				try.Add(&records[i])
			}
			try.End()
			for of, n := range suppressed {
				rule, why, _ := strings.Cut(of, " ")
				told = append(told, fmt.Sprintf("%s suppressed %d: %s", rule, n, why))
			}
			slices.Sort(recorded)
			slices.Sort(told)
			for i := range max(len(recorded), len(told)) {
				if i >= len(recorded) || i >= len(told) || recorded[i] != told[i] {
					t.Fatalf("seed %d, from result %d on\nrules %+v\nrecorded %q\ntold     %q", seed, i, rules, recorded[min(i, len(recorded)):], told[min(i, len(told)):])
				}
			}
		})
	}
}

// A trial reports the same absences as the engine, with subscriptions that come and go. The engine
// checks once a second, so records and states keep away from the times when absences are due.
func TestATrialTellsTheAbsences(t *testing.T) {
	const step = 5 * time.Second
	found := 0
	for seed := range uint64(40) {
		simulated(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 5))
			rules := []react.Rule{noteRule("all"), noteRule("each")}
			for i := range rules {
				rules[i].Window.Absent = time.Duration(1+rng.IntN(6))*step + step/2
			}
			rules[1].Key = []string{".k"}
			w := newWorld(t, rules...)
			w.live = false
			e := w.armed()
			set, err := react.Compile(w.file, time.Now())
			must(t, err)
			var told, recorded []string
			tell := func(rule string, key react.Key, at time.Time) string {
				return fmt.Sprintf("%s of %q at %s", rule, key, at.Truncate(step).Format(time.TimeOnly))
			}
			try := New(set, func(r Result) {
				if r.State == react.Ready {
					told = append(told, tell(r.Rule, r.Key, r.To))
				}
			})
			alive := map[event.SubID]bool{}
			for range 60 {
				rest(time.Until(time.Now().Truncate(step).Add(step)))
				r := record("pager", "incident", fmt.Sprintf(`{"k":%d}`, rng.IntN(3)))
				r.Sub = event.SubID(fmt.Sprint("sub-", rng.IntN(2)))
				if rng.IntN(3) > 0 || !alive[r.Sub] {
					r.Kind, r.State = event.KindState, &event.StateChange{State: event.StateLive}
					if alive[r.Sub] = rng.IntN(2) == 0; !alive[r.Sub] {
						r.State.State = event.StateEnded
					}
					r.Data, r.Raw = nil, nil
				}
				w.change(func() { w.live = alive["sub-0"] || alive["sub-1"] })
				r.Seq = w.submit(r)
				try.Add(&r)
			}
			for _, r := range runsOf(t, e, react.Query{Limit: 1000}) {
				recorded = append(recorded, tell(r.Rule, r.Key, r.Members.To))
			}
			slices.Sort(recorded)
			slices.Sort(told)
			if !slices.Equal(recorded, told) {
				t.Fatalf("seed %d, rules %+v\nrecorded %q\ntold     %q", seed, rules, recorded, told)
			}
			found += len(told)
		})
	}
	if found < 40 {
		t.Errorf("%d absences are no test", found)
	}
}

// shadows returns rules in mode shadow.
func shadows(rng *rand.Rand) []react.Rule {
	var rules []react.Rule
	for i := range 3 {
		r := noteRule(fmt.Sprint("rule-", i))
		r.Mode, r.Wait = react.ModeShadow, time.Duration(rng.IntN(20))*time.Second
		if rng.IntN(2) == 0 {
			r.Key = []string{".k"}
		}
		if rng.IntN(2) == 0 {
			r.When = ".p=1"
		}
		if i == 2 {
			r.Window = react.Window{Count: 2 + rng.IntN(3), Within: time.Duration(5+rng.IntN(20)) * time.Second}
		}
		rules = append(rules, r)
	}
	return rules
}

// autos makes rules that act by themselves.
func autos(rng *rand.Rand) []react.Rule {
	rules := shadows(rng)[:2]
	for i := range rules {
		rules[i].Mode = react.ModeAuto
		rules[i].Once = react.Once{By: []string{".k"}, For: time.Duration(10+rng.IntN(50)) * time.Second}
	}
	return rules
}
