// Package engine runs reactions: it reads the committed records of the log, decides once for
// each rule and record, keeps runs in the journal, and has acts carried out by a
// [react.Runner].
//
// One goroutine decides. Its changes are staged in memory and committed together with the
// position up to which the log was read. Only after the commit do they have effects: the start
// of an act, an answer to the operator, a new view. Slow work, such as reading a program or
// waiting for an act, runs in other goroutines, which post their results to it. So a kill
// always leaves a state that is in the journal.
package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// Bounds of the engine. See docs/limits.md.
const (
	decideRecords = 2000                  // read in one go, before anything else gets its turn
	tickEvery     = time.Second           // between commits of the position alone, checks of files, absences
	askFor        = time.Hour             // after which an asking run expires
	grantAtMost   = 24 * time.Hour        // longest grant
	loopSpan      = time.Hour             // during which the id of a run is recognised in a payload
	triesFor      = time.Hour             // within which a webhook is retried
	neverTries    = 3                     // attempts of an act that could not begin
	tryUnprepared = time.Hour             // between two tries of a rule whose requests cannot be prepared
	keptRuns      = 5000                  // ended runs in the journal
	keptBytes     = 64 << 20              // of ended runs in the journal
	onceValues    = 1000                  // per run
	pauseMost     = 20 * time.Millisecond // longest pause between two reads of the log in a burst
	preparing     = 4                     // requests that are prepared at the same time; as many again of rules with tools
	viewEvery     = 50 * time.Millisecond // shortest time between two views
	viewActive    = 500                   // runs in a view, without asking ones
	heldBytes     = 64 << 20              // of waiting runs with their requests
)

// Store is what the engine needs of the host's store.
type Store interface {
	Last() uint64
	Get(seq uint64) (event.Record, error)
	Scan(from, to uint64, fn func(*event.Record) bool) error
	Watch(fn func([]event.Record)) (stop func())
	Journal() event.Journal
}

// Options configure an [Engine]. Store, Runner and Parse are needed.
type Options struct {
	Store  Store
	Runner react.Runner
	// Path is the path of rules.json, and Parse parses its content. Without the file there
	// are no rules.
	Path  string
	Parse func(path string, content []byte) (react.File, error)
	// Dir is the data directory, in which [react.StopFile] stops everything; "": none.
	Dir string
	// Live reports whether a subscription that may have events of the source is live or polling;
	// nil: never.
	Live func(react.Source) bool
	// Unsigned reports whether the webhook deliveries of a subscription have no signature;
	// nil: never.
	Unsigned func(event.SubID) bool

	Now    func() time.Time
	Random io.Reader
	Log    *slog.Logger
	// Failpoint is called at named points, where tests kill the engine.
	Failpoint func(name string)
}

// Engine runs reactions. It is a [react.Control]; its exported methods may be called from any
// goroutine.
type Engine struct {
	o      Options
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	ended  chan struct{} // closed when the deciding goroutine has ended

	calls      chan func() // for the deciding goroutine
	wake       chan struct{}
	interest   interest
	stopSwitch stopSwitch
	view       atomic.Pointer[react.View]
	says       transcript
	prepares   chan struct{} // a slot for each request that is prepared
	listings   chan struct{} // the same for rules with tools: their servers may be slow

	// The fields below belong to the deciding goroutine.

	position uint64
	unwatch  func() // ends watching the store; nil while there are no rules
	file     fileState
	set      *react.Set       // rules in force; not nil once Open returned
	maybe    []*react.Matcher // candidates for the current record, a buffer
	rules    map[string]*ruleState
	starts   []time.Time // of all rules, within the time span of the rate
	arrivals react.Arrivals
	seeded   bool // arrivals knows what came before the position
	imported []imported
	grants   map[string]grant // by hash of the act
	once     map[string]onceCharge
	runs     map[react.RunID]*run // not ended
	order    []*run               // the same, in the order of their creation
	over     []head               // ended runs, in the order of their creation
	overSize int
	groups   map[group]*groupState
	recent   map[react.RunID]time.Time // started within loopSpan
	spent    spending
	unknown  map[string]map[string][]react.RunID // rule -> server/tool -> parked runs that called it
	lag      string                              // why acts may be missing in the journal
	fault    string                              // why the journal cannot be written
	unread   unread                              // why the log cannot be read
	shortage shortage
	busy     int // acts that are starting or running
	asking   int
	ends     map[react.State]uint64 // runs that ended since Open
	waiting  int                    // gathering, asking and ready runs

	staged    staged
	fired     []firing
	ticked    time.Time
	checked   time.Time // when the programs of the rules were checked last
	checking  bool
	fileStops bool      // the stop file is there, according to the audit log
	shown     time.Time // when the view was made last
	stale     bool      // the view is out of date
	revision  uint64
}

