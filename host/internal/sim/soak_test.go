package sim_test

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"eventdeck/host/internal/sim"
)

// Variables of the soak. A long one:
//
//	EVENTDECK_SIM=1000000 EVENTDECK_SIM_REPORT=/tmp/sim.json go test -C host/internal/sim -run TestSoak -timeout 0 -v
//
// EVENTDECK_SIM may be a duration as well, e.g. 8h.
const (
	envSoak   = "EVENTDECK_SIM"        // events to send (resumes in quiet worlds), or a duration
	envSeed   = "EVENTDECK_SIM_SEED"   // first seed; default 1000
	envReport = "EVENTDECK_SIM_REPORT" // file for the report, in JSON
	envLog    = "EVENTDECK_SIM_LOG"    // file for the host's log of the newest world
	envKind   = "EVENTDECK_SIM_KIND"   // deviant or quiet; default: faithful worlds
)

// report is the result of a soak.
type report struct {
	Kind      sim.Kind            `json:"kind,omitempty"`
	Seeds     [2]uint64           `json:"seeds"` // first and last
	Worlds    int                 `json:"worlds"`
	Runs      int                 `json:"hostRuns"`
	Resumes   int                 `json:"resumes,omitempty"` // in quiet worlds
	Refused   int                 `json:"refused"`           // times of refused deliveries that the state had to show
	Simulated string              `json:"simulated"`
	Took      string              `json:"took"`
	Counts    sim.Counts          `json:"counts"`
	Faults    map[string]int      `json:"faults"`
	Broken    map[string][]string `json:"broken"` // by seed
	Go        string              `json:"go"`
	CPUs      int                 `json:"cpus"`
	At        time.Time           `json:"at"`
}

// TestSoak runs one world after another until enough events were sent.
func TestSoak(t *testing.T) {
	text := os.Getenv(envSoak)
	if text == "" {
		t.Skip("for hours, and by " + envSoak)
	}
	first := uint64(1000)
	if s := os.Getenv(envSeed); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", envSeed, err)
		}
		first = n
	}
	events, err := strconv.Atoi(text)
	length, long := time.ParseDuration(text)
	if err != nil && long != nil {
		t.Fatalf("%s: %q is neither a number nor a duration", envSoak, text)
	}
	kind := sim.Kind(os.Getenv(envKind))
	switch kind {
	case sim.Faithful, sim.Deviant, sim.Quiet:
	default:
		t.Fatalf("%s: there is no %q", envKind, kind)
	}
	began := time.Now()
	r := report{Kind: kind, Seeds: [2]uint64{first, first}, Faults: map[string]int{}, Broken: map[string][]string{}, Go: runtime.Version(), CPUs: runtime.NumCPU(), At: began.UTC()}
	var simulated time.Duration
	told := began
	for seed := first; err == nil && max(r.Counts.Sent, r.Resumes) < events || err != nil && time.Since(began) < length; seed++ {
		var res sim.Result
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			res = run(t, sim.Options{Seed: seed, Events: 1000, Kind: kind})
			judge(t, res)
			if t.Failed() {
				r.Broken[fmt.Sprint(seed)] = append(res.Violations, "")[:min(len(res.Violations), 5)]
			}
		})
		r.Seeds[1] = seed
		r.Worlds++
		r.Runs += res.Runs
		r.Resumes += res.Resumes
		r.Refused += res.Refused
		simulated += res.Took
		r.Counts.Add(res.Counts)
		for name, n := range res.Faults {
			r.Faults[name] += n
		}
		if time.Since(told) > 10*time.Second {
			told = time.Now()
			fmt.Fprintf(os.Stderr, "%v: %d worlds, %v simulated, %d events sent, %d stored, %d gone behind gaps, %d skipped, %d of them recovered, %d resumes, %d lost, %d doubled, %d silent, seeds broken: %d\n",
				time.Since(began).Round(time.Second), r.Worlds, simulated.Round(time.Second), r.Counts.Sent, r.Counts.Stored, r.Counts.Gone, r.Counts.Skipped, r.Counts.Recovered, r.Resumes, r.Counts.Lost, r.Counts.Doubled, r.Counts.Silent, len(r.Broken))
		}
	}
	r.Simulated, r.Took = simulated.Round(time.Second).String(), time.Since(began).Round(time.Second).String()
	out, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", out)
	if path := os.Getenv(envReport); path != "" {
		if err := os.WriteFile(path, out, 0o600); err != nil {
			t.Error(err)
		}
	}
}
