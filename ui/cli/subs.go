package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/export"
	"eventdeck/host/trust"
)

func (a *app) subsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "subs",
		Short: "List and change the subscriptions that are kept",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("there is no command subs %q%s; use list, rm, pause, resume, mode, failover, refresh or rotate", args[0], meantCommand(cmd, args[0]))
			}
			return usagef("subs: say what to do: list, rm ID, pause ID, resume ID, mode ID MODE, failover ID on|off, refresh ID or rotate ID")
		},
		Run: func(*cobra.Command, []string) {},
	}
	list := &cobra.Command{
		Use:   "list",
		Short: "List the subscriptions that are kept",
		Args:  exactly(0),
		Run:   a.run(func(cmd *cobra.Command, _ []string) error { return a.listSubs(cmd.Context()) }),
	}
	cmd.AddCommand(list,
		a.subVerb("rm", "End a subscription here and on its server; its records stay",
			func(ctx context.Context, d *deck, id event.SubID) error { return d.Unsubscribe(ctx, id) }),
		a.subVerb("pause", "Stop delivery and keep the position",
			func(ctx context.Context, d *deck, id event.SubID) error { return d.Pause(ctx, id) }),
		a.subVerb("resume", "Go on where a paused subscription stopped",
			func(ctx context.Context, d *deck, id event.SubID) error { return d.Resume(ctx, id) }),
		a.subVerb("refresh", "Poll, refresh the lease or open the stream again now",
			func(ctx context.Context, d *deck, id event.SubID) error { return d.Refresh(ctx, id) }),
		a.subVerb("rotate", "Give a webhook subscription a new secret; the old one is accepted for a while",
			func(ctx context.Context, d *deck, id event.SubID) error { return d.RotateSecret(ctx, id) }),
		a.subChoice("mode", "Go on in another mode, at the same position; in the one before where the server refuses", []cobra.Completion{"poll", "push", "webhook"},
			func(ctx context.Context, d *deck, id event.SubID, mode string) error {
				return d.SetMode(ctx, id, event.Mode(mode))
			}),
		a.subChoice("failover", "Go on in another mode when its own keeps failing, and come back", []cobra.Completion{"on", "off"},
			func(ctx context.Context, d *deck, id event.SubID, word string) error {
				return d.SetFailover(ctx, id, word == "on")
			}),
	)
	return cmd
}

func (a *app) subVerb(name, short string, verb func(context.Context, *deck, event.SubID) error) *cobra.Command {
	return &cobra.Command{
		Use:   name + " ID",
		Short: short,
		Args:  exactly(1),
		Run: a.run(func(cmd *cobra.Command, args []string) error {
			return a.changeSub(cmd.Context(), event.SubID(args[0]), verb)
		}),
	}
}

// subChoice is subVerb with one of a few words behind the id.
func (a *app) subChoice(name, short string, words []cobra.Completion, verb func(context.Context, *deck, event.SubID, string) error) *cobra.Command {
	return &cobra.Command{
		Use:   name + " ID " + strings.Join(words, "|"),
		Short: short,
		Args:  exactly(2),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return words, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		Run: a.run(func(cmd *cobra.Command, args []string) error {
			word := args[1]
			if !slices.Contains(words, word) {
				return usagef("subs %s: %q must be one of %s", name, word, strings.Join(words, ", "))
			}
			return a.changeSub(cmd.Context(), event.SubID(args[0]), func(ctx context.Context, d *deck, id event.SubID) error {
				return verb(ctx, d, id, word)
			})
		}),
	}
}

// changeSub finds a subscription, connects to its server and does something to
// it.
func (a *app) changeSub(ctx context.Context, id event.SubID, verb func(context.Context, *deck, event.SubID) error) (err error) {
	o, there, err := a.existing()
	if err != nil {
		return err
	}
	if !there {
		return noSubscription(id)
	}
	d, err := a.open(ctx, o, false)
	if err != nil {
		return err
	}
	ctx, cancelWithin := d.within(ctx)
	defer cancelWithin()
	defer func() { err = d.leave(err) }()
	sub, err := d.store.Subscription(id)
	if errors.Is(err, event.ErrNotFound) {
		return noSubscription(id)
	} else if err != nil {
		return err
	}
	servers, err := a.servers([]string{sub.Key.Server})
	if err == nil {
		err = d.named(ctx, servers)
	}
	if err != nil {
		// Its server was taken out of the configuration: the subscription can only
		// be changed here.
		a.say("the server cannot be told: %s", message(err))
	} else {
		d.AddServer(servers[0])
		if _, err := d.connect(ctx, servers[0].Name); err != nil {
			a.say("the server cannot be told now: %s", message(err))
		}
	}
	limited, cancel := context.WithTimeout(ctx, requestWithin)
	defer cancel()
	return stopped(ctx, verb(limited, d, id))
}

