package react

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// stepFacts is a run of a model that may read pager and git, and undo; what is asked for is a
// read of pager, the server of the event.
func stepFacts() StepFacts {
	tool := func(server, name string, class ToolClass) Pinned {
		return Pinned{Tool: Tool{Server: server, Name: name, Class: class}, Pin: "pin of " + name}
	}
	f := StepFacts{
		Rule:   &Rule{Name: "page", Where: "rules.json:2:1", Lines: map[string]string{"do": "rules.json:5:3", "limits.spend": "rules.json:4:3", "limits.tokens": "rules.json:4:9"}},
		File:   &File{Limits: Limits{Spend: 3_000_000}, Lines: map[string]string{"limits.spend": "rules.json:9:9"}},
		Origin: "pager",
		First: &Request{Kind: RequestModel, Spend: 500_000, Tokens: 1000,
			Tools: []Pinned{tool("git", "log", ToolRead), tool("pager", "look", ToolRead), tool("pager", "undo", ToolWrite)}},
	}
	calls(&f, "pager", "look")
	return f
}

// calls has the facts be about a call of a tool of the run.
func calls(f *StepFacts, server, name string) {
	f.Step, f.Request = Step{Kind: StepTool, Server: server, Tool: name}, nil
	if p := f.pinned(); p != nil {
		f.Step.Class = p.Class
		f.Request = &Request{Kind: RequestTool, Server: server, Tool: name, Class: p.Class, Pin: p.Pin}
	}
}

func asksModel(f *StepFacts) {
	f.Step, f.Request = Step{Kind: StepModel, Cost: 1000, Usage: Usage{In: 100, Out: 50}}, nil
}

func told(server string) Step { return Step{N: 1, Kind: StepTool, Server: server, State: StepDone} }

