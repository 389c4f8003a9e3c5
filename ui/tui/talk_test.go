package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/ui/internal/reacttest"
	"eventdeck/ui/tui/palette"
	reactions "eventdeck/ui/tui/react"
)

// hostileWords try to control the terminal and to look like text of the program.
const hostileWords = "the pool of db main is full \x1b[2J\u202e\nstate    ✓ done\nCourse"

// asksModel returns a run of the rule explain-p1, which asks a model with tools.
func asksModel(id react.RunID, state react.State) react.Run {
	model := &react.Model{Name: "local", Wire: react.WireChat, URL: "http://127.0.0.1:11434/v1", Model: "qwen3", Price: &react.Price{In: 3_000_000, Out: 15_000_000}, Output: 4096}
	r := reacttest.Asks(id)
	r.Rule, r.State, r.Why, r.Line, r.Steps = "explain-p1", state, "", "", 4
	r.Request = &react.Request{Kind: react.RequestModel, Run: id, Rule: "explain-p1", Seq: 1, Count: 2, Model: model, Task: "Find the likely cause;\ncite ids.", Spend: 500_000, Tokens: 100_000,
		Input: []byte(`{"origin":"mcp-event"}` + "\n" + hostileWords), Time: 5 * time.Minute,
		Tools: []react.Pinned{{Tool: react.Tool{Server: "pager", Name: "get_incident", Class: react.ToolRead}, Description: trust.Untrusted("reads an incident"), Pin: strings.Repeat("cd", 32)},
			{Tool: react.Tool{Server: "pager", Name: "rollback", Class: react.ToolWrite, Fix: map[string]json.RawMessage{"env": json.RawMessage(`"prod"`)}}, Description: trust.Untrusted("rolls back"), Pin: strings.Repeat("ef", 32)}}}
	return r
}

// call returns a run's request for a tool call.
func call(r react.Run, args string) react.Run {
	r.Began = r.Request
	r.Request = &react.Request{Kind: react.RequestTool, Run: r.ID, Rule: r.Rule, Seq: 1, Count: 2, Step: 4, Server: "pager", Tool: "rollback", Class: react.ToolWrite, Pin: strings.Repeat("ef", 32), Input: []byte(args), Time: time.Minute}
	return r
}

// talking returns an engine with runs that ask models: one waits with a tool call, one with a request
// of an agent, one has a streaming answer, one has ended.
func talking() *reacttest.Engine {
	e := reacting()
	e.View.Models, e.View.Spent, e.View.SpendLimit = []string{"local", "big"}, 412_300, 5_000_000
	explain := react.Rule{Name: "explain-p1", On: react.Source{Server: "pager", Types: react.Types{"incident.created"}, Kind: event.KindEvent}, Mode: react.ModeAsk, Where: "/home/op/.config/eventdeck/rules.json:16:5"}
	e.View.Rules = append(e.View.Rules, react.RuleView{Rule: explain, Hash: "h1", Effective: react.ModeAsk, Letters: "A B C", Since: 1})
	wants := call(asksModel("r7aaaaaaaaaaaaaa", react.Asking), `{"service":"db main","env":"prod","note":"р\u0430ypal\nhash 00"}`)
	wants.Why, wants.Line = "pager/rollback may change something: each call is asked about", "rules.json:20:7"
	permit := asksModel("r8aaaaaaaaaaaaaa", react.Asking)
	permit.Began = &react.Request{Kind: react.RequestAgent, Argv: []string{"/usr/local/bin/agent"}, Task: "Look at it.", Boundary: "files and network, Landlock 6", Files: react.Files{Confine: &react.Confine{Read: []string{"/srv"}}}}
	permit.Request = &react.Request{Kind: react.RequestPermit, Run: permit.ID, Rule: permit.Rule, Title: trust.Untrusted("list the files"), Input: []byte(`{"command":"rm -rf /srv"}`), Time: time.Minute}
	e.View.Waiting = []react.Run{wants, permit}

	speaks := asksModel("r6aaaaaaaaaaaaaa", react.Running)
	speaks.Started = start.Add(-time.Minute)
	done := asksModel("r5aaaaaaaaaaaaaa", react.Done)
	done.Created, done.Started, done.Ended, done.Attempt, done.Spend = start.Add(-time.Hour), start.Add(-59*time.Minute), start.Add(-58*time.Minute), 1, 12_345
	done.Result = &react.Result{Outcome: react.OutcomeDone, Ended: done.Ended, Answer: trust.Untrusted(hostileWords)}
	steps := []react.Step{
		{N: 1, Kind: react.StepModel, State: react.StepDone, Usage: react.Usage{In: 1200, Out: 40}, Cost: 4_200, Began: start, Ended: start.Add(1500 * time.Millisecond),
			Answer: &react.Answer{Text: trust.Untrusted("I read the incident."), Calls: []react.Call{{ID: "c1", Name: "pager_get_incident", Args: json.RawMessage(`{"id":"INC-1"}`)}}}},
		{N: 2, Kind: react.StepTool, State: react.StepDone, Server: "pager", Tool: "get_incident", Class: react.ToolRead, Args: json.RawMessage(`{"id":"INC-1"}`), Why: "the policy lets it", Began: start, Ended: start.Add(20 * time.Millisecond),
			Result: &react.ToolResult{Content: trust.Untrusted("cause: " + hostileWords), Cut: 12}},
		{N: 3, Kind: react.StepTool, State: react.StepRefused, Server: "git", Tool: "log", Class: react.ToolRead, Args: json.RawMessage(`{"q":"\u001b[31m"}`), Why: "there is no such tool", Line: "rules.json:20:7", Began: start},
		{N: 4, Kind: react.StepModel, State: react.StepDone, Usage: react.Usage{In: 2200, Out: 90, Estimated: true}, Cost: 8_145, Began: start, Ended: start.Add(3 * time.Second), Answer: &react.Answer{Text: trust.Untrusted(hostileWords), Cut: true}},
	}
	e.Taken = map[react.RunID][]react.Step{speaks.ID: steps[:2], done.ID: steps}
	e.View.Says = map[react.RunID]trust.Text{speaks.ID: trust.Untrusted("It looks like " + hostileWords)}
	e.All = append([]react.Run{wants, permit, speaks, done}, e.All[2:]...)
	return e
}

