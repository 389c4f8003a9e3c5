package react

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

func wishing(w *Wish) Run {
	return Run{ID: w.Run(), NS: Client, Rule: WishRule, State: Asking, Due: time.Unix(1000, 0), Request: &Request{Kind: RequestWish, Run: w.Run(), Rule: WishRule, Wish: w}}
}

func TestABlockOfAWishShowsAllOfIt(t *testing.T) {
	w := someWish()
	for ends, wants := range map[event.SubID][]string{
		"":         {`"stdio goose", by its own word`, "a subscription, from now on", `"pager"`, `"incident"`, `severity = "P1"`, "push", "a client of this host"},
		"abcdefgh": {`"stdio goose", by its own word`, `"abcdefgh", a subscription; its records stay`, `severity = "P1"`},
	} {
		w.Ends = ends
		run := wishing(w)
		got := plainBlock(Block(run, RuleView{}, run.Request))
		for _, want := range append(wants, string(run.ID), run.Request.Hash(), "expires") {
			if !strings.Contains(got, want) {
				t.Errorf("%s is missing in\n%s", want, got)
			}
		}
		for _, not := range []string{"0 records", "input ", "not in force", "before "} {
			if strings.Contains(got, not) {
				t.Errorf("%q stands in\n%s", not, got)
			}
		}
	}
}

func TestNothingHostileImitatesABlockOfAWish(t *testing.T) {
	w := *someWish()
	w.Ends = ""
	quiet := len(Block(wishing(&w), RuleView{}, nil))
	for _, hostile := range hostile {
		value, err := json.Marshal(map[string]string{"severity": strings.ToValidUTF8(hostile, "")})
		if err != nil {
			t.Fatal(err)
		}
		w.Client, w.Type, w.Args = trust.Untrusted(hostile), trust.Untrusted(hostile), value
		lines := Block(wishing(&w), RuleView{}, nil)
		if len(lines) != quiet {
			t.Errorf("%.20q: %d lines instead of %d", hostile, len(lines), quiet)
		}
		plainASCII(t, hostile, lines)
	}
}

// The mode that is found out, and what a subscription that ends is of, make no other wish.
func TestOneWishHasOneRun(t *testing.T) {
	begin := *someWish()
	begin.Ends = ""
	end := *someWish()
	for _, w := range []Wish{begin, end} {
		ids := map[RunID]bool{w.Run(): true}
		for _, change := range []func(*Wish){
			func(w *Wish) { w.Client = trust.Untrusted("another") },
			func(w *Wish) { w.Ends += "x" },
			func(w *Wish) { w.Server += "x" },
			func(w *Wish) { w.Type = trust.Untrusted("x") },
			func(w *Wish) { w.Args = json.RawMessage(`{}`) },
			func(w *Wish) { w.Asked = event.ModePoll },
		} {
			other := w
			change(&other)
			ids[other.Run()] = true
		}
		if want := map[bool]int{true: 7, false: 3}[w.Ends == ""]; len(ids) != want {
			t.Errorf("ends %q: %d runs, not %d", w.Ends, len(ids), want)
		}
		resolved := w
		if resolved.Mode = event.ModePoll; resolved.Run() != w.Run() {
			t.Error("the mode that was found out makes another run")
		}
	}
}

func TestAnAnswerStandsForAWhile(t *testing.T) {
	ended := time.Unix(1000, 0)
	for state, stands := range map[State]time.Duration{Denied: WishStands, Expired: WishStands, Failed: WishStands, Killed: WishStands, Done: doneStands} {
		r := Run{State: state, Ended: ended}
		if !r.Stands(ended.Add(stands-1)) || r.Stands(ended.Add(stands)) {
			t.Errorf("%s does not stand for %v", state, stands)
		}
	}
	for _, state := range []State{Gathering, Asking, Ready, Running} {
		if r := (Run{State: state}); !r.Stands(ended) {
			t.Errorf("%s does not stand", state)
		}
	}
}
