package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"eventdeck/host"
	"eventdeck/host/attach"
	"eventdeck/host/event"
)

// attached returns a client of the process that has the store open; nil when there is
// none that listens.
func (a *app) attached(ctx context.Context, o StoreOptions) (*attach.Client, error) {
	if o.Temporary {
		return nil, nil
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	c, err := attach.Attach(ctx, dir)
	if errors.Is(err, attach.ErrNotListening) {
		return nil, nil
	}
	return c, err
}

// openStore opens the store, or attaches to the process that has it open.
func (a *app) openStore(ctx context.Context, o StoreOptions) (event.Store, error) {
	s, _, err := a.openOrAttach(ctx, o)
	return s, err
}

// openOrAttach is openStore, with the client where it attached.
func (a *app) openOrAttach(ctx context.Context, o StoreOptions) (event.Store, *attach.Client, error) {
	c, err := a.attached(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	if c != nil {
		return c.Store(), c, nil
	}
	s, err := a.openHere(ctx, o)
	if err == nil {
		return s, nil, nil
	}
	if c, err = attachLate(ctx, o, err); err != nil {
		return nil, nil, err
	}
	return c.Store(), c, nil
}

// attachLate attaches to the process because of which the store could not be opened: it
// may have begun to listen meanwhile. Otherwise it returns why not, with what is known of
// that process.
func attachLate(ctx context.Context, o StoreOptions, why error) (*attach.Client, error) {
	if o.Temporary {
		return nil, why
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, errors.Join(why, err)
	}
	c, err := attach.Attach(ctx, dir)
	if errors.Is(err, event.ErrSilent) {
		return nil, fmt.Errorf("%w; %w", why, event.ErrSilent)
	}
	if err != nil {
		return nil, why
	}
	return c, nil
}

// addressed gives a server that is given by its name in a store the address with that
// name.
func addressed(store event.Store, s *event.Server) (err error) {
	if s.AdHoc && event.IsAddressName(s.URL) {
		s.URL, err = host.AddressOf(store, s.Name)
	}
	return err
}

// openToAsk opens a deck for looking at servers, with a store of its own. Of servers that are
// given by their name in the store that is kept it takes the address from there; where
// another process has that store open, the deck is that process's.
func (a *app) openToAsk(ctx context.Context, servers []event.Server) (*deck, error) {
	own := StoreOptions{Temporary: true}
	if !slices.ContainsFunc(servers, func(s event.Server) bool { return s.AdHoc && event.IsAddressName(s.URL) }) {
		return a.open(ctx, own, false)
	}
	kept, there, err := a.existing()
	if err != nil {
		return nil, err
	}
	if !there {
		return a.open(ctx, own, false)
	}
	store, client, err := a.openOrAttach(ctx, kept)
	if err != nil {
		return nil, err
	}
	if client == nil {
		for i := range servers {
			err = errors.Join(err, addressed(store, &servers[i]))
		}
	}
	if err = errors.Join(err, store.Close()); err != nil {
		return nil, err
	}
	if client != nil {
		own = kept
	}
	return a.open(ctx, own, false)
}

// named gives servers that are given by their address the names that they have in the
// deck's store: see [host.AddressName].
func (d *deck) named(ctx context.Context, servers []event.Server) (err error) {
	for i := range servers {
		switch s := &servers[i]; {
		case !s.AdHoc || s.URL == "", event.IsAddressName(s.Name) && s.Name != s.URL: // it has its name
		case event.IsAddressName(s.URL):
			if d.client == nil { // else the first process has the address
				err = addressed(d.store, s)
			}
		case event.PublicAddress(s.URL) == s.URL:
		case d.client != nil:
			s.Name, err = d.client.AddressName(ctx, s.URL)
		default:
			s.Name, err = host.AddressName(ctx, d.store, s.URL)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// use makes the deck one on the host of another process.
func (d *deck) use(c *attach.Client) { d.API, d.client, d.store = c, c, c.Store() }

// checkAttached refuses what only the process that has the store open can do.
func (a *app) checkAttached(c *attach.Client, trace bool) error {
	f := &a.flags
	for flag, given := range map[string]bool{
		"--trace": trace, "--header": len(f.headers) > 0, "--callback-url": f.callback != "", "--listen": f.listen != "",
		"--plain-http": f.plainHTTP, "--rotate-secrets": f.rotate != 0,
		"--hook-connections": f.hooks.connections != hookConnections, "--hook-bad-rate": f.hooks.badRate != hookBadRate,
	} {
		if given {
			return usagef("%s: process %d has the store open and does the work; give it there, or quit it first", flag, c.PID())
		}
	}
	return nil
}

// serve lets other processes attach. Without it everything else works.
func (a *app) serve(d *deck, o StoreOptions, log *slog.Logger) {
	dir, err := filepath.Abs(o.Dir)
	if err == nil {
		d.server, err = attach.Serve(attach.Options{
			API: d.API, Store: d.store, Dir: dir, Log: log, Control: d.control(), Gates: d.gates(),
			Find: func(name string) (event.Server, error) {
				file, err := a.config()
				if err != nil {
					return event.Server{}, err
				}
				s, err := file.Find(name)
				if err != nil {
					return s, err
				}
				err = addressed(d.store, &s)
				return s, err
			},
		})
	}
	if err != nil {
		log.Warn("other processes cannot attach", "err", err)
	}
}

// within returns a context that ends with the process that the deck is attached to,
// too.
func (d *deck) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if d.client == nil {
		return context.WithCancel(ctx)
	}
	return d.client.Within(ctx)
}

// shared reports whether other processes may change what this one shows.
func (d *deck) shared() bool { return d.client != nil || d.server != nil }

// finish closes the deck. When the process that it was attached to has ended, that is
// all there is to say.
func (d *deck) finish(err error) error {
	end := d.close()
	if errors.Is(end, attach.ErrGone) {
		return end
	}
	return errors.Join(err, end)
}

// leave closes the deck after a change. Once that was made, it does not matter that
// the process that made it has ended, perhaps because of it.
func (d *deck) leave(err error) error {
	end := d.close()
	if err == nil && errors.Is(end, attach.ErrGone) {
		return nil
	}
	return errors.Join(err, end)
}

// keepsPosition reports whether this process keeps the position up to which the
// subscription is printed: one does.
func (d *deck) keepsPosition(ctx context.Context, id event.SubID) (bool, error) {
	switch {
	case d.client != nil:
		err := d.client.Printed(ctx, id, 0)
		if errors.Is(err, attach.ErrPrints) {
			return false, nil
		}
		return err == nil, err
	case d.server != nil:
		return d.server.Claim(id), nil
	}
	return true, nil
}

// What a check leaves behind that was killed goes with a later one.
const (
	copyPrefix = "check-"
	copyAge    = time.Hour
)

func removeOldCopies(dir string, now time.Time) error {
	old, err := filepath.Glob(filepath.Join(dir, copyPrefix+"*"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if info, err := os.Lstat(path); err == nil && info.IsDir() && now.Sub(info.ModTime()) > copyAge {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkCopy checks the store that another process has open: a copy of it as it is now.
func (a *app) checkCopy(ctx context.Context, c *attach.Client, dir string) (err error) {
	defer func() { err = errors.Join(err, c.Close()) }()
	dir, err = filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := c.Snapshot().Store.Err; err != nil {
		a.tell(fmt.Sprintf("process %d could not store what came last: %s", c.PID(), message(err)))
	}
	if err := removeOldCopies(dir, time.Now()); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(dir, copyPrefix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	if _, err := c.Backup(ctx, filepath.Join(temp, "state.db")); err != nil {
		return err
	}
	a.tell(fmt.Sprintf("process %d has the store open and goes on; this is a copy as of now", c.PID()))
	return a.checkInChild(ctx, temp)
}

// backUpAttached copies the store that another process has open.
func (a *app) backUpAttached(ctx context.Context, c *attach.Client, file string) (n int64, err error) {
	defer func() { err = errors.Join(err, c.Close()) }()
	if file, err = filepath.Abs(file); err != nil {
		return 0, err
	}
	return c.Backup(ctx, file)
}
