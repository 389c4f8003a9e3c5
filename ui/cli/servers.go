package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/export"
	"eventdeck/host/trust"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
)

func (a *app) serversCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "servers [SERVER]",
		Short: "Show the servers: transport, protocol, events, state",
		Long: `servers shows how each configured server, or SERVER alone, is reached and what it can do. When another process
has the data directory open, that includes the servers that were added there for its session, such as those of the demo.
It ends with 1 when one of them cannot be reached, and with 4 when the first that is not ready wants a sign-in.`,
		Args:              plain.MaximumArgs(1),
		ValidArgsFunction: a.CompleteServer,
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
			return a.showServers(cmd.Context(), args)
		}),
	}
	cmd.AddCommand(a.importCommand())
	return cmd
}

// withServers opens a host for looking at servers, and adds them to it with the names that
// they have in its store.
func (a *app) withServers(ctx context.Context, servers []event.Server, look func(*program.OpenHost) error) (err error) {
	d, err := a.OpenToAsk(ctx, servers)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := d.Named(ctx, servers); err != nil {
		return err
	}
	for _, s := range servers {
		d.AddServer(s)
	}
	return look(d)
}

func (a *app) showServers(ctx context.Context, args []string) error {
	var configured []event.Server
	var err error
	if len(args) > 0 {
		configured = make([]event.Server, 1)
		configured[0], err = a.FindServer(ctx, args[0])
	} else if configured, err = a.Servers(nil); err == nil {
		a.sayRemarks()
	}
	if err != nil {
		return err
	}
	here, there := a.ByProcess(ctx, configured, len(args) == 0)
	if len(here)+len(there) == 0 {
		a.Say("no server is configured: put one into %s, or give an http(s) or ws(s) URL or stdio:COMMAND to a command", a.configPath())
		return nil
	}
	var reports []serverReport
	for _, servers := range [][]event.Server{here, there} { // each on a host of its own
		if len(servers) == 0 {
			continue
		}
		err := a.withServers(ctx, servers, func(d *program.OpenHost) error {
			reports = append(reports, ask(ctx, d, servers)...)
			return nil
		})
		if err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return program.ErrStopped
	}
	if err := a.printReports(reports); err != nil {
		return err
	}
	return notReady(reports)
}

// sayRemarks says what the configuration has without effect.
func (a *app) sayRemarks() {
	file, err := a.Config()
	if err != nil {
		return // said already
	}
	for _, line := range file.Remarks() {
		a.Say("%s", plain.Safe(line))
	}
}

func (a *app) printReports(reports []serverReport) error {
	if a.Flags.JSON {
		var b []byte
		for _, r := range reports {
			b = r.appendJSON(b)
		}
		return a.Print(b)
	}
	t := &plain.Table{}
	t.Add("NAME", "TRANSPORT", "PROTOCOL", "EVENTS", "SERVER", "STATE")
	for _, r := range reports {
		t.Add(plain.Safe(r.Name), r.transport(), r.protocol(), r.events(), r.title(), r.state())
	}
	return a.PrintTable(t)
}

// notReady returns why a server is not ready, the first of several; nil: all are.
func notReady(reports []serverReport) error {
	away := slices.DeleteFunc(slices.Clone(reports), serverReport.ready)
	switch {
	case len(away) == 0:
		return nil
	case len(reports) == 1:
		return away[0].err
	}
	return fmt.Errorf("%d of %d servers are not ready: %s: %w", len(away), len(reports), plain.Safe(away[0].Name), away[0].err)
}

// configPath is the path of the configuration, for messages.
func (a *app) configPath() string {
	if a.Flags.Config != "" {
		return a.Flags.Config
	}
	path, err := a.Paths().ConfigFile()
	if err != nil {
		return "a file for --config"
	}
	return path
}

// serverReport is the answer of one server, or why there is none.
type serverReport struct {
	host.ServerView
	types int
	err   error
}

// ask connects to all servers at once and waits for every answer.
func ask(ctx context.Context, d *program.OpenHost, servers []event.Server) []serverReport {
	reports := make([]serverReport, len(servers))
	var wg sync.WaitGroup
	for i, s := range servers {
		wg.Go(func() {
			r := &reports[i]
			r.ServerView, r.err = d.Connect(ctx, s.Name)
			r.Name = s.Name
			if r.err == nil {
				var types []event.Type
				types, r.err = d.AnnouncedTypes(ctx, s.Name)
				r.types = len(types)
			}
		})
	}
	wg.Wait()
	return reports
}

func (r serverReport) transport() string {
	return plain.Safe(strings.TrimSpace(r.Transport + " " + r.HTTP))
}

func (r serverReport) protocol() string {
	if strings.HasPrefix(r.Era, r.Version) {
		return plain.Safe(r.Era)
	}
	return plain.Safe(r.Version + " " + r.Era)
}

func (r serverReport) title() string {
	return strings.TrimSpace(plain.Text(r.Title) + " " + plain.Text(r.Release))
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

// ready reports whether the server has answered; a server without events is ready too.
func (r serverReport) ready() bool { return r.err == nil || errors.Is(r.err, host.ErrNoEvents) }

func (r serverReport) state() string {
	if r.ready() {
		return "ready"
	}
	return plain.Message(r.err)
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
		b = trust.AppendJSONString(b, plain.Message(r.err))
	}
	return append(b, '}', '\n')
}
