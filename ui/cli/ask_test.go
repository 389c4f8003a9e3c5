package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/ui/cli/program"
)

// sentBody is the body that the model of a run was sent.
func sentBody(id react.RunID) []byte {
	return []byte(`{"model":"m","run":"` + string(id) + `","text":"` + "\u202e" + `"}`)
}

// remembers reconstructs the bodies that models were sent.
type remembers struct{ program.Models }

func (remembers) Sent(first react.Request, steps []react.Step, n int) ([]byte, error) {
	if steps[n-1].Kind != react.StepModel {
		return nil, fmt.Errorf("step %d of run %s asked no model", n, first.Run)
	}
	return sentBody(first.Run), nil
}

// asked is an engine with two models: the run of one is done, the run of the other has failed.
func asked() *engine {
	e := newEngine()
	e.View.Models = []string{"done", "fails"}
	at := time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)
	model := &react.Model{Name: "done", Model: "m", Wire: react.WireChat, URL: "http://localhost/v1", Output: 100, Price: &react.Price{}}
	run := func(id react.RunID, state react.State, why string, r *react.Result) react.Run {
		return react.Run{ID: id, Rule: react.AskRule, NS: react.Manual, State: state, Why: why, Created: at, Members: react.Members{Count: 1, First: []uint64{7}}, Result: r, Steps: 2, Spend: 1200,
			Request: &react.Request{Kind: react.RequestModel, Run: id, Rule: react.AskRule, Seq: 7, Count: 1, Model: model, Task: "why?", Input: []byte("envelope " + evilText)}}
	}
	e.All = append(e.All,
		run("done", react.Done, "", &react.Result{Outcome: react.OutcomeDone, Ended: at, Answer: trust.Untrusted("the pool is full: " + evilText)}),
		run("fails", react.Failed, "the model answered nothing", &react.Result{Outcome: react.OutcomeFailed, Ended: at}))
	bare := e.All[len(e.All)-2]
	bare.ID = "bare"
	first := *bare.Request
	first.Run = "bare"
	bare.Request = &first
	e.All = append(e.All, bare)
	e.Taken = map[react.RunID][]react.Step{"done": {
		{N: 1, Kind: react.StepTool, State: react.StepDone, Server: "pager", Tool: "get", Class: react.ToolRead, Args: json.RawMessage(`{"id":"x"}`), Why: "the policy lets it", Line: "rules.json:3:5",
			Result: &react.ToolResult{Content: trust.Untrusted("cause " + evilText), Cut: 9}, Began: at, Ended: at.Add(time.Second)},
		{N: 2, Kind: react.StepModel, State: react.StepDone, Sent: "00ff", Usage: react.Usage{In: 10, Out: 5}, Cost: 1200, Began: at, Ended: at.Add(time.Second),
			Answer: &react.Answer{Text: trust.Untrusted("hm"), Calls: []react.Call{{ID: "c", Name: "pager_get", Args: json.RawMessage(`{"id":"x"}`)}}}},
	}, "bare": {{N: 1, Kind: react.StepModel, State: react.StepDone}}}
	sum := sha256.Sum256(sentBody("bare"))
	e.Taken["bare"][0].Sent = hex.EncodeToString(sum[:])
	return e
}

func TestAskPrintsTheAnswer(t *testing.T) {
	e := asked()
	b, dir := newReactBench(t, e)
	b.expect(t, exitDone, "", "ask", "#7", "why?", "--model", "done", "--data", dir)
	if got := b.out.String(); !strings.HasPrefix(got, "the pool is full: one\n") || strings.ContainsAny(got, "\x1b\u202e") {
		t.Errorf("%q", got)
	}
	if got := strings.Join(e.Did, ";"); got != "ask done 7 why? true" {
		t.Errorf("asked %s", got)
	}
	b.clear()
	b.expect(t, exitDone, "", "ask", "7", "why?", "--model", "done", "--json", "--data", dir)
	var line struct {
		State  string
		Result struct{ Answer string }
		Steps  []struct{ N int }
	}
	if err := json.Unmarshal([]byte(b.out.String()), &line); err != nil || line.State != "done" || line.Result.Answer != "the pool is full: "+evilText || len(line.Steps) != 2 {
		t.Errorf("%s: %+v, %v", b.out.String(), line, err)
	}
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{exitError, "run fails is failed: the model answered nothing", []string{"7", "why?", "--model", "fails"}},
		{exitUsage, "say which one with --model: done, fails", []string{"7", "why?"}},
		{exitError, `unknown model "none"; there are: done, fails`, []string{"7", "why?", "--model", "none"}},
		{exitUsage, "no sequence number", []string{"x", "why?", "--model", "done"}},
		{exitUsage, "a question is missing", []string{"7", " ", "--model", "done"}},
	} {
		b.clear()
		b.expect(t, c.code, c.want, append(append([]string{"ask"}, c.args...), "--data", dir)...)
	}
	e.View.Models = nil
	b, dir = newReactBench(t, e)
	b.expect(t, exitError, "names none", "ask", "7", "why?", "--data", dir)
}

