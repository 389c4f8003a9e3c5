package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"

	"eventdeck/host"
	"eventdeck/host/attach"
	"eventdeck/host/config"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// hookFlags bound what others can take from the receiver of webhook deliveries.
type hookFlags struct{ connections, badRate int }

// What hookFlags are without flags.
const (
	hookConnections = 64
	hookBadRate     = 100
)

// deck is an open store with a host on it.
type deck struct {
	host.API
	store event.Store
	log   io.Closer
	// Either the host is in another process, or other processes may use this one.
	client *attach.Client
	server *attach.Server
	// reactions run here; nil: none do.
	reactions Reactions
	// unobserve ends what looks into the host from outside.
	unobserve func() error
	// startDemo starts the demo servers on this deck; nil: it cannot.
	startDemo func(context.Context) ([]string, error)
}

// open opens the store and starts a host on it.
func (a *app) open(ctx context.Context, o StoreOptions, trace bool) (_ *deck, err error) {
	if err := a.checkReceiver(); err != nil {
		return nil, err
	}
	logger, logFile, err := a.logger()
	if err != nil {
		return nil, err
	}
	if a.Libraries != nil {
		a.Libraries(logger)
	}
	d := &deck{log: logFile}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.closeStore())
		}
	}()
	if err := a.attachOrStart(ctx, d, o, trace, logger); err != nil {
		return nil, err
	}
	if d.unobserve, err = a.observed(d, logger); err != nil {
		return nil, errors.Join(err, d.closeHost())
	}
	return d, nil
}

// keptDeck opens a deck on the store that is kept, and tells where that is.
func (a *app) keptDeck(ctx context.Context) (*deck, StoreOptions, error) {
	o, err := a.kept()
	if err != nil {
		return nil, o, err
	}
	d, err := a.open(ctx, o, false)
	return d, o, err
}

// attachOrStart gives the deck the host of the process that has the store open, or
// one of its own.
func (a *app) attachOrStart(ctx context.Context, d *deck, o StoreOptions, trace bool, logger *slog.Logger) error {
	c, err := a.attached(ctx, o)
	if err == nil && c == nil {
		if err = a.start(ctx, d, o, trace, logger); err == nil {
			return nil
		}
		if d.store != nil {
			return err
		}
		c, err = attachLate(ctx, o, err)
	}
	if err != nil {
		return err
	}
	d.use(c)
	return a.checkAttached(c, trace)
}

// start opens the store and starts a host on it.
func (a *app) start(ctx context.Context, d *deck, o StoreOptions, trace bool, logger *slog.Logger) (err error) {
	if d.store, err = a.openHere(ctx, o); err != nil {
		return err
	}
	a.sayHowSealed(d.store.Info())
	options := host.Options{
		Store:       d.store,
		Log:         logger,
		CallbackURL: a.flags.callback,
		ListenAddr:  a.flags.listen,
		PlainHTTP:   a.flags.plainHTTP,
		RotateEvery: a.flags.rotate,
		Limits:      a.hostLimits(),

		HookConnections: a.flags.hooks.connections,
		HookBadRate:     a.flags.hooks.badRate,

		OnStderr: func(server string, line trust.Text) {
			logger.Info("a server wrote to standard error", "server", server, "line", line)
		},
	}
	if o.Temporary {
		options.Vault = &keptVault{a: a, ctx: ctx}
	}
	if trace {
		options.Trace = a.tracer()
	}
	own, err := a.NewHost(options)
	if err != nil {
		return err
	}
	d.API = own
	a.startReactions(d, own, logger)
	if !o.Temporary {
		a.serve(d, o, logger)
	}
	return nil
}

// close ends the host, then the store.
func (d *deck) close() error { return errors.Join(d.unobserve(), d.closeHost(), d.closeStore()) }

func (d *deck) closeHost() error {
	var err error
	if d.server != nil {
		err = d.server.Close()
	}
	if d.reactions != nil {
		err = errors.Join(err, d.reactions.Close())
	}
	return errors.Join(err, d.API.Close())
}

func (d *deck) closeStore() error {
	var errs []error
	if d.store != nil {
		errs = append(errs, d.store.Close())
	}
	return errors.Join(append(errs, d.log.Close())...)
}

