package react_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/ui/internal/reacttest"
	"eventdeck/ui/tui/form"
	reactions "eventdeck/ui/tui/react"
)

// conversing returns a fixture that shows the run of a model with some steps.
func conversing(state react.State) *fixture {
	d := newFixture()
	r := reacttest.Asks("r7aaaaaaaaaaaaaa")
	r.State, r.Steps, r.Spend, r.Started = state, 3, 12_345, d.now.Add(-time.Minute)
	r.Request = &react.Request{Kind: react.RequestModel, Run: r.ID, Task: "Find the cause;\ncite ids.", Input: []byte("{}" + strings.Repeat("x", 40<<10)), Model: &react.Model{Name: "local", Model: "qwen3", URL: "http://127.0.0.1:11434/v1"}}
	r.Result = &react.Result{Outcome: react.OutcomeDone, Answer: trust.Untrusted("the pool is full \x1b[2J")}
	d.engine.All = []react.Run{r}
	d.engine.Taken = map[react.RunID][]react.Step{r.ID: {
		{N: 1, Kind: react.StepModel, State: react.StepDone, Usage: react.Usage{In: 1200, Out: 40, Estimated: true}, Cost: 4_200, Began: d.now, Ended: d.now.Add(1500 * time.Millisecond),
			Answer: &react.Answer{Text: trust.Untrusted("I read the incident."), Cut: true, Calls: []react.Call{{Name: "get", Args: json.RawMessage(`{"id":"INC-1"}`)}}}},
		{N: 2, Kind: react.StepTool, State: react.StepDone, Server: "pager", Tool: "get", Args: json.RawMessage(`{"id":"INC-1"}`), Result: &react.ToolResult{Content: trust.Untrusted("cause: a deploy"), Cut: 12, Failed: true}},
		{N: 3, Kind: react.StepTool, State: react.StepRefused, Server: "git", Tool: "log", Why: "there is no such tool", Line: "rules.json:20:7"},
	}}
	d.ShowTab(reactions.Runs, "")
	return d
}

func TestConversationIsShownStepByStep(t *testing.T) {
	d := conversing(react.Done)
	text := d.frame()
	for _, want := range []string{
		"asked    Find the cause;", "         cite ids.", "model    local, qwen3 at http://127.0.0.1:11434/v1", "▸ an envelope of 40,962 bytes",
		"step 1   ● model, done, 1,200 in, 40 out, estimated, $0.0042, 1.5 s", "untrusted data from the model local: a call", "the answer ended because it was as long as it may be",
		"step 2   ● pager/get, done", "▸ a result of 15 bytes, the tool says that it failed, and 12 bytes that were not kept", "step 3   ■ git/log, refused", "there is no such tool, rules.json:20:7",
		"untrusted data from the model local: the answer", "in all   3 steps, 1,200 tokens in, 40 out, $0.012345",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not shown", want)
		}
	}
	if strings.ContainsRune(text, 0x1b) || strings.Contains(text, "cause: a deploy") {
		t.Errorf("an answer acts on the terminal, or a result is open:\n%s", text)
	}
	for i := range 2 {
		d.open(t, "a result of")
		if text := d.frame(); strings.Contains(text, "cause: a deploy") != (i == 0) {
			t.Errorf("opened %d times:\n%s", i+1, text)
		}
	}
	if d.open(t, "an envelope"); !strings.Contains(d.frame(), "bytes not shown") {
		t.Error("of a long envelope it is not told how much is left out")
	}
}

// open opens or closes the fold whose line contains a text.
func (d *fixture) open(t *testing.T, text string) {
	t.Helper()
	for _, l := range d.lines() {
		if l.Do != nil && strings.Contains(l.Text.Plain(), text) {
			l.Do()
			return
		}
	}
	t.Fatalf("no line that opens has %q", text)
}

// Partial answers are shown; the envelope of a run that is over may be gone.
func TestRunningAndEndedConversations(t *testing.T) {
	d := conversing(react.Running)
	d.engine.All[0].Result = nil
	d.engine.View.Says = map[react.RunID]trust.Text{"r7aaaaaaaaaaaaaa": trust.Untrusted("It looks like")}
	d.engine.View.Revision++
	d.now = d.now.Add(time.Second)
	if text := d.frame(); !strings.Contains(text, "it says now") || !strings.Contains(text, "It looks like") {
		t.Errorf("while it speaks:\n%s", text)
	}
	d = conversing(react.Done)
	d.engine.All[0].Request.Input, d.engine.All[0].Request.Kind, d.engine.All[0].Request.Model = nil, react.RequestAgent, nil
	if text := d.frame(); !strings.Contains(text, "not kept of a run that is over") || !strings.Contains(text, "untrusted data from an agent") {
		t.Errorf("of an agent:\n%s", text)
	}
}

