package engine

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// incident is an event at a second.
func incident(seq uint64, second int, data string) event.Record {
	return event.Record{Seq: seq, Kind: event.KindEvent, Sub: "s1", Server: "pager", Type: trust.Untrusted("incident.created"),
		ReceivedAt: noon.Add(time.Duration(second) * time.Second), Data: []byte(data)}
}

// named is an event of a filtered stream with a name of its own.
func named(seq uint64, second int, name string) event.Record {
	r := incident(seq, second, `{}`)
	r.Type, r.Labels = trust.Untrusted("filtered-stream"), &event.Labels{Name: trust.Untrusted(name)}
	return r
}

func auto(change func(*react.Rule)) react.Rule {
	r := react.Rule{Name: "a", On: react.Source{Server: "pager", Types: react.Types{"incident.created"}, Kind: event.KindEvent}, Wait: 10 * time.Second,
		Age: 15 * time.Minute, Mode: react.ModeAuto, Limits: react.Limits{Queue: 100}, Do: react.Do{Note: "n"}}
	change(&r)
	return r
}

// try returns what the trial tells, a line for each.
func try(t *testing.T, records []event.Record, rules ...react.Rule) []string {
	t.Helper()
	set, err := react.Compile(react.File{Rules: rules}, noon)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	trial := New(set, func(r Result) {
		line := fmt.Sprintf("%s %s %s key=%s n=%d %d-%d", r.Rule, r.State, r.Cause, r.Key, r.Members, r.First, r.Last)
		if r.Waited > 0 {
			line += " waited " + r.Waited.String()
		}
		if r.Why == "" {
			t.Errorf("%s: no reason", line)
		}
		lines = append(lines, line)
	})
	for i := range records {
		trial.Add(&records[i])
	}
	trial.End()
	return lines
}

