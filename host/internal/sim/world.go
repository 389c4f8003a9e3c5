package sim

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// Options describe a world.
type Options struct {
	Seed   uint64
	Dir    string // of the store
	Events int    // of each feed
	Kind   Kind
	// Open opens the store with the disk's hooks.
	Open func(dir string, d *Disk) (event.Store, error)
	// Modes are the modes of the host's subscriptions in [Faithful] worlds; nil: all, and a
	// type without cursors.
	Modes []event.Mode
	// Only has the names of the injected faults; nil: all.
	Only []string
	// Sabotage replaces the host's store with a faulty one, to test the checker. nil: no
	// change.
	Sabotage func(event.Store) event.Store
	// Status changes the host's snapshots, to test the checker. nil: no change.
	Status func(host.Snapshot) host.Snapshot
	Log    *slog.Logger
}

// Kind selects what a world tests.
type Kind string

// The kinds of worlds.
const (
	// Faithful: the server follows the protocol, apart from faults.
	Faithful Kind = ""
	// Deviant: each type has deviations of its own.
	Deviant Kind = "deviant"
	// Quiet: a correct server that keeps its newest event, with few events and many resumes,
	// restarts and changes of mode. No gap may be recorded.
	Quiet Kind = "quiet"
)

// Result is the result of a world.
type Result struct {
	Counts  Counts
	Faults  map[string]int
	Runs    int // of the host
	Resumes int // of a subscription, in a [Quiet] world
	// Refused is how often a subscription had to be shown as refused.
	Refused    int
	Took       time.Duration
	Violations []string
}

// World is one run. It runs in a bubble of testing/synctest.
type World struct {
	o       Options
	net     *Network
	server  *Server
	feeds   []*Feed
	checker *Checker
	clock   atomic.Int64 // offset of the host's clock
	skew    time.Duration
	host    *process                // the running one
	running atomic.Pointer[process] // the same, for other goroutines
	runs    int                     // of the host
	resumes int
	refused refusedWatch // of watch
	rand    struct{ net, server, disk, chaos, feed, kind *Random }
}

// delay is how long an event may be in transit: a slow line with a full buffer, a server
// with a late response.
const delay = 5 * time.Second

// epoch is when a world begins.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Run runs one world to its end. It must be called within a bubble, and returns when
// nothing of the world is left.
func Run(o Options) (Result, error) {
	time.Sleep(time.Until(epoch)) // the bubble begins in 2000, when timestamps have fewer digits
	began := time.Now()
	w := &World{o: o}
	for i, r := range []**Random{&w.rand.net, &w.rand.server, &w.rand.disk, &w.rand.chaos, &w.rand.feed, &w.rand.kind} {
		*r = NewRandom(o.Seed, uint64(i))
	}
	w.feeds = w.drawFeeds()
	for _, f := range w.feeds {
		f.undisturbed = o.Only != nil && !slices.ContainsFunc(o.Only, func(name string) bool { return !strings.HasPrefix(name, "host ") })
	}
	if w.rand.chaos.Chance(0.3) {
		w.skew = w.rand.chaos.Between(time.Minute, 10*time.Minute)
	}
	w.net = NewNetwork(w.rand.net)
	w.checker = NewChecker(w.feeds, delay+w.skew)
	w.server = NewServer(w.net, w.rand.server, w.feeds, w.checker.Acked)
	w.server.Challenges = o.Kind != Faithful
	err := w.run()
	if o.Kind == Quiet {
		w.checker.WantNoGap()
	}
	return Result{Counts: w.checker.Finish(), Faults: w.net.Faults(), Runs: w.runs, Resumes: w.resumes, Refused: w.refused.stretches, Took: time.Since(began), Violations: w.checker.Violations()}, err
}

// drawFeeds returns the types of a world.
func (w *World) drawFeeds() (feeds []*Feed) {
	pair := []event.Mode{event.ModePush, event.ModeWebhook}
	switch w.o.Kind {
	case Deviant:
		for i := range 4 {
			feeds = append(feeds, deviant(fmt.Sprint(pair[i%2], "-", i), pair[i%2], w.rand.kind))
		}
	case Quiet:
		for i := range 4 {
			feeds = append(feeds, quiet(fmt.Sprint(pair[i%2], "-", i), pair[i%2], w.rand.kind))
		}
	case Faithful:
		modes := w.o.Modes
		if modes == nil {
			feeds = append(feeds, newFeed("bare", event.ModePush, true))
			modes = []event.Mode{event.ModePoll, event.ModePush, event.ModeWebhook}
		}
		for _, m := range modes {
			feeds = append(feeds, newFeed(string(m), m, false))
		}
	}
	return feeds
}

