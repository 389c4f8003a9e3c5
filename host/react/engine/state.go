package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// Keys of the table react, beside those of package event.
const (
	keyPosition = "position"
	keyStop     = "stop"
	keyFile     = "file"    // the content of the file that was good last
	prefixWatch = "window/" // rule and number of the part -> state of its window
	prefixOnce  = "once/"   // rule and hash of the value -> until when it is charged
)

// allRules is the key in the table of what was used by all rules together. It is no name
// of a rule.
const allRules = "*"

// watchPart is how much of the state of a window one entry holds.
const watchPart = 512 << 10

// position is what is stored of the way through the log.
type position struct {
	Seq uint64 `json:"seq"` // every record up to here was decided
	// Gaps are the subscriptions whose next event is the first behind a certain gap.
	Gaps []event.SubID `json:"gaps,omitempty"`
}

// run is a run with what only the engine needs.
type run struct {
	react.Run
	// Once are the hashes of the values that the act is charged under.
	Once []string `json:"once,omitempty"`
	// Under is the rule that was in force when the run was approved.
	Under    react.Hash `json:"under,omitempty"`
	Unsigned bool       `json:"unsigned,omitempty"`
	AfterGap bool       `json:"afterGap,omitempty"`
	Loop     bool       `json:"loop,omitempty"`
	Lag      bool       `json:"lag,omitempty"`     // made while the journal may have lagged the acts
	First    time.Time  `json:"first,omitzero"`    // of the first try
	Never    int        `json:"never,omitempty"`   // tries that did not begin
	AskUntil time.Time  `json:"askUntil,omitzero"` // of a run that was denied

	// Of runs that take several steps, or where a model chose the act.
	Goes      bool      `json:"goes,omitempty"`      // the next attempt goes on with what others began
	Base      int       `json:"base,omitempty"`      // attempts before those for the present request
	Before    *approval `json:"before,omitempty"`    // of the request with which it began, while Began is set
	AskWhy    string    `json:"askWhy,omitempty"`    // why the present request asks
	Live      bool      `json:"live,omitempty"`      // it asks while its attempt goes on
	GivenUp   int       `json:"givenUp,omitempty"`   // questions for which its attempts did not wait
	Typed     bool      `json:"typed,omitempty"`     // the operator typed it: approved once its request is made
	Unknown   []string  `json:"unknown,omitempty"`   // server/tool, of a run that is parked: whether they were carried out
	StepBytes int       `json:"stepBytes,omitempty"` // of its steps, as they are stored

	taken []step      // its steps; nil where they are not read
	steps *steps      // of the attempt that runs
	reply chan answer // to the question of an attempt that goes on
	told  int         // attempt of which the audit log has that nothing is left

	rule  react.Rule // as it was
	busy  bool       // something is done for it beside
	held  int        // bytes that it takes with its request; 0 as long as it has none
	full  bool       // waits for a place among those that ask
	later time.Time  // before which it is not worth asking to start it
}

// ruleState is what is stored of a rule.
type ruleState struct {
	Armed    react.Hash        `json:"armed,omitempty"`
	Pins     []react.Pinned    `json:"pins,omitempty"`     // of its tools, when it was armed
	Disarmed string            `json:"disarmed,omitempty"` // why, where it was not the operator
	Silenced time.Time         `json:"silenced,omitzero"`
	Hash     react.Hash        `json:"hash,omitempty"`  // in force now
	Since    uint64            `json:"since,omitempty"` // records behind it are judged by this hash
	Matched  uint64            `json:"matched,omitempty"`
	Dropped  map[string]uint64 `json:"suppressed,omitempty"`
	Failures int               `json:"failures,omitempty"` // in a row
	Last     time.Time         `json:"last,omitzero"`
	Told     time.Time         `json:"told,omitzero"` // when the audit log last told of a new run
	// Unprepared says why its acts cannot be made, after so many failures in a row that
	// records are only counted; nil while each is tried.
	Unprepared *unprepared `json:"unprepared,omitempty"`

	starts   []time.Time
	watch    *react.Watch
	parts    int            // entries that hold the window
	made     made           // its act
	approved *react.Request // last, without its input
	newest   *run           // that gathers
	waiting  int            // runs that gather, ask or are ready
}

// unprepared is why an act could not be made, and when that was tried last.
type unprepared struct {
	Why string    `json:"why"`
	At  time.Time `json:"at"`
}

// unprepared says why the acts of a rule are not even tried, "" if they are.
func (s *ruleState) unprepared(now time.Time) string {
	if u := s.Unprepared; u != nil && (s.made.err != nil || now.Sub(u.At) < tryUnprepared) {
		return u.Why
	}
	return ""
}

// suppress counts records or runs for which nothing was done.
func (s *ruleState) suppress(why string, n uint64) {
	if s.Dropped == nil {
		s.Dropped = map[string]uint64{}
	}
	s.Dropped[why] += n
}