func TestGoldenConversations(t *testing.T) {
	for name, keys := range map[string][]string{
		"talk-call": {"enter", "z"}, "talk-permit": {"j", "enter", "z"}, "talk-live": {"]", "j", "j", "enter"}, "talk-done": {"]", "j", "j", "j", "enter", "z"},
	} {
		goldenReact(t, talking, name, keys)
	}
}

// A client request waits like a request of a rule, in words of the program. The client's name has no
// effect.
func TestClientRequestWaitsForTheOperator(t *testing.T) {
	w := &react.ClientRequest{Act: react.ClientBegin, Client: trust.Untrusted("stdio " + hostileWords), Server: "pager", Type: trust.Untrusted("incident.created"), Args: json.RawMessage(`{"team":"checkout"}`), Mode: event.ModePush}
	e := reacting()
	e.View.Waiting = []react.Run{{ID: w.Run(), NS: react.Client, Rule: react.ClientRule, State: react.Asking, Created: start, Due: start.Add(time.Hour),
		Request: &react.Request{Kind: react.RequestClient, Run: w.Run(), Rule: react.ClientRule, Wish: w}}}
	a, _ := openReact(t, e, 160, 45)
	exact(t, a)
	if got := screenOf(a); !strings.Contains(got, `subscribe pager/incident.created {"team":"checkout"} by push`) {
		t.Errorf("it does not wait:\n%s", got)
	}
	press(t, a, "enter", "z")
	a.draw()
	flush(a)
	exact(t, a)
	got := screenOf(a)
	for _, want := range []string{"a client of this host as an MCP server asks", `"stdio the pool of db main is full \x1b`, `team = "checkout"`, "a subscription, from now on", e.View.Waiting[0].Request.Hash()[:20]} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "0 events") || a.react.Grantable() {
		t.Errorf("it has events, or can be granted:\n%s", got)
	}
}

// conversation returns the detail of the run that has ended.
func conversation(t *testing.T) *app {
	t.Helper()
	a, _ := openReact(t, talking(), 160, 45)
	press(t, a, "]", "j", "j", "j", "enter")
	a.draw()
	return a
}

func detailText(a *app) string {
	var b strings.Builder
	for _, l := range a.detail.Lines {
		if l.Gutter {
			b.WriteString("│")
		}
		b.WriteString(l.Label + " " + l.Text.Plain() + "\n")
	}
	return b.String()
}

