// Reports what rules would have done about stored records. It has no effects: it
// uses no journal, no program and no network, and its clock is that of the records.
//
// It decides like the engine, under three assumptions: every rule is armed, nothing waits for the
// operator (a run that would ask is reported and ends), and each act is over at once.

package engine

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// Result is the outcome of one run, or of the members that started none for the same reason.
type Result struct {
	Rule  string
	State react.State // would-run, asking, ready or suppressed
	Cause react.Cause
	Why   string
	Line  string // file:line:column
	Key   react.Key
	// Members is their number; First and Last are the sequence numbers of the first and the
	// last one, From and To the times of their arrival. An absence has no members.
	Members     uint64
	First, Last uint64
	From, To    time.Time
	// Waited is how long the limits would have delayed its start.
	Waited time.Duration
	Cost   int64 // upper bound, in micro-dollars
}

// suppressedGroups is how many groups of suppressed members have results of their own; further
// ones share one result.
const suppressedGroups = 10_000

// Trial tries rules on records.
type Trial struct {
	set      *react.Set
	maybe    []*react.Matcher // candidates for the current record, a buffer
	tell     func(Result)
	now      time.Time
	arrivals react.Arrivals
	rules    map[string]*rule
	order    []*rule
	started  []time.Time // of all rules
	due      time.Time   // earliest time at which something is due

	subs       map[event.SubID]*heard
	begun      bool // the first record came
	suppressed map[reason]*Result
}

// heard is a subscription that was alive.
type heard struct {
	server, typ string
	alive       bool
	named       bool // its events have names of their own
}

type reason struct {
	rule  string
	cause react.Cause
	key   react.Key
}

// rule is the state of one rule.
type rule struct {
	m         *react.Matcher
	watch     *react.Watch // nil: no window
	gathering map[react.Key]*trialRun
	waiting   []*trialRun // gathering ones by their end, then those that the limits delay
	newest    *trialRun
	started   []time.Time
	once      map[react.Key]time.Time
}

// trialRun is a run that is not decided yet.
type trialRun struct {
	Result
	due   time.Time
	ready time.Time // when it began to wait for its start; zero: it gathers
	facts react.Facts
	once  []react.Key
}

// maxOnceValues is the most once values that a run charges.
const maxOnceValues = 100

// New begins a trial. It calls tell with each result once that is known.
func New(set *react.Set, tell func(Result)) *Trial {
	t := &Trial{set: set, tell: tell, rules: map[string]*rule{}, subs: map[event.SubID]*heard{}, suppressed: map[reason]*Result{}}
	for i := range set.File.Rules {
		m := set.Rule(set.File.Rules[i].Name)
		r := &rule{m: m, gathering: map[react.Key]*trialRun{}, once: map[react.Key]time.Time{}}
		if !m.Rule.Window.IsZero() {
			r.watch = react.NewWatch(m.Rule)
		}
		t.rules[m.Rule.Name] = r
		t.order = append(t.order, r)
	}
	return t
}

// Earlier takes a record from before the trial, which is lent. Nothing is decided about it, but
// the age of later records may depend on it. Calls come before the first Add, in the order of the
// log.
func (t *Trial) Earlier(r *event.Record) {
	t.arrivals.Note(r)
	t.noteState(r)
}

// Add takes the next record of the log, which is lent.
func (t *Trial) Add(r *event.Record) {
	if r.ReceivedAt.After(t.now) {
		t.now = r.ReceivedAt
	}
	if !t.begun {
		t.begun = true
		t.watchSubs()
	}
	if !t.due.IsZero() && !t.now.Before(t.due) {
		t.settle()
	}
	arrival := t.arrivals.Note(r)
	if t.noteState(r) {
		t.watchSubs()
	}
	t.maybe = t.set.Candidates(r, t.maybe[:0])
	for _, m := range t.maybe {
		if m.Match(r) {
			t.matched(t.rules[m.Rule.Name], r, arrival)
		}
	}
}

// noteState updates whether the subscription of a record is alive, and reports whether that
// changed. Without a recorded state it is alive from its first event.
func (t *Trial) noteState(r *event.Record) (changed bool) {
	sub := t.subs[r.Sub]
	alive := sub != nil && sub.alive
	switch {
	case r.Kind == event.KindState && r.State != nil:
		switch s := r.State.State; s {
		case event.StateAbandoned, event.StateSwitched, event.StateResumed: // of the log, not of the subscription
		default:
			alive = s.Alive()
		}
	case r.Kind == event.KindEvent && sub == nil:
		alive = true
	}
	if sub == nil {
		if !alive {
			return false
		}
		sub = &heard{server: strings.Clone(r.Server), typ: strings.Clone(r.Type.Raw())}
		t.subs[event.SubID([]byte(r.Sub))] = sub
	}
	named := sub.named || r.Name() != r.Type
	changed = alive != sub.alive || named != sub.named
	sub.alive, sub.named = alive, named
	return changed
}

