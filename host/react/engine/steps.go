package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// prefixStep begins the keys of steps. The run, a slash and the number in four digits follow.
const prefixStep = "step/"

// maxStep is the largest size of a stored step, in bytes.
const maxStep = 512 << 10

// step is a step as it is stored.
type step struct {
	react.Step
	// Bound and BoundUsage are the reserved cost and usage of the try that has begun; they are
	// included in Cost and Usage. Day is the day of the reservation.
	Bound      int64       `json:"bound,omitempty"`
	BoundUsage react.Usage `json:"boundUsage,omitzero"`
	Day        string      `json:"day,omitempty"`

	size int // stored bytes
}

func stepKey(id react.RunID, n int) string { return fmt.Sprintf("%s%s/%04d", prefixStep, id, n) }

// steps is the [react.Steps] of one attempt.
type steps struct {
	e       *Engine
	r       *run // belongs to the deciding goroutine
	attempt int
	first   react.Request
	all     atomic.Pointer[[]react.Step]
	asking  chan struct{} // one slot: one question at a time
}

var _ react.Steps = (*steps)(nil)

// stepsFor returns the Steps of an attempt, nil for an act without steps. Earlier steps must be
// in memory.
func (e *Engine) stepsFor(r *run, attempt int) react.Steps {
	if !r.stepped() {
		return nil
	}
	s := &steps{e: e, r: r, attempt: attempt, first: *r.first(), asking: make(chan struct{}, 1)}
	r.steps = s
	s.publish()
	return s
}

// publish updates what All returns.
func (s *steps) publish() {
	all := make([]react.Step, len(s.r.taken))
	for i := range s.r.taken {
		all[i] = s.r.taken[i].Step
	}
	s.all.Store(&all)
}

// First implements [react.Steps].
func (s *steps) First() react.Request { return s.first }

// All implements [react.Steps].
func (s *steps) All() []react.Step { return slices.Clone(*s.all.Load()) }

// Begin implements [react.Steps].
func (s *steps) Begin(ctx context.Context, st react.Step, request *react.Request) (int, error) {
	e := s.e
	e.o.Failpoint("step begins")
	if err := s.stopped(); err != nil {
		return 0, err
	}
	var begun struct {
		n   int
		err error
	}
	if err := e.call(ctx, func() (err error) {
		begun.n, begun.err = s.begin(st, request)
		if errors.Is(begun.err, react.ErrAsks) || errors.Is(begun.err, react.ErrStopped) {
			return begun.err // nothing is to be committed
		}
		return nil
	}); err != nil {
		if ctx.Err() != nil {
			go e.post(func() { s.withdraw(begun.n) }) // ends with the engine
		}
		return 0, err
	}
	e.o.Failpoint("step begun")
	if begun.err != nil {
		return begun.n, begun.err
	}
	if err := s.stopped(); err != nil {
		e.post(func() { s.withdraw(begun.n) })
		return 0, err
	}
	return begun.n, nil
}

// stopped returns ErrStopped while nothing may begin.
func (s *steps) stopped() error {
	if s.e.stopSwitch.blocks() || s.e.stopFile() {
		return fmt.Errorf("run %s: %w", s.r.ID, react.ErrStopped)
	}
	return nil
}

// current reports whether this is the running attempt of the run.
func (s *steps) current() bool {
	r := s.r
	return s.e.runs[r.ID] == r && r.Attempt == s.attempt && (r.State == react.Running || r.Live)
}

