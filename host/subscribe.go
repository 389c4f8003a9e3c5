package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/schema"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// Check implements [API].
func (subs *subscriptions) Check(ctx context.Context, r Request) (event.Mode, error) {
	mode, _, err := subs.check(ctx, r)
	return mode, err
}

func (subs *subscriptions) check(ctx context.Context, r Request) (event.Mode, event.Key, error) {
	s, err := subs.servers.server(r.Server)
	if err != nil {
		return "", event.Key{}, err
	}
	types, err := s.types(ctx)
	if err != nil {
		if old, ok := subs.continued(r); ok && ctx.Err() == nil && !errors.Is(err, ErrNoEvents) {
			subs.opts.Log.Warn("a subscription goes on without the list of types", "server", s.spec.Name, "sub", old.ID, "err", err)
			return old.Mode, old.Key, nil
		}
		return "", event.Key{}, err
	}
	t, err := findType(types, r.Server, r.Type)
	if err != nil {
		if short := s.missing(); short != nil {
			err = fmt.Errorf("%w; %w", err, explain(short))
		}
		return "", event.Key{}, err
	}
	args, err := event.CanonicalArgs(r.Args)
	if err != nil {
		return "", event.Key{}, fmt.Errorf("%w: %w", ErrArguments, err)
	}
	key := event.Key{Server: r.Server, Type: r.Type, Args: args}
	want := r.Mode
	if old, err := subs.opts.Store.Subscription(key.ID()); err == nil && r.From.Saved && isAuto(want) && t.Offers(old.Mode) {
		want = old.Mode // a subscription is continued in its mode
	}
	mode, err := subs.chooseMode(t, want)
	if err != nil {
		return "", event.Key{}, err
	}
	if err := subs.checkRequest(t, args); err != nil {
		return "", event.Key{}, err
	}
	return mode, key, nil
}

// continued returns the stored subscription that a request continues without a change. It needs no
// types, as the server accepted the same request before.
func (subs *subscriptions) continued(r Request) (old event.Subscription, ok bool) {
	args, err := event.CanonicalArgs(r.Args)
	if err != nil || !r.From.Saved {
		return old, false
	}
	old, err = subs.opts.Store.Subscription(event.Key{Server: r.Server, Type: r.Type, Args: args}.ID())
	return old, err == nil && (isAuto(r.Mode) || r.Mode == old.Mode)
}

// Subscribe implements [API].
func (subs *subscriptions) Subscribe(ctx context.Context, r Request) (event.Subscription, error) {
	mode, key, err := subs.check(ctx, r)
	if err != nil {
		return event.Subscription{}, err
	}
	if mode == event.ModeWebhook {
		if err := subs.hooks.Ready(ctx, r.Server); err != nil {
			return event.Subscription{}, err
		}
	}
	if _, why := subs.locked(); why != nil && !r.Secret.IsZero() {
		return event.Subscription{}, fmt.Errorf("a secret cannot be stored: %w", why)
	}
	id := key.ID()
	l, isNew, err := subs.begin(ctx, key, mode, r)
	if err != nil {
		return event.Subscription{}, err
	}
	err = l.runner.Confirmed(ctx)
	sub, gone := subs.opts.Store.Subscription(id)
	if isNew && (wire.NameFrom(err) != "" || errors.Is(err, wire.ErrUnacceptable)) && gone == nil {
		subs.auditFailure(ctx, "subscribe", sub, err)
		return sub, errors.Join(explain(err), subs.undoSubscribe(ctx, id, l))
	}
	if err != nil {
		return sub, explain(err)
	}
	return sub, gone
}

