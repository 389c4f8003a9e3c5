package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/export"
	"eventdeck/host/trust"
)

// connectWithin is how long a first connection may take; then it has failed.
const connectWithin = 10 * time.Second

// connect waits for the server's first answer.
func (d *deck) connect(ctx context.Context, server string) (host.ServerView, error) {
	limited, cancel := context.WithTimeout(ctx, connectWithin-time.Second)
	defer cancel()
	view, err := d.Connected(limited, server, true)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		err = fmt.Errorf("%w: %s did not answer within %v", host.ErrUnreachable, safe(server), connectWithin)
	}
	if errors.Is(err, host.ErrSignIn) {
		err = fmt.Errorf("%w; `eventdeck sign-in %s` does it", err, safe(server))
	} else {
		err = d.advise(server, err)
	}
	return view, stopped(ctx, err)
}

// types lists the event types of a server that has answered.
func (d *deck) types(ctx context.Context, server string) ([]event.Type, error) {
	limited, cancel := context.WithTimeout(ctx, requestWithin)
	defer cancel()
	types, err := d.Types(limited, server)
	return types, stopped(ctx, d.advise(server, err))
}

// advise adds to a server's refusal what the operator can do about it.
func (d *deck) advise(name string, err error) error {
	if !errors.Is(err, host.ErrRefused) {
		return err
	}
	for _, server := range d.Snapshot().Servers {
		remote := strings.Contains(server.Address, "://") // a process takes no token
		if server.Name != name || server.SignIn == "" && !remote {
			continue
		}
		if server.SignIn != "" {
			err = fmt.Errorf("%w; %s", err, server.SignIn)
		}
		err = fmt.Errorf("%w: `eventdeck sign-in %s`", err, safe(name))
		if remote {
			err = fmt.Errorf("%w, or give a token with --header or in servers.json", err)
		}
	}
	return err
}

// announced returns the event types of a server that says that it has some.
func (d *deck) announced(ctx context.Context, server string) ([]event.Type, error) {
	limited, cancel := context.WithTimeout(ctx, requestWithin)
	defer cancel()
	types, err := d.Announced(limited, server)
	return types, stopped(ctx, err)
}

// requestWithin bounds one request to a server that has answered before.
const requestWithin = 30 * time.Second

// stopped tells an operator's interruption from a failure.
func stopped(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return errStopped
	}
	return err
}

func (a *app) serversCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "servers [SERVER]",
		Short: "Show the servers: how they are reached and what they can do",
		Long: `servers shows how each configured server, or SERVER alone, is reached and what it can do.
It ends with 0 when all were asked, whatever they said; a SERVER that was named and cannot be reached ends it with 1.`,
		Args:              maximum(1),
		ValidArgsFunction: a.completeServer,
		Run: a.run(func(cmd *cobra.Command, args []string) error {
			return a.showServers(cmd.Context(), args)
		}),
	}
	cmd.AddCommand(a.importCommand())
	return cmd
}

func (a *app) showServers(ctx context.Context, args []string) (err error) {
	servers, err := a.servers(args)
	if err != nil {
		return err
	}
	if len(servers) == 0 {
		a.say("no server is configured: put one into %s, or give an http(s) or ws(s) URL or stdio:COMMAND to a command", a.configPath())
		return nil
	}
	d, err := a.openToAsk(ctx, servers)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if err := d.named(ctx, servers); err != nil {
		return err
	}
	views := d.ask(ctx, servers)
	if ctx.Err() != nil {
		return errStopped
	}
	if a.flags.json {
		var b []byte
		for _, v := range views {
			b = v.appendJSON(b)
		}
		if _, err := a.Stdout.Write(b); err != nil {
			return err
		}
		return named(args, views)
	}
	t := &table{}
	t.add("NAME", "TRANSPORT", "PROTOCOL", "EVENTS", "SERVER", "STATE")
	for _, v := range views {
		t.add(safe(v.Name), v.transport(), v.protocol(), v.events(), v.title(), v.state())
	}
	if err := a.printTable(t); err != nil {
		return err
	}
	return named(args, views)
}

// named returns why the server that was asked for by name is not ready. Of all that
// are configured the report tells it: one that is away is no failure of the command.
func named(args []string, reports []serverReport) error {
	if len(args) == 0 || reports[0].ready() {
		return nil
	}
	return reports[0].err
}

// configPath is for messages.
func (a *app) configPath() string {
	if a.flags.config != "" {
		return a.flags.config
	}
	path, err := a.paths().ConfigFile()
	if err != nil {
		return "a file for --config"
	}
	return path
}

// serverReport is what one server said, or why it said nothing.
type serverReport struct {
	host.ServerView
	types int
	err   error
}

// ask connects to all servers at once and waits for every answer.
func (d *deck) ask(ctx context.Context, servers []event.Server) []serverReport {
	reports := make([]serverReport, len(servers))
	for _, s := range servers {
		d.AddServer(s)
	}
	var wg sync.WaitGroup
	for i, s := range servers {
		wg.Go(func() {
			r := &reports[i]
			r.ServerView, r.err = d.connect(ctx, s.Name)
			r.Name = s.Name
			if r.err == nil {
				var types []event.Type
				types, r.err = d.announced(ctx, s.Name)
				r.types = len(types)
			}
		})
	}
	wg.Wait()
	return reports
}

func (r serverReport) transport() string {
	return safe(strings.TrimSpace(r.Transport + " " + r.HTTP))
}

func (r serverReport) protocol() string {
	if strings.HasPrefix(r.Era, r.Version) {
		return safe(r.Era)
	}
	return safe(r.Version + " " + r.Era)
}

func (r serverReport) title() string {
	return strings.TrimSpace(plain(r.Title) + " " + plain(r.Release))
}

func (r serverReport) events() string {
	switch {
	case errors.Is(r.err, host.ErrNoEvents):
		return "none"
	case r.err != nil:
		return "unknown"
	case r.Profile == "":
		return "not advertised, " + event.Some(r.types, "type", "types")
	}
	return r.Profile + ", " + event.Some(r.types, "type", "types")
}

// ready tells whether the server has answered. One without events is as ready.
func (r serverReport) ready() bool { return r.err == nil || errors.Is(r.err, host.ErrNoEvents) }

func (r serverReport) state() string {
	if r.ready() {
		return "ready"
	}
	return message(r.err)
}

func (r serverReport) appendJSON(b []byte) []byte {
	b = append(b, `{"name":`...)
	b = trust.AppendJSONString(b, r.Name)
	b = export.AppendString(b, "address", r.Address)
	b = export.AppendString(b, "transport", r.Transport)
	b = export.AppendString(b, "http", r.HTTP)
	b = export.AppendString(b, "era", r.Era)
	b = export.AppendString(b, "version", r.Version)
	b = export.AppendString(b, "profile", r.Profile)
	b = export.AppendText(b, "title", r.Title)
	b = export.AppendText(b, "release", r.Release)
	b = export.AppendName(b, "events")
	b = fmt.Appendf(b, "%t", r.err == nil)
	b = export.AppendName(b, "types")
	b = fmt.Appendf(b, "%d", r.types)
	b = export.AppendName(b, "error")
	if r.err == nil {
		b = append(b, "null"...)
	} else {
		b = trust.AppendJSONString(b, message(r.err))
	}
	return append(b, '}', '\n')
}