// grant lets a rule do one act as long as it stands as it did.
type grant struct {
	Rule  string     `json:"rule"`
	Under react.Hash `json:"under"`
	Until time.Time  `json:"until"`
}

// onceCharge keeps an act from being repeated.
type onceCharge struct {
	Until time.Time   `json:"until"`
	Run   react.RunID `json:"run"`
}

// imported is a range of records that start nothing.
type imported struct{ from, to uint64 }

// head is what is kept in memory of a run that is over.
type head struct {
	id      react.RunID
	rule    string
	state   react.State
	created time.Time
	first   uint64
	last    uint64
	size    int // with its steps
	steps   int
}

// staged is what the next commit holds, and what follows from it.
type staged struct {
	runs   map[react.RunID]*run
	rules  map[string]bool
	watch  map[string]bool
	starts map[string]bool
	spent  map[string]bool
	put    []event.JournalEntry
	del    []event.JournalEntry
	audit  []event.AuditEntry
	after  []func()
	aborts []react.Attempt // whose start is staged

	moved  bool // the position did
	due    bool // a second is over
	urgent bool // something waits for the commit
	again  bool // look once more without waiting
}

func (e *Engine) stageRun(r *run) {
	if e.staged.runs == nil {
		e.staged.runs = map[react.RunID]*run{}
	}
	e.staged.runs[r.ID] = r
}

func mark(set *map[string]bool, name string) {
	if *set == nil {
		*set = map[string]bool{}
	}
	(*set)[name] = true
}

func (e *Engine) stageRule(name string)   { mark(&e.staged.rules, name) }
func (e *Engine) stageWatch(name string)  { mark(&e.staged.watch, name) }
func (e *Engine) stageStarts(name string) { mark(&e.staged.starts, name) }

func (e *Engine) stagePut(table event.JournalTable, key string, value []byte) {
	e.staged.put = append(e.staged.put, event.JournalEntry{Table: table, Key: key, Value: value})
}

func (e *Engine) stageDelete(table event.JournalTable, key string) {
	e.staged.del = append(e.staged.del, event.JournalEntry{Table: table, Key: key})
}

// afterCommit has fn run by the deciding goroutine when what is staged is committed.
func (e *Engine) afterCommit(fn func()) {
	e.staged.after = append(e.staged.after, fn)
	e.staged.urgent = true
}

// flush commits what is staged if something waits for it or a second is over. It tries
// until it is done, and returns false when the engine ends before.
func (e *Engine) flush() bool {
	s := &e.staged
	for s.urgent || s.due && e.unsaved() || e.ctx.Err() != nil && e.unsaved() {
		change := e.change()
		was := e.staged
		e.staged = staged{again: was.again}
		e.o.Failpoint("decided")
		if !e.commit(change) {
			e.staged.aborts = was.aborts
			return false
		}
		e.o.Failpoint("committed")
		e.stale = true
		for _, fn := range was.after {
			fn()
		}
	}
	s.due = false
	return true
}

// unsaved reports whether there is anything to commit.
func (e *Engine) unsaved() bool {
	s := &e.staged
	return s.urgent || s.moved && e.matters() || len(s.runs)+len(s.rules)+len(s.watch)+len(s.starts)+len(s.spent)+len(s.put)+len(s.del)+len(s.audit) > 0
}

// matters reports whether the position is worth a commit of its own.
func (e *Engine) matters() bool { return len(e.runs) > 0 || len(e.set.File.Rules) > 0 }

// commit tries until the change is committed. It returns false when the engine or the
// store ended before; then it is not known whether it is.
func (e *Engine) commit(change event.JournalChange) bool {
	for {
		err := e.o.Store.Journal().Change(context.Background(), change)
		switch {
		case err == nil:
			if e.fault != "" {
				e.fault, e.stale = "", true
			}
			return true
		case errors.Is(err, event.ErrClosed):
			e.cancel()
			return false
		}
		e.o.Log.Error("the journal of reactions cannot be written", "err", err)
		e.fault = "the journal cannot be written: " + err.Error()
		e.show()
		wait := time.NewTimer(tickEvery)
		select {
		case <-wait.C:
		case <-e.ctx.Done():
			wait.Stop()
			return false
		}
	}
}

// change returns what is staged as one change of the journal.
func (e *Engine) change() event.JournalChange {
	s := &e.staged
	c := event.JournalChange{Put: s.put, Delete: s.del, Audit: s.audit}
	put := func(table event.JournalTable, key string, value any) {
		c.Put = append(c.Put, event.JournalEntry{Table: table, Key: key, Value: encode(value)})
	}
	for id, r := range s.runs {
		value := r.encode()
		c.Put = append(c.Put, event.JournalEntry{Table: event.TableRuns, Key: string(id), Value: value})
		if r.State.Over() {
			e.keep(r, len(value)+r.StepBytes)
		}
	}
	c.Delete = append(c.Delete, e.prune()...)
	for name := range s.rules {
		put(event.TableRules, name, e.rules[name])
	}
	for name := range s.starts {
		times := e.starts
		if name != allRules {
			times = e.rules[name].starts
		}
		put(event.TableSpend, name, times)
	}
	for key := range s.spent {
		c.Put = append(c.Put, e.putSpent(key))
	}
	for name := range s.watch {
		e.putWatch(name, &c)
	}
	put(event.TableReact, keyPosition, position{Seq: e.position, Gaps: e.arrivals.Gaps()})
	c.Put = slices.DeleteFunc(c.Put, e.tooLong)
	return c
}

