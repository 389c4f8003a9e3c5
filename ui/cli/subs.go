package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
	"eventdeck/ui/form"
)

func (a *app) subsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "subs",
		Short: "List and change stored subscriptions",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return plain.UsageErrorf("there is no command subs %q%s; use list, rm, pause, resume, mode, failover, end, refresh or rotate", args[0], plain.SimilarCommand(cmd, args[0]))
			}
			return plain.UsageErrorf("subs: say what to do: list, rm ID, pause ID, resume ID, mode ID MODE, failover ID on|off, end ID TIME, refresh ID or rotate ID")
		},
		Run: func(*cobra.Command, []string) {},
	}
	list := &cobra.Command{
		Use:   "list",
		Short: "List stored subscriptions",
		Args:  plain.ExactArgs(0),
		Run:   a.Run(func(cmd *cobra.Command, _ []string) error { return a.listSubs(cmd.Context()) }),
	}
	cmd.AddCommand(list,
		a.subVerb("rm", "End a subscription here and on its server; its records stay", host.Actor.Unsubscribe),
		a.subVerb("pause", "Stop delivery and keep the position", host.Actor.Pause),
		a.subVerb("resume", "Go on where a paused subscription stopped", host.Actor.Resume),
		a.subVerb("refresh", "Poll, refresh the lease or open the stream again now", host.Actor.Refresh),
		a.subVerb("rotate", "Give a webhook subscription a new secret; the old one is accepted for a while", host.Actor.RotateSecret),
		a.subWord("mode", "Switch to another mode at the same position; back if the server refuses", []cobra.Completion{"poll", "push", "webhook"},
			func(mode string) (subAct, error) {
				return func(h host.Actor, ctx context.Context, id event.SubID) error {
					return h.SetMode(ctx, id, event.Mode(mode))
				}, nil
			}),
		a.subWord("failover", "Turn failover on or off: another mode while its own keeps failing", []cobra.Completion{"on", "off"},
			func(word string) (subAct, error) {
				return func(h host.Actor, ctx context.Context, id event.SubID) error {
					return h.SetFailover(ctx, id, word == "on")
				}, nil
			}),
		a.subWord("end", "Set when a subscription ends here and on its server: 20:00, 2026-03-14T20:00:00Z, 3d from now, or never", nil,
			func(word string) (subAct, error) {
				var at time.Time
				if word != "never" {
					var err error
					if at, err = form.Until(word, a.Now()); err != nil {
						return nil, plain.UsageErrorf("subs end: %w", err)
					}
				}
				return func(h host.Actor, ctx context.Context, id event.SubID) error { return h.SetEnd(ctx, id, at) }, nil
			}),
	)
	return cmd
}

// subAct is a change of a subscription.
type subAct = func(host.Actor, context.Context, event.SubID) error

func (a *app) subVerb(name, short string, verb subAct) *cobra.Command {
	return &cobra.Command{
		Use:   name + " ID",
		Short: short,
		Args:  plain.ExactArgs(1),
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
			return a.changeSub(cmd.Context(), event.SubID(args[0]), verb)
		}),
	}
}

// subWord is subVerb for a command that takes a word behind the id: one of a few words, or any time
// without them.
func (a *app) subWord(name, short string, words []cobra.Completion, read func(word string) (subAct, error)) *cobra.Command {
	takes := strings.Join(words, "|")
	if words == nil {
		takes = "TIME"
	}
	return &cobra.Command{
		Use:   name + " ID " + takes,
		Short: short,
		Args:  plain.ExactArgs(2),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return words, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
			if words != nil && !slices.Contains(words, args[1]) {
				return plain.UsageErrorf("subs %s: %q must be one of %s", name, args[1], strings.Join(words, ", "))
			}
			act, err := read(args[1])
			if err != nil {
				return err
			}
			return a.changeSub(cmd.Context(), event.SubID(args[0]), act)
		}),
	}
}

// changeSub finds a subscription, connects to its server and does something to
// it.
func (a *app) changeSub(ctx context.Context, id event.SubID, verb subAct) (err error) {
	o, err := a.Existing()
	if err != nil {
		return err
	}
	d, err := a.Open(ctx, o, false)
	if err != nil {
		return err
	}
	ctx, cancelWithin := d.Within(ctx)
	defer cancelWithin()
	defer func() { err = d.Leave(err) }()
	sub, err := d.Store.Subscription(id)
	if errors.Is(err, event.ErrNotFound) {
		return program.NoSubscription(id)
	} else if err != nil {
		return err
	}
	a.reachServer(ctx, d, sub.Key.Server)
	limited, cancel := context.WithTimeout(ctx, program.RequestWithin)
	defer cancel()
	return program.Stopped(ctx, verb(d, limited, id))
}

// reachServer connects to the server of a subscription, and says so if the server cannot be
// told of a change. A server that the attached process knows need not be configured here.
func (a *app) reachServer(ctx context.Context, d *program.OpenHost, name string) {
	if !knows(d, name) {
		servers, err := a.Servers([]string{name})
		if err == nil {
			err = d.Named(ctx, servers)
		}
		if err != nil {
			// It is not configured any more: the subscription can only be changed here.
			a.Say("the server cannot be told: %s", plain.Message(err))
			return
		}
		d.AddServer(servers[0])
	}
	if _, err := d.Connect(ctx, name); err != nil {
		a.Say("the server cannot be told now: %s", plain.Message(err))
	}
}

// knows reports whether the process that this one is attached to has the server.
func knows(d *program.OpenHost, name string) bool {
	return d.Client != nil && slices.ContainsFunc(d.Snapshot().Servers, func(s host.ServerView) bool { return s.Name == name })
}
