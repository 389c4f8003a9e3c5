// Package engine runs reactions: it takes up what the writer of the log has committed, decides
// for each rule and record once, keeps runs in the journal, and has acts carried out.
//
// One goroutine decides. What it changes is staged in memory, committed with the position
// up to which it has read, and only then acted upon: a start, an answer to an operator, a
// new view. What takes time (reading a program, waiting for an act) runs beside it and
// hands its result in. So every state that a kill can leave behind is one of the journal.
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
	decideRecords = 2000                  // that are read between two looks at anything else
	tickEvery     = time.Second           // position alone, changed files, the stop file, absences
	askFor        = time.Hour             // after which a run that asks expires
	grantAtMost   = 24 * time.Hour        // of a grant
	loopSpan      = time.Hour             // for which the id of a run is known again in a payload
	triesFor      = time.Hour             // within which a webhook is tried
	neverTries    = 3                     // of an act that could not be begun
	tryUnprepared = time.Hour             // between two tries of a rule whose acts cannot be made
	keptRuns      = 5000                  // that are over
	keptBytes     = 64 << 20              // of runs that are over
	onceValues    = 1000                  // of a run
	pauseMost     = 20 * time.Millisecond // after each look at the log in a burst
	preparing     = 4                     // runs whose requests are made at the same time, and as many of rules with tools
	viewEvery     = 50 * time.Millisecond
	viewActive    = 500      // runs in a view, beside those that ask
	heldBytes     = 64 << 20 // of runs that wait with their requests
)

// Store is what the engine needs of the store of the host.
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
	// Path is where rules.json stands, and Parse reads its content. A file that is not
	// there has no rules.
	Path  string
	Parse func(path string, content []byte) (react.File, error)
	// Dir is the data directory, in which [react.StopFile] stops everything; "": none.
	Dir string
	// Live reports whether a subscription to the type is live or polling; nil: never.
	Live func(server, eventType string) bool
	// Unsigned reports whether nothing proves who sent the webhook deliveries of a
	// subscription; nil: never.
	Unsigned func(event.SubID) bool

	Now    func() time.Time
	Random io.Reader
	Log    *slog.Logger
	// Failpoint is called at named points; tests end the process there.
	Failpoint func(name string)
}

// Engine is a [react.Control] that runs. Its exported methods may be called from any
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
	says       says
	prepares   chan struct{} // places for requests that are made
	listings   chan struct{} // the same, of rules with tools: their servers may be slow

	// What follows belongs to the deciding goroutine.

	position uint64
	unlook   func() // ends that the store is watched; nil while there are no rules
	file     fileState
	set      *react.Set       // of the rules in force; there is one once Open returns
	maybe    []*react.Matcher // of the record at hand, kept for its room
	rules    map[string]*ruleState
	starts   []time.Time // of all rules, as far as a rate counts them
	arrivals react.Arrivals
	seeded   bool // arrivals has what came before the position
	imported []imported
	grants   map[string]grant // by the hash of the act
	once     map[string]onceCharge
	runs     map[react.RunID]*run // that are not over
	order    []*run               // the same, in the order in which they were made
	over     []head               // runs that are over, in the order of their creation
	overSize int
	groups   map[group]*groupState
	recent   map[react.RunID]time.Time // that were started within loopSpan
	spent    spending
	unknown  map[string]map[string][]react.RunID // rule, server/tool -> runs that are parked for it
	lag      string                              // why the journal may lag the acts
	fault    string                              // why the journal cannot be written
	unread   unread                              // why the log cannot be read
	busy     int                                 // acts that are being begun or run
	asking   int
	ends     map[react.State]uint64 // runs that ended since Open
	waiting  int                    // runs that gather, ask or are ready

	staged    staged
	fired     []firing
	ticked    time.Time
	checked   time.Time // of the programs of the rules
	checking  bool
	fileStops bool      // the audit log has that there is a stop file
	shown     time.Time // of the last view
	stale     bool      // the view is
	revision  uint64
}

// Open reads the journal and begins. What was running is found again by the Runner.
// Errors: those of the store; what stands in the journal and cannot be read.
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
		o.Live = func(string, string) bool { return false }
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

// Close ends the engine and waits for its goroutines. Acts that run go on; the next engine
// finds them.
func (e *Engine) Close() error {
	e.cancel()
	<-e.ended
	if e.unlook != nil {
		e.unlook()
	}
	e.wg.Wait()
	return nil
}

// look watches the store while there are rules: without them a commit costs nothing. No rule
// decides about what came while the store was not watched.
func (e *Engine) look(rules, fresh bool) {
	switch {
	case !rules && e.unlook != nil:
		e.unlook()
		e.unlook = nil
		e.interest.drop()
	case rules && e.unlook == nil:
		if !fresh {
			e.moveTo(e.o.Store.Last())
		}
		e.unlook = e.o.Store.Watch(func(records []event.Record) {
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

// nudge has the deciding goroutine look at the log.
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
		// While more arrives, ingest has at least as much of the processor.
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

// drain runs what else was handed in, so that it shares a commit.
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

// tick does each second what nothing else asks for.
func (e *Engine) tick() {
	now := e.now()
	if since := now.Sub(e.ticked); since >= 0 && since < tickEvery { // less than nothing: the clock was set back
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
	e.absences(now)
	e.forgetOld(now)
	e.staged.due = true
}

// post hands fn to the deciding goroutine. It returns false when the engine ends before.
func (e *Engine) post(fn func()) bool {
	select {
	case e.calls <- fn:
		return true
	case <-e.ctx.Done():
		return false
	}
}

// call has the deciding goroutine run fn, and returns after the commit of what fn changed.
// fn changes nothing where it returns an error.
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
