package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
)

func (a *app) listSubs(ctx context.Context) error {
	o, err := a.Existing()
	if err != nil {
		return a.Listed(err)
	}
	subs, path, err := a.lookAtSubs(ctx, o)
	if err != nil {
		return err
	}
	if a.Flags.JSON {
		var b []byte
		for _, s := range subs {
			b = append(host.AppendSubscription(b, s), '\n')
		}
		return a.Print(b)
	}
	if len(subs) == 0 {
		a.Say("no subscription is kept in %s", path)
		return nil
	}
	t := &plain.Table{}
	t.Add("ID", "SERVER", "TYPE", "ARGUMENTS", "MODE", "DIALECT", "STATE")
	for _, s := range subs {
		t.Add(string(s.ID), plain.Safe(s.Key.Server), plain.Text(s.Key.Type), plain.JSON(s.ShownArgs()), string(s.Mode), dialectOf(s.Subscription), subState(s, a.Now()))
	}
	return a.PrintTable(t)
}

// lookAtSubs returns the subscriptions as the process that runs them shows them, or else as
// they were when last seen.
func (a *app) lookAtSubs(ctx context.Context, o program.StoreOptions) (subs []host.SubscriptionView, path string, err error) {
	store, client, err := a.OpenOrAttach(ctx, o)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	path = store.Info().Path
	if client != nil {
		return client.Snapshot().Subs, path, nil
	}
	refused := store.Refusals()
	for _, sub := range store.Subscriptions() {
		subs = append(subs, host.Stored(sub, refused))
	}
	return subs, path, nil
}

// dialectOf is the dialect of a subscription, and whether its events can be replayed.
func dialectOf(s event.Subscription) string {
	if s.NoReplay {
		return host.DialectName(s.Dialect) + ", no replay"
	}
	return host.DialectName(s.Dialect)
}

// subState is the state of a subscription in words.
func subState(v host.SubscriptionView, now time.Time) string {
	words := append([]string{stateWords(v)}, whyWords(v)...)
	if next := host.Firings(v.Subscription, now); len(next) > 0 && !v.Paused {
		words = append(words, "delivers "+next[0].Format("2006-01-02 15:04 MST"))
	}
	if until := v.Status.Lease.RefreshBefore; !until.IsZero() {
		words = append(words, "lease until "+until.Local().Format(time.DateTime))
	}
	if !v.Expires.IsZero() && !v.State.Over() {
		words = append(words, "ends "+v.Expires.Local().Format(time.DateTime))
	}
	return strings.Join(words, ", ")
}

// stateWords is the state, or the last known state of a subscription that is not running.
func stateWords(v host.SubscriptionView) string {
	switch {
	case v.Waits():
		return "waiting for the server"
	case v.Running:
		return string(v.Status.State)
	case v.Paused:
		return "not running, paused"
	case v.LastSeen.IsZero():
		return "not running, was " + string(v.State)
	}
	return "not running, " + string(v.State) + " when last seen at " + v.LastSeen.Local().Format(time.DateTime)
}

// whyWords say why a subscription is in its state, if the state needs a reason.
func whyWords(v host.SubscriptionView) (words []string) {
	s := v.Status
	why := ""
	if v.InTrouble() {
		why = v.Why(func(t time.Time) string { return t.Local().Format(time.DateTime) })
	}
	switch {
	case s.Reason == event.ReasonRefused && !s.Error.IsZero(): // the error says it with its cause
	case why != "":
		words = append(words, plain.Safe(why))
	case s.Reason != "":
		words = append(words, s.Reason.Words())
	case v.Evidence != "" && (!v.Running || s.State == v.State):
		words = append(words, plain.Safe(v.Evidence))
	}
	if !s.Error.IsZero() && (why == "" || s.Reason == event.ReasonRefused) {
		words = append(words, plain.Text(s.Error))
	}
	if !v.Running && s.Proof == event.ProofProving {
		words = append(words, "then it was not shown yet that nothing is missing")
	}
	if s.Refused.Count > 0 && s.Reason != event.ReasonRefused {
		words = append(words, fmt.Sprintf("%s refused until %s: %s", event.Some(s.Refused.Count, "delivery was", "deliveries were"),
			s.Refused.Last.Local().Format(time.DateTime), plain.Safe(s.Refused.Reason)))
	}
	return words
}
