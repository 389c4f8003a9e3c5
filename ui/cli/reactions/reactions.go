// Package reactions has the commands about reactions: rules, runs and what waits for the
// operator, models, and the process that runs them without a screen.
package reactions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"eventdeck/host/attach"
	"eventdeck/host/react"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
)

// errNoEngine: no process that runs reactions on this data directory can be reached.
var errNoEngine = errors.New("no process runs reactions")

// commands is one run of the program, with the commands of this package.
type commands struct{ *program.App }

// Commands returns the commands about rules, runs and models.
func Commands(p *program.App) []*cobra.Command {
	a := &commands{p}
	return []*cobra.Command{
		a.rulesCommand(), a.modelsCommand(), a.reactCommand(), a.runsCommand(), a.approveCommand(), a.denyCommand(), a.gateCommand(), a.askCommand(),
	}
}

// group returns a command that only has subcommands. commands lists them in words, help says
// how they are called; "" stands for their names.
func group(use, short, long, commands, help string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long,
		Args: func(cmd *cobra.Command, args []string) error {
			var names []string
			for _, c := range cmd.Commands() {
				names = append(names, c.Name())
			}
			all := strings.Join(names, ", ")
			if len(args) > 0 {
				return plain.UsageErrorf("there is no command %s %q%s; use %s", use, args[0], plain.SimilarCommand(cmd, args[0]), cmp.Or(commands, all))
			}
			return plain.UsageErrorf("%s: say what to do: %s", use, cmp.Or(help, all))
		},
		Run: func(*cobra.Command, []string) {},
	}
}