// begin judges a step and stages it. A step that asks, or is stopped, changes nothing.
func (s *steps) begin(st react.Step, request *react.Request) (int, error) {
	e, r := s.e, s.r
	if !s.current() {
		return 0, fmt.Errorf("run %s: the attempt is over: %w", r.ID, react.ErrStopped)
	}
	st.Cost, st.Usage.In, st.Usage.Out = max(st.Cost, 0), max(st.Usage.In, 0), max(st.Usage.Out, 0)
	i := slices.IndexFunc(r.taken, func(have step) bool { return have.N == st.N })
	if st.N != 0 && (i < 0 || r.taken[i].Kind != st.Kind || r.taken[i].Server != st.Server || r.taken[i].Tool != st.Tool) {
		return 0, fmt.Errorf("step %d of run %s is another one: %w", st.N, r.ID, react.ErrRefusedStep)
	}
	f := e.stepFacts(r, st, request)
	v := react.JudgeStep(f)
	if v.Err == nil && st.Args != nil && storable(st.Args) == nil {
		v = react.StepVerdict{Err: react.ErrRefusedStep, Why: "its arguments are no JSON"}
	}
	st.Args = storable(st.Args)
	if v.Err == nil && len(encode(st)) > maxStep {
		v = react.StepVerdict{Err: react.ErrRefusedStep, Why: "its arguments are too long to be kept"}
	}
	if v.Changed {
		e.disarmChanged(r, st.Server, st.Tool, v.Why)
	}
	switch {
	case errors.Is(v.Err, react.ErrBudget):
		e.refuseBudget(s, v)
		return 0, stepError(v)
	case errors.Is(v.Err, react.ErrRefusedStep):
		return e.refuseStep(s, st, i, v), stepError(v)
	case v.Err != nil:
		return 0, stepError(v)
	}
	if f.Approved {
		r.restoreFirst() // the approval counts once
	}
	return e.takeStep(s, st, i, v), nil
}

// disarmChanged disarms the rule of a run because a tool changed since the rule was armed.
func (e *Engine) disarmChanged(r *run, server, tool, why string) {
	rs := e.ruleState(r.Rule)
	has, armed := react.FindTool(r.first().Tools, server, tool), react.FindTool(rs.Pins, server, tool)
	if has == nil || armed == nil || rs.Armed == "" || armed.Pin != has.Pin {
		return // the rule was armed again meanwhile, or without the tool
	}
	rs.Armed, rs.Pins, rs.Disarmed = "", nil, why
	e.stageRule(r.Rule)
	e.audit(actor(r), "rule disarmed", 0, r.Rule+": "+why)
}

// storable returns raw if it is JSON, otherwise nil: a model may write anything.
func storable(raw json.RawMessage) json.RawMessage {
	if json.Valid(raw) {
		return raw
	}
	return nil
}

// stepError turns a verdict into an error that says why.
func stepError(v react.StepVerdict) error {
	at := ""
	if v.Line != "" {
		at = v.Line + ": "
	}
	return fmt.Errorf("%s%s: %w", at, v.Why, v.Err)
}

// stepFacts gathers what is known of a step at this moment.
func (e *Engine) stepFacts(r *run, st react.Step, request *react.Request) react.StepFacts {
	f := react.StepFacts{First: r.first(), Origin: r.rule.On.Server, Step: st, Request: request, Stopped: e.stopSwitch.stopped(), Held: e.held(), SpentRun: r.Spend}
	f.Before = *r.steps.all.Load()
	f.Rule, _ = e.ruleOf(r)
	f.File = e.set.File
	if request != nil {
		f.Approved = r.Request.Kind == react.RequestTool && approved(r, e.ruleState(r.Rule)) && request.Hash() == r.Approved
		if runs := e.unknown[r.Rule][st.Server+"/"+st.Tool]; len(runs) > 0 {
			f.Unknown = runs[0]
		}
	}
	f.SpentRule, f.SpentAll = e.spent.on(dayOf(e.now()), r.Rule)
	return f
}

// takeStep stages the beginning of a step, and reserves its cost. i is its index in r.taken, -1
// for a new step.
func (e *Engine) takeStep(s *steps, st react.Step, i int, v react.StepVerdict) int {
	r, now := s.r, e.now()
	bound, usage := st.Cost, st.Usage
	if i < 0 {
		st.N, st.Began = len(r.taken)+1, now
		r.taken = append(r.taken, step{Step: st})
		i = len(r.taken) - 1
	} else { // earlier tries may have cost something
		have := r.taken[i].Step
		st.N, st.Began, st.Tries, st.Cost = have.N, have.Began, have.Tries, react.Sum(have.Cost, st.Cost)
		st.Usage = addUsage(have.Usage, st.Usage)
	}
	st.State, st.Why, st.Line, st.Ended = react.StepBegun, v.Why, v.Line, time.Time{}
	st.Tries++
	r.taken[i] = step{Step: st, Bound: bound, BoundUsage: usage, Day: dayOf(now)}
	if bound > 0 {
		e.spent.out[stepID{r.ID, st.N}] = reservation{dayOf(now), r.Rule, bound}
		e.pay(dayOf(now), r.Rule, bound)
		r.Spend = react.Sum(r.Spend, bound)
	}
	e.stageStep(s, i)
	e.says.clear(r.ID)
	e.auditStep(r, &st)
	return st.N
}