// watchSubs tells the windows of absences whether a subscription that may have their events is
// alive.
func (t *Trial) watchSubs() {
	for _, rule := range t.order {
		if rule.m.Rule.Window.Absent == 0 {
			continue
		}
		on, alive := rule.m.Rule.On, false
		for _, sub := range t.subs {
			alive = alive || sub.alive && sub.server == on.Server && (sub.named || on.Types.Match(sub.typ))
		}
		rule.watch.Alive(alive, t.now)
		t.wake(rule.watch.Due())
	}
}

// wake schedules the next check for a time, at the latest.
func (t *Trial) wake(at time.Time) {
	if !at.IsZero() && (t.due.IsZero() || at.Before(t.due)) {
		t.due = at
	}
}

func (t *Trial) matched(rule *rule, r *event.Record, a react.Arrival) {
	key := rule.m.Key(r)
	if rule.watch != nil {
		fired, ok := rule.watch.Add(key, r.Seq, r.ReceivedAt)
		if rule.m.Rule.Window.Absent > 0 {
			t.wake(t.now.Add(rule.m.Rule.Window.Absent)) // the earliest absence after this record
		}
		if !ok {
			if have := rule.gathering[key]; have != nil {
				have.join(rule, r, 1)
			}
			return
		}
		n := uint64(fired.Count)
		if rule.gathering[key] != nil {
			n = 1 // it has the others already
		}
		if have := t.gather(rule, key, r, a, n); have != nil && have.First > fired.From {
			have.First = fired.From
		}
		return
	}
	t.gather(rule, key, r, a, 1)
}

// gather finds or creates the run of a record, unless it is suppressed.
func (t *Trial) gather(rule *rule, key react.Key, r *event.Record, a react.Arrival, n uint64) *trialRun {
	have := rule.gathering[key]
	f := t.facts(rule)
	f.Stale, f.AfterGap, f.Flagged = rule.m.Rule.Age > 0 && a.Age > rule.m.Rule.Age, a.AfterGap, a.Flagged
	if value, ok := rule.m.Once(r); ok {
		f.OnceUntil = rule.once[value]
	}
	if have == nil {
		f.Queued = len(rule.waiting)
		for _, other := range t.rules {
			f.QueuedAll += len(other.waiting)
		}
	}
	d := react.Judge(f)
	if d.Cause == react.CauseQueue && rule.newest != nil && rule.newest.ready.IsZero() {
		have, d = rule.newest, react.Decision{State: react.Ready}
	}
	if d.State == react.Suppressed {
		t.suppress(rule, d, Result{Key: key, Members: n, First: r.Seq, Last: r.Seq, From: r.ReceivedAt, To: r.ReceivedAt})
		return nil
	}
	if have == nil {
		have = t.begin(rule, key)
	}
	have.facts.Stale = have.facts.Stale || f.Stale
	have.facts.AfterGap = have.facts.AfterGap || f.AfterGap
	have.facts.Flagged = have.facts.Flagged || f.Flagged
	have.join(rule, r, n)
	return have
}

func (t *Trial) begin(rule *rule, key react.Key) *trialRun {
	n := &trialRun{Result: Result{Rule: rule.m.Rule.Name, Key: key}, due: t.now.Add(rule.m.Rule.Wait)}
	rule.gathering[key], rule.newest = n, n
	rule.waiting = append(rule.waiting, n)
	t.wake(n.due)
	return n
}

func (n *trialRun) join(rule *rule, r *event.Record, members uint64) {
	if n.Members == 0 {
		n.First, n.From = r.Seq, r.ReceivedAt
	}
	n.Members += members
	n.Last, n.To = r.Seq, r.ReceivedAt
	if value, ok := rule.m.Once(r); ok && len(n.once) < maxOnceValues && !slices.Contains(n.once, value) {
		n.once = append(n.once, value)
	}
}

// facts returns the input of the policy for a rule at this moment.
func (t *Trial) facts(rule *rule) react.Facts {
	f := react.Facts{Now: t.now, Rule: rule.m.Rule, File: t.set.File, Armed: true, NS: react.Live}
	rule.started, f.Started, f.StartedUntil = rule.m.Rule.Limits.Runs.Counted(rule.started, t.now)
	t.started, f.StartedAll, f.StartedAllDue = t.set.File.Limits.Runs.Counted(t.started, t.now)
	return f
}

