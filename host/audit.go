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

// auditEntry returns the entry of an act on a subscription that was done.
func (h *Host) auditEntry(actor event.Actor, action string, sub event.Subscription, detail string) event.AuditEntry {
	e := event.Act(h.opts.Now(), actor, action, sub)
	e.Detail = trust.Unescaped(detail)
	return e
}

// audit stores an entry that belongs to no change of a subscription. A failure to store it is
// logged and does not undo the act.
func (h *Host) audit(ctx context.Context, e event.AuditEntry) {
	if err := h.opts.Store.Audit(ctx, e); err != nil && !errors.Is(err, event.ErrClosed) {
		h.opts.Log.Error("an act could not be noted in the audit log", "action", e.Action, "err", err)
	}
	h.notify()
}

// auditFailure stores the entry of an act of the operator that failed with err, and returns
// err. nil is no failure.
func (h *Host) auditFailure(ctx context.Context, action string, sub event.Subscription, err error) error {
	if err == nil {
		return nil
	}
	e := h.auditEntry(event.ActorOperator, action, sub, "")
	e.Result = "failed"
	e.Detail = trust.OfError(err)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	h.audit(ctx, e)
	return err
}