// undoSubscribe removes a subscription that the server refused, unless it was started again since.
func (subs *subscriptions) undoSubscribe(ctx context.Context, id event.SubID, l *running) error {
	_, unlock, err := subs.lockSub(ctx, id)
	if errors.Is(err, event.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	defer unlock()
	if subs.running(id) != l {
		return nil
	}
	subs.stopRunning(id)
	return subs.removeSub(ctx, id, event.ActorHost, "refused subscription removed")
}

// begin stores the requested subscription and runs it.
func (subs *subscriptions) begin(ctx context.Context, key event.Key, mode event.Mode, r Request) (l *running, isNew bool, err error) {
	unlock, err := subs.servers.lock(ctx, key.Server)
	if err != nil {
		return nil, false, err
	}
	defer unlock()
	if _, err := subs.servers.server(key.Server); err != nil {
		return nil, false, err // removed meanwhile
	}
	id := key.ID()
	old, err := subs.opts.Store.Subscription(id)
	isNew = errors.Is(err, event.ErrNotFound)
	if err != nil && !isNew {
		return nil, false, err
	}
	if isNew {
		settled, err := subs.reservePlace(id)
		if err != nil {
			return nil, false, err
		}
		defer settled()
	}
	if l := subs.runsAsRequested(old, mode, r); l != nil {
		if r.Ends != nil {
			err = subs.setEnd(ctx, old, *r.Ends)
		}
		return l, false, err
	}
	subs.stopRunning(id)
	if old.Mode != mode {
		subs.releaseSub(ctx, id)
	}
	asked := event.Subscription{ID: id, Key: key}
	t, known := subs.servers.listedType(key)
	audit := subs.auditEntry(event.ActorOperator, "subscribe", asked, "mode "+string(mode))
	err = subs.commitChange(ctx, id, nil, audit, func(s *event.Subscription) {
		if s.Created.IsZero() {
			s.ID, s.Key, s.Created = id, key, subs.opts.Now().UTC()
		}
		s.State, s.Evidence, s.Error = event.StateStarting, "", trust.Text{}
		if s.Paused {
			s.State = event.StateResumed
		}
		s.Mode, s.MaxAge, s.TTL, s.Paused = mode, r.MaxAge, r.TTL, false
		if r.Ends != nil {
			s.Ends = r.Ends.UTC()
		} else if s.Ends.Before(subs.opts.Now()) {
			s.Ends = time.Time{}
		}
		if known {
			s.Dialect, s.NoReplay = t.Dialect, t.Cursorless
			s.Shown = schema.ShownArguments(t, s.Key.Args)
		}
		if s.Hook.Secret.IsZero() {
			s.Hook.Secret = r.Secret
		}
		switch {
		case r.From.Cursor.Valid:
			s.Reset(r.From.Cursor)
			s.Resume = event.Secret{}
		case !r.From.Saved:
			// From now is a new beginning: nothing before it is missed.
			s.Reset(event.Cursor{})
			s.LastSeen, s.Resume = time.Time{}, event.Secret{}
		}
	})
	if err != nil {
		subs.restart(id)
		return nil, false, err
	}
	sub, err := subs.opts.Store.Subscription(id)
	if err != nil {
		return nil, false, err
	}
	HideSubscription(&subs.secrets, sub)
	subs.start(sub)
	if l = subs.running(id); l == nil {
		return nil, false, errors.New("the host is closing")
	}
	return l, isNew, nil
}

// runsAsRequested returns the runner of a subscription that already runs as requested, such as one
// that was started when its server was added; nil: there is something to change.
func (subs *subscriptions) runsAsRequested(old event.Subscription, mode event.Mode, r Request) *running {
	l := subs.running(old.ID)
	if l == nil || !r.From.Saved || r.From.Cursor.Valid || old.State.Over() ||
		old.Mode != mode || old.MaxAge != r.MaxAge || old.TTL != r.TTL {
		return nil
	}
	if t, known := subs.servers.listedType(old.Key); known && (t.Dialect != old.Dialect || t.Cursorless != old.NoReplay) {
		return nil
	}
	select {
	case <-l.done:
		return nil
	default:
	}
	if s := l.runner.Status().State; s != event.StateStarting && !s.Alive() {
		return nil // after a failure it is tried again at once
	}
	return l
}

// removeSub removes a subscription that does not run from the store.
func (subs *subscriptions) removeSub(ctx context.Context, id event.SubID, actor event.Actor, action string) error {
	sub, err := subs.opts.Store.Subscription(id)
	if err != nil {
		return err
	}
	b := event.Batch{Sub: id, Remove: true, Audit: []event.AuditEntry{subs.auditEntry(actor, action, sub, "")}}
	for _, path := range subs.hooks.Paths(id) {
		b.Ended = append(b.Ended, event.Ended{Path: path, At: subs.opts.Now().UTC(), Removed: true})
	}
	if err := subs.commit(ctx, b); err != nil {
		return err
	}
	subs.hooks.Remove(id)
	subs.forget(id)
	return nil
}

// Unsubscribe implements [API].
func (subs *subscriptions) Unsubscribe(ctx context.Context, id event.SubID) error {
	_, unlock, err := subs.lockSub(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	return subs.endSub(ctx, id)
}

// endSub ends a subscription here and on its server.
func (subs *subscriptions) endSub(ctx context.Context, id event.SubID) error {
	subs.stopRunning(id)
	subs.releaseSub(ctx, id)
	err := subs.removeSub(ctx, id, event.ActorOperator, "unsubscribe")
	if err != nil {
		subs.restart(id)
	}
	return err
}

// relist lists the types again. It returns [delivery.ErrGone] if a subscription that the server
// ended cannot begin again: its type is gone, or no longer takes its mode or arguments.
func (subs *subscriptions) relist(ctx context.Context, k event.Key, m event.Mode) error {
	s, err := subs.servers.server(k.Server)
	if err != nil {
		return err
	}
	types, err := s.list(ctx)
	if err != nil {
		return err
	}
	t, err := findType(types, k.Server, k.Type)
	if missing := s.missing(); err != nil && missing != nil {
		return fmt.Errorf("%w; %w", err, missing) // the type may be one that could not be listed
	}
	if err == nil && !t.Offers(m) {
		err = fmt.Errorf("%w: %v no longer offers %s", ErrMode, k.Type, m)
	}
	if err == nil {
		err = subs.checkRequest(t, k.Args)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", delivery.ErrGone, err)
	}
	return nil
}