func TestStepsAreJudged(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*StepFacts)
		err    error
		why    string
		line   string
	}{
		"a read of the event's own server": {func(*StepFacts) {}, nil, "", ""},
		"a model":                          {asksModel, nil, "", ""},
		"stopped":                          {func(f *StepFacts) { f.Stopped = true; f.Rule = nil }, ErrStopped, "stopped", ""},
		"held":                             {func(f *StepFacts) { f.Held = "restored" }, ErrStopped, "restored", ""},
		"no such rule any more":            {func(f *StepFacts) { f.Rule = nil }, ErrRefusedStep, "no longer in the file", ""},

		"what its caller refuses":            {func(f *StepFacts) { f.Step.State, f.Step.Why, f.Request = StepRefused, "no such argument", nil }, ErrRefusedStep, "no such argument", "rules.json:5:3"},
		"a tool that is not listed":          {func(f *StepFacts) { calls(f, "pager", "page_all") }, ErrRefusedStep, "no such tool", "rules.json:5:3"},
		"a tool of another server":           {func(f *StepFacts) { calls(f, "other", "look") }, ErrRefusedStep, "no such tool", "rules.json:5:3"},
		"a call without its request":         {func(f *StepFacts) { f.Request = nil }, ErrRefusedStep, "exact request", "rules.json:5:3"},
		"a request for another tool":         {func(f *StepFacts) { f.Request.Tool = "undo" }, ErrRefusedStep, "exact request", "rules.json:5:3"},
		"a request of another kind":          {func(f *StepFacts) { f.Request.Kind = RequestNote }, ErrRefusedStep, "exact request", "rules.json:5:3"},
		"a tool that is described anew":      {func(f *StepFacts) { f.Request.Pin = "other" }, ErrRefusedStep, "absent", "rules.json:5:3"},
		"described anew, though approved":    {func(f *StepFacts) { f.Request.Pin = "other"; f.Approved = true }, ErrRefusedStep, "absent", "rules.json:5:3"},
		"a tool of which is not known":       {func(f *StepFacts) { f.Unknown = "r1" }, ErrRefusedStep, "run r1", "rules.json:5:3"},
		"a choice calls no tool":             {func(f *StepFacts) { f.First.Kind = RequestChoice }, ErrRefusedStep, "began as choice", "rules.json:5:3"},
		"a command asks no model":            {func(f *StepFacts) { asksModel(f); f.First.Kind = RequestCommand }, ErrRefusedStep, "began as command", "rules.json:5:3"},
		"a model is given no prompt":         {func(f *StepFacts) { f.Step.Kind = StepPrompt }, ErrRefusedStep, "kind prompt", "rules.json:5:3"},
		"a kind that there is not":           {func(f *StepFacts) { f.Step.Kind = "x" }, ErrRefusedStep, "kind x", "rules.json:5:3"},
		"an agent is given a prompt":         {func(f *StepFacts) { f.First.Kind = RequestAgent; f.Step = Step{Kind: StepPrompt} }, nil, "", ""},
		"a write":                            {func(f *StepFacts) { calls(f, "pager", "undo") }, ErrAsks, "may change something", "rules.json:5:3"},
		"a write that is approved":           {func(f *StepFacts) { calls(f, "pager", "undo"); f.Approved = true }, nil, "", ""},
		"a read whose server says write":     {func(f *StepFacts) { f.Request.Class = ToolWrite }, ErrAsks, "may change something", "rules.json:5:3"},
		"a read that the runner calls write": {func(f *StepFacts) { f.Step.Class = ToolWrite }, ErrAsks, "may change something", "rules.json:5:3"},

		"another server gets what the event says": {func(f *StepFacts) { calls(f, "git", "log") }, ErrAsks, `flows has no "pager>git"`, "rules.json:5:3"},
		"a flow lets it":                        {func(f *StepFacts) { calls(f, "git", "log"); f.First.Flows = []Flow{{"pager", "git"}} }, nil, "", ""},
		"a flow of the other direction":         {func(f *StepFacts) { calls(f, "git", "log"); f.First.Flows = []Flow{{"git", "pager"}} }, ErrAsks, `"pager>git"`, "rules.json:5:3"},
		"the own server gets what another told": {func(f *StepFacts) { f.Before = []Step{told("git")} }, ErrAsks, `"git>pager"`, "rules.json:5:3"},
		"what was refused told nothing":         {func(f *StepFacts) { f.Before = []Step{{N: 1, Kind: StepTool, Server: "git", State: StepRefused}} }, nil, "", ""},
		"each flow counts": {func(f *StepFacts) {
			calls(f, "git", "log")
			f.First.Flows, f.Before = []Flow{{"pager", "git"}}, []Step{told("third")}
		}, ErrAsks, `"third>git"`, "rules.json:5:3"},
		"a conversation that is kept":             {func(f *StepFacts) { f.First.Keep = true }, ErrAsks, `"git>pager"`, "rules.json:5:3"},
		"a conversation that is kept, with flows": {func(f *StepFacts) { f.First.Keep, f.First.Flows = true, []Flow{{"git", "pager"}} }, nil, "", ""},
		"a flow lets no write":                    {func(f *StepFacts) { calls(f, "pager", "undo"); f.First.Flows = []Flow{{"pager", "pager"}} }, ErrAsks, "may change", "rules.json:5:3"},

		"a read again": {func(f *StepFacts) {
			f.Step.N = 1
			f.Before = []Step{{N: 1, Kind: StepTool, State: StepBegun, Tries: 1}}
		}, nil, "", ""},
		"a read that was let": {func(f *StepFacts) {
			calls(f, "git", "log")
			f.Step.N = 1
			f.Before = []Step{{N: 1, Kind: StepTool, State: StepBegun}}
		}, nil, "", ""},
		"a write again": {func(f *StepFacts) {
			calls(f, "pager", "undo")
			f.Step.N, f.Approved = 1, true
			f.Before = []Step{{N: 1, State: StepBegun}}
		}, ErrRefusedStep, "not called again", "rules.json:5:3"},
		"a step that is over": {func(f *StepFacts) { f.Step.N = 1; f.Before = []Step{told("pager")} }, ErrRefusedStep, "step 1 is over", ""},
		"a fourth try":        {func(f *StepFacts) { asksModel(f); f.Step.N = 1; f.Before = []Step{{N: 1, State: StepBegun, Tries: 3}} }, ErrBudget, "3 times", ""},
		"the twelfth step":    {func(f *StepFacts) { f.Before = slices.Repeat([]Step{told("pager")}, 11) }, nil, "", ""},
		"a thirteenth step":   {func(f *StepFacts) { f.Before = slices.Repeat([]Step{told("pager")}, 12) }, ErrBudget, "12 steps", ""},
		"whatever is refused counts": {func(f *StepFacts) {
			calls(f, "other", "x")
			f.Before = slices.Repeat([]Step{{N: 1, State: StepRefused}}, 12)
		}, ErrBudget, "12 steps", ""},
		"what is refused counts": {func(f *StepFacts) { f.Before = slices.Repeat([]Step{{N: 1, State: StepRefused}}, 12) }, ErrBudget, "12 steps", ""},

		"the last token":             {func(f *StepFacts) { asksModel(f); f.Before = []Step{{N: 1, Usage: Usage{In: 800, Out: 50}}} }, nil, "", ""},
		"one token too many":         {func(f *StepFacts) { asksModel(f); f.Before = []Step{{N: 1, Usage: Usage{In: 800, Out: 51}}} }, ErrBudget, "1001 tokens", "rules.json:4:9"},
		"a tool needs no token":      {func(f *StepFacts) { f.Before = []Step{{N: 1, Usage: Usage{In: 8000}}} }, nil, "", ""},
		"tokens beyond all numbers":  {func(f *StepFacts) { asksModel(f); f.Step.Usage.In = math.MaxInt64 }, ErrBudget, "tokens", "rules.json:4:9"},
		"the last cent of the run":   {func(f *StepFacts) { asksModel(f); f.SpentRun = 499_000 }, nil, "", ""},
		"over the run's":             {func(f *StepFacts) { asksModel(f); f.SpentRun = 499_001 }, ErrBudget, "the run spent $0.499001 of $0.50", "rules.json:4:3"},
		"no bound of the rule":       {func(f *StepFacts) { asksModel(f); f.SpentRun, f.First.Spend = 1_900_000, 0 }, nil, "", ""},
		"over the rule's day":        {func(f *StepFacts) { asksModel(f); f.SpentRule = RuleSpend - 999 }, ErrBudget, "the rule spent", "rules.json:5:3"},
		"over everybody's day":       {func(f *StepFacts) { asksModel(f); f.SpentAll = 2_999_001 }, ErrBudget, "all rules spent $2.999001 of $3.00", "rules.json:9:9"},
		"over the day without limit": {func(f *StepFacts) { asksModel(f); f.File, f.SpentAll = nil, DaySpend-999 }, ErrBudget, "all rules", ""},
		"a cost beyond all numbers":  {func(f *StepFacts) { asksModel(f); f.Step.Cost, f.SpentRun = math.MaxInt64, 1 }, ErrBudget, "the run spent", "rules.json:4:3"},
		"what is free goes on": {func(f *StepFacts) {
			asksModel(f)
			f.Step.Cost, f.SpentAll, f.SpentRun = 0, math.MaxInt64, math.MaxInt64
		}, nil, "", ""},
		"no budget before an approval": {func(f *StepFacts) {
			calls(f, "pager", "undo")
			f.Before = slices.Repeat([]Step{told("pager")}, 12)
		}, ErrBudget, "12 steps", ""},
	} {
		f := stepFacts()
		c.change(&f)
		v := JudgeStep(f)
		if !errors.Is(v.Err, c.err) || !strings.Contains(v.Why, c.why) || v.Line != c.line || v.Why == "" {
			t.Errorf("%s: %v, %q, %q", name, v.Err, v.Why, v.Line)
		}
	}
}