// tooLong reports whether the journal would refuse an entry, and with it all of a change, at
// every try.
func (e *Engine) tooLong(entry event.JournalEntry) bool {
	if len(entry.Value) <= maxEntry {
		return false
	}
	e.o.Log.Error("an entry is too long for the journal of reactions, and is left out", "table", entry.Table, "key", entry.Key, "bytes", len(entry.Value))
	return true
}

// putWatch stores the state of a window in parts that an entry can hold.
func (e *Engine) putWatch(name string, c *event.JournalChange) {
	rs := e.rules[name]
	var value []byte
	if rs.watch != nil {
		value = encode(rs.watch)
	}
	n := 0
	for ; len(value) > 0; n++ {
		part := value[:min(watchPart, len(value))]
		value = value[len(part):]
		c.Put = append(c.Put, event.JournalEntry{Table: event.TableReact, Key: watchKey(name, n), Value: part})
	}
	for i := n; i < rs.parts; i++ {
		c.Delete = append(c.Delete, event.JournalEntry{Table: event.TableReact, Key: watchKey(name, i)})
	}
	rs.parts = n
}

func watchKey(rule string, part int) string { return fmt.Sprintf("%s%s/%04d", prefixWatch, rule, part) }

func encode(value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("entry of the journal: %v", err)) // values of this package always can be
	}
	return raw
}

// maxEntry is how much an entry of the journal holds. Of it a run may take maxBegun with the
// request with which it begins, and maxGoes with a later one: the rest is for what becomes of
// it. Its rule, as it is frozen, is at most maxRule.
const (
	maxEntry = 1 << 20
	maxRule  = 256 << 10
	maxBegun = 704 << 10
	maxGoes  = 960 << 10
)

// encode returns a run as it is stored. Of one that is too long the output, the answer and
// the values that sum it up are left out, and should that not do once it is over, its
// requests too: what it was and what became of it stays.
func (r *run) encode() []byte {
	// What was approved stays known by its hash; of a run of several steps the input with
	// which it began stays, so that what was sent can be made again.
	if r.State.Over() && r.Request != nil && r.State != react.Denied && (r.Steps == 0 || r.Began != nil) {
		short := *r.Request
		short.Input = nil
		r.Request = &short
	}
	value := encode(r)
	if len(value) <= maxEntry {
		return value
	}
	short := r.short()
	if value = encode(short); len(value) > maxEntry && r.State.Over() {
		short.Request, short.Began = nil, nil
		value = encode(short)
	}
	return value
}

// short returns a run without what may be left out of it at any time.
func (r *run) short() *run {
	short := *r
	short.Members.Top = nil
	if r.Result != nil {
		result := *r.Result
		result.Output, result.Answer = react.Output{}, trust.Text{}
		result.Why += " (what it said is too long to be kept)"
		short.Result = &result
	}
	return &short
}

// fits reports whether a run can be kept in so many bytes, and notes how many it takes.
func (r *run) fits(most int) bool {
	r.held = len(encode(r.short()))
	return r.held <= most
}

// keep remembers a run that is over.
func (e *Engine) keep(r *run, size int) {
	h := headOf(&r.Run, size)
	for i := range e.over {
		if e.over[i].id == h.id {
			e.overSize += h.size - e.over[i].size
			e.over[i] = h
			return
		}
	}
	e.over = append(e.over, h)
	e.overSize += size
}

func headOf(r *react.Run, size int) head {
	return head{id: r.ID, rule: r.Rule, state: r.State, created: r.Created, first: r.Members.Oldest(), last: r.Members.Newest(), size: size, steps: r.Steps}
}

// prune removes the oldest runs that are over and beyond what is kept. What is parked
// stays until it is settled.
func (e *Engine) prune() (gone []event.JournalEntry) {
	n := len(e.over)
	e.over = slices.DeleteFunc(e.over, func(h head) bool {
		if n <= keptRuns && e.overSize <= keptBytes || h.state == react.Parked {
			return false
		}
		n--
		e.overSize -= h.size
		gone = append(gone, event.JournalEntry{Table: event.TableRuns, Key: string(h.id)})
		for n := range h.steps {
			gone = append(gone, event.JournalEntry{Table: event.TableReact, Key: stepKey(h.id, n+1)})
		}
		return true
	})
	return gone
}
