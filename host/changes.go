package host

import (
	"context"
	"fmt"
	"time"

	"eventdeck/host/event"
)

// overError returns the [ErrStopped] of an act on a subscription that is over.
func overError(sub event.Subscription) error {
	return fmt.Errorf("subscription %s is over (%s, %s): %w; subscribe again to begin anew", sub.ID, sub.State, sub.Evidence, ErrStopped)
}

// Refresh implements [API].
func (subs *subscriptions) Refresh(ctx context.Context, id event.SubID) error {
	l, err := subs.runningOrError(id)
	if err != nil {
		return err
	}
	sub, err := subs.subscription(id)
	if err != nil {
		return err
	}
	if err := l.runner.Refresh(ctx); err != nil {
		return subs.auditFailure(ctx, "refresh", sub, explain(err))
	}
	subs.audit(ctx, subs.auditEntry(event.ActorOperator, "refresh", sub, ""))
	return nil
}

// ResetCursor implements [API].
func (subs *subscriptions) ResetCursor(ctx context.Context, id event.SubID, from From) error {
	sub, unlock, err := subs.lockSub(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	if from.Saved && !from.Cursor.Valid {
		return nil
	}
	evidence := "position set to now by the operator"
	if from.Cursor.Valid {
		evidence = "position set by the operator"
	}
	subs.stopRunning(id)
	record := subs.stateRecord(sub, &event.StateChange{State: event.StateStarting, Evidence: evidence})
	audit := subs.auditEntry(event.ActorOperator, "reset cursor", sub, "")
	audit.Detail = from.Cursor.Text
	err = subs.commitChange(ctx, id, []event.Record{record}, audit, func(s *event.Subscription) {
		s.Reset(from.Cursor)
		s.Resume = event.Secret{} // the server would go on where it stopped
		if !from.Cursor.Valid {
			s.LastSeen = time.Time{} // a new beginning: nothing before it is missed
		}
	})
	subs.restart(id)
	return err
}

// SetEnd implements [API].
func (subs *subscriptions) SetEnd(ctx context.Context, id event.SubID, at time.Time) error {
	sub, unlock, err := subs.lockSub(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	if sub.State.Over() {
		return overError(sub)
	}
	return subs.setEnd(ctx, sub, at)
}

// setEnd stores when a subscription ends, and tells its runner. The caller holds the server's lock.
func (subs *subscriptions) setEnd(ctx context.Context, sub event.Subscription, at time.Time) error {
	if sub.Ends.Equal(at) {
		return nil
	}
	detail := "never"
	if !at.IsZero() {
		detail = at.UTC().Format(time.RFC3339)
	}
	sub.Ends = at.UTC()
	err := subs.commitChange(ctx, sub.ID, nil, subs.auditEntry(event.ActorOperator, "end set", sub, detail), func(s *event.Subscription) { s.Ends = sub.Ends })
	if l := subs.running(sub.ID); err == nil && l != nil {
		l.runner.SetEnd(expires(sub))
	}
	return err
}

// Pause implements [API].
func (subs *subscriptions) Pause(ctx context.Context, id event.SubID) error {
	sub, unlock, err := subs.lockSub(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	if sub.Paused {
		return nil
	}
	if sub.State.Over() { // resuming it would start it again
		return overError(sub)
	}
	subs.stopRunning(id)
	subs.suspend(ctx, sub)
	change := &event.StateChange{State: event.StatePaused, Evidence: "paused by the operator"}
	audit := subs.auditEntry(event.ActorOperator, "pause", sub, "")
	err = subs.commitChange(ctx, id, []event.Record{subs.stateRecord(sub, change)}, audit, func(s *event.Subscription) {
		s.Paused, s.State, s.Evidence = true, change.State, change.Evidence
	})
	if err != nil {
		subs.restart(id)
	}
	return err
}

// Resume implements [API].
func (subs *subscriptions) Resume(ctx context.Context, id event.SubID) error {
	sub, unlock, err := subs.lockSub(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	if !sub.Paused {
		if sub.State.Over() {
			return overError(sub)
		}
		return nil
	}
	err = subs.commitChange(ctx, id, nil, subs.auditEntry(event.ActorOperator, "resume", sub, ""), func(s *event.Subscription) {
		s.Paused, s.State, s.Evidence = false, event.StateResumed, "resumed by the operator"
	})
	if err != nil {
		return err
	}
	subs.restart(id)
	subs.notify()
	return nil
}

// Printed implements [API].
func (subs *subscriptions) Printed(ctx context.Context, id event.SubID, seq uint64) error {
	if _, err := subs.subscription(id); err != nil {
		return err
	}
	return subs.tryCommit(ctx, id, nil, func(s *event.Subscription) { s.Printed = max(s.Printed, seq) })
}