func (w *World) run() error {
	if err := w.server.Start(); err != nil {
		return err
	}
	defer func() { w.server.Stop(false) }()
	if err := w.begin(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var watching, happening sync.WaitGroup
	watching.Go(func() { w.watch(ctx) })
	defer watching.Wait()
	defer cancel()
	if w.o.Kind == Quiet {
		if err := w.runQuiet(); err != nil {
			return err
		}
		return w.settle()
	}
	var over atomic.Int64
	for _, f := range w.feeds {
		happening.Go(func() {
			w.produce(f)
			over.Add(1)
		})
	}
	err := w.injectFaults(func() bool { return over.Load() == int64(len(w.feeds)) })
	happening.Wait()
	if err != nil {
		return err
	}
	return w.settle()
}

// begin subscribes before the first fault.
func (w *World) begin() error {
	for _, f := range w.feeds {
		f.Add() // so that there is a position to begin at
	}
	if err := w.startHost(); err != nil {
		return err
	}
	w.checker.Subscribed()
	for _, f := range w.feeds {
		ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
		defer cancel()
		r := host.Request{Server: serverName, Type: trust.Untrusted(f.Name), Mode: f.Mode}
		if !f.Cursorless {
			r.From.Cursor = event.At(trust.Untrusted(f.cursor(1).(string)))
		}
		// A stream without confirmation is subscribed to nevertheless.
		if _, err := w.host.host.Subscribe(ctx, r); err != nil && !f.Deviates(StreamUnconfirmed) {
			return fmt.Errorf("subscribe to %s: %w", f.Name, err)
		}
	}
	return nil
}

// produce adds events, in bursts and alone.
func (w *World) produce(f *Feed) {
	r := w.rand.feed
	for n := 0; n < w.o.Events; {
		for range 1 + r.N(40) {
			f.Add()
			n++
		}
		time.Sleep(r.Between(0, 2*time.Second))
	}
}

// settle ends every fault, waits until every event is stored, and checks the reopened file.
func (w *World) settle() error {
	w.calm()
	patience := 15 * time.Second // for recording gaps
	if w.o.Kind != Faithful {
		patience = time.Minute // and for ending proofs
		for _, f := range w.feeds {
			f.Add() // skipped events show only when a new one comes
		}
	}
	for range 300 {
		if w.checker.Missing() == 0 {
			break
		}
		time.Sleep(time.Second)
	}
	time.Sleep(patience)
	if err := w.host.close(); err != nil {
		return fmt.Errorf("end of the host: %w", err)
	}
	store, err := w.o.Open(w.o.Dir, &Disk{rand: w.rand.disk, net: w.net})
	if err != nil {
		return err
	}
	w.checker.Reopened(store)
	return store.Close()
}

// calm ends every fault.
func (w *World) calm() {
	w.net.SetHarm(Harm{})
	w.net.Unsilence(serverAddress)
	w.server.Behave(Behaviour{})
	w.clock.Store(0)
	w.repairDisk()
	w.net.Unsilence(w.receiver())
	w.net.ResetAll(serverAddress) // muted connections stay muted
	w.net.ResetAll(w.receiver())
}

// repairDisk ends the faults of the disk, and the countdown to a death.
func (w *World) repairDisk() {
	w.host.disk.set(func(d *Disk) { d.full, d.bad, d.unsure, d.slow, d.before, d.after = false, 0, 0, 0, 0, 0 })
	w.host.fail.Store(0)
	w.host.step.Store(nil)
}

// startHost starts a process of the host.
func (w *World) startHost() error {
	p, err := w.newProcess()
	if err != nil {
		return err
	}
	w.host = p
	w.running.Store(p)
	w.runs++
	w.server.forgetRefused()
	if address := w.receiver(); address != "" {
		w.net.Garbled(address)
	}
	return nil
}

func (w *World) receiver() string { return w.host.host.Snapshot().Receiver }
