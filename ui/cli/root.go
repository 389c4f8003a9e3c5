package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"charm.land/fang/v2"
	"github.com/spf13/cobra"

	"eventdeck/host/config"
)

// app is one run of the program.
type app struct {
	Program
	flags flags
	err   error // of the command that ran

	limitsRead sync.Once
	limitsSet  config.Limits // see app.limits
}

// flags are those that every command has.
type flags struct {
	config    string
	data      string
	json      bool
	headers   []string
	observe   observeFlags
	noColor   bool
	callback  string
	listen    string
	plainHTTP bool
	rotate    time.Duration
	hooks     hookFlags
	screen    screenFlags
	reacts    reacts // set by the command
}

func (a *app) execute(ctx context.Context) error {
	root := a.root()
	root.SetArgs(a.Args)
	root.SetIn(a.Stdin)
	root.SetOut(a.helpOutput())
	a.refuseUnknownShells(root)
	// Errors are written by Main, in one line.
	root.SetErr(io.Discard)
	quiet := func(io.Writer, fang.Styles, error) {}
	err := fang.Execute(ctx, root, fang.WithErrorHandler(quiet), fang.WithVersion(a.Version))
	if err != nil {
		// Only the parsing of the command line gets here: see run.
		return usageError{err}
	}
	return helped(a.err)
}

// run makes a function that cobra calls of one that does the work. Errors of the
// work go around cobra and fang: these take every error for a mistake in the
// command line, and ask the terminal for its colours before they report it.
func (a *app) run(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) { a.err = f(cmd, args) }
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
		ValidArgsFunction: a.completeServer,
		Run: a.run(func(cmd *cobra.Command, args []string) error {
			err := a.screen(cmd.Context(), args)
			if errors.Is(err, config.ErrUnknown) {
				err = fmt.Errorf("%w%s", err, meantCommand(cmd, args[0]))
			}
			return err
		}),
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w; `%s --help` lists the flags", plainFlag(err), cmd.CommandPath())
	})
	f := root.PersistentFlags()
	f.StringVar(&a.flags.config, "config", "", "file with the servers (mcpServers JSON)")
	f.StringVar(&a.flags.data, "data", "", "directory in which events are kept")
	f.BoolVar(&a.flags.json, "json", false, "print JSON, one object a line")
	f.StringArrayVar(&a.flags.headers, "header", nil, "header 'K: V' to send to SERVER; ${NAME} in it is an environment variable")
	f.StringVar(&a.flags.observe.log, "log", "", "file to which the program writes what it does; it is turned over at 10 MiB")
	f.StringVar(&a.flags.observe.level, "log-level", "info", "least that --log takes: "+strings.Join(logLevels, ", "))
	f.StringVar(&a.flags.observe.pprof, "pprof", "", "address on loopback at which profiles of the program are served")
	fixed(root, "log-level", logLevels...)
	f.BoolVar(&a.flags.noColor, "no-color", false, "no colours")
	f.StringVar(&a.flags.callback, "callback-url", "", "public https address at which webhook deliveries reach this host")
	f.StringVar(&a.flags.listen, "listen", "", "address at which webhook deliveries are taken (default a port on loopback)")
	f.DurationVar(&a.flags.rotate, "rotate-secrets", 0, "give webhook subscriptions a new secret when theirs is so old (default never)")
	f.BoolVar(&a.flags.plainHTTP, "plain-http", false, "take webhook deliveries without TLS, on loopback only, behind a proxy that ends it")
	f.IntVar(&a.flags.hooks.connections, "hook-connections", hookConnections, "webhook connections that may be open at once")
	f.IntVar(&a.flags.hooks.badRate, "hook-bad-rate", hookBadRate, "requests a second, of one source, that the webhook receiver looks at although they prove nothing")
	a.addScreenFlags(root)
	root.AddCommand(
		a.demoCommand(), a.serversCommand(), a.typesCommand(), a.tailCommand(),
		a.subsCommand(), a.eventsCommand(), a.exportCommand(), a.reportCommand(), a.topCommand(), a.diffCommand(), a.auditCommand(), a.scanCommand(), a.signInCommand(), a.signOutCommand(), a.demoServerCommand(), a.caCommand(), a.versionCommand(),
		a.storeCommand(), a.rulesCommand(), a.modelsCommand(), a.reactCommand(), a.runsCommand(), a.approveCommand(), a.denyCommand(), a.gateCommand(), a.askCommand(), a.mcpCommand(),
	)
	return root
}

// refuseUnknownShells makes the completion command, which would print its help for
// any word, take only the shells that it knows.
func (a *app) refuseUnknownShells(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.Args = cobra.ArbitraryArgs
			cmd.Run = a.run(func(cmd *cobra.Command, args []string) error {
				if len(args) == 0 {
					return cmd.Help()
				}
				return usagef("completion: there is no shell %q%s; there are bash, fish, powershell and zsh", args[0], meantCommand(cmd, args[0]))
			})
		}
	}
}

// helpOutput is where help goes. Where colours are not wanted it hides from fang
// that there is a terminal.
func (a *app) helpOutput() io.Writer {
	if a.StdoutTerminal && !a.noColor() {
		return a.Stdout
	}
	return struct{ io.Writer }{a.Stdout}
}

// noColor reports whether colours are unwanted. It may be asked before the flags
// are parsed: help is printed while they are.
func (a *app) noColor() bool {
	for _, arg := range a.Args {
		if arg == "--" {
			break
		}
		if arg == "--no-color" || arg == "--no-color=true" {
			return true
		}
	}
	set, ok := a.Env("NO_COLOR")
	return a.flags.noColor || ok && set != ""
}

// serverOrCommand takes the one argument of the root command. More of them are
// most likely a command that was misspelled.
func serverOrCommand(cmd *cobra.Command, args []string) error {
	if len(args) < 2 {
		return nil
	}
	return usagef("there is no command %q%s; `eventdeck --help` lists them", args[0], meantCommand(cmd, args[0]))
}

// meantCommand returns a hint if word is almost the name of a command.
func meantCommand(root *cobra.Command, word string) string {
	var names, nested []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
		for _, below := range c.Commands() {
			if below.Name() == word {
				nested = append(nested, c.Name()+" "+word)
			}
		}
	}
	if len(nested) > 0 {
		return `, did you mean "` + strings.Join(nested, `" or "`) + `"?`
	}
	if near := config.Nearest(word, names); near != "" {
		return fmt.Sprintf(", did you mean %q?", near)
	}
	return ""
}

func exactly(n int) cobra.PositionalArgs { return between(n, n) }
func maximum(n int) cobra.PositionalArgs { return between(0, n) }

func between(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usagef("%s: something is missing; usage: %s", cmd.Name(), cmd.UseLine())
		case len(args) > most:
			return usagef("%s: %q is too much; usage: %s", cmd.Name(), args[most], cmd.UseLine())
		}
		return nil
	}
}

// completeServer offers the configured servers to the shell.
func (a *app) completeServer(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	file, err := a.config()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return file.Names(), cobra.ShellCompDirectiveNoFileComp
}

// config reads the configuration that --config names, or the default one.
func (a *app) config() (*config.File, error) {
	path := a.flags.config
	if path == "" {
		var err error
		if path, err = a.paths().ConfigFile(); err != nil {
			return nil, err
		}
	}
	return config.Load(path, a.flags.config != "", a.Env)
}

func (a *app) paths() config.Paths {
	return config.Paths{System: a.System, Env: a.Env, Home: a.Home}
}