func noSubscription(id event.SubID) error {
	return fmt.Errorf("there is no subscription %q; `eventdeck subs list` shows the ids", string(id))
}

func (a *app) listSubs(ctx context.Context) (err error) {
	o, there, err := a.existing()
	if err != nil || !there {
		return err
	}
	store, err := a.openStore(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	subs := store.Subscriptions()
	if a.flags.json {
		var b []byte
		for _, s := range subs {
			b = appendSubscription(b, s)
		}
		_, err = a.Stdout.Write(b)
		return err
	}
	if len(subs) == 0 {
		a.say("no subscription is kept in %s", store.Info().Path)
		return nil
	}
	t := &table{}
	t.add("ID", "SERVER", "TYPE", "ARGUMENTS", "MODE", "DIALECT", "STATE")
	for _, s := range subs {
		t.add(string(s.ID), safe(s.Key.Server), plain(s.Key.Type), plainJSON(s.ShownArgs()), string(s.Mode), dialectOf(s), subState(s))
	}
	return t.write(a.Stdout)
}

// dialectOf is how its events are said, and whether they can be asked for again.
func dialectOf(s event.Subscription) string {
	if s.NoReplay {
		return host.DialectName(s.Dialect) + ", no replay"
	}
	return host.DialectName(s.Dialect)
}

// subState is what was last known of it, in words.
func subState(s event.Subscription) string {
	words := []string{string(s.State)}
	switch {
	case s.Paused:
		words[0] = string(event.StatePaused)
	case s.State == event.StateResumed:
		return "goes on when the host next runs"
	}
	if s.Evidence != "" {
		words = append(words, safe(s.Evidence))
	}
	if !s.Error.IsZero() {
		words = append(words, plain(s.Error))
	}
	if next := host.Firings(s, time.Now()); len(next) > 0 && !s.Paused {
		words = append(words, "delivers "+next[0].Format("2006-01-02 15:04 MST"))
	}
	if !s.Lease.RefreshBefore.IsZero() {
		words = append(words, "lease until "+s.Lease.RefreshBefore.Local().Format(time.DateTime))
	}
	return strings.Join(words, ", ")
}

// appendSubscription appends the subscription as one line of JSON, without
// secrets.
func appendSubscription(b []byte, s event.Subscription) []byte {
	b = append(b, `{"id":`...)
	b = trust.AppendJSONString(b, string(s.ID))
	b = export.AppendString(b, "server", s.Key.Server)
	b = export.AppendText(b, "type", s.Key.Type)
	b = export.AppendName(b, "arguments")
	if args := s.ShownArgs(); len(args) > 0 {
		b = trust.AppendCompactJSON(b, args)
	} else {
		b = append(b, "{}"...)
	}
	b = export.AppendString(b, "mode", string(s.Mode))
	b = export.AppendString(b, "dialect", host.DialectName(s.Dialect))
	b = export.AppendName(b, "noReplay")
	b = fmt.Appendf(b, "%t", s.NoReplay)
	b = export.AppendName(b, "failover")
	b = fmt.Appendf(b, "%t", s.Failover)
	b = export.AppendString(b, "preferred", string(cmp.Or(s.Preferred, s.Mode)))
	b = export.AppendString(b, "state", string(s.State))
	b = export.AppendString(b, "evidence", s.Evidence)
	b = export.AppendText(b, "error", s.Error)
	b = export.AppendName(b, "paused")
	b = fmt.Appendf(b, "%t", s.Paused)
	b = export.AppendName(b, "cursor")
	if s.Cursor.Valid {
		b = trust.AppendJSONString(b, s.Cursor.Text.Raw())
	} else {
		b = append(b, "null"...)
	}
	b = export.AppendTime(b, "created", s.Created)
	b = export.AppendTime(b, "lastSeen", s.LastSeen)
	b = export.AppendTime(b, "refreshBefore", s.Lease.RefreshBefore)
	b = export.AppendName(b, "printed")
	b = fmt.Appendf(b, "%d", s.Printed)
	return append(b, '}', '\n')
}
