package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"eventdeck/host"
	"eventdeck/host/attach"
	"eventdeck/host/config"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/cli/plain"
)

// HookFlags bound the load that others can put on the receiver of webhook deliveries: open
// connections, and unproven requests per second from one source.
type HookFlags struct{ Connections, BadRate int }

// The defaults of [HookFlags].
const (
	HookConnections = 64
	HookBadRate     = 100
)

// OpenHost is an open store with a host on it, in this process or in another one.
type OpenHost struct {
	host.API
	Store event.Store // what the host is on; of the other process where there is a Client
	log   io.Closer
	// Client is set if the host is in another process; otherwise other processes may use this
	// host.
	Client *attach.Client
	server *attach.Server
	// Reactions run here; nil: none do.
	Reactions Reactions
	// unobserve ends profiles and metrics.
	unobserve func() error
	// StartDemo starts the demo servers on this open host; nil if it cannot.
	StartDemo func(context.Context) ([]string, error)
}

// Open opens the store and starts a host on it, or attaches to the process that has the
// store open. trace writes each frame of the wire to standard error.
//
// Errors: usage errors for flags that cannot work; those of [OpenStore], [host.New] and
// [attach.Attach].
func (a *App) Open(ctx context.Context, o StoreOptions, trace bool) (*OpenHost, error) {
	if err := a.checkReceiver(); err != nil {
		return nil, err
	}
	return a.open(ctx, o, trace)
}

// open is Open after the flags were checked.
func (a *App) open(ctx context.Context, o StoreOptions, trace bool) (*OpenHost, error) {
	logger, file, err := a.Logger()
	if err != nil {
		return nil, err
	}
	if a.Libraries != nil {
		a.Libraries(logger)
	}
	d := &OpenHost{log: file}
	if err = a.attachOrStart(ctx, d, o, trace, logger); err == nil {
		d.unobserve, err = a.observed(d, logger)
	}
	if err == nil {
		return d, nil
	}
	if d.API != nil {
		err = errors.Join(err, d.closeHost())
	}
	return nil, errors.Join(err, d.closeStore())
}

// OpenKeptHost opens a host on the store of [App.Kept]. stays is that of [StoreOptions].
func (a *App) OpenKeptHost(ctx context.Context, stays bool) (*OpenHost, StoreOptions, error) {
	o, err := a.Kept()
	if err != nil {
		return nil, o, err
	}
	o.Stays = stays
	d, err := a.Open(ctx, o, false)
	return d, o, err
}

