package host

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"eventdeck/host/delivery"
	"eventdeck/host/dialect"
	"eventdeck/host/event"
	"eventdeck/host/schema"
)

// DialectName returns the name that is shown for the dialect of an [event.Type] or an
// [event.Subscription].
func DialectName(dialect string) string { return cmp.Or(dialect, "MCP Events") }

// Firings returns when a subscription on a schedule delivers next after now, at most
// three times and in its own time zone; nil for one that delivers at once.
func Firings(sub event.Subscription, now time.Time) []time.Time {
	if firings := dialect.KindOf(sub.Dialect).Firings; firings != nil {
		return firings(sub.Key.Args, now, nextFirings)
	}
	return nil
}

// expires returns when a subscription ends as it was planned, by the operator or by its arguments;
// zero: never.
func expires(sub event.Subscription) time.Time {
	if ends := dialect.KindOf(sub.Dialect).Ends; ends != nil {
		if end := ends(sub.Key.Args); sub.Ends.IsZero() || !end.IsZero() && end.Before(sub.Ends) {
			return end
		}
	}
	return sub.Ends
}

// listedType returns the type of a key as its server listed it last.
func (h *Host) listedType(k event.Key) (event.Type, bool) {
	s, err := h.server(k.Server)
	if err != nil {
		return event.Type{}, false
	}
	t, err := findType(s.snapshot().Types, k.Server, k.Type)
	return t, err == nil
}

// checkRequest validates arguments against the type's schema and by the rules of its dialect.
// Error: [ErrArguments].
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

// atServer reports whether the server keeps the subscription when the connection ends.
func atServer(sub event.Subscription) bool {
	return sub.Mode == event.ModeWebhook || lasting(sub)
}

// lasting reports whether the server keeps a push subscription when its stream ends.
func lasting(sub event.Subscription) bool {
	return sub.Mode == event.ModePush && !sub.Lease.ServerID.IsZero() && dialect.KindOf(sub.Dialect).Lasting
}

// tellServer tells a server of the end or the pause of a subscription, within releaseWithin.
func (h *Host) tellServer(ctx context.Context, sub event.Subscription, tell func(context.Context, delivery.Source, event.Subscription) error) error {
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

// suspend has the server stop delivering a subscription that is being paused. A subscription that
// the server cannot suspend is ended there.
func (h *Host) suspend(ctx context.Context, sub event.Subscription) {
	if !lasting(sub) {
		h.releaseSub(ctx, sub.ID)
		return
	}
	if err := h.tellServer(ctx, sub, delivery.Suspend); err != nil {
		h.logOf(sub).Warn("the server was not told of the pause; what it sends is dropped", "sub", sub.ID, "err", err)
	}
}

// dropHeld drops the lease of a subscription that was ended on its server, and the secret that the
// server made.
func (h *Host) dropHeld(ctx context.Context, sub event.Subscription) {
	kind := dialect.KindOf(sub.Dialect)
	if !kind.ServerSecret && !kind.Lasting {
		return
	}
	err := h.commit(ctx, event.Batch{Sub: sub.ID, IfKept: true, Update: func(s *event.Subscription) {
		delivery.Released(s, kind.ServerSecret)
	}})
	if err != nil {
		h.logOf(sub).Warn("the end of a subscription on its server was not noted", "sub", sub.ID, "err", err)
	}
}
