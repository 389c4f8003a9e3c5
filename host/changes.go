package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// overError returns the [ErrStopped] of an act on a subscription that is over.
func overError(sub event.Subscription) error {
	return fmt.Errorf("subscription %s is over (%s, %s): %w; subscribe again to begin anew", sub.ID, sub.State, sub.Evidence, ErrStopped)
}

// runningOrError returns the runner of a subscription.
//
// Errors: [event.ErrNotFound], [ErrUnknownServer], [ErrStopped] with the reason.
func (h *Host) runningOrError(id event.SubID) (*running, error) {
	if l := h.running(id); l != nil {
		return l, nil
	}
	sub, err := h.subscription(id)
	switch {
	case err != nil:
		return nil, err
	case sub.Paused:
		return nil, fmt.Errorf("subscription %s is paused: %w; resume it first", id, ErrStopped)
	case sub.State.Over():
		return nil, overError(sub)
	}
	_, err = h.server(sub.Key.Server)
	if err == nil {
		err = ErrStopped
	}
	return nil, fmt.Errorf("subscription %s: %w", id, err)
}

// SetMode implements [API].
func (h *Host) SetMode(ctx context.Context, id event.SubID, m event.Mode) error {
	sub, err := h.subscription(id)
	if err != nil {
		return err
	}
	mode, _, err := h.check(ctx, Request{Server: sub.Key.Server, Type: sub.Key.Type, Args: sub.Key.Args, Mode: m})
	if err == nil && mode == event.ModeWebhook {
		err = h.hooks.Ready(ctx, sub.Key.Server)
	}
	if err != nil {
		return h.auditFailure(ctx, delivery.ActionSwitched, sub, err)
	}
	if err := h.tryMode(ctx, id, mode); err != nil {
		return h.auditFailure(ctx, delivery.ActionSwitched, sub, err)
	}
	return nil
}

// tryMode goes on in another mode. If the server does not accept it, tryMode goes back to the
// previous mode and returns why.
func (h *Host) tryMode(ctx context.Context, id event.SubID, mode event.Mode) error {
	before, l, err := h.switchMode(ctx, id, mode, "by the operator", nil)
	if err != nil || l == nil {
		return err // paused, or nothing to change
	}
	within, cancel := context.WithTimeoutCause(ctx, h.opts.Timing.ConnectWithin, errNotAnswered)
	defer cancel()
	err = l.runner.Answered(within)
	if now := l.runner.Status(); err == nil && now.Mode != mode {
		err = fmt.Errorf("%w: %v", ErrMode, now.Error) // a failover went on in another one
	}
	if err == nil || errors.Is(err, ErrUnconfirmed) || errors.Is(err, ErrStopped) {
		return explain(err)
	}
	back, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	return errors.Join(fmt.Errorf("%s was not taken, the mode is still %s: %w", mode, before.Mode, explain(err)), h.restoreMode(back, before, mode, err))
}

// errNotAnswered: the server did not answer in time to the first request of another mode.
var errNotAnswered = errors.New("the server did not answer in time")

// switchMode stores another mode and goes on in it. It returns the previous subscription, and its
// runner; nil: it does not run, or there was nothing to change.
func (h *Host) switchMode(ctx context.Context, id event.SubID, mode event.Mode, why string, cause error) (event.Subscription, *running, error) {
	sub, mu, err := h.lockSub(ctx, id)
	if err != nil {
		return sub, nil, err
	}
	defer mu.unlock()
	if sub.Mode == mode && sub.Preferred == "" && !sub.State.Over() {
		return sub, nil, nil
	}
	err = h.changeMode(ctx, sub, mode, why, cause, func(s *event.Subscription) { s.Preferred = "" })
	return sub, h.running(id), err
}

// restoreMode goes on in the mode of before, unless the operator has changed it or paused the
// subscription meanwhile.
func (h *Host) restoreMode(ctx context.Context, before event.Subscription, from event.Mode, cause error) error {
	sub, mu, err := h.lockSub(ctx, before.ID)
	if errors.Is(err, event.ErrNotFound) {
		return nil // removed meanwhile
	} else if err != nil {
		return err
	}
	defer mu.unlock()
	if sub.Mode == before.Mode && sub.Preferred == before.Preferred || sub.Paused {
		return nil
	}
	return h.changeMode(ctx, sub, before.Mode, "the server did not take "+string(from), cause, func(s *event.Subscription) {
		s.Preferred = before.Preferred
		if before.State.Over() {
			s.State, s.Evidence, s.Error = before.State, before.Evidence, before.Error
		}
	})
}

