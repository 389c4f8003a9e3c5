package host

import (
	"context"

	"eventdeck/host/event"
)

// commitChange commits a change of a subscription with its entry of the audit log.
func (c *core) commitChange(ctx context.Context, id event.SubID, records []event.Record, audit event.AuditEntry, change func(*event.Subscription)) error {
	return c.commit(ctx, event.Batch{Sub: id, Records: records, Audit: []event.AuditEntry{audit}, Update: change})
}

// commit commits a batch. Once the batch is queued it waits for the store, even if ctx ends: the
// caller must know whether it is stored.
func (c *core) commit(ctx context.Context, b event.Batch) error {
	done := make(chan error, 1)
	b.Done = func(_ event.Outcome, err error) { done <- err }
	if err := c.opts.Store.Submit(ctx, b); err != nil {
		return err
	}
	err := <-done
	c.notify()
	return err
}

// tryCommit commits a change of a subscription, unless that was removed. It waits no longer than
// ctx: the caller does not need to know whether the change was committed.
func (c *core) tryCommit(ctx context.Context, id event.SubID, records []event.Record, change func(*event.Subscription)) error {
	done := make(chan error, 1)
	err := c.opts.Store.Submit(ctx, event.Batch{
		Sub: id, IfKept: true, Records: records, Update: change,
		Done: func(_ event.Outcome, err error) { done <- err },
	})
	if err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// stateRecord returns the record of a change of state.
func (c *core) stateRecord(sub event.Subscription, change *event.StateChange) event.Record {
	return event.Record{
		Kind: event.KindState, Sub: sub.ID, Server: sub.Key.Server, Type: sub.Key.Type,
		Mode: sub.Mode, ReceivedAt: c.opts.Now().UTC(), State: change,
	}
}