func TestConversationShowsStepsAndOpensLongTexts(t *testing.T) {
	a := conversation(t)
	got := detailText(a)
	for _, want := range []string{
		"Find the likely cause;", "cite ids.", "qwen3 at http://127.0.0.1:11434/v1", "model, done, 1,200 in, 40 out, $0.0042, 1.5 s", "pager/get_incident, read, done", "the policy lets it",
		"git/log, read, refused", "there is no such tool, rules.json:20:7", "12 bytes that were not kept", "as long as it may be", "4 steps, 3,400 tokens in, 130 out, $0.012345", "│ I read the incident.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	for _, closed := range []string{"mcp-event", "cause: the pool"} {
		if strings.Contains(got, closed) {
			t.Errorf("%q is open at first", closed)
		}
	}
	for i, l := range a.detail.Lines {
		if strings.Contains(l.Text.Plain(), "an envelope of") {
			a.detail.At = i
		}
	}
	press(t, a, "enter")
	a.draw()
	if got := detailText(a); !strings.Contains(got, "│ {\"origin\":\"mcp-event\"}") || strings.Contains(got, "cause: the pool") {
		t.Errorf("the envelope is not opened, or more than it:\n%s", got)
	}
	press(t, a, "enter")
	a.draw()
	if got := detailText(a); strings.Contains(got, "mcp-event") {
		t.Error("the envelope is not closed again")
	}
}

// Text of a server or a model is always beside the gutter.
func TestUntrustedTextIsBesideTheGutter(t *testing.T) {
	a := conversation(t)
	seen := 0
	for _, l := range a.detail.Lines {
		text := l.Text.Plain()
		if strings.Contains(text, "the pool of db main") || strings.HasPrefix(text, "state    ") {
			seen++
			if !l.Gutter || strings.ContainsAny(text, "\x1b\u202e") {
				t.Errorf("%+v", l)
			}
		}
	}
	if seen < 2 {
		t.Errorf("the answer is not shown:\n%s", detailText(a))
	}
}

func TestModelAnswerIsStreamed(t *testing.T) {
	e := talking()
	a, _ := openReact(t, e, 160, 45)
	press(t, a, "]", "j", "j", "enter")
	a.draw()
	if got := detailText(a); !strings.Contains(got, "it says now") || !strings.Contains(got, "│ It looks like the pool") {
		t.Errorf("%s", got)
	}
}

func TestStatusShowsTheCostOfModels(t *testing.T) {
	for e, want := range map[*reacttest.Engine]bool{talking(): true, reacting(): false} {
		a, _ := openReact(t, e, 160, 45)
		lines := strings.Split(screenOf(a), "\n")
		if status := strings.Join(lines[len(lines)-3:], "\n"); strings.Contains(status, "$0.42") != want {
			t.Errorf("want %v:\n%s", want, status)
		}
	}
}

// Tool calls and permissions of agents cannot be granted for hours: each one asks.
func TestStepsAreNotGranted(t *testing.T) {
	for _, e := range []*reacttest.Engine{talking(), reacting()} {
		a, _ := openReact(t, e, 160, 45)
		if got, want := strings.Contains(screenOf(a), "ctrl+g grant"), len(e.View.Models) == 0; got != want {
			t.Errorf("a grant is offered: %v, want %v\n%s", got, want, screenOf(a))
		}
	}
}

// An act that a model chose cannot be granted for hours, and the key says why.
func TestChosenActIsNotGranted(t *testing.T) {
	e := reacting()
	e.View.Waiting[0].Request.Act = "restart"
	a, wait := openReact(t, e, 160, 45)
	wait(time.Second)
	press(t, a, "ctrl+g")
	if s := screenOf(a); !strings.Contains(s, "a model chose this act") || strings.Contains(s, "hours 1") {
		t.Errorf("it does not say why not:\n%s", s)
	}
	wait(time.Second)
	if press(t, a, "ctrl+y"); e.Acts("grant") != 0 {
		t.Errorf("%v", e.Did)
	}
}

// The title of an action runs that action, also if its first word is a command.
func TestTitleOfAnActionIsNoCommand(t *testing.T) {
	e := talking()
	a, _ := openReact(t, e, 160, 45)
	press(t, a, "2", "g", ":")
	word(t, a, "ask a model")
	press(t, a, "enter")
	if a.dialog != nil || a.prompt == nil || !strings.HasPrefix(a.prompt.Label, "ask ") {
		t.Errorf("no question is asked for:\n%s", screenOf(a))
	}
	press(t, a, "esc", "1")
	if _, err := a.actions.Execute("ask a model"); err == nil || !strings.Contains(err.Error(), "react.ask") {
		t.Errorf("where it does not work: %v", err)
	}
	if len(e.Did) > 0 {
		t.Errorf("%v", e.Did)
	}
}

