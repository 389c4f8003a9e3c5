package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

func isAuto(m event.Mode) bool { return m == "" || m == event.ModeAuto }

// chooseMode returns the mode for a type (mcp-events, section 8; contracts, mode auto).
func (subs *subscriptions) chooseMode(t event.Type, want event.Mode) (event.Mode, error) {
	if isAuto(want) {
		if subs.opts.CallbackURL != "" && t.Offers(event.ModeWebhook) {
			return event.ModeWebhook, nil
		}
		for _, m := range []event.Mode{event.ModePush, event.ModePoll} {
			if t.Offers(m) {
				return m, nil
			}
		}
		if t.Offers(event.ModeWebhook) {
			return "", fmt.Errorf("%w: %v offers only webhook; give a callback address with --callback-url, or force it with --mode webhook", ErrMode, t.Name)
		}
		return "", fmt.Errorf("%w: %v offers no mode that this host knows", ErrMode, t.Name)
	}
	switch want {
	case event.ModePoll, event.ModePush, event.ModeWebhook:
	default:
		return "", fmt.Errorf("%w: there is no mode %q; use auto, poll, push or webhook", ErrMode, want)
	}
	if t.Offers(want) {
		return want, nil
	}
	var have []string
	for _, m := range t.Modes {
		have = append(have, string(m))
	}
	if len(have) == 0 {
		have = []string{"none that this host knows"}
	}
	return "", fmt.Errorf("%w: %v does not offer %s; it offers %s", ErrMode, t.Name, want, strings.Join(have, ", "))
}

// modes returns the modes that a subscription may run in. Webhook is among them
// only where deliveries can reach this host: there is a callback address, or the
// subscription had one before.
func (subs *subscriptions) modes(k event.Key) []event.Mode {
	t, known := subs.servers.listedType(k)
	if !known {
		return nil
	}
	sub, err := subs.opts.Store.Subscription(k.ID())
	reachable := subs.opts.CallbackURL != "" || err == nil && sub.Hook.Path != ""
	return slices.DeleteFunc(slices.Clone(t.Modes), func(m event.Mode) bool { return m == event.ModeWebhook && !reachable })
}

// SetMode implements [API].
func (subs *subscriptions) SetMode(ctx context.Context, id event.SubID, m event.Mode) error {
	sub, err := subs.subscription(id)
	if err != nil {
		return err
	}
	mode, _, err := subs.check(ctx, Request{Server: sub.Key.Server, Type: sub.Key.Type, Args: sub.Key.Args, Mode: m})
	if err == nil && mode == event.ModeWebhook {
		err = subs.hooks.Ready(ctx, sub.Key.Server)
	}
	if err != nil {
		return subs.auditFailure(ctx, delivery.ActionSwitched, sub, err)
	}
	return subs.auditFailure(ctx, delivery.ActionSwitched, sub, subs.tryMode(ctx, id, mode))
}

// tryMode goes on in another mode. If the server does not accept it, tryMode goes back to the
// previous mode and returns why.
func (subs *subscriptions) tryMode(ctx context.Context, id event.SubID, mode event.Mode) error {
	before, l, err := subs.switchMode(ctx, id, mode, "by the operator", nil)
	if err != nil || l == nil {
		return err // paused, or nothing to change
	}
	within, cancel := context.WithTimeoutCause(ctx, subs.opts.Timing.ConnectWithin, errNotAnswered)
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
	return errors.Join(fmt.Errorf("%s was not taken, the mode is still %s: %w", mode, before.Mode, explain(err)), subs.restoreMode(back, before, mode, err))
}

// errNotAnswered: the server did not answer in time to the first request of another mode.
var errNotAnswered = errors.New("the server did not answer in time")

// switchMode stores another mode and goes on in it. It returns the previous subscription, and its
// runner; nil: it does not run, or there was nothing to change.
func (subs *subscriptions) switchMode(ctx context.Context, id event.SubID, mode event.Mode, why string, cause error) (event.Subscription, *running, error) {
	sub, unlock, err := subs.lockSub(ctx, id)
	if err != nil {
		return sub, nil, err
	}
	defer unlock()
	if sub.Mode == mode && sub.Preferred == "" && !sub.State.Over() {
		return sub, nil, nil
	}
	err = subs.changeMode(ctx, sub, mode, why, cause, func(s *event.Subscription) { s.Preferred = "" })
	return sub, subs.running(id), err
}

// restoreMode goes on in the mode of before, unless the operator has changed it or paused the
// subscription meanwhile.
func (subs *subscriptions) restoreMode(ctx context.Context, before event.Subscription, from event.Mode, cause error) error {
	sub, unlock, err := subs.lockSub(ctx, before.ID)
	if errors.Is(err, event.ErrNotFound) {
		return nil // removed meanwhile
	} else if err != nil {
		return err
	}
	defer unlock()
	if sub.Mode == before.Mode && sub.Preferred == before.Preferred || sub.Paused {
		return nil
	}
	return subs.changeMode(ctx, sub, before.Mode, "the server did not take "+string(from), cause, func(s *event.Subscription) {
		s.Preferred = before.Preferred
		if before.State.Over() {
			s.State, s.Evidence, s.Error = before.State, before.Evidence, before.Error
		}
	})
}

// changeMode stores another mode together with the change more, and goes on in it. The caller
// holds the server's lock.
func (subs *subscriptions) changeMode(ctx context.Context, sub event.Subscription, mode event.Mode, why string, cause error, more func(*event.Subscription)) error {
	subs.stopRunning(sub.ID)
	if sub.Mode != mode {
		subs.releaseSub(ctx, sub.ID)
	}
	change := delivery.Switched(sub.Mode, mode, why, cause)
	record := subs.stateRecord(sub, change)
	record.Mode = mode
	actor := event.ActorOperator
	if cause != nil {
		actor = event.ActorHost
	}
	audit := subs.auditEntry(actor, delivery.ActionSwitched, sub, fmt.Sprintf("%s -> %s", sub.Mode, mode))
	err := subs.commitChange(ctx, sub.ID, []event.Record{record}, audit, func(s *event.Subscription) {
		if s.Mode != mode {
			s.Lease = event.Lease{} // ended, or that of an orphan
		}
		s.Mode = mode
		if !s.Paused {
			s.State, s.Evidence, s.Error = event.StateStarting, change.Evidence, trust.Text{}
		}
		more(s)
	})
	subs.restart(sub.ID)
	return err
}

// SetFailover implements [API].
func (subs *subscriptions) SetFailover(ctx context.Context, id event.SubID, on bool) error {
	sub, unlock, err := subs.lockSub(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	if sub.Failover == on {
		return nil
	}
	action := "failover off"
	if on {
		action = "failover on"
	}
	l := subs.running(id)
	var mode event.Mode
	err = subs.commitChange(ctx, id, nil, subs.auditEntry(event.ActorOperator, action, sub, ""), func(s *event.Subscription) {
		s.Failover, s.Preferred = on, ""
		mode = s.Mode
	})
	if err == nil && l != nil {
		l.runner.SetFailover(on, mode)
	}
	return err
}
