package engine

import (
	"fmt"
	"slices"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// group identifies a group of records of a rule. A group has at most one gathering run, besides
// those that left gathering.
type group struct {
	rule string
	key  react.Key
}

type groupState struct {
	gathering *run
	frozen    int // asking, ready and running runs
	fresh     int // of these, runs that ask before they begin
	running   int // of these, acts that are starting or running
}

func (e *Engine) group(r *run) *groupState { return e.groupOf(group{r.Rule, r.Key}) }

func (e *Engine) groupOf(k group) *groupState { return entry(e.groups, k) }

// entry returns the value of a key, and adds a new one if the map has none.
func entry[K comparable, V any](all map[K]*V, key K) *V {
	v := all[key]
	if v == nil {
		v = new(V)
		all[key] = v
	}
	return v
}

// firing is a window that became true at a record.
type firing struct {
	m     *react.Matcher
	key   react.Key
	from  uint64 // oldest member in the window; 0: an absence
	to    uint64
	facts recordFacts
}

// recordFacts is what the policy needs to know of a record.
type recordFacts struct {
	react.Arrival
	imported, unsigned, loop bool
	once                     time.Time // end of the charge of its once value
	absent                   time.Time // when an absence became true; zero: it is a record
}

// decide decides about some of what was committed and reports whether there is more to decide
// at once.
func (e *Engine) decide() (more bool) {
	from, to, records, seen := e.interest.next()
	if from == 0 && records == nil {
		e.noteRead(nil)
		e.moveTo(seen)
		return false
	}
	if e.unread.waits(e.now()) {
		return false
	}
	err := e.seed()
	switch {
	case err != nil:
	case from != 0:
		err = e.read(from, to)
	default:
		e.take(records)
	}
	e.interest.done(e.position)
	for _, f := range e.fired {
		e.fire(f)
	}
	e.fired = e.fired[:0]
	e.noteRead(err)
	return err == nil && e.interest.waits()
}

// take decides about records that were kept in memory, until a window becomes true.
func (e *Engine) take(records []event.Record) {
	records = records[:min(len(records), decideRecords)]
	for i := range records {
		e.record(&records[i])
		e.moveTo(records[i].Seq)
		if len(e.fired) > 0 {
			return
		}
	}
}

// read decides about a range of the log, until a window becomes true. After an error the
// records before it are decided.
func (e *Engine) read(from, to uint64) error {
	e.moveTo(from - 1)
	expected := e.position + 1
	n, last := 0, e.position
	err := e.o.Store.Scan(expected, to, func(r *event.Record) bool {
		if r.Seq > expected {
			e.pruned(expected, r.Seq-1)
		}
		expected = r.Seq + 1
		e.record(r)
		last = r.Seq
		n++
		return n < decideRecords && len(e.fired) == 0
	})
	if err == nil && (n == 0 || n < decideRecords && len(e.fired) == 0) {
		if last < to {
			e.pruned(last+1, to)
		}
		last = to
	}
	e.moveTo(last)
	return err
}

func (e *Engine) moveTo(seq uint64) {
	if seq > e.position {
		e.position, e.staged.moved = seq, true
	}
}

// pruned counts records that retention removed before they were decided.
func (e *Engine) pruned(from, to uint64) {
	any := false
	for _, r := range e.set.File.Rules {
		if rs := e.rules[r.Name]; rs != nil && rs.Since < to {
			rs.suppress("pruned", to-max(from-1, rs.Since))
			e.stageRule(r.Name)
			any = true
		}
	}
	if any {
		e.audit(event.ActorHost, "records not judged", 0, fmt.Sprintf("%d to %d were pruned before", from, to))
	}
}

// record decides about a record for each rule. The record may be lent by the store.
func (e *Engine) record(r *event.Record) {
	facts := e.note(r)
	for _, m := range e.candidates(r) {
		if taken, ok := e.matches(m, r); taken || !ok {
			e.judgeRecord(m, r, facts, ok)
		}
	}
}

// note returns the facts of a record, and keeps what is needed to judge later records of its
// subscription.
func (e *Engine) note(r *event.Record) recordFacts {
	f := recordFacts{Arrival: e.arrivals.Note(r)}
	f.loop = r.Kind == event.KindEvent && e.carriesRun(r.Data)
	for _, i := range e.imported {
		f.imported = f.imported || i.from <= r.Seq && r.Seq <= i.to
	}
	return f
}

// seedRecords is how many records before the position seed reads at most.
const seedRecords = 10_000

// seed finds when the last event of each subscription arrived before the position: that gives
// the age of a replay after a restart. It runs before the first decision, not in Open, so that
// a start does not wait for it. Error: the log cannot be read.
func (e *Engine) seed() error {
	if e.seeded {
		return nil
	}
	n := 0
	if e.position > 0 {
		err := e.o.Store.Scan(e.position, 1, func(r *event.Record) bool {
			e.arrivals.Earlier(r)
			n++
			return n < seedRecords
		})
		if err != nil {
			return err
		}
	}
	e.seeded = true
	return nil
}

// judgeRecord decides about a record that a rule matches. ok is false if its filter failed.
func (e *Engine) judgeRecord(m *react.Matcher, r *event.Record, f recordFacts, ok bool) {
	rs := e.rules[m.Rule.Name]
	if rs == nil || r.Seq <= rs.Since {
		return
	}
	if !ok {
		rs.suppress("error", 1)
		e.stageRule(m.Rule.Name)
		return
	}
	key := m.Key(r)
	rs.Matched++
	e.stageRule(m.Rule.Name)
	f.unsigned = r.Mode == event.ModeWebhook && e.o.Unsigned != nil && e.o.Unsigned(r.Sub)
	if value, ok := m.Once(r); ok {
		f.once = e.once[onceKey(m.Rule.Name, onceHash(value))].Until
	}
	if rs.watch == nil {
		e.gather(m, key, f, r.Seq, func(run *run) { e.join(run, m, r) })
		return
	}
	e.stageWatch(m.Rule.Name)
	if fired, true := rs.watch.Add(key, r.Seq, r.ReceivedAt); true {
		e.fired = append(e.fired, firing{m: m, key: key, from: fired.From, to: r.Seq, facts: f})
	} else if g := e.groups[group{m.Rule.Name, key}]; g != nil && g.gathering != nil {
		e.join(g.gathering, m, r)
	}
}

// candidates returns the rules whose filters may match a record; the slice is valid until the
// next call. If the index panics, it returns every rule that listens.
func (e *Engine) candidates(r *event.Record) (maybe []*react.Matcher) {
	defer func() {
		if why := recover(); why != nil {
			e.o.Log.Error("the rules for a record cannot be looked up; each is asked", "record", r.Seq, "why", fmt.Sprint(why))
			maybe = e.set.Listening(r)
		}
	}()
	e.maybe = e.set.Candidates(r, e.maybe[:0])
	return e.maybe
}

// matches reports whether the filter of a rule matches. ok is false if the filter panicked, which
// affects only this record and rule.
func (e *Engine) matches(m *react.Matcher, r *event.Record) (taken, ok bool) {
	defer func() {
		if why := recover(); why != nil {
			e.o.Log.Error("the filter of a rule failed", "rule", m.Rule.Name, "record", r.Seq, "why", fmt.Sprint(why))
			ok = false
		}
	}()
	return m.Match(r), true
}

// fire creates the run of a window that became true, with the members in the window.
func (e *Engine) fire(f firing) {
	e.gather(f.m, f.key, f.facts, f.to, func(run *run) {
		if f.from == 0 || f.to <= run.Members.Newest() {
			return
		}
		from := max(f.from, run.Members.Newest()+1) // a run that still gathers may have some already
		err := e.o.Store.Scan(from, f.to, func(r *event.Record) bool {
			if f.m.Rule.On.Takes(r) {
				if taken, _ := e.matches(f.m, r); taken && f.m.Key(r) == f.key && r.Seq > e.rules[f.m.Rule.Name].Since {
					e.join(run, f.m, r)
				}
			}
			return true
		})
		if err != nil {
			e.o.Log.Error("the members of a window cannot be read", "rule", f.m.Rule.Name, "err", err)
		}
	})
}

// gather finds or creates the run that a record belongs to, and passes it to join, unless the
// policy suppresses it.
func (e *Engine) gather(m *react.Matcher, key react.Key, f recordFacts, seq uint64, join func(*run)) {
	name := m.Rule.Name
	rs := e.rules[name]
	g := e.groups[group{name, key}]
	var have *run
	if g != nil {
		have = g.gathering
	}
	facts := e.facts(m.Rule, rs)
	facts.Imported, facts.Unsigned, facts.AfterGap, facts.Flagged, facts.Loop = f.imported, f.unsigned, f.AfterGap, f.Flagged, f.loop
	facts.OnceUntil = f.once
	facts.Stale = m.Rule.Age > 0 && f.Age > m.Rule.Age
	if have == nil {
		facts.Queued, facts.QueuedAll = rs.waiting, e.waiting
	}
	d := react.Judge(facts)
	if d.Cause == react.CauseQueue && rs.newest != nil && f.absent.IsZero() {
		have, d = rs.newest, react.Decision{State: react.Ready} // the queue is full: join the newest run
	}
	if d.State == react.Suppressed {
		rs.suppress(string(d.Cause), 1)
		e.stageRule(name)
		return
	}
	if have == nil {
		if rs.Unprepared != nil {
			rs.Unprepared.At = e.now() // try it with this one run only
		}
		have = e.begin(m, rs, key, seq, f.absent)
	}
	have.Stale = have.Stale || facts.Stale
	have.Flagged = have.Flagged || f.Flagged
	have.Unsigned = have.Unsigned || f.unsigned
	have.AfterGap = have.AfterGap || f.AfterGap
	have.Loop = have.Loop || f.loop
	have.Lag = have.Lag || e.lag != ""
	join(have)
	e.stageRun(have)
}

// begin creates a live run, of a record or of an absence. An absence does not gather: it is due
// at once.
func (e *Engine) begin(m *react.Matcher, rs *ruleState, key react.Key, seq uint64, absent time.Time) *run {
	now := e.now()
	due, extra := now.Add(m.Rule.Wait), ""
	if !absent.IsZero() {
		due, extra = absent, absent.Format(time.RFC3339Nano)
	}
	r := &run{Run: react.Run{
		ID: runID(react.Live, m.Rule.Name, key, seq, extra), NS: react.Live, Rule: m.Rule.Name, Hash: rs.Hash, Frozen: m.Rule.Freeze(), Key: key,
		State: react.Gathering, Created: now, Due: due,
	}, rule: *m.Rule}
	e.add(r)
	e.group(r).gathering = r
	rs.newest = r
	rs.Last = now
	e.stageRule(r.Rule)
	if now.Sub(rs.Told) >= time.Minute {
		rs.Told = now
		e.audit(actor(r), "run created", seq, "run "+string(r.ID))
	}
	return r
}

// add adds a run that has not ended.
func (e *Engine) add(r *run) {
	e.runs[r.ID] = r
	e.order = append(e.order, r)
	e.ruleState(r.Rule).waiting += waiting(r.State)
	e.waiting += waiting(r.State)
	e.stageRun(r)
}

// join adds a record to the members of a run.
func (e *Engine) join(r *run, m *react.Matcher, rec *event.Record) {
	r.Members.Add(rec)
	e.stageRun(r)
	value, ok := m.Once(rec)
	if !ok || len(r.Once) >= onceValues {
		return
	}
	if hash := onceHash(value); !slices.Contains(r.Once, hash) {
		r.Once = append(r.Once, hash)
	}
}

func onceHash(value react.Key) string { return react.Digest([]byte(value))[:32] }

// absences checks the windows that become true when no record arrives. It waits until all
// committed records are decided.
func (e *Engine) absences(now time.Time) {
	if e.interest.waits() {
		return
	}
	for i := range e.set.File.Rules {
		r := &e.set.File.Rules[i]
		rs := e.rules[r.Name]
		if r.Window.Absent == 0 || rs == nil || rs.watch == nil {
			continue
		}
		rs.watch.Alive(e.o.Live(r.On), now)
		for _, f := range rs.watch.Tick(now) {
			rs.Matched++
			e.stageWatch(r.Name)
			e.absent(e.set.Rule(r.Name), f.Key, now)
		}
	}
}

// absent creates the run of an absence, which has no members.
func (e *Engine) absent(m *react.Matcher, key react.Key, now time.Time) {
	if g := e.groups[group{m.Rule.Name, key}]; g != nil && g.gathering != nil {
		return
	}
	e.gather(m, key, recordFacts{absent: now}, e.position, func(r *run) {
		r.Members.From, r.Members.To = now.Add(-m.Rule.Window.Absent), now
	})
}

// runID returns the id of a run. extra distinguishes runs that are otherwise the same.
func runID(ns react.Namespace, rule string, key react.Key, seq uint64, extra string) react.RunID {
	return react.NewRunID(string(ns), rule, string(key), fmt.Sprint(seq), extra)
}

// idLength is the length of a run's id, in characters.
const idLength = 26

// carriesRun reports whether a payload contains the id of a run of the last hour: then the rule
// may have caused the event itself.
func (e *Engine) carriesRun(data []byte) bool {
	if len(e.recent) == 0 {
		return false
	}
	n := 0
	for i, c := range data {
		if c >= 'a' && c <= 'z' || c >= '2' && c <= '7' {
			n++
		} else {
			n = 0
		}
		if n >= idLength {
			if at, ok := e.recent[react.RunID(data[i+1-idLength:i+1])]; ok && e.now().Sub(at) < loopSpan {
				return true
			}
		}
	}
	return false
}

// forgetOld removes expired charges, grants and amounts, and empty groups.
func (e *Engine) forgetOld(now time.Time) {
	for id, at := range e.recent {
		if now.Sub(at) >= loopSpan {
			delete(e.recent, id)
		}
	}
	for key, c := range e.once {
		if !c.Until.After(now) {
			delete(e.once, key)
			e.stageDelete(event.TableReact, prefixOnce+key)
		}
	}
	for hash, g := range e.grants {
		if !g.Until.After(now) {
			delete(e.grants, hash)
			e.stageDelete(event.TableGrants, hash)
		}
	}
	for _, key := range e.spent.forget() {
		e.stageDelete(event.TableReact, key)
	}
	for k, g := range e.groups {
		if g.gathering == nil && g.frozen == 0 && g.running == 0 {
			delete(e.groups, k)
		}
	}
}

// audit stages an entry of the audit log.
func (e *Engine) audit(by event.Actor, action string, record uint64, result string) {
	e.staged.audit = append(e.staged.audit, event.AuditEntry{At: e.now(), Actor: by, Action: action, Record: record, Result: result})
}
