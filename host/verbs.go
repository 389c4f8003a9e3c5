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

// overError says that nothing can be done with a subscription that is over. It is an
// [ErrStopped].
func overError(sub event.Subscription) error {
	return fmt.Errorf("subscription %s is over (%s, %s): %w; subscribe again to begin anew", sub.ID, sub.State, sub.Evidence, ErrStopped)
}

// mustRun returns a subscription that runs.
//
// Errors: [ErrStopped], which says why it does not run.
func (h *Host) mustRun(id event.SubID) (*running, error) {
	if l := h.runningSub(id); l != nil {
		return l, nil
	}
	sub, err := h.mustHave(id)
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
	sub, err := h.mustHave(id)
	if err != nil {
		return err
	}
	mode, _, err := h.check(ctx, Request{Server: sub.Key.Server, Type: sub.Key.Type, Args: sub.Key.Args, Mode: m})
	if err == nil && mode == event.ModeWebhook {
		err = h.hooks.Ready(ctx, sub.Key.Server)
	}
	if err != nil {
		return h.failed(ctx, delivery.ActionSwitched, sub, err)
	}
	if err := h.tryMode(ctx, id, mode); err != nil {
		return h.failed(ctx, delivery.ActionSwitched, sub, err)
	}
	return nil
}

// tryMode goes on in another mode, and in the one before where the server does not
// take it: the operator is told why, and loses nothing.
func (h *Host) tryMode(ctx context.Context, id event.SubID, mode event.Mode) error {
	before, l, err := h.switchMode(ctx, id, mode, "by the operator", nil)
	if err != nil || l == nil {
		return err // paused, or nothing was to be changed
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

// errNotAnswered: the server did not answer in time to what another mode asks of it.
var errNotAnswered = errors.New("the server did not answer in time")

// switchMode stores another mode and goes on in it. It returns the subscription as it
// was, and what runs now, nil if nothing does.
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
	return sub, h.runningSub(id), err
}

// restoreMode goes on as before, unless a caller has done something else meanwhile.
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

// changeMode stores another mode with what more changes, and goes on in it. Only the
// holder of the server's lock may call it.
func (h *Host) changeMode(ctx context.Context, sub event.Subscription, mode event.Mode, why string, cause error, more func(*event.Subscription)) error {
	h.stopRunning(sub.ID)
	if sub.Mode != mode {
		h.release(ctx, sub.ID)
	}
	change := delivery.Switched(sub.Mode, mode, why, cause)
	record := h.mark(sub, change)
	record.Mode = mode
	actor := event.ActorOperator
	if cause != nil {
		actor = event.ActorHost
	}
	audit := h.act(actor, delivery.ActionSwitched, sub, fmt.Sprintf("%s -> %s", sub.Mode, mode))
	err := h.update(ctx, sub.ID, []event.Record{record}, audit, func(s *event.Subscription) {
		if s.Mode != mode {
			s.Lease = event.Lease{} // ended, or an orphan
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
	l := h.runningSub(id)
	var mode event.Mode
	err = h.update(ctx, id, nil, h.act(event.ActorOperator, action, sub, ""), func(s *event.Subscription) {
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
	t, err := find(s.snapshot().Types, k.Type)
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
	l, err := h.mustRun(id)
	if err != nil {
		return err
	}
	sub, err := h.mustHave(id)
	if err != nil {
		return err
	}
	if err := l.runner.Refresh(ctx); err != nil {
		return h.failed(ctx, "refresh", sub, explain(err))
	}
	h.note(ctx, h.act(event.ActorOperator, "refresh", sub, ""))
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
	record := h.mark(sub, &event.StateChange{State: event.StateStarting, Evidence: evidence})
	audit := h.act(event.ActorOperator, "reset cursor", sub, "")
	audit.Detail = from.Cursor.Text
	err = h.update(ctx, id, []event.Record{record}, audit, func(s *event.Subscription) {
		s.Reset(from.Cursor)
		s.Resume = event.Secret{} // the server would go on where it stopped
		if !from.Cursor.Valid {
			s.LastSeen = time.Time{} // a new beginning: nothing before it is missed
		}
	})
	h.restart(id)
	return err
}
