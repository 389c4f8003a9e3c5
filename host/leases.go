package host

import (
	"context"
	"time"

	"eventdeck/host/delivery"
	"eventdeck/host/dialect"
	"eventdeck/host/event"
)

// releaseWithin bounds the wait for a server to end a subscription.
const releaseWithin = 5 * time.Second

// atServer reports whether the server keeps the subscription when the connection ends.
func atServer(sub event.Subscription) bool {
	return sub.Mode == event.ModeWebhook || lasting(sub)
}

// lasting reports whether the server keeps a push subscription when its stream ends.
func lasting(sub event.Subscription) bool {
	return sub.Mode == event.ModePush && !sub.Lease.ServerID.IsZero() && dialect.KindOf(sub.Dialect).Lasting
}

// tellServer tells a server of the end or the pause of a subscription, within releaseWithin.
func (subs *subscriptions) tellServer(ctx context.Context, sub event.Subscription, tell func(context.Context, delivery.Source, event.Subscription) error) error {
	s, err := subs.servers.server(sub.Key.Server)
	if err != nil {
		return err
	}
	if err := s.awayFor(releaseWithin); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, releaseWithin)
	defer cancel()
	return tell(ctx, s, sub)
}

// releaseSub ends a subscription on its server if the server keeps it. If the server does not
// confirm that, it becomes an orphan (field notes 14). The subscription must not run.
func (subs *subscriptions) releaseSub(ctx context.Context, id event.SubID) {
	sub, err := subs.opts.Store.Subscription(id)
	if err != nil || !atServer(sub) {
		return
	}
	if err := subs.tellServer(ctx, sub, delivery.Release); err != nil {
		subs.logOf(sub).Warn("the lease stays on the server until it ends there", "sub", id, "err", err)
		subs.orphan(ctx, sub)
		return
	}
	subs.dropHeld(ctx, sub)
}

// suspend has the server stop delivering a subscription that is being paused. A subscription that
// the server cannot suspend is ended there.
func (subs *subscriptions) suspend(ctx context.Context, sub event.Subscription) {
	if !lasting(sub) {
		subs.releaseSub(ctx, sub.ID)
		return
	}
	if err := subs.tellServer(ctx, sub, delivery.Suspend); err != nil {
		subs.logOf(sub).Warn("the server was not told of the pause; what it sends is dropped", "sub", sub.ID, "err", err)
	}
}

// dropHeld drops the lease of a subscription that was ended on its server, and the secret that the
// server made.
func (subs *subscriptions) dropHeld(ctx context.Context, sub event.Subscription) {
	kind := dialect.KindOf(sub.Dialect)
	if !kind.ServerSecret && !kind.Lasting {
		return
	}
	err := subs.commit(ctx, event.Batch{Sub: sub.ID, IfKept: true, Update: func(s *event.Subscription) {
		delivery.Released(s, kind.ServerSecret)
	}})
	if err != nil {
		subs.logOf(sub).Warn("the end of a subscription on its server was not noted", "sub", sub.ID, "err", err)
	}
}

// nudge refreshes the leases of a server that may have forgotten them.
func (subs *subscriptions) nudge(server string) {
	for _, sub := range subs.storedOf(server) {
		if l := subs.running(sub.ID); l != nil && sub.Mode == event.ModeWebhook {
			l.runner.Nudge()
		}
	}
}