// Open reads the journal and starts the engine. The Runner takes over acts that were running.
// Errors: those of the store; entries of the journal that cannot be decoded.
func Open(o Options) (*Engine, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Random = cmp.Or(o.Random, rand.Reader)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Failpoint == nil {
		o.Failpoint = func(string) {}
	}
	if o.Live == nil {
		o.Live = func(react.Source) bool { return false }
	}
	e := &Engine{
		o: o, ended: make(chan struct{}), calls: make(chan func()), wake: make(chan struct{}, 1),
		prepares: make(chan struct{}, preparing), listings: make(chan struct{}, preparing),
		ends: map[react.State]uint64{}, rules: map[string]*ruleState{}, grants: map[string]grant{},
		once: map[string]onceCharge{}, runs: map[react.RunID]*run{}, groups: map[group]*groupState{},
		recent: map[react.RunID]time.Time{}, unknown: map[string]map[string][]react.RunID{},
		spent: spending{days: map[string]map[string]int64{}, out: map[stepID]reservation{}},
	}
	e.says.text = map[react.RunID]string{}
	e.stopSwitch.live = map[react.RunID]react.Attempt{}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	if err := e.load(); err != nil {
		e.cancel()
		return nil, fmt.Errorf("reactions: %w", err)
	}
	e.readRules(e.loadRules())
	e.show()
	go e.run()
	return e, nil
}

// Close ends the engine and waits for its goroutines. Running acts go on; the next engine takes
// them over.
func (e *Engine) Close() error {
	e.cancel()
	<-e.ended
	if e.unwatch != nil {
		e.unwatch()
	}
	e.wg.Wait()
	return nil
}

// watchStore watches the store while there are rules: without them a commit costs nothing. Records
// that were committed while the store was not watched are not decided. fresh: the engine opens.
func (e *Engine) watchStore(rules, fresh bool) {
	switch {
	case !rules && e.unwatch != nil:
		e.unwatch()
		e.unwatch = nil
		e.interest.drop()
	case rules && e.unwatch == nil:
		if !fresh {
			e.moveTo(e.o.Store.Last())
		}
		e.unwatch = e.o.Store.Watch(func(records []event.Record) {
			if e.interest.see(records) {
				e.nudge()
			}
		})
		e.interest.add(e.position+1, e.o.Store.Last())
	}
	if !rules {
		e.moveTo(e.o.Store.Last())
	}
}

func (e *Engine) now() time.Time { return e.o.Now().UTC() }

// nudge wakes the deciding goroutine.
func (e *Engine) nudge() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// run is the deciding goroutine.
func (e *Engine) run() {
	defer close(e.ended)
	defer e.abortAll()
	e.adoptAll()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		began, seen := e.now(), e.interest.newest()
		more := e.decide()
		// While more arrives, leave ingest at least half of the processor time.
		pause := min(e.now().Sub(began), pauseMost)
		if e.interest.newest() == seen {
			pause = 0
		}
		e.tick()
		next := e.advance()
		if !e.flush() {
			return
		}
		if due := e.showSoon(); !due.IsZero() && due.Before(next) {
			next = due
		}
		wake := e.wake
		switch {
		case e.staged.again:
			timer.Reset(0)
		case more:
			timer.Reset(pause)
			wake = nil
		default:
			timer.Reset(min(tickEvery, max(0, next.Sub(e.now()))))
		}
		e.staged.again = false
		select {
		case <-e.ctx.Done():
			e.flush()
			return
		case <-wake:
		case <-timer.C:
		case call := <-e.calls:
			call()
			e.drain()
		}
	}
}

// drain runs further calls that wait, so that they share a commit.
func (e *Engine) drain() {
	for range 100 {
		select {
		case call := <-e.calls:
			call()
		default:
			return
		}
	}
}

// tick does the periodic work, once a second.
func (e *Engine) tick() {
	now := e.now()
	if since := now.Sub(e.ticked); since >= 0 && since < tickEvery { // negative: the clock was set back
		return
	}
	e.stale = e.stale || dayOf(now) != dayOf(e.ticked)
	e.ticked = now
	e.lookAtStopFile()
	e.lookAtRules()
	e.checkPrograms(now)
	if e.stopSwitch.stopped() {
		e.answerAll()
	}
	if e.shortage.why != "" && now.After(e.shortage.until) {
		e.shortage, e.stale = shortage{}, true
	}
	e.absences(now)
	e.forgetOld(now)
	e.staged.due = true
}

// post runs fn on the deciding goroutine, without waiting for its end. It returns false if the
// engine ends first.
func (e *Engine) post(fn func()) bool {
	select {
	case e.calls <- fn:
		return true
	case <-e.ctx.Done():
		return false
	}
}

// call runs fn on the deciding goroutine, and returns after the commit of its changes. fn must
// change nothing if it returns an error.
// Errors: those of fn, the cause of ctx, [event.ErrClosed].
func (e *Engine) call(ctx context.Context, fn func() error) error {
	reply := make(chan error, 1)
	do := func() {
		if err := fn(); err != nil {
			reply <- err
			return
		}
		e.staged.urgent = true
		e.afterCommit(func() { reply <- nil })
	}
	select {
	case e.calls <- do:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-e.ctx.Done():
		return event.ErrClosed
	}
	select {
	case err := <-reply:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-e.ended:
		select {
		case err := <-reply:
			return err
		default:
			return event.ErrClosed
		}
	}
}
