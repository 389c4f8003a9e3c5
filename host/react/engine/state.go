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
	keyFile     = "file"    // the last good content of rules.json
	prefixWatch = "window/" // rule and number of the part -> state of its window
	prefixOnce  = "once/"   // rule and hash of the value -> end of the charge
)

// allRules is the key for the starts of all rules together. No rule can have this name.
const allRules = "*"

// watchPart is how many bytes of a window's state one entry holds.
const watchPart = 512 << 10

// position is the stored position in the log.
type position struct {
	Seq uint64 `json:"seq"` // every record up to this one is decided
	// Gaps are the subscriptions whose next event is the first after a certain gap.
	Gaps []event.SubID `json:"gaps,omitempty"`
}

// run is a run with the state that only the engine needs.
type run struct {
	react.Run
	// Once are the hashes of the once values that the act charges.
	Once []string `json:"once,omitempty"`
	// Under is the hash of the rule when the run was approved.
	Under    react.Hash `json:"under,omitempty"`
	Unsigned bool       `json:"unsigned,omitempty"`
	AfterGap bool       `json:"afterGap,omitempty"`
	Loop     bool       `json:"loop,omitempty"`
	Lag      bool       `json:"lag,omitempty"`     // created while acts may have been missing in the journal
	First    time.Time  `json:"first,omitzero"`    // when the first attempt began
	Never    int        `json:"never,omitempty"`   // attempts that did not begin
	AskUntil time.Time  `json:"askUntil,omitzero"` // when a denied run would have expired

	// Of runs that take several steps, or in which a model chose the act.
	Goes      bool      `json:"goes,omitempty"`      // the next attempt continues earlier ones
	Base      int       `json:"base,omitempty"`      // attempts before the present request
	Before    *approval `json:"before,omitempty"`    // approval of Began, while that is set
	AskWhy    string    `json:"askWhy,omitempty"`    // why the present request asks
	Live      bool      `json:"live,omitempty"`      // it asks while its attempt goes on
	GivenUp   int       `json:"givenUp,omitempty"`   // questions that its attempts abandoned
	Typed     bool      `json:"typed,omitempty"`     // the operator typed it: approved once its request is prepared
	Unknown   []string  `json:"unknown,omitempty"`   // server/tool of calls with unknown outcome, of a parked run
	StepBytes int       `json:"stepBytes,omitempty"` // of its stored steps

	taken []step      // its steps; nil: not read
	steps *steps      // of the running attempt
	reply chan answer // for the question of the running attempt
	told  int         // attempt for which the audit log has that the budget is used up

	rule  react.Rule    // at the time of creation
	busy  bool          // another goroutine prepares it or starts it
	held  int           // bytes in memory with its request; 0: it has none
	full  bool          // too many runs ask; it waits until one ends
	later time.Time     // earliest time to ask the policy again
	pause time.Duration // before it was tried again last: see [Engine.later]
}

// ruleState is the stored state of a rule.
type ruleState struct {
	Armed    react.Hash        `json:"armed,omitempty"`
	Pins     []react.Pinned    `json:"pins,omitempty"`     // of its tools, when it was armed
	Disarmed string            `json:"disarmed,omitempty"` // why the engine disarmed it; "": it did not
	Silenced time.Time         `json:"silenced,omitzero"`
	Hash     react.Hash        `json:"hash,omitempty"`  // in force now
	Since    uint64            `json:"since,omitempty"` // records after it are judged by this hash
	Matched  uint64            `json:"matched,omitempty"`
	Dropped  map[string]uint64 `json:"suppressed,omitempty"`
	Failures int               `json:"failures,omitempty"` // in a row
	Last     time.Time         `json:"last,omitzero"`
	Told     time.Time         `json:"told,omitzero"` // time of the last audit entry about a new run
	// Unprepared is set after repeated failures to prepare requests: records are then only
	// counted. nil: requests are prepared.
	Unprepared *unprepared `json:"unprepared,omitempty"`

	starts   []time.Time
	watch    *react.Watch
	parts    int            // entries that hold the window
	made     made           // its request without members
	approved *react.Request // approved last, without its input
	newest   *run           // newest gathering run
	waiting  int            // gathering, asking and ready runs
}

// unprepared is why requests could not be prepared, and when that was tried last.
type unprepared struct {
	Why string    `json:"why"`
	At  time.Time `json:"at"`
}

// unprepared says why requests of the rule are not even tried; "": they are.
func (s *ruleState) unprepared(now time.Time) string {
	if u := s.Unprepared; u != nil && (s.made.err != nil || now.Sub(u.At) < tryUnprepared) {
		return u.Why
	}
	return ""
}

// suppress counts suppressed records or runs.
func (s *ruleState) suppress(why string, n uint64) {
	if s.Dropped == nil {
		s.Dropped = map[string]uint64{}
	}
	s.Dropped[why] += n
}

// grant allows a rule one act, as long as the rule does not change.
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

// imported is a range of imported records, which start nothing.
type imported struct{ from, to uint64 }

// head is what stays in memory of an ended run.
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

// staged is what the next commit holds, and what is to be done after it.
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
	aborts []react.Attempt // to abort if their staged start is not committed

	moved  bool // the position changed
	due    bool // a second has passed
	urgent bool // something waits for the commit
	again  bool // run the loop once more without waiting
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

// afterCommit runs fn on the deciding goroutine after the next commit.
func (e *Engine) afterCommit(fn func()) {
	e.staged.after = append(e.staged.after, fn)
	e.staged.urgent = true
}

// flush commits what is staged if something waits for it or a second has passed. It retries
// until it succeeds, and returns false if the engine ends first.
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

// commit retries until the change is committed. It returns false if the engine or the store
// ends first; then it is unknown whether the change was committed.
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

// change builds one change of the journal from what is staged.
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

// tooLong reports whether an entry is too long. The journal would refuse it, and the whole
// change with it, at every try.
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
		panic(fmt.Sprintf("entry of the journal: %v", err)) // values of this package always encode
	}
	return raw
}

// Sizes of entries of the journal, in bytes. A run leaves room for its result.
const (
	maxEntry = 1 << 20
	maxRule  = 256 << 10 // a frozen rule
	maxBegun = 704 << 10 // a run with its first request
	maxGoes  = 960 << 10 // a run with a later request
)

// encode returns a run as it is stored. If it is too long, the output, the answer and the
// counts of values are left out, and after its end, if need be, the requests too.
func (r *run) encode() []byte {
	// The hash still says what was approved. A run of several steps keeps the input with which
	// it began, so that the bytes that were sent can be reproduced.
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

// short returns a copy of a run without what may be left out at any time.
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

// fits reports whether the run can be stored in most bytes, and sets held.
func (r *run) fits(most int) bool {
	r.held = len(encode(r.short()))
	return r.held <= most
}

// keep adds an ended run to over.
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

// prune removes the oldest ended runs beyond the limits. Parked runs stay until they are
// settled.
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
