package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/react/trial"
)

// What rules are said to have done about the past is what they did when it was present.
func TestATrialTellsWhatShadowRecorded(t *testing.T) {
	for seed := range uint64(40) {
		simulated(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 4))
			rules := shadows(rng)
			w := newWorld(t, rules...)
			e, _ := w.open("", 0)
			defer closed(t, e)
			var records []event.Record
			for range 60 {
				r := record("pager", "incident", fmt.Sprintf(`{"k":%d,"p":%d}`, rng.IntN(3), rng.IntN(2)))
				r.Seq = w.submit(r)
				records = append(records, r)
				rest(time.Duration(1+rng.IntN(8))*time.Second + time.Duration(rng.IntN(900))*time.Millisecond)
			}
			rest(2 * time.Minute)
			var recorded []string
			for _, r := range runsOf(t, e, react.Query{Limit: 1000}) {
				last := r.Members.First[len(r.Members.First)-1]
				recorded = append(recorded, fmt.Sprintf("%03d %s %s key=%s n=%d to %d", r.Members.First[0], r.Rule, r.State, r.Key, r.Members.Count, last))
			}
			var told []string
			set, err := react.Compile(w.file, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			try := trial.New(set, func(r trial.Result) {
				told = append(told, fmt.Sprintf("%03d %s %s key=%s n=%d to %d", r.First, r.Rule, r.State, r.Key, r.Members, r.Last))
			})
			for i := range records {
				try.Add(&records[i])
			}
			try.End()
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

// shadows makes rules that do nothing.
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
