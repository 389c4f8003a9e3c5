package react

import (
	"fmt"
	"math"
	"slices"
)

// Bounds of runs that take several steps.
const (
	MaxSteps  = 12        // of a run
	StepTries = 3         // of a step whose outcome stays unknown
	DaySpend  = 5_000_000 // micro-dollars a day of all rules, unless the file sets it
	RuleSpend = 2_000_000 // micro-dollars a day of one rule
)

// StepFacts is the input of [JudgeStep]: what the engine knows of a step and its run at one
// moment.
type StepFacts struct {
	Rule  *Rule    // as it stands now; nil: it is no longer in the file
	File  *File    // for the limits of all rules; nil: none
	First *Request // with which the run began, frozen
	// Origin is the server of the run's members.
	Origin string
	// Before are the steps that the run took so far, in order. A step that is begun again is
	// among them.
	Before []Step
	// Step is the step to begin, with upper bounds of its usage and cost. If it is begun again,
	// N is not 0. If its state is StepRefused, it is only recorded. If the description of its
	// tool changed, Why says how.
	Step    Step
	Request *Request // of a tool call

	Stopped bool   // the stop switch
	Held    string // why nothing may start; "": it may
	// Approved: the operator approved exactly this request, and the approval is unused.
	Approved bool
	// Unknown is the run of the same rule that called the same tool with unknown outcome; "":
	// none.
	Unknown RunID

	// Micro-dollars spent: by the run, and today by the rule and by all rules. Reservations
	// count.
	SpentRun, SpentRule, SpentAll int64
}

// StepVerdict is the answer of the policy about a step.
type StepVerdict struct {
	// Err is nil if the step may begin, otherwise ErrStopped, ErrRefusedStep, ErrBudget or
	// ErrAsks.
	Err  error
	Why  string // in our own words
	Line string // file:line:column that led to it, or ""
	// Changed: the server no longer lists the tool, or describes it differently.
	Changed bool
}

// JudgeStep decides whether a step of a run may begin. The first answer against it wins:
// stopped, no budget, refused, asks. A grant never replaces an approval here.
func JudgeStep(f StepFacts) StepVerdict {
	for _, ask := range []func(*StepFacts) StepVerdict{judgeStop, judgeTries, judgeBudget, judgeKind, judgeTool, judgeApproval} {
		if v := ask(&f); v.Err != nil {
			return v
		}
	}
	return StepVerdict{Why: "the policy lets it"}
}

func verdict(err error, line, why string, args ...any) StepVerdict {
	return StepVerdict{Err: err, Line: line, Why: fmt.Sprintf(why, args...)}
}

// line returns the place of a member of the rule, "" without a rule.
func (f *StepFacts) line(member string) string {
	if f.Rule == nil {
		return ""
	}
	return f.Rule.Line(member)
}

func judgeStop(f *StepFacts) StepVerdict {
	switch {
	case f.Stopped:
		return verdict(ErrStopped, "", "reactions are stopped")
	case f.Held != "":
		return verdict(ErrStopped, "", "reactions are held: %s", f.Held)
	}
	return StepVerdict{}
}

// judgeKind refuses steps that do not fit the kind of the run.
func judgeKind(f *StepFacts) StepVerdict {
	switch {
	case f.Rule == nil:
		return verdict(ErrRefusedStep, "", "the rule is no longer in the file")
	case f.Step.N != 0 && f.over():
		return verdict(ErrRefusedStep, "", "step %d is over", f.Step.N)
	case f.Step.State == StepRefused:
		return verdict(ErrRefusedStep, f.line("do"), "%s", f.Step.Why)
	}
	ok := false
	switch f.Step.Kind {
	case StepModel:
		ok = f.First.Kind == RequestModel || f.First.Kind == RequestChoice
	case StepPrompt:
		ok = f.First.Kind == RequestAgent
	case StepTool:
		ok = f.First.Kind == RequestModel || f.First.Kind == RequestAgent
	}
	if !ok {
		return verdict(ErrRefusedStep, f.line("do"), "a run that began as %s takes no step of the kind %s", f.First.Kind, f.Step.Kind)
	}
	return StepVerdict{}
}

// judgeTool refuses tools that the run does not have, or no longer has.
func judgeTool(f *StepFacts) StepVerdict {
	if f.Step.Kind != StepTool {
		return StepVerdict{}
	}
	p, r := f.pinned(), f.Request
	switch {
	case p == nil:
		return verdict(ErrRefusedStep, f.line("do"), "there is no such tool")
	case r == nil || r.Kind != RequestTool || r.Server != p.Server || r.Tool != p.Name:
		return verdict(ErrRefusedStep, f.line("do"), "%s/%s is called without its exact request", p.Server, p.Name)
	case r.Pin != p.Pin:
		why := f.Step.Why
		if why == "" {
			why = "the server describes another tool under that name now"
		}
		v := verdict(ErrRefusedStep, f.line("do"), "%s/%s is absent: %s", p.Server, p.Name, why)
		v.Changed = true
		return v
	case f.Unknown != "":
		return verdict(ErrRefusedStep, f.line("do"), "it is not known whether %s/%s was carried out in run %s; settle that first", p.Server, p.Name, f.Unknown)
	case f.Step.N != 0 && f.class() != ToolRead:
		return verdict(ErrRefusedStep, f.line("do"), "it is not known whether %s/%s was carried out; it is not called again", p.Server, p.Name)
	}
	return StepVerdict{}
}

