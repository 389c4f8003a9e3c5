package host

import (
	"context"
	"errors"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
)

// Audit implements [API].
func (h *Host) Audit() *eventlog.Audit { return eventlog.NewAudit(h.opts.Store) }

// act returns the entry of an act on a subscription that was done.
func (h *Host) act(actor event.Actor, action string, sub event.Subscription, detail string) event.AuditEntry {
	e := event.Act(h.opts.Now(), actor, action, sub)
	e.Detail = trust.Unescaped(detail)
	return e
}

// note keeps an entry that belongs to no change of a subscription. An act is not
// undone because it could not be noted; that is logged.
func (h *Host) note(ctx context.Context, e event.AuditEntry) {
	if err := h.opts.Store.Audit(ctx, e); err != nil && !errors.Is(err, event.ErrClosed) {
		h.opts.Log.Error("an act could not be noted in the audit log", "action", e.Action, "err", err)
	}
	h.notify()
}

// failed notes an act of the operator that was not done, and returns why.
func (h *Host) failed(ctx context.Context, action string, sub event.Subscription, err error) error {
	if err == nil {
		return nil
	}
	e := h.act(event.ActorOperator, action, sub, "")
	e.Result = "failed"
	e.Detail = trust.Unescaped(err.Error())
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	h.note(ctx, e)
	return err
}
