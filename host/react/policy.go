package react

import (
	"fmt"
	"time"
)

// Facts is the input of [Judge]: what the engine knows of a run and its rule at one moment. The
// zero value of a member is the most permissive, except for Armed, Approved and Granted.
type Facts struct {
	Now   time.Time
	Rule  *Rule // as it stands now
	File  *File // for the limits of all rules; nil: none
	Gone  bool  // the rule is no longer in the file
	Armed bool  // the operator armed its present hash

	Stopped  bool      // the stop switch
	Held     string    // why nothing may start, e.g. a restored store; "": it may
	Silenced time.Time // end of the silence; zero: none

	// Goes: the run began before and continues. No rate counts it, and Once does not apply.
	Goes     bool
	NS       Namespace
	Imported bool // a member was imported, not delivered to this host

	// Unbounded says why the confinement that the rule demands is not possible; "" if it is.
	Unbounded string
	// Unprepared says why the requests of the rule cannot be prepared, e.g. a secret that is
	// not set, after [Breaker] failures in a row; "" if they can, or should be tried.
	Unprepared string

	Stale    bool // a member is older than the rule's age
	Unsigned bool // a member came by a webhook without a signature
	AfterGap bool // a member is the first event behind a certain gap
	Flagged  bool // the scanner noticed something in a member
	Loop     bool // a member carries the id of a run of the last hour

	OnceUntil time.Time // when the once value may start an act again; zero: now
	Failures  int       // of the rule, in a row

	// Starts within the time span of the rate limit, of the rule and of all rules, and when
	// the oldest of them leaves that span.
	Started, StartedAll         int
	StartedUntil, StartedAllDue time.Time
	Running, RunningAll         int   // running acts: of the rule and group, and of all rules
	Queued, QueuedAll           int   // waiting runs without this one: of the rule, and of all rules
	Asking                      int   // asking runs of all rules without this one
	Cost                        int64 // upper bound of the cost of the act, in micro-dollars

	// Approved: the operator approved exactly this request.
	Approved bool
	// Granted: the operator allowed the rule as it stands exactly this act for some hours.
	// That settles questions about the rule, but not those about the records, which the
	// operator has not seen.
	Granted bool
}

// Decision is the answer of the policy about a run.
type Decision struct {
	// State is Suppressed, WouldRun, Asking or Ready.
	State State
	// Now: a ready run may start. Otherwise it waits; Until is when to ask the policy again
	// at the latest, the zero time if only a change can help.
	Now   bool
	Until time.Time
	// Cause names what decided, for counters; Why says it in our own words; Line is the place
	// in the configuration (file:line:column) that led to it, or "".
	Cause Cause
	Why   string
	Line  string
}

// Cause names the part of the policy that decided.
type Cause string

// The causes, in the order in which the policy asks.
const (
	CauseStop      Cause = "stop"
	CauseHeld      Cause = "held"
	CauseGone      Cause = "gone"
	CauseDisarmed  Cause = "disarmed"
	CauseSilence   Cause = "silence"
	CauseOrigin    Cause = "origin"
	CauseAge       Cause = "age"
	CauseOnce      Cause = "once"
	CauseRate      Cause = "rate"
	CauseSpend     Cause = "spend"
	CauseRunning   Cause = "running"
	CauseQueue     Cause = "queue"
	CauseApprovals Cause = "approvals"
	CauseBoundary  Cause = "boundary"
	CausePrepare   Cause = "prepare"
	CauseShape     Cause = "shape"
	CauseUnsigned  Cause = "unsigned"
	CauseGap       Cause = "gap"
	CauseFlag      Cause = "flag"
	CauseLoop      Cause = "loop"
	CauseBreaker   Cause = "breaker"
	CauseMode      Cause = "mode"
	CauseApproved  Cause = "approved"
)

// Limits over all rules that are not configurable.
const (
	MaxAsking = 50 // asking runs
	Breaker   = 5  // failures in a row after which a rule asks, or, if requests cannot be prepared, is tried only now and then
)