// settle does what is due: absences, runs that have gathered, runs that the limits delayed.
func (t *Trial) settle() {
	now := t.now
	for {
		at, rule := t.earliest()
		if rule == nil || at.After(now) {
			t.due = at
			break
		}
		t.now = at
		t.settleRule(rule)
	}
	t.now = now
}

// earliest returns the rule that has the next thing to do, and when.
func (t *Trial) earliest() (first time.Time, which *rule) {
	for _, rule := range t.order {
		for _, at := range []time.Time{rule.next(), rule.absence()} {
			if !at.IsZero() && (which == nil || at.Before(first)) {
				first, which = at, rule
			}
		}
	}
	return first, which
}

func (r *rule) next() time.Time {
	if len(r.waiting) == 0 {
		return time.Time{}
	}
	return slices.MinFunc(r.waiting, func(a, b *trialRun) int { return a.due.Compare(b.due) }).due
}

func (r *rule) absence() time.Time {
	if r.watch == nil {
		return time.Time{}
	}
	return r.watch.Due()
}

func (t *Trial) settleRule(rule *rule) {
	if at := rule.absence(); !at.IsZero() && !at.After(t.now) {
		for _, fired := range rule.watch.Tick(t.now) {
			if rule.gathering[fired.Key] == nil {
				n := t.begin(rule, fired.Key)
				n.due, n.From, n.To = t.now, t.now.Add(-rule.m.Rule.Window.Absent), t.now
			}
		}
	}
	t.decideDue(rule)
}

// decideDue decides the runs of a rule whose time has come.
func (t *Trial) decideDue(rule *rule) {
	rule.waiting = slices.DeleteFunc(rule.waiting, func(n *trialRun) bool { return !n.due.After(t.now) && t.decide(rule, n) })
}

// decide asks the policy about a run and reports whether it is over.
func (t *Trial) decide(rule *rule, n *trialRun) bool {
	if n.ready.IsZero() {
		n.ready = t.now
		delete(rule.gathering, n.Key)
	}
	f := t.facts(rule)
	f.Stale, f.AfterGap, f.Flagged, f.OnceUntil = n.facts.Stale, n.facts.AfterGap, n.facts.Flagged, n.charged(rule)
	d := react.Judge(f)
	if d.State == react.Ready && !d.Now && d.Until.After(t.now) {
		n.due = d.Until
		return false
	}
	if d.State == react.Suppressed {
		t.suppress(rule, d, n.Result)
		return true
	}
	n.State, n.Cause, n.Why, n.Line, n.Waited = d.State, d.Cause, d.Why, d.Line, t.now.Sub(n.ready)
	n.Cost = rule.m.Rule.WorstCost()
	if d.State == react.Ready {
		rule.started, t.started = append(rule.started, t.now), append(t.started, t.now)
		for _, value := range n.once {
			rule.once[value] = t.now.Add(rule.m.Rule.Once.For)
		}
	}
	t.tell(n.Result)
	return true
}

// charged returns until when all once values of a run are charged, zero if one is free.
func (n *trialRun) charged(rule *rule) (until time.Time) {
	for i, value := range n.once {
		at := rule.once[value]
		if !at.After(n.ready) {
			return time.Time{}
		}
		if i == 0 || at.Before(until) {
			until = at
		}
	}
	return until
}

// suppress counts members that start nothing.
func (t *Trial) suppress(rule *rule, d react.Decision, more Result) {
	id := reason{rule.m.Rule.Name, d.Cause, more.Key}
	have := t.suppressed[id]
	if have == nil && len(t.suppressed) >= suppressedGroups {
		id.key = ""
		have = t.suppressed[id]
	}
	if have == nil {
		more.Rule, more.State, more.Cause, more.Why, more.Line, more.Key = id.rule, d.State, d.Cause, d.Why, d.Line, id.key
		t.suppressed[id] = &more
		return
	}
	have.Members += more.Members
	have.Last, have.To = more.Last, more.To
}

// End decides the runs that still gather or wait, as if no further record came, and reports the
// suppressed members.
func (t *Trial) End() {
	for {
		at, any := time.Time{}, false
		for _, rule := range t.order {
			if next := rule.next(); !next.IsZero() && (!any || next.Before(at)) {
				at, any = next, true
			}
		}
		if !any {
			break
		}
		if at.After(t.now) {
			t.now = at
		}
		for _, rule := range t.order {
			t.decideDue(rule)
		}
	}
	all := slices.Collect(maps.Values(t.suppressed))
	slices.SortFunc(all, func(a, b *Result) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Key, b.Key))
	})
	for _, r := range all {
		t.tell(*r)
	}
}
