package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"eventdeck/host/attach"
	"eventdeck/host/event"
)

// A process that ends releases its store within takeOverWithin, or another one has it.
const (
	takeOverWithin = 30 * time.Second
	takeOverPause  = 200 * time.Millisecond
)

// takeover keeps a frontend on a store whose owner may end: this process then takes the store
// over, or attaches to the process that was faster.
type takeover struct {
	app     *App
	options StoreOptions
	servers []event.Server // that this process was started with
	opened  *OpenHost      // what the frontend is on now; it belongs to follow until that has returned
	relay   *attach.Relay
}

// WhileAttached runs a frontend on the host of another process, and goes on when that process
// ends. owned is the store, if this process has it at the end.
//
// Errors: those of the frontend; why this process could not go on.
func (a *App) WhileAttached(ctx context.Context, d *OpenHost, o StoreOptions, servers []event.Server, frontend func(context.Context, *OpenHost) error) (owned *event.StoreInfo, err error) {
	t := &takeover{app: a.quietly(), options: o, servers: servers, opened: d, relay: attach.NewRelay(d.API)}
	within, cancel := context.WithCancelCause(ctx)
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		if err := t.follow(within); err != nil {
			cancel(err)
		}
	}()
	shown := *d
	shown.API = t.relay
	err = frontend(within, &shown)
	lost := context.Cause(within)
	cancel(nil)
	<-followed
	_ = t.relay.Close() // it never fails
	if errors.Is(lost, errNotTaken) {
		err = errors.Join(err, lost)
	}
	d = t.opened
	if d.Client != nil {
		pid := d.Client.PID()
		if err = d.Finish(err); err == nil {
			a.Say("process %d goes on", pid)
		}
		return nil, err
	}
	info := d.Store.Info()
	return &info, errors.Join(err, d.Close())
}

// quietly returns an app that writes nothing while the screen has the terminal.
func (a *App) quietly() *App {
	quiet := &App{Program: a.Program, Flags: a.Flags}
	quiet.Stderr = io.Discard
	return quiet
}

// errNotTaken: the process with the store has ended, and this one cannot continue with it.
var errNotTaken = errors.New("this process cannot go on")

// follow takes the store over each time its owner ends, until ctx ends.
//
// Error: errNotTaken.
func (t *takeover) follow(ctx context.Context) error {
	for {
		c := t.opened.Client
		if c == nil {
			return nil // this process owns it
		}
		select {
		case <-ctx.Done():
			return nil
		case <-c.Done():
		}
		t.relay.Lose(fmt.Errorf("%w: process %d has ended; this one takes the store over", event.ErrSilent, c.PID()))
		if seen := c.Snapshot(); seen.Store.Generations != nil {
			t.options.Generation, t.options.Position = seen.Store.Generations.Of(seen.Last), seen.Last
		}
		next, err := t.next(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: process %d, which had the store, has ended: %w", errNotTaken, c.PID(), err)
		}
		before := t.opened
		t.opened = next
		t.relay.Use(next.API)
		_ = before.Close() // its process has ended
		for _, s := range t.servers {
			next.AddServer(s)
		}
	}
}

// next opens the store, or attaches to the process that has it now.
func (t *takeover) next(ctx context.Context) (*OpenHost, error) {
	late := time.NewTimer(takeOverWithin)
	defer late.Stop()
	for {
		d, err := t.app.open(ctx, t.options, false)
		if err == nil || permanent(err) {
			return d, err
		}
		pause := time.NewTimer(takeOverPause)
		select {
		case <-ctx.Done():
			pause.Stop()
			return nil, context.Cause(ctx)
		case <-late.C:
			pause.Stop()
			return nil, err
		case <-pause.C:
		}
	}
}

// permanent reports whether trying again cannot help.
func permanent(err error) bool {
	for _, is := range []error{attach.ErrVersion, attach.ErrPeer, attach.ErrElsewhere, event.ErrDamaged, fs.ErrPermission} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}