// strictness orders decisions: the higher, the further from an act.
func (d Decision) strictness() int {
	switch {
	case d.State == Suppressed, d.State == WouldRun:
		return 3
	case d.State == Asking:
		return 2
	case !d.Now:
		return 1
	}
	return 0
}

// Judge decides what becomes of a run: nothing, a note in the journal of what it would have
// done, a question to the operator, or the act. It asks every part of the policy; the
// strictest answer wins, among equals the first. The engine calls it before a run is created
// (with Queued), when the run leaves gathering, and again right before the act.
func Judge(f Facts) Decision {
	j := judge{f: &f, worst: Decision{State: Ready, Now: true, Cause: CauseMode, Why: "the rule's mode is auto", Line: f.Rule.Line("mode")}}
	switch {
	case f.Approved:
		j.worst.Cause, j.worst.Why = CauseApproved, "the operator approved it"
	case f.Granted:
		j.worst.Cause, j.worst.Why = CauseApproved, "the operator granted it"
	}
	j.operator()
	j.origin()
	j.once()
	j.limits()
	j.shape()
	j.flags()
	j.mode()
	// The number of asking runs is limited.
	if j.worst.State == Asking && f.Asking >= MaxAsking {
		j.say(Suppressed, CauseApprovals, "", "%d runs wait for an approval already", f.Asking)
	}
	return j.worst
}

// judge holds the strictest answer so far.
type judge struct {
	f     *Facts
	worst Decision
}

func (j *judge) take(d Decision) {
	if d.strictness() > j.worst.strictness() {
		j.worst = d
	}
}

func (j *judge) say(s State, c Cause, line, why string, args ...any) {
	j.take(Decision{State: s, Cause: c, Line: line, Why: fmt.Sprintf(why, args...)})
}

// ask demands that the run is approved.
func (j *judge) ask(c Cause, line, why string, args ...any) {
	if !j.f.Approved {
		j.say(Asking, c, line, why, args...)
	}
}

// askOfRule is ask for a reason that lies in the rule, not in the records: a grant settles it
// too.
func (j *judge) askOfRule(c Cause, line, why string, args ...any) {
	if !j.f.Granted {
		j.ask(c, line, why, args...)
	}
}

// wait keeps a ready run from starting now.
func (j *judge) wait(c Cause, until time.Time, line, why string, args ...any) {
	j.take(Decision{State: Ready, Until: until, Cause: c, Line: line, Why: fmt.Sprintf(why, args...)})
}

// drop ends a live run; a manual one asks.
func (j *judge) drop(c Cause, line, why string, args ...any) {
	if j.f.NS == Manual {
		j.ask(c, line, why, args...)
		return
	}
	j.say(Suppressed, c, line, why, args...)
}

func (j *judge) operator() {
	f := j.f
	if f.Stopped {
		j.wait(CauseStop, time.Time{}, "", "reactions are stopped")
	}
	if f.Held != "" {
		j.wait(CauseHeld, time.Time{}, "", "reactions are held: %s", f.Held)
	}
	if f.Gone {
		j.say(Suppressed, CauseGone, f.Rule.Where, "the rule is no longer in the file")
	}
	if !f.Armed && f.Rule.Mode == ModeAuto { // for the other modes, mode decides
		j.askOfRule(CauseDisarmed, f.Rule.Where, "the rule as it stands is not armed")
	}
	if f.Silenced.After(f.Now) {
		j.drop(CauseSilence, f.Rule.Where, "the rule is silenced until %s", f.Silenced.UTC().Format(time.RFC3339))
	}
}

func (j *judge) origin() {
	f := j.f
	if f.Imported {
		j.say(Suppressed, CauseOrigin, f.Rule.Where, "a member was imported; imported records start nothing")
	}
	switch f.NS {
	case Live:
	case Client:
		j.ask(CauseOrigin, f.Rule.Where, "a client asks for it")
	default:
		j.ask(CauseOrigin, f.Rule.Where, "it was made by hand")
	}
	if f.Stale {
		j.ask(CauseAge, f.Rule.Line("age"), "a member is older than %s", FormatDuration(f.Rule.Age))
	}
}

