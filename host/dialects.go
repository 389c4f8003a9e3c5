package host

import (
	"context"
	"fmt"
	"time"

	"eventdeck/host/delivery"
	"eventdeck/host/dialect"
	"eventdeck/host/event"
	"eventdeck/host/schema"
)

// DialectName is how a dialect of [event.Type] and [event.Subscription] is shown.
func DialectName(remembered string) string {
	if remembered == "" {
		return "MCP Events"
	}
	return remembered
}

// Firings returns when a subscription on a schedule delivers next after now, at most
// three times and in its own time zone; nil for one that delivers at once.
func Firings(sub event.Subscription, now time.Time) []time.Time {
	if firings := dialect.KindOf(sub.Dialect).Firings; firings != nil {
		return firings(sub.Key.Args, now, nextFirings)
	}
	return nil
}

// expires returns when a subscription ends as it was planned; zero: never.
func expires(sub event.Subscription) time.Time {
	if ends := dialect.KindOf(sub.Dialect).Ends; ends != nil {
		return ends(sub.Key.Args)
	}
	return time.Time{}
}

// listed returns the type of a key as its server listed it last.
func (h *Host) listed(k event.Key) (event.Type, bool) {
	s, err := h.server(k.Server)
	if err != nil {
		return event.Type{}, false
	}
	t, err := find(s.snapshot().Types, k.Type)
	return t, err == nil
}

// checkRequest validates arguments against the type's schema, and then by what its
// dialect can say. Error: [ErrArguments].
func (h *Host) checkRequest(t event.Type, args []byte) error {
	if err := schema.ValidateArguments(t, args); err != nil {
		return schema.Secrets(t, args).Error(err)
	}
	check := dialect.KindOf(t.Dialect).Check
	if check == nil {
		return nil
	}
	if err := check(t, args, h.opts.Now()); err != nil {
		return schema.Secrets(t, args).Error(fmt.Errorf("%w: %w", ErrArguments, err))
	}
	return nil
}

// atServer reports whether the server keeps the subscription beyond a connection.
func atServer(sub event.Subscription) bool {
	return sub.Mode == event.ModeWebhook || lasting(sub)
}

func lasting(sub event.Subscription) bool {
	return sub.Mode == event.ModePush && !sub.Lease.ServerID.IsZero() && dialect.KindOf(sub.Dialect).Lasting
}

// leave tells the server of a subscription, as long as it may take.
func (h *Host) leave(ctx context.Context, sub event.Subscription, tell func(context.Context, delivery.Source, event.Subscription) error) error {
	s, err := h.server(sub.Key.Server)
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

// suspend takes leave for a while: the server holds back what it can hold back.
func (h *Host) suspend(ctx context.Context, sub event.Subscription) {
	if !lasting(sub) {
		h.release(ctx, sub.ID)
		return
	}
	if err := h.leave(ctx, sub, delivery.Suspend); err != nil {
		h.logOf(sub).Warn("the server was not told of the pause; what it sends is dropped", "sub", sub.ID, "err", err)
	}
}

// letGo forgets what a server gave that has ended the subscription: its id, and a
// secret that it made.
func (h *Host) letGo(ctx context.Context, sub event.Subscription) {
	kind := dialect.KindOf(sub.Dialect)
	if !kind.ServerSecret && !kind.Lasting {
		return
	}
	err := h.commit(ctx, event.Batch{Sub: sub.ID, IfKept: true, Update: func(s *event.Subscription) {
		s.Lease = event.Lease{}
		if kind.ServerSecret {
			s.Hook.Secret, s.Hook.Scheme = event.Secret{}, event.SchemeStandard
		}
	}})
	if err != nil {
		h.logOf(sub).Warn("the end of a subscription on its server was not noted", "sub", sub.ID, "err", err)
	}
}