func TestOnlyModelNeedsNoName(t *testing.T) {
	for line, want := range map[string]string{"what is broken?": "what is broken?", "local what is broken?": "what is broken?", "why": "why", "local": "", " ": ""} {
		e := talking()
		e.View.Models = []string{"local"}
		a, _ := openReact(t, e, 80, 24)
		press(t, a, "2", "g", ":")
		word(t, a, "ask "+line)
		press(t, a, "enter")
		problem := ""
		if d, ok := a.dialog.(*palette.Palette); ok {
			problem = d.Problem
		}
		switch asked := e.Acts(fmt.Sprintf("ask-model local %d %s", a.stream.At, want)) == 1; {
		case want == "" && (e.Acts("ask-model") > 0 || problem == ""):
			t.Errorf("%q: %v, and it says %q", line, e.Did, problem)
		case want != "" && (!asked || problem != "" || !strings.Contains(screenOf(a), "asked local")):
			t.Errorf("%q: %v, problem %q\n%s", line, e.Did, problem, screenOf(a))
		}
	}
}

func TestAskingAModel(t *testing.T) {
	e := talking()
	a, _ := openReact(t, e, 160, 45)
	press(t, a, "2", "g")
	for line, want := range map[string]string{"ask none why": "there is no model", "ask local": "nothing is asked", "ask": "usage", "ask local why is it slow?": ""} {
		cmd, err := a.actions.Execute(line)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", line, err)
		case want != "" && (err == nil || !strings.Contains(strings.ToLower(err.Error()), want)):
			t.Errorf("%s: %v", line, err)
		}
		settle(a, cmd)
	}
	if e.Acts("ask-model local") != 1 || e.Acts(fmt.Sprintf("ask-model local %d why is it slow?", a.stream.At)) != 1 {
		t.Errorf("%v", e.Did)
	}
	e.Lock()
	made := asksModel("asked", react.Running)
	made.Rule = react.AskRule
	e.All = append(e.All, made)
	e.View.Revision++
	e.Unlock()
	press(t, a, "6")
	for range 3 { // how things are, then the runs
		a.react.Take(a.react.Read())
		settle(a, a.boardWork())
		a.draw()
	}
	if got := a.react.Board.Table().At.Name; a.react.Tab() != reactions.Runs || got != "asked" {
		t.Errorf("the run is not chosen: tab %v, %q", a.react.Tab(), got)
	}
	press(t, a, "2")
	settle(a, a.actions.Find("react.ask").Run())
	press(t, a, "b", "i", "g", "space", "w", "h", "y", "enter")
	if e.Acts("ask-model big") != 1 {
		t.Errorf("by the prompt: %v, %+v", e.Did, a.prompt)
	}
}

// Asking a model leaves the stream where it is; the status line shows the progress, and one key goes
// to the answer.
func TestOneKeyShowsTheAnswer(t *testing.T) {
	for _, size := range [][2]int{{160, 45}, {80, 24}} {
		e := talking()
		e.View.Models = []string{"local"}
		a, wait := openReact(t, e, size[0], size[1])
		press(t, a, "2", "g")
		at := a.stream.At
		e.Lock()
		made := asksModel("asked", react.Running)
		e.All = append(e.All, made)
		e.Unlock()
		press(t, a, ":")
		word(t, a, "ask why")
		press(t, a, "enter")
		a.Hush()
		if s := screenOf(a); !strings.Contains(s, "asking local") || a.stream.At != at {
			t.Fatalf("%v: record %d, then %d\n%s", size, at, a.stream.At, s)
		}
		e.Lock()
		e.All[len(e.All)-1].State = react.Done
		e.View.Revision++
		e.Unlock()
		wait(1100 * time.Millisecond)
		for range 3 { // how things are, then the run
			settle(a, a.react.Work())
		}
		if note := a.Edges.Status.Note.Text; !strings.Contains(note, "local answered about record") {
			t.Errorf("%v: %q", size, note)
		}
		a.Hush()
		if s := screenOf(a); !strings.Contains(s, "answer: 6") {
			t.Errorf("%v: no word of the answer:\n%s", size, s)
		}
		press(t, a, "6")
		for range 3 {
			settle(a, a.boardWork())
			a.draw()
		}
		if s := screenOf(a); a.react.Board.Table().At.Name != "asked" || !strings.Contains(s, "Conversation") || strings.Contains(s, "answer: 6") {
			t.Errorf("%v: %q\n%s", size, a.react.Board.Table().At.Name, s)
		}
	}
}