func addUsage(a, b react.Usage) react.Usage {
	return react.Usage{In: react.Sum(a.In, b.In), Out: react.Sum(a.Out, b.Out), Estimated: a.Estimated || b.Estimated}
}

// refuseStep stages a refused step, which counts, and returns its number.
func (e *Engine) refuseStep(s *steps, st react.Step, i int, v react.StepVerdict) int {
	r, own := s.r, st.State == react.StepRefused
	if i >= 0 {
		if st = r.taken[i].Step; st.State != react.StepBegun {
			return st.N
		}
	} else {
		st.N, st.Began = len(r.taken)+1, e.now()
		st.Cost, st.Usage = 0, react.Usage{}
		if react.FindTool(r.first().Tools, st.Server, st.Tool) == nil { // the model made the name up
			st.Server, st.Tool = quoted(st.Server), quoted(st.Tool)
		}
		if len(st.Args) > react.MaxToolResult {
			st.Args = nil
		}
		r.taken = append(r.taken, step{})
		i = len(r.taken) - 1
	}
	st.State, st.Why, st.Line, st.Ended = react.StepRefused, v.Why, v.Line, e.now()
	r.taken[i] = step{Step: st}
	e.stageStep(s, i)
	why := v.Why
	if own { // v.Why may have a model's words
		why = "it cannot be done as it was asked for"
	}
	e.audit(r.actor(), "step refused", 0, fmt.Sprintf("run %s, step %d: %s", r.ID, st.N, why))
	return st.N
}

// quoted returns an untrusted name in quotes, escaped and shortened.
func quoted(name string) string {
	if name == "" {
		return ""
	}
	return strconv.QuoteToASCII(name[:min(len(name), 100)])
}

// refuseBudget records in the audit log, once per attempt, that the budget is used up.
func (e *Engine) refuseBudget(s *steps, v react.StepVerdict) {
	if s.r.told != s.attempt {
		s.r.told = s.attempt
		e.audit(s.r.actor(), "budget refused", 0, fmt.Sprintf("run %s: %s", s.r.ID, v.Why))
	}
}

// auditStep records the beginning of a step in the audit log, without the sent content.
func (e *Engine) auditStep(r *run, st *react.Step) {
	switch st.Kind {
	case react.StepTool:
		e.audit(r.actor(), "tool called", 0, fmt.Sprintf("run %s, step %d, %s/%s, %s, arguments %s", r.ID, st.N, st.Server, st.Tool, st.Class, react.Digest(st.Args)))
	case react.StepModel:
		e.audit(actor(r), "model asked", 0, fmt.Sprintf("run %s, step %d, try %d, at most %d tokens and $%s, sent %s", r.ID, st.N, st.Tries, react.Total(st.Usage), react.Money(st.Cost), st.Sent))
	case react.StepPrompt:
		e.audit(actor(r), "agent prompted", 0, fmt.Sprintf("run %s, step %d, sent %s", r.ID, st.N, st.Sent))
	}
}

// withdraw refuses a step that was committed as begun, but will not be carried out.
func (s *steps) withdraw(n int) {
	if i := s.begunAt(n); i >= 0 && s.current() {
		st := s.r.taken[i].Step
		st.State, st.Why, st.Cost, st.Usage = react.StepRefused, "it was given up before it was begun", 0, react.Usage{}
		s.e.endStep(s, i, st)
	}
}

// begunAt returns the index of a begun step, or -1.
func (s *steps) begunAt(n int) int {
	return slices.IndexFunc(s.r.taken, func(have step) bool { return have.N == n && have.State == react.StepBegun })
}