// attachOrStart gives d the host of the process that has the store open, or a host of its own.
func (a *App) attachOrStart(ctx context.Context, d *OpenHost, o StoreOptions, trace bool, logger *slog.Logger) error {
	c, err := a.Attached(ctx, o)
	if err == nil && c == nil || errors.Is(err, event.ErrSilent) { // the silent process may be gone, or start names it
		if err = a.start(ctx, d, o, trace, logger); err == nil {
			return nil
		}
		if d.Store != nil {
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
func (a *App) start(ctx context.Context, d *OpenHost, o StoreOptions, trace bool, logger *slog.Logger) (err error) {
	o.Prompt = a.StdinTerminal
	if d.Store, err = a.openHere(ctx, o); err != nil {
		return err
	}
	a.SayHowSealed(d.Store.Info())
	proxies, err := a.proxies()
	if err != nil {
		return err
	}
	options := host.Options{
		Store:       d.Store,
		Log:         logger,
		CallbackURL: a.Flags.Callback,
		ListenAddr:  a.Flags.Listen,
		PlainHTTP:   a.Flags.PlainHTTP,
		RotateEvery: a.Flags.Rotate,

		HookConnections: a.Flags.Hooks.Connections,
		HookBadRate:     a.Flags.Hooks.BadRate,
		HookProxies:     proxies,

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

// openHere opens the store in this process. Error: [attach.ErrElsewhere] too.
func (a *App) openHere(ctx context.Context, o StoreOptions) (event.Store, error) {
	if !o.Temporary && attach.Elsewhere(o.Dir) {
		return nil, fmt.Errorf("%w: %s has the token of its process, and the connection to that is cut; connect again, or remove the token", attach.ErrElsewhere, o.Dir)
	}
	var err error
	if o.KeyPlace, err = a.KeyPlace(); err != nil {
		return nil, err
	}
	s, err := a.OpenStore(ctx, o)
	if err == nil && o.Generation != "" && !s.Generations().Has(o.Generation, o.Position, s.Last()) {
		return nil, errors.Join(fmt.Errorf("%w: %s has another one now", attach.ErrElsewhere, o.Dir), s.Close())
	}
	return s, err
}

// Close ends the host, then the store.
func (d *OpenHost) Close() error { return errors.Join(d.unobserve(), d.closeHost(), d.closeStore()) }

func (d *OpenHost) closeHost() error {
	var err error
	if d.server != nil {
		err = d.server.Close()
	}
	if d.Reactions != nil {
		err = errors.Join(err, d.Reactions.Close())
	}
	return errors.Join(err, d.API.Close())
}

func (d *OpenHost) closeStore() error {
	var errs []error
	if d.Store != nil {
		errs = append(errs, d.Store.Close())
	}
	return errors.Join(append(errs, d.log.Close())...)
}

// SayHowSealed tells the operator if secrets are locked, or sealed with a key in a file that was
// not asked for.
func (a *App) SayHowSealed(info event.StoreInfo) {
	if info.Locked != nil {
		a.Say("%s; what needs one waits, and goes on by itself", plain.Message(info.Locked))
		return
	}
	if place, err := a.KeyPlace(); err == nil && place == "" && info.Sealed == "file" {
		a.Say("the key that seals secrets is %s, as no keyring could be had; `eventdeck store key keyring` moves it", KeyFile(info))
	}
}

// KeyFile is the file of the sealing key, where it is in one.
func KeyFile(info event.StoreInfo) string { return filepath.Join(info.Path, "state.key") }

// Kept returns the store that --data names, or the one in the user's default data directory.
//
// Error: no such directory is known.
func (a *App) Kept() (StoreOptions, error) {
	if a.Flags.Data != "" {
		return StoreOptions{Dir: a.Flags.Data}, nil
	}
	dir, err := a.Paths().DataDir()
	return StoreOptions{Dir: dir}, err
}

// KeptOrTemporary is the store of commands that keep nothing unless --data is given.
func (a *App) KeptOrTemporary() StoreOptions {
	return StoreOptions{Dir: a.Flags.Data, Temporary: a.Flags.Data == ""}
}

// ErrNothingKept: the default data directory was never used.
var ErrNothingKept = errors.New("nothing is kept yet")

// Existing is Kept for commands that need what is stored.
//
// Errors: [ErrNothingKept], or that --data names no directory.
func (a *App) Existing() (StoreOptions, error) {
	o, err := a.Kept()
	if err != nil {
		return o, err
	}
	_, err = os.Stat(o.Dir)
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		return o, err
	case a.Flags.Data != "":
		return o, fmt.Errorf("there is no data in %s; check --data", o.Dir)
	}
	return o, fmt.Errorf("%w in %s", ErrNothingKept, o.Dir)
}

// Listed returns the error of a command that lists what is stored. [ErrNothingKept] is none: it is
// said, and the list is empty.
func (a *App) Listed(err error) error {
	if errors.Is(err, ErrNothingKept) {
		a.Say("%v", err)
		return nil
	}
	return err
}

// server finds the server that arg means and adds what --header and --inherit give it.
func (a *App) server(file *config.File, arg string) (event.Server, error) {
	s, err := file.Find(arg)
	if err != nil {
		return event.Server{}, err
	}
	if len(a.Flags.Inherit) > 0 && s.Command == "" {
		return event.Server{}, plain.UsageErrorf("--inherit: %q is no process; --header gives it a header", arg)
	}
	s.Inherit = slices.Concat(s.Inherit, a.Flags.Inherit)
	if len(a.Flags.Headers) == 0 {
		return s, nil
	}
	if s.URL == "" {
		return event.Server{}, plain.UsageErrorf("--header: %q is a process and takes no headers; --inherit passes a variable to it", arg)
	}
	headers := make(map[string]event.Secret, len(s.Headers)+len(a.Flags.Headers))
	for name, value := range s.Headers {
		headers[name] = value
	}
	for _, line := range a.Flags.Headers {
		name, value, err := config.ParseHeader(line, a.Env)
		if err != nil {
			return event.Server{}, plain.UsageErrorf("--header: %w", err)
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

// Servers returns the server that args names, or all configured ones.
//
// Errors: those of [App.Config]; [config.ErrUnknown]; usage errors for --header.
func (a *App) Servers(args []string) ([]event.Server, error) {
	file, err := a.Config()
	if err != nil {
		return nil, err
	}
	if len(args) == 0 {
		if len(a.Flags.Headers)+len(a.Flags.Inherit) > 0 {
			return nil, plain.UsageErrorf("--header and --inherit need a SERVER: every configured one gets none of them")
		}
		return file.All(), nil
	}
	s, err := a.server(file, args[0])
	if err != nil {
		return nil, err
	}
	return []event.Server{s}, nil
}

// proxies reads the addresses and networks of --trusted-proxy.
func (a *App) proxies() ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, word := range a.Flags.Proxies {
		network, err := netip.ParsePrefix(word)
		if addr, e := netip.ParseAddr(word); e == nil {
			network, err = addr.Prefix(addr.BitLen())
		}
		if err != nil {
			return nil, plain.UsageErrorf("--trusted-proxy must be an address such as 127.0.0.1 or a network such as 10.0.0.0/8, and %q is neither", word)
		}
		all = append(all, network)
	}
	return all, nil
}

// checkReceiver refuses addresses for webhook deliveries that cannot work.
func (a *App) checkReceiver() error {
	if _, err := a.proxies(); err != nil {
		return err
	}
	if u := a.Flags.Callback; u != "" {
		parsed, err := url.Parse(u)
		if err != nil || parsed.Scheme != "https" || parsed.Host == "" || parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
			return plain.UsageErrorf("--callback-url must look like https://name/path, without user, query and fragment")
		}
	}
	if f := a.Flags.Hooks; f.Connections < 1 || f.BadRate < 1 {
		return plain.UsageErrorf("--hook-connections and --hook-bad-rate must be at least 1")
	}
	if a.Flags.Listen == "" {
		return nil
	}
	name, _, err := net.SplitHostPort(a.Flags.Listen)
	if err != nil {
		return plain.UsageErrorf("--listen must look like 127.0.0.1:8443")
	}
	if a.Flags.PlainHTTP && !event.IsLoopback(name) {
		return plain.UsageErrorf("--plain-http works on loopback only, and %q is not", name)
	}
	return nil
}

// tracer writes every frame of the wire to standard error.
func (a *App) tracer() func(server, direction string, frame trust.Text) {
	var mu sync.Mutex
	return func(server, direction string, frame trust.Text) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = fmt.Fprintf(a.Stderr, "%s %s %v\n", server, direction, frame)
	}
}
