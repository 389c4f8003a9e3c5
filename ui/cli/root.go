package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"charm.land/fang/v2"
	"github.com/spf13/cobra"

	"eventdeck/host/config"
	"eventdeck/ui/cli/events"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
	"eventdeck/ui/cli/reactions"
)

func (a *app) execute(ctx context.Context) error {
	root := a.root()
	joinLines(root)
	root.SetArgs(a.Args)
	root.SetIn(a.Stdin)
	root.SetOut(a.helpOutput())
	a.refuseUnknown(root)
	hideReceiverFlags(root, a.Args)
	// Errors are written by Main, in one line.
	root.SetErr(io.Discard)
	quiet := func(io.Writer, fang.Styles, error) {}
	err := fang.Execute(ctx, root, fang.WithErrorHandler(quiet), fang.WithVersion(a.Version))
	if err != nil {
		// Only the parsing of the command line gets here: see [program.App.Run].
		return plain.UsageErrorf("%w", err)
	}
	return program.AdviseRecovery(a.Err)
}

// joinLines makes one line of each paragraph in the help of a command and those below it, for the
// help is wrapped to the width of the terminal: newlines of the source would leave single words on
// lines of their own. Indented lines stay as they are.
func joinLines(cmd *cobra.Command) {
	var b strings.Builder
	apart := true // the line before is the first, empty or indented
	for line := range strings.SplitSeq(cmd.Long, "\n") {
		own := line == "" || line[0] == ' '
		switch {
		case b.Len() == 0:
		case own || apart:
			b.WriteByte('\n')
		default:
			b.WriteByte(' ')
		}
		b.WriteString(line)
		apart = own
	}
	cmd.Long = b.String()
	for _, below := range cmd.Commands() {
		joinLines(below)
	}
}

// receiverFlags are the flags of the receiver of webhook deliveries. Every command takes them,
// so that they can be part of an alias.
var receiverFlags = []string{"callback-url", "listen", "rotate-secrets", "plain-http", "hook-connections", "hook-bad-rate"}

// subscribing are the commands, besides the screen, that may receive deliveries.
var subscribing = []string{"demo", "tail", "subs", "mcp", "react"}

// hideReceiverFlags hides the flags of the receiver from the help of commands that have none.
func hideReceiverFlags(root *cobra.Command, args []string) {
	cmd, _, err := root.Find(args)
	if err != nil || cmd == root {
		return
	}
	for cmd.Parent() != root {
		cmd = cmd.Parent()
	}
	if slices.Contains(subscribing, cmd.Name()) {
		return
	}
	for _, name := range receiverFlags {
		root.PersistentFlags().Lookup(name).Hidden = true
	}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "eventdeck [SERVER]",
		Short: "A terminal host for MCP Events",
		Long: `eventdeck connects to MCP servers, subscribes to their events, shows what arrives and keeps it.
An empty screen says how servers get there: d starts demo servers, A adds one, I imports those of other MCP clients.
SERVER is a configured name, an http(s) or ws(s) URL, or stdio:COMMAND ARGS.
Screens and commands on a data directory that another process has open attach to that process.`,
		Example:           "eventdeck demo\neventdeck https://example.com/mcp\neventdeck tail pager incident.created --json",
		Args:              serverOrCommand,
		ValidArgsFunction: a.CompleteServer,
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
			err := a.screen(cmd.Context(), args)
			if errors.Is(err, config.ErrUnknown) {
				err = fmt.Errorf("%w%s", err, plain.SimilarCommand(cmd, args[0]))
			}
			return err
		}),
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return plain.UsageErrorf("%w; `%s --help` lists the flags", plain.FlagError(err), cmd.CommandPath())
	})
	f := root.PersistentFlags()
	f.StringVar(&a.Flags.Config, "config", "", "file with the servers (mcpServers JSON)")
	f.StringVar(&a.Flags.Data, "data", "", "directory in which events are kept")
	f.BoolVar(&a.Flags.JSON, "json", false, "print JSON, one object a line")
	f.StringArrayVar(&a.Flags.Headers, "header", nil, "header 'K: V' to send to SERVER; ${NAME} in it is an environment variable")
	f.StringArrayVar(&a.Flags.Inherit, "inherit", nil, "environment variable that the process of SERVER gets too")
	f.StringVar(&a.Flags.Observe.Log, "log", "", "log file of the program, rotated at 10 MiB")
	f.StringVar(&a.Flags.Observe.Level, "log-level", "info", "lowest level in --log: "+strings.Join(program.LogLevels, ", "))
	f.StringVar(&a.Flags.Observe.Pprof, "pprof", "", "loopback address at which pprof profiles are served")
	plain.CompleteValues(root, "log-level", program.LogLevels...)
	f.BoolVar(&a.Flags.NoColor, "no-color", false, "no colours")
	f.StringVar(&a.Flags.Callback, "callback-url", "", "public https address at which webhook deliveries reach this host")
	f.StringVar(&a.Flags.Listen, "listen", "", "address at which webhook deliveries are taken (default a port on loopback)")
	plain.DurationFlag(f, &a.Flags.Rotate, "rotate-secrets", "age at which a webhook secret is replaced (default never)")
	f.BoolVar(&a.Flags.PlainHTTP, "plain-http", false, "take webhook deliveries without TLS, on loopback only, behind a proxy that ends it")
	f.StringArrayVar(&a.Flags.Proxies, "trusted-proxy", nil, "address or network of a proxy whose X-Forwarded-For says who sends a webhook delivery")
	f.IntVar(&a.Flags.Hooks.Connections, "hook-connections", program.HookConnections, "most webhook connections open at once")
	f.IntVar(&a.Flags.Hooks.BadRate, "hook-bad-rate", program.HookBadRate, "most unproven requests a second from one source that the webhook receiver examines")
	a.addScreenFlags(root)
	root.AddCommand(
		a.demoCommand(), a.serversCommand(), a.typesCommand(),
		a.subsCommand(), a.scanCommand(), a.signInCommand(), a.signOutCommand(), a.demoServerCommand(), a.caCommand(), a.schemaCommand(), a.versionCommand(),
		a.storeCommand(), a.mcpCommand(),
	)
	root.AddCommand(events.Commands(a.App)...)
	root.AddCommand(reactions.Commands(a.App)...)
	return root
}