// End implements [react.Steps].
func (s *steps) End(ctx context.Context, st react.Step) error {
	s.e.o.Failpoint("step ends")
	err := s.e.call(ctx, func() error {
		i := s.begunAt(st.N)
		if i < 0 || !s.current() || st.State != react.StepDone && st.State != react.StepFailed {
			return fmt.Errorf("step %d of run %s cannot become %s: %w", st.N, s.r.ID, st.State, react.ErrState)
		}
		s.e.endStep(s, i, st)
		return nil
	})
	s.e.o.Failpoint("step ended")
	return err
}

// endStep stages the outcome of a step, and releases what was reserved and not spent.
func (e *Engine) endStep(s *steps, i int, st react.Step) {
	r, have := s.r, s.r.taken[i]
	cost, usage := st.Cost, st.Usage
	if cost < 0 {
		cost, usage = have.Bound, have.BoundUsage
	}
	if have.Day != "" && cost != have.Bound {
		e.pay(have.Day, r.Rule, cost-have.Bound)
		r.Spend = changed(r.Spend, cost-have.Bound)
	}
	delete(e.spent.out, stepID{r.ID, have.N})
	next := have.Step
	next.State, next.Why, next.Answer, next.Result, next.Again, next.Ended = st.State, st.Why, st.Answer, st.Result, st.Again, e.now()
	if a := st.Answer; a != nil {
		stored := *a
		stored.Calls = slices.Clone(a.Calls)
		for i := range stored.Calls {
			stored.Calls[i].Args = storable(stored.Calls[i].Args)
		}
		next.Answer = &stored
	}
	next.Cost = react.Sum(have.Cost-have.Bound, cost)
	usage.In, usage.Out = max(usage.In, 0), max(usage.Out, 0)
	before := react.Usage{In: have.Usage.In - have.BoundUsage.In, Out: have.Usage.Out - have.BoundUsage.Out, Estimated: have.Tries > 1 && have.Usage.Estimated}
	next.Usage = addUsage(before, usage)
	if len(encode(next)) > maxStep {
		next.State, next.Why = react.StepFailed, "what was answered is too long to be kept"
		next.Answer, next.Result = nil, nil
	}
	r.taken[i] = step{Step: next}
	e.stageStep(s, i)
}

// stageStep stages the step at index i, and the run with its number and bytes of steps.
func (e *Engine) stageStep(s *steps, i int) {
	r := s.r
	st := &r.taken[i]
	value := encode(st)
	r.StepBytes += len(value) - st.size
	st.size = len(value)
	r.Steps = len(r.taken)
	s.publish()
	e.stagePut(event.TableReact, stepKey(r.ID, st.N), value)
	e.stageRun(r)
	e.staged.urgent = true
}

// loadSteps reads the steps of a run into memory, if they are not there yet. Error: steps are
// missing or cannot be read, so that it is unknown what the run did.
func (e *Engine) loadSteps(r *run) error {
	if r.taken != nil || r.Steps == 0 {
		return nil
	}
	taken, err := e.readSteps(r.ID)
	if err == nil && len(taken) != r.Steps {
		err = fmt.Errorf("%d of %d are there", len(taken), r.Steps)
	}
	if err != nil {
		return fmt.Errorf("the steps of the run cannot be read: %w", err)
	}
	r.taken = taken
	return nil
}

// readSteps reads the steps of a run from the journal, in order.
func (e *Engine) readSteps(id react.RunID) (all []step, err error) {
	var bad error
	err = e.o.Store.Journal().Entries(event.TableReact, prefixStep+string(id)+"/", func(key string, value []byte) bool {
		st := step{size: len(value)}
		if bad = json.Unmarshal(value, &st); bad != nil {
			bad = fmt.Errorf("entry %q of %s: %w", key, event.TableReact, bad)
			return false
		}
		all = append(all, st)
		return true
	})
	return all, errors.Join(err, bad)
}

// Steps implements [react.Control].
func (e *Engine) Steps(ctx context.Context, id react.RunID) ([]react.Step, error) {
	r, err := e.Run(ctx, id)
	if err != nil || r.Steps == 0 {
		return nil, err
	}
	all, err := e.readSteps(id)
	out := make([]react.Step, len(all))
	for i := range all {
		out[i] = all[i].Step
	}
	return out, err
}

// Progress implements [react.Steps].
func (s *steps) Progress(text trust.Text) {
	if s.e.says.add(s.r.ID, text, s.e.now()) {
		s.e.nudge()
	}
}