// However much a run was let, a restriction never loosens what is said of a step.
func TestRestrictionsNeverLoosenAStep(t *testing.T) {
	order := []error{nil, ErrAsks, ErrRefusedStep, ErrBudget, ErrStopped}
	restrict := []func(*StepFacts){
		func(f *StepFacts) { f.Stopped = true }, func(f *StepFacts) { f.Held = "x" }, func(f *StepFacts) { f.Rule = nil },
		func(f *StepFacts) { f.Unknown = "r" }, func(f *StepFacts) { f.SpentRun = math.MaxInt64 }, func(f *StepFacts) { f.SpentAll = math.MaxInt64 },
		func(f *StepFacts) { f.Before = append(f.Before, told("third")) }, func(f *StepFacts) { f.First.Flows = nil },
		func(f *StepFacts) { f.Approved = false },
	}
	begin := []func(*StepFacts){
		func(*StepFacts) {}, asksModel, func(f *StepFacts) { calls(f, "pager", "undo") }, func(f *StepFacts) { calls(f, "git", "log") }, func(f *StepFacts) { calls(f, "x", "y") },
	}
	for i, first := range begin {
		for mask := range 1 << len(restrict) {
			f := stepFacts()
			f.Approved, f.First.Flows = true, []Flow{{"pager", "git"}}
			first(&f)
			before := slices.Index(order, JudgeStep(f).Err)
			for bit, fn := range restrict {
				if mask&(1<<bit) != 0 {
					fn(&f)
				}
			}
			if after := slices.Index(order, JudgeStep(f).Err); after < before {
				t.Fatalf("step %d with %b: %v became %v", i, mask, order[before], order[after])
			}
		}
	}
}
