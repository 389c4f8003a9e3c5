package react

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

func runOf(w *ClientRequest) Run {
	return Run{ID: w.Run(), NS: Client, Rule: ClientRule, State: Asking, Due: time.Unix(1000, 0), Request: &Request{Kind: RequestClient, Run: w.Run(), Rule: ClientRule, Wish: w}}
}

func TestABlockOfAClientRequestShowsAllOfIt(t *testing.T) {
	w := someClientRequest()
	for act, wants := range map[ClientAct][]string{
		ClientBegin:  {"a subscription, from now on", "push"},
		ClientEnd:    {`"abcdefgh", a subscription; its records stay`},
		ClientPause:  {`"abcdefgh", a subscription; its position is kept`},
		ClientResume: {`"abcdefgh", a paused subscription`},
		ClientChange: {`"abcdefgh", a subscription: one with other arguments begins, from now on, and this one ends`, `"{\"team\":\"a\"}", its arguments`, "push"},
	} {
		w.Act, w.Was = act, json.RawMessage(`{"team":"a"}`)
		wants = append(wants, `"stdio goose", by its own word`, `"pager"`, `"incident"`, `severity = "P1"`, "a client of this host")
		run := runOf(w)
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

func TestNothingHostileImitatesABlockOfAClientRequest(t *testing.T) {
	w := *someClientRequest()
	w.Act = ClientChange
	quiet := len(Block(runOf(&w), RuleView{}, nil))
	for _, hostile := range hostile {
		value, err := json.Marshal(map[string]string{"severity": strings.ToValidUTF8(hostile, "")})
		if err != nil {
			t.Fatal(err)
		}
		w.Client, w.Type, w.Args, w.Was = trust.Untrusted(hostile), trust.Untrusted(hostile), value, value
		lines := Block(runOf(&w), RuleView{}, nil)
		if len(lines) != quiet {
			t.Errorf("%.20q: %d lines instead of %d", hostile, len(lines), quiet)
		}
		plainASCII(t, hostile, lines)
	}
}

// The mode that is found out, and what a subscription is of, make no other request.
func TestOneClientRequestHasOneRun(t *testing.T) {
	for act, want := range map[ClientAct]int{ClientBegin: 8, ClientEnd: 4, ClientPause: 4, ClientResume: 4, ClientChange: 6} {
		w := *someClientRequest()
		w.Act = act
		ids := map[RunID]bool{w.Run(): true}
		for _, change := range []func(*ClientRequest){
			func(w *ClientRequest) { w.Client = trust.Untrusted("another") },
			func(w *ClientRequest) { w.Act = "other" },
			func(w *ClientRequest) { w.Sub += "x" },
			func(w *ClientRequest) { w.Server += "x" },
			func(w *ClientRequest) { w.Type = trust.Untrusted("x") },
			func(w *ClientRequest) { w.Args = json.RawMessage(`{}`) },
			func(w *ClientRequest) { w.Asked = event.ModePoll },
			func(w *ClientRequest) { w.Was = json.RawMessage(`{"x":1}`) },
		} {
			other := w
			change(&other)
			ids[other.Run()] = true
		}
		if len(ids) != want {
			t.Errorf("%s: %d runs, not %d", act, len(ids), want)
		}
		resolved := w
		if resolved.Mode = event.ModePoll; resolved.Run() != w.Run() {
			t.Error("the mode that was found out makes another run")
		}
	}
}

func TestAnAnswerStandsForAWhile(t *testing.T) {
	ended := time.Unix(1000, 0)
	for state, stands := range map[State]time.Duration{Denied: AnswerStands, Expired: AnswerStands, Failed: AnswerStands, Killed: AnswerStands, Done: doneStands} {
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