func (j *judge) once() {
	if f := j.f; !f.Goes && f.OnceUntil.After(f.Now) {
		j.drop(CauseOnce, f.Rule.Line("once"), "the rule acted on the same value; it may again at %s", f.OnceUntil.UTC().Format(time.RFC3339))
	}
}

func (j *judge) limits() {
	f, own := j.f, &j.f.Rule.Limits
	if own.Runs.N > 0 && !f.Goes && f.Started >= own.Runs.N {
		j.wait(CauseRate, f.StartedUntil, f.Rule.Line("limits.runs"), "%d acts within %s are all that the rule may start", own.Runs.N, FormatDuration(own.Runs.Per))
	}
	if own.Running > 0 && f.Running >= own.Running {
		j.wait(CauseRunning, time.Time{}, f.Rule.Line("limits.running"), "%d of this rule and group run already", f.Running)
	}
	if own.Spend > 0 && f.Cost > own.Spend {
		j.say(Suppressed, CauseSpend, f.Rule.Line("limits.spend"), "the act may cost more than the rule allows")
	}
	if own.Queue > 0 && f.Queued >= own.Queue {
		j.say(Suppressed, CauseQueue, f.Rule.Line("limits.queue"), "%d runs of the rule wait already", f.Queued)
	}
	if f.File == nil {
		return
	}
	all := &f.File.Limits
	if all.Runs.N > 0 && !f.Goes && f.StartedAll >= all.Runs.N {
		j.wait(CauseRate, f.StartedAllDue, f.File.Line("limits.runs"), "%d acts within %s are all that the rules may start together", all.Runs.N, FormatDuration(all.Runs.Per))
	}
	if all.Queue > 0 && f.QueuedAll >= all.Queue {
		j.say(Suppressed, CauseQueue, f.File.Line("limits.queue"), "%d runs of all rules wait already", f.QueuedAll)
	}
	if all.Running > 0 && f.RunningAll >= all.Running {
		j.wait(CauseRunning, time.Time{}, f.File.Line("limits.running"), "%d acts run already", f.RunningAll)
	}
}

func (j *judge) shape() {
	if j.f.Unbounded != "" {
		j.say(Suppressed, CauseBoundary, j.f.Rule.Line("do"), "%s", j.f.Unbounded)
	}
	if j.f.Unprepared != "" && j.f.NS == Live { // a manual run tries it
		j.say(Suppressed, CausePrepare, j.f.Rule.Line("do"), "%s", j.f.Unprepared)
	}
	if could := CapabilitiesOf(j.f.Rule.Do, j.f.Rule.On.Server); could.Best == ModeAsk {
		j.askOfRule(CauseShape, j.f.Rule.Line("do"), "%s", could.Why)
	}
}

func (j *judge) flags() {
	f := j.f
	where := f.Rule.Where
	if f.Unsigned {
		j.ask(CauseUnsigned, where, "a member came by a webhook without a signature")
	}
	if f.AfterGap {
		j.ask(CauseGap, where, "a member is the first event behind a gap")
	}
	if f.Flagged {
		j.ask(CauseFlag, where, "a member is flagged")
	}
	if f.Loop {
		j.ask(CauseLoop, where, "a member carries the id of a run of ours: the rule may cause its own events")
	}
	if f.Failures >= Breaker {
		j.ask(CauseBreaker, where, "the rule failed %d times in a row", f.Failures)
	}
}

func (j *judge) mode() {
	switch line := j.f.Rule.Line("mode"); j.f.Rule.Mode {
	case ModeAuto:
	case ModeAsk:
		j.askOfRule(CauseMode, line, "the rule's mode is ask")
	default:
		j.say(WouldRun, CauseMode, line, "the rule's mode is shadow")
	}
}