// sayHowSealed tells what the operator should know of the sealing of secrets.
func (a *app) sayHowSealed(info event.StoreInfo) {
	if info.Sealed == "file" {
		a.say("no keyring service here: the key that seals secrets is a file in %s", info.Path)
	}
	if info.KeyLost {
		a.say("the key that sealed the stored secrets is gone: webhook subscriptions get new ones")
	}
}

// kept says which store --data or the habit of the system means.
func (a *app) kept() (StoreOptions, error) {
	if a.flags.data != "" {
		return StoreOptions{Dir: a.flags.data}, nil
	}
	dir, err := a.paths().DataDir()
	return StoreOptions{Dir: dir}, err
}

// keptOrTemporary is the store of commands that keep nothing unless --data is given.
func (a *app) keptOrTemporary() StoreOptions {
	return StoreOptions{Dir: a.flags.data, Temporary: a.flags.data == ""}
}

// existing is kept for commands that only look at what is there. With a default
// directory that was never used there is nothing, which is no error.
func (a *app) existing() (o StoreOptions, there bool, err error) {
	if o, err = a.kept(); err != nil {
		return o, false, err
	}
	_, err = os.Stat(o.Dir)
	switch {
	case err == nil:
		return o, true, nil
	case !errors.Is(err, fs.ErrNotExist):
		return o, false, err
	case a.flags.data != "":
		return o, false, fmt.Errorf("there is no data in %s; check --data", o.Dir)
	}
	a.say("nothing is kept yet in %s", o.Dir)
	return o, false, nil
}

// server finds the server that arg means and gives it the headers of --header.
func (a *app) server(file *config.File, arg string) (event.Server, error) {
	s, err := file.Find(arg)
	if err != nil {
		return event.Server{}, err
	}
	if len(a.flags.headers) == 0 {
		return s, nil
	}
	if s.URL == "" {
		return event.Server{}, usagef("--header: %q is a process and takes no headers", arg)
	}
	headers := make(map[string]event.Secret, len(s.Headers)+len(a.flags.headers))
	for name, value := range s.Headers {
		headers[name] = value
	}
	for _, line := range a.flags.headers {
		name, value, err := config.ParseHeader(line, a.Env)
		if err != nil {
			return event.Server{}, usagef("--header: %w", err)
		}
		for have := range headers {
			if strings.EqualFold(have, name) {
				delete(headers, have)
			}
		}
		headers[name] = value
	}
	s.Headers = headers
	return s, nil
}

// servers returns the one that is named, or all that are configured.
func (a *app) servers(args []string) ([]event.Server, error) {
	file, err := a.config()
	if err != nil {
		return nil, err
	}
	if len(args) == 0 {
		if len(a.flags.headers) > 0 {
			return nil, usagef("--header needs a SERVER: it is not sent to every configured one")
		}
		return file.All(), nil
	}
	s, err := a.server(file, args[0])
	if err != nil {
		return nil, err
	}
	return []event.Server{s}, nil
}

// checkReceiver refuses addresses for webhook deliveries that cannot work.
func (a *app) checkReceiver() error {
	if u := a.flags.callback; u != "" {
		parsed, err := url.Parse(u)
		if err != nil || parsed.Scheme != "https" || parsed.Host == "" || parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
			return usagef("--callback-url must look like https://name/path, without user, query and fragment")
		}
	}
	if f := a.flags.hooks; f.connections < 1 || f.badRate < 1 {
		return usagef("--hook-connections and --hook-bad-rate must be at least 1")
	}
	if a.flags.listen == "" {
		return nil
	}
	name, _, err := net.SplitHostPort(a.flags.listen)
	if err != nil {
		return usagef("--listen must look like 127.0.0.1:8443")
	}
	if a.flags.plainHTTP && !event.IsLoopback(name) {
		return usagef("--plain-http works on loopback only, and %q is not", name)
	}
	return nil
}

// tracer writes every frame of the wire to standard error.
func (a *app) tracer() func(server, direction string, frame trust.Text) {
	var mu sync.Mutex
	return func(server, direction string, frame trust.Text) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = fmt.Fprintf(a.Stderr, "%s %s %v\n", server, direction, frame)
	}
}
