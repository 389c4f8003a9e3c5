package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"eventdeck/host"
	"eventdeck/host/attach"
	"eventdeck/host/event"
	"eventdeck/host/mcpserver"
	"eventdeck/host/react"
	"eventdeck/host/redact"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
)

// mcpFlags are the flags of mcp.
type mcpFlags struct {
	listen string
	beyond bool
	// Of callbacks.
	loopback bool
	ca       string
}

// mcpToken is the variable with the token that callers over HTTP must show. It is not a flag,
// since others can read a command line.
const mcpToken = "EVENTDECK_MCP_TOKEN"

// shortToken is the least length of that token, in bytes: a shorter one can be guessed.
const shortToken = 16

// token returns the token of the environment; with --listen and without one it makes one, and made
// is true.
func (f mcpFlags) token(env func(string) (string, bool)) (token event.Secret, made bool, err error) {
	word, _ := env(mcpToken)
	switch {
	case word == "" && f.listen != "" && !f.beyond:
		return event.NewSecret(rand.Text()), true, nil
	case word != "" && len(word) < shortToken:
		return event.Secret{}, false, plain.UsageErrorf("%s has %d characters, and could be guessed; take at least %d, such as `openssl rand -hex 16` makes", mcpToken, len(word), shortToken)
	}
	return event.NewSecret(word), false, nil
}

func (a *app) mcpCommand() *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the store over MCP, as tools and as events",
		Long: `mcp lets any MCP client look at what eventdeck keeps and go on from there. Its tools read: servers, types,
subscriptions, a search over all events, one event, gaps, runs of reactions, and what happened since. Two more, subscribe
and unsubscribe, only ask: what a client wishes waits for you like a run of a rule (screen 6, or eventdeck approve and
deny), where the screen or react run has the store open. Each stored event is offered again as an MCP event, by push,
poll and webhook, replayable from any position; so are gaps and states. Payloads stand inside of envelopes that say that
they are data; what looks like a secret is masked.

It speaks on standard input and output, or with --listen Streamable HTTP at http://ADDRESS/mcp. Where another process
has the data directory open, it attaches to that, and takes it over when that ends; otherwise it runs the host itself.
Standard error tells which. Callers over HTTP show a bearer token: that of ` + mcpToken + `, or a new one for this run,
which is printed with the client's configuration. An address that is not on loopback needs ` + mcpToken + ` and
--beyond-loopback.`,
		Example: "eventdeck mcp\neventdeck mcp --data ./incident --listen 127.0.0.1:8940",
		Args:    plain.ExactArgs(0),
		Run:     a.Run(func(cmd *cobra.Command, _ []string) error { return a.mcp(cmd.Context(), f) }),
	}
	s := cmd.Flags()
	s.StringVar(&f.listen, "listen", "", "address at which it speaks Streamable HTTP, such as 127.0.0.1:8940 (default standard input and output)")
	s.BoolVar(&f.beyond, "beyond-loopback", false, "let --listen be an address that is not on loopback")
	s.BoolVar(&f.loopback, "callbacks-on-loopback", false, "webhooks of clients may be delivered to this machine")
	s.StringVar(&f.ca, "callback-ca", "", "file with certificate authorities (PEM) that are trusted for callbacks beside the system's")
	return cmd
}

// listener opens the address of --listen; nil without the flag.
func (f mcpFlags) listener(ctx context.Context, token event.Secret) (net.Listener, error) {
	if f.listen == "" {
		if f.beyond {
			return nil, plain.UsageErrorf("--beyond-loopback goes with --listen ADDRESS")
		}
		return nil, nil
	}
	name, _, err := net.SplitHostPort(f.listen)
	if err != nil {
		return nil, plain.UsageErrorf("--listen must look like 127.0.0.1:8940")
	}
	if !event.IsLoopback(name) && (!f.beyond || token.IsZero()) {
		return nil, plain.UsageErrorf("--listen %q is not on loopback: others could read everything that is kept. Where that is meant, give --beyond-loopback and a token in %s", f.listen, mcpToken)
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, event.Network(f.listen), f.listen)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return ln, nil
}

// mcp answers MCP clients until ctx or standard input ends.
func (a *app) mcp(ctx context.Context, f mcpFlags) (err error) {
	if f.listen == "" && a.StdinTerminal {
		return plain.UsageErrorf("mcp speaks with an MCP client on standard input and output, and this is a terminal; with --listen it speaks HTTP")
	}
	token, made, err := f.token(a.Env)
	if err != nil {
		return err
	}
	ln, err := f.listener(ctx, token)
	if err != nil {
		return err
	}
	if made {
		a.Say("the token of this run; %s keeps one over runs. For the client:\n"+
			`{"mcpServers":{"eventdeck":{"type":"http","url":"http://%s%s","headers":{"Authorization":"Bearer %s"}}}}`,
			mcpToken, ln.Addr(), mcpserver.Path, token.Reveal())
	}
	if ln != nil {
		defer ln.Close()
	}
	servers, err := a.Servers(nil)
	if err != nil {
		return err
	}
	d, o, err := a.OpenKeptHost(ctx, true)
	if err != nil {
		return err
	}
	if err := d.Named(ctx, servers); err != nil {
		return d.Finish(err)
	}
	secrets := &redact.Set{}
	secrets.AddSecrets(token)
	for _, s := range servers {
		d.AddServer(s)
		host.HideServer(secrets, s)
	}
	for _, s := range d.Store.Subscriptions() {
		host.HideSubscription(secrets, s)
	}
	serve := func(ctx context.Context, d *program.OpenHost) error { return a.serveMCP(ctx, d, f, ln, token, secrets) }
	if d.Client != nil {
		a.Say("mcp: attached to process %d, which has %s open", d.Client.PID(), o.Dir)
		_, err := a.WhileAttached(ctx, d, o, servers, serve)
		return err
	}
	a.Say("mcp: runs the host on %s itself", o.Dir)
	return d.Finish(d.WhileSound(ctx, func(ctx context.Context) error { return serve(ctx, d) }))
}

// serveMCP answers clients on the open host: at ln, or on standard input and output where that
// is nil.
func (a *app) serveMCP(ctx context.Context, d *program.OpenHost, f mcpFlags, ln net.Listener, token event.Secret, secrets *redact.Set) error {
	logger, file, err := a.Logger()
	if err != nil {
		return err
	}
	var control react.Control
	if c, ok := d.API.(attach.Controller); ok { // behind which another process may have the store later
		control = following{c}
	}
	server, err := mcpserver.New(mcpserver.Options{Host: d.API, React: control, Redact: secrets, Version: a.Version, Token: token, Log: logger,
		CallbacksOnLoopback: f.loopback, CallbackCA: f.ca})
	switch {
	case err != nil:
	case ln == nil:
		err = server.ServeStdio(ctx, a.Stdin, a.Stdout)
	default:
		a.Say("listening on http://%s%s", ln.Addr(), mcpserver.Path)
		err = server.ServeHTTP(ctx, ln)
	}
	return errors.Join(err, file.Close())
}