func TestTrials(t *testing.T) {
	four := []event.Record{
		incident(1, 0, `{"s":"x","id":1}`), incident(2, 3, `{"s":"y","id":2}`), incident(3, 5, `{"s":"x","id":1}`), incident(4, 60, `{"s":"x","id":1}`),
	}
	stale := incident(9, 7200, `{}`)
	stale.Replayed = true
	state := func(seq uint64, second int, s event.State) event.Record {
		r := incident(seq, second, "")
		r.Kind, r.State = event.KindState, &event.StateChange{State: s}
		return r
	}
	for _, c := range []struct {
		name    string
		rule    func(*react.Rule)
		records []event.Record
		want    string
	}{
		{"none", func(r *react.Rule) { r.When = ".s=z" }, four, ""},
		{"gathered", func(*react.Rule) {}, four, "a ready mode key= n=3 1-3\na ready mode key= n=1 4-4"},
		{"by key", func(r *react.Rule) { r.Key = []string{".s"} }, four, "a ready mode key=\"x\" n=2 1-3\na ready mode key=\"y\" n=1 2-2\na ready mode key=\"x\" n=1 4-4"},
		{"shadow", func(r *react.Rule) { r.Mode = react.ModeShadow }, four, "a would-run mode key= n=3 1-3\na would-run mode key= n=1 4-4"},
		{"ask", func(r *react.Rule) { r.Mode = react.ModeAsk }, four[:1], "a asking mode key= n=1 1-1"},
		{"unconfined", func(r *react.Rule) { r.Do = react.Do{Command: &react.Command{Argv: []string{"/x"}}} }, four[:1], "a asking shape key= n=1 1-1"},
		{"once", func(r *react.Rule) { r.Once = react.Once{By: []string{".id"}, For: time.Hour} }, four, "a ready mode key= n=3 1-3\na suppressed once key= n=1 4-4"},
		{"rate", func(r *react.Rule) { r.Limits.Runs = react.Rate{N: 1, Per: time.Minute} }, four, "a ready mode key= n=3 1-3\na ready mode key= n=1 4-4"},
		{"rate that waits", func(r *react.Rule) { r.Key, r.Limits.Runs = []string{".s"}, react.Rate{N: 1, Per: time.Hour} }, four[:3],
			"a ready mode key=\"x\" n=2 1-3\na ready mode key=\"y\" n=1 2-2 waited 59m57s"},
		{"queue", func(r *react.Rule) { r.Key, r.Limits.Queue = []string{".s"}, 1 }, four[:2], "a ready mode key=\"x\" n=2 1-2"},
		{"stale", func(*react.Rule) {}, append(four[:1:1], stale), "a ready mode key= n=1 1-1\na asking age key= n=1 9-9"},
		{"count", func(r *react.Rule) { r.Window = react.Window{Count: 3, Within: time.Minute} }, four, "a ready mode key= n=3 1-3"},
		{"absence", func(r *react.Rule) { r.Window, r.Wait = react.Window{Absent: 30 * time.Second}, 0 }, four, "a ready mode key= n=0 0-0"},
		{"absence of an event name", func(r *react.Rule) {
			r.Window, r.Wait, r.On.Types = react.Window{Absent: 30 * time.Second}, 0, react.Types{"build.failed"}
		}, []event.Record{named(1, 0, "build.failed"), named(2, 60, "note")}, "a ready mode key= n=0 0-0"},
		{"absence while away", func(r *react.Rule) { r.Window, r.Wait = react.Window{Absent: 30 * time.Second}, 0 },
			[]event.Record{four[0], state(2, 10, event.StateBackoff), incident(3, 100, `{}`), state(4, 101, event.StateLive), incident(5, 120, `{}`)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(try(t, c.records, auto(c.rule)), "\n"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// Each record that a rule takes is in exactly one result, and the same records give the
// same results.
func TestEveryMatchIsReportedOnce(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		rule := auto(func(r *react.Rule) {
			r.Wait = time.Duration(rng.IntN(20)) * time.Second
			r.Limits = react.Limits{Queue: 1 + rng.IntN(5), Runs: react.Rate{N: 1 + rng.IntN(4), Per: time.Minute}}
			r.Mode = []react.Mode{react.ModeShadow, react.ModeAsk, react.ModeAuto}[rng.IntN(3)]
			if rng.IntN(2) == 0 {
				r.Key = []string{".k"}
			}
			if rng.IntN(2) == 0 {
				r.Once = react.Once{By: []string{".k"}, For: time.Duration(1+rng.IntN(300)) * time.Second}
			}
		})
		var records []event.Record
		second := 0
		for seq := range uint64(200) {
			second += rng.IntN(12)
			records = append(records, incident(seq+1, second, fmt.Sprintf(`{"k":%d}`, rng.IntN(6))))
		}
		set, err := react.Compile(react.File{Rules: []react.Rule{rule}, Limits: react.Limits{Runs: react.Rate{N: 3, Per: time.Minute}}}, noon)
		if err != nil {
			t.Fatal(err)
		}
		run := func() (results []Result, members uint64) {
			trial := New(set, func(r Result) {
				results = append(results, r)
				members += r.Members
			})
			for i := range records {
				trial.Add(&records[i])
			}
			trial.End()
			return results, members
		}
		first, members := run()
		again, _ := run()
		if members != uint64(len(records)) {
			t.Fatalf("seed %d: %d members of %d records", seed, members, len(records))
		}
		if !reflect.DeepEqual(first, again) {
			t.Fatalf("seed %d: the results differ", seed)
		}
	}
}

// A span of the log is judged by what came before it: a replay is as old as what was heard
// before, and a subscription that was alive is. What came before makes no run.
func TestRecordsBeforeTheSpanCount(t *testing.T) {
	rules := []react.Rule{auto(func(r *react.Rule) {}), auto(func(r *react.Rule) { r.Name, r.Window.Absent = "b", time.Minute })}
	set, err := react.Compile(react.File{Rules: rules}, noon)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	try := New(set, func(r Result) {
		told = append(told, fmt.Sprintf("%s %s %d to %d %s", r.Rule, r.State, r.First, r.Last, r.To.Sub(noon)))
	})
	heard, replayed := incident(1, 0, `{}`), incident(2, 600, `{}`)
	replayed.Replayed = true
	last := incident(3, 700, `{}`)
	try.Earlier(&heard)
	try.Add(&replayed)
	try.Add(&last)
	try.End()
	if got, want := strings.Join(told, "; "), "a ready 2 to 2 10m0s; b ready 0 to 0 11m0s; a ready 3 to 3 11m40s"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// An absence needs that none of the subscriptions to its source is alive, and what the log
// alone says of one changes nothing.
func TestAnAbsenceOfTwoSubscriptions(t *testing.T) {
	state := func(seq uint64, second int, sub event.SubID, s event.State) event.Record {
		r := incident(seq, second, "")
		r.Kind, r.Sub, r.State, r.Data = event.KindState, sub, &event.StateChange{State: s}, nil
		return r
	}
	rule := auto(func(r *react.Rule) { r.Window.Absent = time.Minute })
	records := []event.Record{state(1, 0, "s1", event.StateLive), state(2, 10, "s2", event.StatePolling), state(3, 20, "s2", event.StatePaused),
		state(4, 30, "s1", event.StateResumed), state(5, 100, "s1", event.StatePaused)}
	if told := try(t, records, rule); len(told) != 1 {
		t.Errorf("one was alive for 100 s: %q", told)
	}
}