// reactions calls fn with the reactions of the process that runs them on the kept store.
//
// Errors: errNoEngine; those of [program.App.Attached]; those of fn;
// [react.ErrNoRun] with the command that lists the ids.
func (a *commands) reactions(ctx context.Context, fn func(context.Context, react.Control) error) (err error) {
	o, err := a.Kept()
	if err != nil {
		return err
	}
	c, err := a.Attached(ctx, o)
	if err != nil {
		return err
	}
	if c == nil {
		return fmt.Errorf("%w on %s; start `eventdeck`, or without a screen `eventdeck react run`", errNoEngine, o.Dir)
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if !c.Control().Reactions().On {
		return fmt.Errorf("%w on %s: process %d has it open and shows or prints only; end that and start `eventdeck`, or `eventdeck react run`", errNoEngine, o.Dir, c.PID())
	}
	ctx, cancel := c.Within(ctx)
	defer cancel()
	err = fn(ctx, c.Control())
	if errors.Is(err, react.ErrNoRun) {
		err = fmt.Errorf("%w; `eventdeck runs list` shows the ids", err)
	}
	return program.Stopped(ctx, err)
}

// reactCommand concerns all reactions together.
func (a *commands) reactCommand() *cobra.Command {
	var (
		rule string
		seq  uint64
		dry  bool
		kill bool
		help = "react: say what to do: run, --once NAME --event SEQ, stop, or go"
	)
	cmd := &cobra.Command{
		Use:   "react",
		Short: "Run reactions without a screen; have a rule act on one event; stop all, and let them go on",
		Long: `react --once NAME --event SEQ has a rule act on one stored record of its server and type, whatever its filter says; the run asks first.
With --dry-run nothing is made: it prints what the rule would decide about the record, and why.`,
		Example: "eventdeck react --once page-p1 --event 4711 --dry-run\neventdeck react stop --kill",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return plain.UsageErrorf("there is no command react %q%s; use run, stop or go", args[0], plain.SimilarCommand(cmd, args[0]))
			}
			return nil
		},
		Run: a.Run(func(cmd *cobra.Command, _ []string) error {
			if rule == "" || seq == 0 {
				return plain.UsageErrorf("%s", help)
			}
			return a.reactOnce(cmd.Context(), rule, seq, dry)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&rule, "once", "", "the rule that acts, once")
	f.Uint64Var(&seq, "event", 0, "number of the record that it acts on")
	f.BoolVar(&dry, "dry-run", false, "only tell what it would decide")
	a.completeFlag(cmd, "once", ruleNames)
	stop := &cobra.Command{
		Use: "stop", Short: "Let nothing start any more; with --kill end what runs too", Args: plain.ExactArgs(0),
		Long: `stop lets no reaction start any more; what waits keeps waiting. With --kill what runs is ended too.
--kill first writes the file react.stop to the data directory, which alone does the same; react go removes it.`,
		Run: a.Run(func(cmd *cobra.Command, _ []string) error { return a.stopReactions(cmd.Context(), kill) }),
	}
	stop.Flags().BoolVar(&kill, "kill", false, "end what runs")
	cmd.AddCommand(a.reactRunCommand(), stop, &cobra.Command{
		Use: "go", Short: "Let reactions go on after a stop, or after they were held", Args: plain.ExactArgs(0),
		Run: a.Run(func(cmd *cobra.Command, _ []string) error {
			return a.reactions(cmd.Context(), func(ctx context.Context, c react.Control) error { return c.Go(ctx) })
		}),
	})
	return cmd
}

func (a *commands) reactOnce(ctx context.Context, rule string, seq uint64, dry bool) error {
	return a.reactions(ctx, func(ctx context.Context, c react.Control) error {
		if dry {
			verdicts, err := c.Explain(ctx, seq, rule)
			if err != nil {
				return err
			}
			return a.printVerdicts(verdicts)
		}
		id, err := c.Once(ctx, rule, seq)
		if err != nil {
			return err
		}
		return a.printMade(ctx, c, id)
	})
}

// stopReactions stops reactions through the engine. To kill, it first writes the file that the
// engine and all supervisors read: that stops them even where the engine cannot be asked.
func (a *commands) stopReactions(ctx context.Context, kill bool) error {
	ask := func() error {
		return a.reactions(ctx, func(ctx context.Context, c react.Control) error { return c.Stop(ctx, kill) })
	}
	if !kill {
		return ask()
	}
	dir, err := a.existingDir()
	if err != nil {
		return err
	}
	if attach.Elsewhere(dir) {
		return ask()
	}
	file, err := react.WriteStopFile(dir)
	if err != nil {
		return err
	}
	if err = ask(); err != nil {
		a.Say("%s; what still runs ends within a second, and nothing starts while %s is there", plain.Message(err), file)
	}
	return nil
}

// existingDir returns the data directory, which must exist.
func (a *commands) existingDir() (string, error) {
	o, err := a.Kept()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(o.Dir); err != nil {
		return "", fmt.Errorf("nothing is kept in %s: %w", o.Dir, err)
	}
	return o.Dir, nil
}

// completeFlag offers the shell values for a flag that the engine knows.
func (a *commands) completeFlag(cmd *cobra.Command, flag string, offer func(react.View) []cobra.Completion) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return a.offered(cmd.Context(), offer)
	})
	if err != nil {
		panic(err) // no such flag: a mistake in this package, met by every test
	}
}

// completeFirst is completeFlag for the first argument.
func (a *commands) completeFirst(offer func(react.View) []cobra.Completion, then ...cobra.Completion) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		switch len(args) {
		case 0:
			return a.offered(cmd.Context(), offer)
		case 1:
			return then, cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

func (a *commands) offered(ctx context.Context, offer func(react.View) []cobra.Completion) (out []cobra.Completion, _ cobra.ShellCompDirective) {
	err := a.reactions(ctx, func(_ context.Context, c react.Control) error {
		out = offer(c.Reactions())
		return nil
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp // a shell shows no errors
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

func ruleNames(v react.View) (out []cobra.Completion) {
	for _, r := range v.Rules {
		out = append(out, r.Rule.Name)
	}
	return out
}

func waitingRuns(v react.View) []cobra.Completion { return runIDs(v.Waiting) }

func allRuns(v react.View) []cobra.Completion { return runIDs(slices.Concat(v.Waiting, v.Active)) }

func runIDs(runs []react.Run) (out []cobra.Completion) {
	for _, r := range runs {
		out = append(out, cobra.CompletionWithDesc(string(r.ID), r.Rule+", "+string(r.State)))
	}
	return out
}