func TestBodySentToAModelIsShown(t *testing.T) {
	b, dir := newReactBench(t, asked())
	b.p.Models = remembers{}
	b.expect(t, exitDone, "", "runs", "show", "bare", "--step", "1", "--body", "--data", dir)
	if got := b.out.String(); !strings.Contains(got, `"model":"m"`) || strings.ContainsAny(got, "\x1b\u202e") {
		t.Errorf("%q", got)
	}
	b.clear()
	b.expect(t, exitDone, "", "runs", "show", "bare", "--step", "1", "--body", "--json", "--data", dir)
	var line struct{ Sha256, Body string }
	if err := json.Unmarshal([]byte(b.out.String()), &line); err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256([]byte(line.Body)); hex.EncodeToString(sum[:]) != line.Sha256 {
		t.Errorf("the bytes are others: %s", line.Body)
	}
}

func TestRunsOfSeveralStepsAreShown(t *testing.T) {
	b, dir := newReactBench(t, asked())
	b.p.Models = remembers{}
	b.expect(t, exitDone, "", "runs", "show", "done", "--data", dir)
	got := b.out.String()
	for _, want := range []string{
		"none, the operator asks", "pager/get, read, done, 1s", "because       the policy lets it", "rules.json:3:5", "bytes, 9 more were not kept", react.Gutter + `{"id":"x"}`,
		"model, done, 10 tokens in, 5 out, $0.0012, 1s", "sent          00ff", react.Gutter + "hm", "calls         pager_get", react.Gutter + "the pool is full: one", react.Gutter + "envelope one", "spent         $0.0012",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.ContainsAny(got, "\x1b\u202e") || strings.Contains(got, "cause one") {
		t.Errorf("it acts on a terminal, or shows a whole result:\n%q", got)
	}
	b.clear()
	b.expect(t, exitDone, "", "runs", "show", "done", "--step", "1", "--data", dir)
	if got := b.out.String(); !strings.Contains(got, react.Gutter+"cause one\n"+react.Gutter) || strings.Contains(got, "step 2") {
		t.Errorf("%s", got)
	}
	b.clear()
	b.expect(t, exitDone, "", "runs", "show", "done", "--step", "1", "--json", "--data", dir)
	var step react.Step
	if err := json.Unmarshal([]byte(b.out.String()), &step); err != nil || step.Result.Content.Raw() != "cause "+evilText {
		t.Errorf("%s, %v", b.out.String(), err)
	}
	b.clear()
	b.expect(t, exitUsage, "--body goes with --step N", "runs", "show", "done", "--body", "--data", dir)
	b.clear()
	b.expect(t, exitError, "step 1 of run done asked no model", "runs", "show", "done", "--step", "1", "--body", "--data", dir)
	b.clear()
	b.expect(t, exitError, "cannot be made again", "runs", "show", "done", "--step", "2", "--body", "--data", dir)
	b.clear()
	b.expect(t, exitError, "has no step 3; it took 2", "runs", "show", "done", "--step", "3", "--data", dir)
	b.clear()
	b.expect(t, exitDone, "", "runs", "list", "--state", "done", "--data", dir)
	if got := strings.Join(strings.Fields(b.out.String()), " "); !strings.Contains(got, "1 $0.0012") {
		t.Errorf("%s", got)
	}
}