// changeMode stores another mode together with the change more, and goes on in it. The caller
// holds the server's lock.
func (h *Host) changeMode(ctx context.Context, sub event.Subscription, mode event.Mode, why string, cause error, more func(*event.Subscription)) error {
	h.stopRunning(sub.ID)
	if sub.Mode != mode {
		h.releaseSub(ctx, sub.ID)
	}
	change := delivery.Switched(sub.Mode, mode, why, cause)
	record := h.stateRecord(sub, change)
	record.Mode = mode
	actor := event.ActorOperator
	if cause != nil {
		actor = event.ActorHost
	}
	audit := h.auditEntry(actor, delivery.ActionSwitched, sub, fmt.Sprintf("%s -> %s", sub.Mode, mode))
	err := h.commitChange(ctx, sub.ID, []event.Record{record}, audit, func(s *event.Subscription) {
		if s.Mode != mode {
			s.Lease = event.Lease{} // ended, or that of an orphan
		}
		s.Mode = mode
		if !s.Paused {
			s.State, s.Evidence, s.Error = event.StateStarting, change.Evidence, trust.Text{}
		}
		more(s)
	})
	h.restart(sub.ID)
	return err
}

// SetFailover implements [API].
func (h *Host) SetFailover(ctx context.Context, id event.SubID, on bool) error {
	sub, mu, err := h.lockSub(ctx, id)
	if err != nil {
		return err
	}
	defer mu.unlock()
	if sub.Failover == on {
		return nil
	}
	action := "failover off"
	if on {
		action = "failover on"
	}
	l := h.running(id)
	var mode event.Mode
	err = h.commitChange(ctx, id, nil, h.auditEntry(event.ActorOperator, action, sub, ""), func(s *event.Subscription) {
		s.Failover, s.Preferred = on, ""
		mode = s.Mode
	})
	if err == nil && l != nil {
		l.runner.SetFailover(on, mode)
	}
	return err
}

// modes returns the modes that a subscription may run in. Webhook is among them
// only where deliveries can reach this host: there is a callback address, or the
// subscription had one before.
func (h *Host) modes(k event.Key) []event.Mode {
	s, err := h.server(k.Server)
	if err != nil {
		return nil
	}
	t, err := findType(s.snapshot().Types, k.Server, k.Type)
	if err != nil {
		return nil
	}
	sub, err := h.opts.Store.Subscription(k.ID())
	reachable := h.opts.CallbackURL != "" || err == nil && sub.Hook.Path != ""
	var modes []event.Mode
	for _, m := range t.Modes {
		if m != event.ModeWebhook || reachable {
			modes = append(modes, m)
		}
	}
	return modes
}

// Refresh implements [API].
func (h *Host) Refresh(ctx context.Context, id event.SubID) error {
	l, err := h.runningOrError(id)
	if err != nil {
		return err
	}
	sub, err := h.subscription(id)
	if err != nil {
		return err
	}
	if err := l.runner.Refresh(ctx); err != nil {
		return h.auditFailure(ctx, "refresh", sub, explain(err))
	}
	h.audit(ctx, h.auditEntry(event.ActorOperator, "refresh", sub, ""))
	return nil
}

// ResetCursor implements [API].
func (h *Host) ResetCursor(ctx context.Context, id event.SubID, from From) error {
	sub, mu, err := h.lockSub(ctx, id)
	if err != nil {
		return err
	}
	defer mu.unlock()
	if from.Saved && !from.Cursor.Valid {
		return nil
	}
	evidence := "position set to now by the operator"
	if from.Cursor.Valid {
		evidence = "position set by the operator"
	}
	h.stopRunning(id)
	record := h.stateRecord(sub, &event.StateChange{State: event.StateStarting, Evidence: evidence})
	audit := h.auditEntry(event.ActorOperator, "reset cursor", sub, "")
	audit.Detail = from.Cursor.Text
	err = h.commitChange(ctx, id, []event.Record{record}, audit, func(s *event.Subscription) {
		s.Reset(from.Cursor)
		s.Resume = event.Secret{} // the server would go on where it stopped
		if !from.Cursor.Valid {
			s.LastSeen = time.Time{} // a new beginning: nothing before it is missed
		}
	})
	h.restart(id)
	return err
}

// SetEnd implements [API].
func (h *Host) SetEnd(ctx context.Context, id event.SubID, at time.Time) error {
	sub, mu, err := h.lockSub(ctx, id)
	if err != nil {
		return err
	}
	defer mu.unlock()
	if sub.State.Over() {
		return overError(sub)
	}
	return h.setEnd(ctx, sub, at)
}

// setEnd stores when a subscription ends, and tells its runner. The caller holds the server's lock.
func (h *Host) setEnd(ctx context.Context, sub event.Subscription, at time.Time) error {
	if sub.Ends.Equal(at) {
		return nil
	}
	detail := "never"
	if !at.IsZero() {
		detail = at.UTC().Format(time.RFC3339)
	}
	sub.Ends = at.UTC()
	err := h.commitChange(ctx, sub.ID, nil, h.auditEntry(event.ActorOperator, "end set", sub, detail), func(s *event.Subscription) { s.Ends = sub.Ends })
	if l := h.running(sub.ID); err == nil && l != nil {
		l.runner.SetEnd(expires(sub))
	}
	return err
}
