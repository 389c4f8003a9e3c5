package sim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"eventdeck/host"
	"eventdeck/host/delivery"
	"eventdeck/host/event"
)

// serverName is the server's name in the host.
const serverName = "model"

// renewEvery is how often the host makes another path after a sign of failure.
const renewEvery = 20 * time.Second

// timing shortens minutes of patience to seconds.
var timing = delivery.Timing{
	PollFloor: 200 * time.Millisecond, PollCap: 5 * time.Second, BackoffMin: 100 * time.Millisecond, BackoffMax: 3 * time.Second,
	Watchdog: 8 * time.Second, LeaseFloor: time.Second, ConnectWithin: 4 * time.Second,
	ProveWithin: 5 * time.Second, RenewEvery: renewEvery,
}

// process is one run of the host.
type process struct {
	world  *World
	node   *Node
	disk   *Disk
	store  event.Store // the real one
	host   *host.Host
	dead   atomic.Bool
	stop   func()
	jumped atomic.Bool  // its clock has jumped
	fail   atomic.Int64 // failpoints until the process dies; 0: never
	step   atomic.Pointer[countdown]
}

// newProcess starts the host on the store of the world.
func (w *World) newProcess() (*process, error) {
	p := &process{world: w, node: w.net.Node("host")}
	p.disk = &Disk{rand: w.rand.disk, net: w.net, die: p.die}
	store, err := w.o.Open(w.o.Dir, p.disk)
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	p.store = store
	w.checker.Reopened(store)
	p.stop = store.Watch(w.checker.Stored)
	var tapped event.Store = &checkedStore{store, w.checker}
	if w.o.Sabotage != nil {
		tapped = w.o.Sabotage(tapped)
	}
	log := w.o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	p.host, err = host.New(host.Options{
		Store: tapped, Log: log, Timing: timing, PlainHTTP: true, Failpoint: p.failpoint,
		Now:     func() time.Time { return time.Now().Add(time.Duration(w.clock.Load())) },
		Network: host.Network{Dial: p.node.Dial, Listen: p.node.Listen},
	})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	p.host.AddServer(event.Server{Name: serverName, URL: "http://" + serverAddress + "/mcp"})
	return p, nil
}

// die ends the process like a kill: from now on nothing reaches the file or the network. It
// may be called anywhere.
func (p *process) die() {
	if p.dead.Swap(true) {
		return
	}
	p.node.Kill()
	// Not within a hook, which may hold the disk's lock.
	p.disk.set(func(d *Disk) { d.dead = true })
}

// countdown is a death at a failpoint.
type countdown struct {
	name string
	left int
}

func (p *process) failpoint(name string) {
	if c := p.step.Load(); c != nil && c.name == name {
		next := &countdown{name, c.left - 1}
		if p.step.CompareAndSwap(c, next) && next.left == 0 {
			p.world.net.Count("died at " + name)
			p.die()
		}
	}
	if p.fail.Load() > 0 && p.fail.Add(-1) == 0 {
		p.world.net.Count("died at " + name)
		p.die()
	}
}

// close releases the resources of a process, after a kill or an orderly end.
func (p *process) close() error {
	err := p.host.Close()
	p.stop()
	err = errors.Join(err, p.store.Close())
	if p.dead.Load() {
		return nil // a dead process reports nothing
	}
	return err
}

// checkedStore reports every commit of a subscription to the checker.
type checkedStore struct {
	event.Store
	checker *Checker
}

// Submit implements [event.Store].
func (t *checkedStore) Submit(ctx context.Context, b event.Batch) error {
	done, id := b.Done, b.Sub
	b.Done = func(o event.Outcome, err error) {
		if sub, unknown := t.Store.Subscription(id); unknown == nil {
			t.checker.Position(sub)
		}
		if done != nil {
			done(o, err)
		}
	}
	return t.Store.Submit(ctx, b)
}