// pinned returns the run's tool for the step, nil if it has none.
func (f *StepFacts) pinned() *Pinned { return FindTool(f.First.Tools, f.Step.Server, f.Step.Tool) }

// over reports whether the step to begin again does not exist, or has ended.
func (f *StepFacts) over() bool {
	for _, s := range f.Before {
		if s.N == f.Step.N {
			return s.State != StepBegun
		}
	}
	return true
}

// class returns ToolRead if the rule and the request say so and the step does not say write,
// otherwise ToolWrite.
func (f *StepFacts) class() ToolClass {
	if p := f.pinned(); p != nil && p.Class == ToolRead && f.Request.Class == ToolRead && f.Step.Class != ToolWrite {
		return ToolRead
	}
	return ToolWrite
}

func judgeTries(f *StepFacts) StepVerdict {
	n := 0
	for _, s := range f.Before {
		switch {
		case s.N != f.Step.N && s.Again.IsZero():
			n++
		case s.N == f.Step.N && s.State == StepBegun && s.Tries >= StepTries:
			return verdict(ErrBudget, "", "step %d was begun %d times, and its outcome is not known", s.N, s.Tries)
		}
	}
	if n >= MaxSteps {
		return verdict(ErrBudget, "", "a run takes %d steps at most", MaxSteps)
	}
	return StepVerdict{}
}

func judgeBudget(f *StepFacts) StepVerdict {
	used := Total(f.Step.Usage)
	for _, s := range f.Before {
		used = Sum(used, Total(s.Usage))
	}
	cost, day, line := max(f.Step.Cost, 0), int64(DaySpend), ""
	if f.File != nil && f.File.Limits.Spend > 0 {
		day, line = f.File.Limits.Spend, f.File.Line("limits.spend")
	}
	switch run, tokens := f.First.Spend, f.First.Tokens; {
	case tokens > 0 && used > int64(tokens) && Total(f.Step.Usage) > 0:
		return verdict(ErrBudget, f.line("limits.tokens"), "with the step the run might use %d tokens; it may use %d", used, tokens)
	case cost == 0:
	case run > 0 && Sum(f.SpentRun, cost) > run:
		return verdict(ErrBudget, f.line("limits.spend"), "the step may cost $%s; the run spent $%s of $%s", Money(cost), Money(f.SpentRun), Money(run))
	case Sum(f.SpentRule, cost) > RuleSpend:
		return verdict(ErrBudget, f.line("do"), "the step may cost $%s; the rule spent $%s of $%s today", Money(cost), Money(f.SpentRule), Money(RuleSpend))
	case Sum(f.SpentAll, cost) > day:
		return verdict(ErrBudget, line, "the step may cost $%s; all rules spent $%s of $%s today", Money(cost), Money(f.SpentAll), Money(day))
	}
	return StepVerdict{}
}

// judgeApproval asks about each call that may change something, or may carry content of one
// server to another. A step that was allowed once may be begun again.
func judgeApproval(f *StepFacts) StepVerdict {
	if f.Step.Kind != StepTool || f.Approved || f.Step.N != 0 {
		return StepVerdict{}
	}
	if f.class() != ToolRead {
		return verdict(ErrAsks, f.line("do"), "%s/%s may change something: each call is asked about", f.Step.Server, f.Step.Tool)
	}
	if from := f.flowsFrom(); from != "" {
		return verdict(ErrAsks, f.line("do"), "the arguments for %s may carry what %s told; flows has no %q", f.Step.Server, from, from+">"+f.Step.Server)
	}
	return StepVerdict{}
}

// flowsFrom returns a server whose content the run has seen and may not pass to the server of
// the step; "": none. A kept conversation may hold content of every tool of the run.
func (f *StepFacts) flowsFrom() string {
	from := []string{f.Origin}
	if f.First.Keep {
		for _, p := range f.First.Tools {
			from = append(from, p.Server)
		}
	}
	for _, s := range f.Before {
		if s.Kind == StepTool && s.State != StepRefused {
			from = append(from, s.Server)
		}
	}
	for _, server := range from {
		if server != "" && server != f.Step.Server && !slices.Contains(f.First.Flows, Flow{From: server, To: f.Step.Server}) {
			return server
		}
	}
	return ""
}

// Total returns the sum of both kinds of tokens; negative numbers count as 0.
func Total(u Usage) int64 { return Sum(max(u.In, 0), max(u.Out, 0)) }

// Sum adds micro-dollars or tokens, neither of which may be negative, and saturates at the
// largest number.
func Sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
