package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
	"eventdeck/ui/cli/usage"
)

func (a *app) subsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "subs",
		Short: "List and change stored subscriptions",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage.Errorf("there is no command subs %q%s; use list, rm, pause, resume, mode, failover, refresh or rotate", args[0], usage.Meant(cmd, args[0]))
			}
			return usage.Errorf("subs: say what to do: list, rm ID, pause ID, resume ID, mode ID MODE, failover ID on|off, refresh ID or rotate ID")
		},
		Run: func(*cobra.Command, []string) {},
	}
	list := &cobra.Command{
		Use:   "list",
		Short: "List stored subscriptions",
		Args:  usage.Exactly(0),
		Run:   a.Run(func(cmd *cobra.Command, _ []string) error { return a.listSubs(cmd.Context()) }),
	}
	cmd.AddCommand(list,
		a.subVerb("rm", "End a subscription here and on its server; its records stay", host.Actor.Unsubscribe),
		a.subVerb("pause", "Stop delivery and keep the position", host.Actor.Pause),
		a.subVerb("resume", "Go on where a paused subscription stopped", host.Actor.Resume),
		a.subVerb("refresh", "Poll, refresh the lease or open the stream again now", host.Actor.Refresh),
		a.subVerb("rotate", "Give a webhook subscription a new secret; the old one is accepted for a while", host.Actor.RotateSecret),
		a.subChoice("mode", "Switch to another mode at the same position; back if the server refuses", []cobra.Completion{"poll", "push", "webhook"},
			func(h host.Actor, ctx context.Context, id event.SubID, mode string) error {
				return h.SetMode(ctx, id, event.Mode(mode))
			}),
		a.subChoice("failover", "Turn failover on or off: another mode while its own keeps failing", []cobra.Completion{"on", "off"},
			func(h host.Actor, ctx context.Context, id event.SubID, word string) error {
				return h.SetFailover(ctx, id, word == "on")
			}),
	)
	return cmd
}

func (a *app) subVerb(name, short string, verb func(host.Actor, context.Context, event.SubID) error) *cobra.Command {
	return &cobra.Command{
		Use:   name + " ID",
		Short: short,
		Args:  usage.Exactly(1),
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
			return a.changeSub(cmd.Context(), event.SubID(args[0]), verb)
		}),
	}
}

// subChoice is subVerb for a command that takes one of a few words behind the id.
func (a *app) subChoice(name, short string, words []cobra.Completion, verb func(host.Actor, context.Context, event.SubID, string) error) *cobra.Command {
	return &cobra.Command{
		Use:   name + " ID " + strings.Join(words, "|"),
		Short: short,
		Args:  usage.Exactly(2),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return words, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
			word := args[1]
			if !slices.Contains(words, word) {
				return usage.Errorf("subs %s: %q must be one of %s", name, word, strings.Join(words, ", "))
			}
			return a.changeSub(cmd.Context(), event.SubID(args[0]), func(h host.Actor, ctx context.Context, id event.SubID) error {
				return verb(h, ctx, id, word)
			})
		}),
	}
}

// changeSub finds a subscription, connects to its server and does something to
// it.
func (a *app) changeSub(ctx context.Context, id event.SubID, verb func(host.Actor, context.Context, event.SubID) error) (err error) {
	o, there, err := a.Existing()
	if err != nil {
		return err
	}
	if !there {
		return program.NoSubscription(id)
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
