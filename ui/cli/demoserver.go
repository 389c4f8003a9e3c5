package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/cli/plain"
)

func (a *app) demoServerCommand() *cobra.Command {
	var o host.DemoOptions
	var token string
	cmd := &cobra.Command{
		Use:   "demo-server pager|chat|archive|digest|model",
		Short: "Run one of the built-in demo servers alone",
		Long: `pager speaks Streamable HTTP, chat stdin and stdout, archive HTTP+SSE, digest WebSocket.
model stands in for a language model, over Chat Completions: a script, which says so in its first answer;
--hijacked has it do what it reads, whoever wrote it, to see that nothing comes of it.
All but chat say on standard error where they listen, and end when standard input is a pipe that ends.
On loopback they deliver to loopback, trust the local authority and need no token from callers on loopback.
On another address each of these needs its flag.
--fault lets pager or chat do something wrong on purpose, so that a host can be tried; --fault list tells what.`,
		Args:      plain.RangeArgs(0, 1),
		ValidArgs: host.DemoServers(),
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
			if slices.Equal(o.Faults, []string{"list"}) {
				return a.listFaults()
			}
			if len(args) == 0 {
				return plain.UsageErrorf("demo-server: an argument is missing; usage: %s", cmd.UseLine())
			}
			o.Token = event.NewSecret(token)
			return a.runDemoServer(cmd.Context(), args[0], o)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&o.Listen, "listen", "", "address at which it listens (default 127.0.0.1:8931 for pager, 8933 for archive, 8934 for digest, 8935 for model)")
	f.Float64Var(&o.Speed, "speed", 1, "how many times faster than life the incident runs")
	f.Int64Var(&o.Seed, "seed", 1, "fixes content and timing")
	f.IntVar(&o.Rate, "rate", 0, "offer load.tick with this number of events per second")
	f.StringVar(&token, "token", "", "bearer token that callers must send")
	f.BoolVar(&o.AllowLoopback, "allow-loopback", false, "deliver to callbacks on loopback")
	f.BoolVar(&o.TrustCA, "trust-ca", false, "trust the local authority for deliveries")
	f.BoolVar(&o.LoopbackPrincipal, "loopback-principal", false, "take callers on loopback without a token")
	f.BoolVar(&o.ServerKey, "server-key", false, "have pager sign deliveries also with a key that it makes and publishes (v1a)")
	f.StringSliceVar(&o.Faults, "fault", nil, "what pager or chat does wrong on purpose: NAME[,NAME], some with =DURATION; list prints them")
	f.BoolVar(&o.Hijacked, "hijacked", false, "have model obey whatever it reads")
	f.StringVar(&o.CAFile, "ca", "", "file with certificates to trust for deliveries, in place of the local authority")
	return cmd
}

// runDemoServer runs a demo server on the standard input and output of this process, or on the
// address of --listen.
func (a *app) runDemoServer(ctx context.Context, name string, o host.DemoOptions) error {
	switch {
	case !slices.Contains(host.DemoServers(), name):
		return plain.UsageErrorf("there is no demo server %q; use %s", name, strings.Join(host.DemoServers(), ", "))
	case o.Speed <= 0:
		return plain.UsageErrorf("--speed must be more than 0")
	case o.Rate < 0:
		return plain.UsageErrorf("--rate must not be negative")
	case o.Hijacked && name != "model":
		return plain.UsageErrorf("--hijacked is for model")
	}
	o.TrustCA = o.TrustCA || o.CAFile != ""
	o.In, o.Out, o.Err = a.Stdin, a.Stdout, a.Stderr
	if name != "chat" {
		var stop context.CancelCauseFunc
		ctx, stop = context.WithCancelCause(ctx)
		defer stop(nil)
		endWithInput(a.Stdin, name, stop)
	}
	err := a.DemoServer(ctx, name, o)
	if spoken := context.Cause(ctx); errors.Is(spoken, errSpokenTo) {
		return spoken
	}
	if errors.Is(err, host.ErrDemoOptions) {
		return plain.UsageErrorf("%w; --fault list names the faults", err)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// errSpokenTo: a client writes to standard input, but the server listens at an address.
var errSpokenTo = errors.New("it does not read standard input")

// endWithInput ends a server that listens at an address when its standard input is a pipe that
// ends, as it does with the program that started it. A byte on the pipe is a mistake, and the
// cause says then that the server is reached at its address. The goroutine ends with the
// input.
func endWithInput(in io.Reader, name string, end context.CancelCauseFunc) {
	file, ok := in.(*os.File)
	if !ok {
		return
	}
	if info, err := file.Stat(); err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0 {
		return
	}
	go func() {
		if n, _ := file.Read(make([]byte, 1)); n > 0 { // any error is the end
			end(fmt.Errorf("demo-server %s: %w: give its address as \"url\", or start chat as a command", name, errSpokenTo))
		}
		end(nil)
	}()
}

// listFaults prints the faults, a line each: name, tab, what the server does.
func (a *app) listFaults() error {
	for _, f := range host.DemoFaults() {
		if _, err := fmt.Fprintf(a.Stdout, "%s\t%s\n", f.Name, f.Sentence); err != nil {
			return err
		}
	}
	return nil
}
