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

// timing lets minutes of patience pass in seconds.
var timing = delivery.Timing{
	PollFloor: 200 * time.Millisecond, PollCap: 5 * time.Second, BackoffMin: 100 * time.Millisecond, BackoffMax: 3 * time.Second,
	Watchdog: 8 * time.Second, LeaseFloor: time.Second, ConnectWithin: 4 * time.Second,
}

// life is one run of the host's process.
type life struct {
	world  *World
	node   *Node
	disk   *Disk
	store  event.Store // the real one
	host   *host.Host
	dead   atomic.Bool
	stop   func()
	jumped atomic.Bool  // its clock was set
	fail   atomic.Int64 // failpoints to pass until death; 0: none
}

// live starts a process on the store of the world.
func (w *World) live() (*life, error) {
	l := &life{world: w, node: w.net.Node("host")}
	l.disk = &Disk{rand: w.rand.disk, net: w.net, die: l.die}
	store, err := w.o.Open(w.o.Dir, l.disk)
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	l.store = store
	w.checker.Reopened(store)
	l.stop = store.Watch(w.checker.Stored)
	var tapped event.Store = &tap{store, w.checker}
	if w.o.Sabotage != nil {
		tapped = w.o.Sabotage(tapped)
	}
	log := w.o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	l.host, err = host.New(host.Options{
		Store: tapped, Log: log, Timing: timing, PlainHTTP: true, Failpoint: l.failpoint,
		Now:     func() time.Time { return time.Now().Add(time.Duration(w.clock.Load())) },
		Network: host.Network{Dial: l.node.Dial, Listen: l.node.Listen},
	})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	l.host.AddServer(event.Server{Name: serverName, URL: "http://" + serverAddress + "/mcp"})
	return l, nil
}

// die ends the process as a kill does: from now on nothing reaches the file or the
// network. It may be called anywhere.
func (l *life) die() {
	if l.dead.Swap(true) {
		return
	}
	l.node.Kill()
	// Not from within a hook, which may hold the disk.
	l.disk.set(func(d *Disk) { d.dead = true })
}

func (l *life) failpoint(name string) {
	if l.fail.Load() > 0 && l.fail.Add(-1) == 0 {
		l.world.net.Count("died at " + name)
		l.die()
	}
}

// bury frees what a process leaves, after a kill or in order.
func (l *life) bury() error {
	err := l.host.Close()
	l.stop()
	err = errors.Join(err, l.store.Close())
	if l.dead.Load() {
		return nil // what a dead process says is heard by nobody
	}
	return err
}

// tap tells the checker of every commit of a subscription.
type tap struct {
	event.Store
	checker *Checker
}

// Submit implements [event.Store].
func (t *tap) Submit(ctx context.Context, b event.Batch) error {
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
