package host

import (
	"context"
	"errors"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// auditEntry returns the entry of an act on a subscription that was done.
func (c *core) auditEntry(actor event.Actor, action string, sub event.Subscription, detail string) event.AuditEntry {
	e := event.Act(c.opts.Now(), actor, action, sub)
	e.Detail = trust.Unescaped(detail)
	return e
}

// audit stores an entry that belongs to no change of a subscription. A failure to store it is
// logged and does not undo the act.
func (c *core) audit(ctx context.Context, e event.AuditEntry) {
	if err := c.opts.Store.Audit(ctx, e); err != nil && !errors.Is(err, event.ErrClosed) {
		c.opts.Log.Error("an act could not be noted in the audit log", "action", e.Action, "err", err)
	}
	c.notify()
}

// auditFailure stores the entry of an act of the operator that failed with err, and returns
// err. nil is no failure.
func (c *core) auditFailure(ctx context.Context, action string, sub event.Subscription, err error) error {
	if err == nil {
		return nil
	}
	e := c.auditEntry(event.ActorOperator, action, sub, "")
	e.Result = "failed"
	e.Detail = trust.OfError(err)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	c.audit(ctx, e)
	return err
}

// serverEntry returns the entry of the audit log for an act of the operator on a server.
func (c *core) serverEntry(action, name string) event.AuditEntry {
	return c.auditEntry(event.ActorOperator, action, event.Subscription{Key: event.Key{Server: name}}, "")
}
