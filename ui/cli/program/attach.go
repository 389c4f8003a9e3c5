package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"

	"eventdeck/host"
	"eventdeck/host/attach"
	"eventdeck/host/event"
	"eventdeck/ui/cli/plain"
)

// Attached returns a client of the process that has the store open; nil if no process listens.
//
// Errors: those of [attach.Attach] except [attach.ErrNotListening].
func (a *App) Attached(ctx context.Context, o StoreOptions) (*attach.Client, error) {
	if o.Temporary {
		return nil, nil
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	c, err := o.attach(ctx, dir)
	switch {
	case errors.Is(err, attach.ErrNotListening):
		return nil, nil
	case errors.Is(err, event.ErrSilent):
		return nil, fmt.Errorf("%w: it has %s open, and may be stopped; let it go on, or end it", err, dir)
	}
	return c, err
}

// attach attaches to the process that has the store in dir open. Errors: those of [attach.Attach].
func (o StoreOptions) attach(ctx context.Context, dir string) (*attach.Client, error) {
	if o.Stays {
		return attach.Follow(ctx, dir)
	}
	return attach.Attach(ctx, dir)
}

// UseStore opens the store, or attaches to the process that has it open.
func (a *App) UseStore(ctx context.Context, o StoreOptions) (event.Store, error) {
	s, _, err := a.OpenOrAttach(ctx, o)
	return s, err
}

// OpenOrAttach is UseStore, and returns the client if it attached.
//
// Errors: those of [OpenStore] and of [App.Attached].
func (a *App) OpenOrAttach(ctx context.Context, o StoreOptions) (event.Store, *attach.Client, error) {
	c, err := a.Attached(ctx, o)
	if err != nil && !errors.Is(err, event.ErrSilent) { // the silent process may be gone, or open names it
		return nil, nil, err
	}
	if c != nil {
		return c.Store(), c, nil
	}
	o.Prompt = a.StdinTerminal
	s, err := a.openHere(ctx, o)
	if err == nil {
		return s, nil, nil
	}
	if c, err = attachLate(ctx, o, err); err != nil {
		return nil, nil, err
	}
	return c.Store(), c, nil
}

// attachLate attaches to the process because of which the store could not be opened: it may
// listen by now. Otherwise it returns why not, with what is known of that process.
func attachLate(ctx context.Context, o StoreOptions, why error) (*attach.Client, error) {
	if o.Temporary {
		return nil, why
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, errors.Join(why, err)
	}
	c, err := o.attach(ctx, dir)
	if errors.Is(err, event.ErrSilent) {
		return nil, fmt.Errorf("%w; %w", why, event.ErrSilent)
	}
	if err != nil {
		return nil, why
	}
	return c, nil
}

// addressed sets the address of a server that the command line gives by its name in the store.
func addressed(store event.Store, s *event.Server) (err error) {
	if s.AdHoc && event.IsAddressName(s.URL) {
		s.URL, err = host.AddressOf(store, s.Name)
	}
	return err
}

// OpenToAsk opens a host for looking at servers, with a store of its own. It takes the address of
// a server that is given by its name in the kept store from there. Where another process has the
// kept store open, the open host is that process's for such a server and for a [SessionServer].
//
// Errors: those of [App.Open] and [App.OpenOrAttach].
func (a *App) OpenToAsk(ctx context.Context, servers []event.Server) (*OpenHost, error) {
	own := StoreOptions{Temporary: true}
	if !slices.ContainsFunc(servers, func(s event.Server) bool {
		return s.AdHoc && event.IsAddressName(s.URL) || SessionOf(s) != nil
	}) {
		return a.Open(ctx, own, false)
	}
	kept, err := a.Existing()
	if errors.Is(err, ErrNothingKept) {
		return a.Open(ctx, own, false)
	}
	if err != nil {
		return nil, err
	}
	store, client, err := a.OpenOrAttach(ctx, kept)
	if err != nil {
		return nil, err
	}
	if client == nil {
		for i := range servers {
			err = errors.Join(err, unlocked(ctx, store, func() error { return addressed(store, &servers[i]) }))
		}
	}
	if err = errors.Join(err, store.Close()); err != nil {
		return nil, err
	}
	if client != nil {
		own = kept
	}
	return a.Open(ctx, own, false)
}

// Named gives servers without a configuration the names that their addresses have in the open
// host's store: see [host.AddressName].
//
// Errors: those of [host.AddressName] and [host.AddressOf].
func (d *OpenHost) Named(ctx context.Context, servers []event.Server) error {
	for i := range servers {
		if err := unlocked(ctx, d.Store, func() error { return d.name(ctx, &servers[i]) }); err != nil {
			return err
		}
	}
	return nil
}

func (d *OpenHost) name(ctx context.Context, s *event.Server) (err error) {
	switch {
	case !s.AdHoc || s.URL == "", event.IsAddressName(s.Name) && s.Name != s.URL: // it has its name
	case event.IsAddressName(s.URL):
		if d.Client == nil { // else the first process has the address
			err = addressed(d.Store, s)
		}
	case event.PublicAddress(s.URL) == s.URL:
	case d.Client != nil:
		s.Name, err = d.Client.AddressName(ctx, s.URL)
	default:
		s.Name, err = host.AddressName(ctx, d.Store, s.URL)
	}
	return err
}

// unlocked calls do, and once more when the store is unlocked if it was locked.
func unlocked(ctx context.Context, s event.Store, do func() error) error {
	err := do()
	if errors.Is(err, event.ErrKeyLocked) {
		select {
		case <-s.Unlocked():
			return do()
		case <-ctx.Done():
		}
	}
	return err
}

// use puts the open host on the host of another process.
func (d *OpenHost) use(c *attach.Client) { d.API, d.Client, d.Store = c, c, c.Store() }

// AttachedHost returns an open host on the host of another process. It writes no log.
func AttachedHost(c *attach.Client) *OpenHost {
	d := &OpenHost{log: io.NopCloser(nil), unobserve: func() error { return nil }}
	d.use(c)
	return d
}

// checkAttached refuses flags that only work in the process that has the store open.
func (a *App) checkAttached(c *attach.Client, trace bool) error {
	f := &a.Flags
	for flag, given := range map[string]bool{
		"--trace": trace, "--header": len(f.Headers) > 0, "--inherit": len(f.Inherit) > 0, "--callback-url": f.Callback != "", "--listen": f.Listen != "",
		"--plain-http": f.PlainHTTP, "--trusted-proxy": len(f.Proxies) > 0, "--rotate-secrets": f.Rotate != 0,
		"--hook-connections": f.Hooks.Connections != HookConnections, "--hook-bad-rate": f.Hooks.BadRate != HookBadRate,
	} {
		if given {
			return plain.UsageErrorf("%s: process %d has the store open and does the work; give it there, or quit it first", flag, c.PID())
		}
	}
	return nil
}

// serve lets other processes attach. If that fails, everything else works.
func (a *App) serve(d *OpenHost, o StoreOptions, log *slog.Logger) {
	dir, err := filepath.Abs(o.Dir)
	if err == nil {
		d.server, err = attach.Serve(attach.Options{
			API: d.API, Store: d.Store, Dir: dir, Log: log, Control: d.Control(), Gates: d.gates(),
			Find: func(name string) (event.Server, error) {
				file, err := a.Config()
				if err != nil {
					return event.Server{}, err
				}
				s, err := file.Find(name)
				if err != nil {
					return s, err
				}
				err = addressed(d.Store, &s)
				return s, err
			},
		})
	}
	if err != nil {
		log.Warn("other processes cannot attach", "err", err)
	}
}

// Within returns a context that also ends with the process that the open host is attached to.
func (d *OpenHost) Within(ctx context.Context) (context.Context, context.CancelFunc) {
	if d.Client == nil {
		return context.WithCancel(ctx)
	}
	return d.Client.Within(ctx)
}

// Shared reports whether other processes may change what this process shows.
func (d *OpenHost) Shared() bool { return d.Client != nil || d.server != nil }

// Finish closes the open host. If the process that it was attached to has ended, it returns
// only that error.
func (d *OpenHost) Finish(err error) error {
	end := d.Close()
	if errors.Is(end, attach.ErrGone) {
		return end
	}
	return errors.Join(err, end)
}

// Leave closes the open host after a change. Once the change was made, it does not matter if
// the process that made it has ended, perhaps because of it.
func (d *OpenHost) Leave(err error) error {
	end := d.Close()
	if err == nil && errors.Is(end, attach.ErrGone) {
		return nil
	}
	return errors.Join(err, end)
}

// KeepsPosition reports whether this process, and no other, keeps the position up to which the
// subscription is printed.
//
// Errors: those of the other process.
func (d *OpenHost) KeepsPosition(ctx context.Context, id event.SubID) (bool, error) {
	switch {
	case d.Client != nil:
		err := d.Client.Printed(ctx, id, 0)
		if errors.Is(err, attach.ErrPrints) {
			return false, nil
		}
		return err == nil, err
	case d.server != nil:
		return d.server.Claim(id), nil
	}
	return true, nil
}