// Every kind of request is described in one line.
func TestRequestsAreDescribedInOneLine(t *testing.T) {
	for want, r := range map[string]react.Request{
		`/bin/x "a b" ""`:                    {Kind: react.RequestCommand, Argv: []string{"/bin/x", "a b", ""}},
		"send to https://example.org/hook":   {Kind: react.RequestWebhook, URL: "https://example.org/hook"},
		"model local: Why?":                  {Kind: react.RequestModel, Model: &react.Model{Name: "local"}, Task: "Why?"},
		"agent /bin/agent: Fix it.":          {Kind: react.RequestAgent, Argv: []string{"/bin/agent"}, Task: "Fix it."},
		`call pager/rollback {"env":"prod"}`: {Kind: react.RequestTool, Server: "pager", Tool: "rollback", Input: []byte(`{"env":"prod"}`)},
		"let an agent go on; it says: list":  {Kind: react.RequestPermit, Title: trust.Untrusted("list")},
		"note look at this":                  {Kind: react.RequestNote, Note: "look at this"},
		`subscribe pager/a {"b":1} by push`:  {Kind: react.RequestClient, Wish: &react.ClientRequest{Act: react.ClientBegin, Server: "pager", Type: trust.Untrusted("a"), Args: json.RawMessage(`{"b":1}`), Mode: event.ModePush}},
		"unsubscribe pager/a":                {Kind: react.RequestClient, Wish: &react.ClientRequest{Server: "pager", Type: trust.Untrusted("a"), Args: json.RawMessage(`{}`), Act: react.ClientEnd, Sub: "s1"}},
		"pause pager/a":                      {Kind: react.RequestClient, Wish: &react.ClientRequest{Server: "pager", Type: trust.Untrusted("a"), Args: json.RawMessage(`{}`), Act: react.ClientPause, Sub: "s1"}},
		"change s1 to pager/a by poll":       {Kind: react.RequestClient, Wish: &react.ClientRequest{Server: "pager", Type: trust.Untrusted("a"), Act: react.ClientChange, Sub: "s1", Mode: event.ModePoll}},
	} {
		d := newFixture()
		d.engine.View.Waiting = d.engine.View.Waiting[:1]
		d.engine.View.Waiting[0].Request = &r
		d.engine.View.Revision++
		d.now = d.now.Add(time.Second)
		if text := d.frame(); !strings.Contains(text, want) {
			t.Errorf("%q is not shown:\n%s", want, text)
		}
	}
}

func TestNewRuleIsTriedBeforeItIsWritten(t *testing.T) {
	d := newFixture()
	incident := func(service string, age time.Duration) event.Record {
		return event.Record{Kind: event.KindEvent, Server: "pager", Type: trust.Untrusted("incident.created"), ReceivedAt: d.now.Add(-age), Data: []byte(`{"service":"` + service + `"}`)}
	}
	d.log.Records = []event.Record{incident("payments", 25*time.Hour), incident("payments", time.Hour), incident("search", time.Minute), incident("payments", time.Second)}
	filled := `{"name":"incidents","when":".service=payments","key":[".service"],"do":"note","text":"look"}`
	custom, p := tryRule(t, d, filled)
	if !d.CanWriteRule() || p.Wrong != "" || p.Text != "rule incidents" || len(p.Notes) != 2 || p.Notes[1] != "In the last day it would have matched 2 events in 1 group." {
		t.Errorf("the preview is %+v", p)
	}
	if !strings.Contains(string(custom.Filled), `"name":"incident-created","when":".service=payments"`) {
		t.Errorf("filled in is %s", custom.Filled)
	}
	if err := custom.Send(t.Context(), json.RawMessage(filled)); err != nil || len(d.added) != 1 || d.added[0].Name != "incidents" || d.added[0].Mode != react.ModeAsk {
		t.Fatalf("written are %+v: %v", d.added, err)
	}
	custom.Sent(json.RawMessage(filled))
	if d.Exec(d.Undo()); len(d.added) != 0 {
		t.Errorf("after undo there are %+v", d.added)
	}
	d.log.Err = errors.New("the disk is gone")
	if _, p := tryRule(t, d, filled); !strings.Contains(p.Wrong, "the disk is gone") {
		t.Errorf("the preview is %+v", p)
	}
}

// tryRule returns the form of a rule for events like the first record, and the preview of what
// is filled in.
func tryRule(t *testing.T, d *fixture, filled string) (form.Custom, form.Preview) {
	custom := d.NewRule(&d.log.Records[0], ".service=payments")
	return custom, custom.Preview(t.Context(), json.RawMessage(filled))
}

func TestNewRuleSaysWhatIsMissing(t *testing.T) {
	d := newFixture()
	d.log.Records = []event.Record{{Server: "pager", Type: trust.Untrusted("...")}}
	for filled, want := range map[string]string{
		`{"name":"a"}`:                                    "choose what it does",
		`{"name":"a","do":"note"}`:                        "write what the note says",
		`{"name":"a","do":"command","command":["ls"]}`:    "absolute path",
		`{"name":"a","do":"webhook","url":"https://a.b"}`: "the variable with its secret",
		`{"name":"a","do":"note","text":"x","wait":"y"}`:  "wait:",
		`[]`: "cannot unmarshal",
	} {
		custom, p := tryRule(t, d, filled)
		if !strings.Contains(p.Wrong, want) {
			t.Errorf("%s: it says %q", filled, p.Wrong)
		}
		if err := custom.Send(t.Context(), json.RawMessage(filled)); err == nil || len(d.added) != 0 {
			t.Errorf("%s is written", filled)
		}
		if !strings.Contains(string(custom.Filled), `"name":"rule"`) {
			t.Errorf("a type without letters gives %s", custom.Filled)
		}
	}
}