// refuseUnknown makes the commands completion and help refuse unknown shells and commands, for
// which they would print their help.
func (a *app) refuseUnknown(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				if at, rest, err := root.Find(args); err != nil || len(rest) > 0 {
					return plain.UsageErrorf("help: there is no command %q%s", rest[0], plain.SimilarCommand(at, rest[0]))
				}
				return nil
			}
		case "completion":
			cmd.Args = cobra.ArbitraryArgs
			cmd.Run = a.Run(func(cmd *cobra.Command, args []string) error {
				if len(args) == 0 {
					return cmd.Help()
				}
				return plain.UsageErrorf("completion: there is no shell %q%s; there are bash, fish, powershell and zsh", args[0], plain.SimilarCommand(cmd, args[0]))
			})
		}
	}
}

// helpOutput is where help goes. If colours are unwanted, it hides from fang that there is a
// terminal.
func (a *app) helpOutput() io.Writer {
	if a.StdoutTerminal && !a.NoColor() {
		return a.Stdout
	}
	return struct{ io.Writer }{a.Stdout}
}

// serverOrCommand takes the one argument of the root command. More arguments are most likely a
// misspelled command.
func serverOrCommand(cmd *cobra.Command, args []string) error {
	if len(args) < 2 {
		return nil
	}
	return plain.UsageErrorf("there is no command %q%s; `eventdeck --help` lists them", args[0], plain.SimilarCommand(cmd, args[0]))
}

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "schema " + strings.Join(config.SchemaNames, "|"),
		Short:     "Print the JSON Schema of a file that you write, for your editor",
		Args:      plain.ExactArgs(1),
		ValidArgs: config.SchemaNames,
		Example:   `eventdeck schema settings > settings.schema.json    # then "$schema": "./settings.schema.json" in settings.json`,
		Run: a.Run(func(_ *cobra.Command, args []string) error {
			text := config.Schema(args[0])
			if text == nil {
				return plain.UsageErrorf("there is no schema %q; there are %s", args[0], strings.Join(config.SchemaNames, ", "))
			}
			return a.Print(text)
		}),
	}
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  plain.ExactArgs(0),
		Run: a.Run(func(*cobra.Command, []string) error {
			platform := a.System + "/" + runtime.GOARCH
			if a.Flags.JSON {
				return a.PrintJSON(map[string]string{"version": a.Version, "go": runtime.Version(), "platform": platform})
			}
			_, err := fmt.Fprintf(a.Stdout, "eventdeck %s %s %s\n", a.Version, runtime.Version(), platform)
			return err
		}),
	}
}
