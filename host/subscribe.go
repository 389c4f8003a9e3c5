package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/schema"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// releaseWithin bounds the wait for a server to end a subscription.
const releaseWithin = 5 * time.Second

// Check implements [API].
func (h *Host) Check(ctx context.Context, r Request) (event.Mode, error) {
	mode, _, err := h.check(ctx, r)
	return mode, err
}

func (h *Host) check(ctx context.Context, r Request) (event.Mode, event.Key, error) {
	s, err := h.server(r.Server)
	if err != nil {
		return "", event.Key{}, err
	}
	types, err := h.typesOf(ctx, s)
	if err != nil {
		if old, ok := h.continued(r); ok && ctx.Err() == nil && !errors.Is(err, ErrNoEvents) {
			h.opts.Log.Warn("a subscription goes on without the list of types", "server", s.spec.Name, "sub", old.ID, "err", err)
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
	if old, err := h.opts.Store.Subscription(key.ID()); err == nil && r.From.Saved && isAuto(want) && t.Offers(old.Mode) {
		want = old.Mode // a subscription is continued in its mode
	}
	mode, err := h.chooseMode(t, want)
	if err != nil {
		return "", event.Key{}, err
	}
	if err := h.checkRequest(t, args); err != nil {
		return "", event.Key{}, err
	}
	return mode, key, nil
}

// continued returns the stored subscription that a request continues without a change. It needs no
// types, as the server accepted the same request before.
func (h *Host) continued(r Request) (old event.Subscription, ok bool) {
	args, err := event.CanonicalArgs(r.Args)
	if err != nil || !r.From.Saved {
		return old, false
	}
	old, err = h.opts.Store.Subscription(event.Key{Server: r.Server, Type: r.Type, Args: args}.ID())
	return old, err == nil && (isAuto(r.Mode) || r.Mode == old.Mode)
}

func isAuto(m event.Mode) bool { return m == "" || m == event.ModeAuto }

// chooseMode returns the mode for a type (mcp-events, section 8; contracts, mode auto).
func (h *Host) chooseMode(t event.Type, want event.Mode) (event.Mode, error) {
	if isAuto(want) {
		if h.opts.CallbackURL != "" && t.Offers(event.ModeWebhook) {
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

// Subscribe implements [API].
func (h *Host) Subscribe(ctx context.Context, r Request) (event.Subscription, error) {
	mode, key, err := h.check(ctx, r)
	if err != nil {
		return event.Subscription{}, err
	}
	if mode == event.ModeWebhook {
		if err := h.hooks.Ready(ctx, r.Server); err != nil {
			return event.Subscription{}, err
		}
	}
	if _, why := h.locked(); why != nil && !r.Secret.IsZero() {
		return event.Subscription{}, fmt.Errorf("a secret cannot be stored: %w", why)
	}
	id := key.ID()
	l, isNew, err := h.begin(ctx, key, mode, r)
	if err != nil {
		return event.Subscription{}, err
	}
	err = l.runner.Confirmed(ctx)
	sub, gone := h.opts.Store.Subscription(id)
	if isNew && (wire.NameFrom(err) != "" || errors.Is(err, wire.ErrUnacceptable)) && gone == nil {
		h.auditFailure(ctx, "subscribe", sub, err)
		return sub, errors.Join(explain(err), h.undoSubscribe(ctx, id, l))
	}
	if err != nil {
		return sub, explain(err)
	}
	return sub, gone
}

// undoSubscribe removes a subscription that the server refused, unless it was started again since.
func (h *Host) undoSubscribe(ctx context.Context, id event.SubID, l *running) error {
	_, mu, err := h.lockSub(ctx, id)
	if errors.Is(err, event.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	defer mu.unlock()
	if h.running(id) != l {
		return nil
	}
	h.stopRunning(id)
	return h.removeSub(ctx, id, event.ActorHost, "refused subscription removed")
}

// begin stores the requested subscription and runs it.
func (h *Host) begin(ctx context.Context, key event.Key, mode event.Mode, r Request) (l *running, isNew bool, err error) {
	mu := h.serverLock(key.Server)
	if err := mu.lock(ctx); err != nil {
		return nil, false, err
	}
	defer mu.unlock()
	if _, err := h.server(key.Server); err != nil {
		return nil, false, err // removed meanwhile
	}
	id := key.ID()
	old, err := h.opts.Store.Subscription(id)
	isNew = errors.Is(err, event.ErrNotFound)
	if err != nil && !isNew {
		return nil, false, err
	}
	if isNew {
		settled, err := h.reservePlace(id)
		if err != nil {
			return nil, false, err
		}
		defer settled()
	}
	if l := h.runsAsRequested(old, mode, r); l != nil {
		if r.Ends != nil {
			err = h.setEnd(ctx, old, *r.Ends)
		}
		return l, false, err
	}
	h.stopRunning(id)
	if old.Mode != mode {
		h.releaseSub(ctx, id)
	}
	asked := event.Subscription{ID: id, Key: key}
	t, known := h.listedType(key)
	audit := h.auditEntry(event.ActorOperator, "subscribe", asked, "mode "+string(mode))
	err = h.commitChange(ctx, id, nil, audit, func(s *event.Subscription) {
		if s.Created.IsZero() {
			s.ID, s.Key, s.Created = id, key, h.opts.Now().UTC()
		}
		s.State, s.Evidence, s.Error = event.StateStarting, "", trust.Text{}
		if s.Paused {
			s.State = event.StateResumed
		}
		s.Mode, s.MaxAge, s.TTL, s.Paused = mode, r.MaxAge, r.TTL, false
		if r.Ends != nil {
			s.Ends = r.Ends.UTC()
		} else if s.Ends.Before(h.opts.Now()) {
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
		h.restart(id)
		return nil, false, err
	}
	sub, err := h.opts.Store.Subscription(id)
	if err != nil {
		return nil, false, err
	}
	HideSubscription(&h.secrets, sub)
	h.start(sub)
	if l = h.running(id); l == nil {
		return nil, false, errors.New("the host is closing")
	}
	return l, isNew, nil
}

// runsAsRequested returns the runner of a subscription that already runs as requested, such as one
// that was started when its server was added; nil: there is something to change.
func (h *Host) runsAsRequested(old event.Subscription, mode event.Mode, r Request) *running {
	l := h.running(old.ID)
	if l == nil || !r.From.Saved || r.From.Cursor.Valid || old.State.Over() ||
		old.Mode != mode || old.MaxAge != r.MaxAge || old.TTL != r.TTL {
		return nil
	}
	if t, known := h.listedType(old.Key); known && (t.Dialect != old.Dialect || t.Cursorless != old.NoReplay) {
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

// commitChange commits a change of a subscription with its entry of the audit log.
func (h *Host) commitChange(ctx context.Context, id event.SubID, records []event.Record, audit event.AuditEntry, change func(*event.Subscription)) error {
	return h.commit(ctx, event.Batch{Sub: id, Records: records, Audit: []event.AuditEntry{audit}, Update: change})
}

// commit commits a batch. Once the batch is queued it waits for the store, even if ctx ends: the
// caller must know whether it is stored.
func (h *Host) commit(ctx context.Context, b event.Batch) error {
	done := make(chan error, 1)
	b.Done = func(_ event.Outcome, err error) { done <- err }
	if err := h.opts.Store.Submit(ctx, b); err != nil {
		return err
	}
	err := <-done
	h.notify()
	return err
}

// removeSub removes a subscription that does not run from the store.
func (h *Host) removeSub(ctx context.Context, id event.SubID, actor event.Actor, action string) error {
	sub, err := h.opts.Store.Subscription(id)
	if err != nil {
		return err
	}
	b := event.Batch{Sub: id, Remove: true, Audit: []event.AuditEntry{h.auditEntry(actor, action, sub, "")}}
	for _, path := range h.hooks.Paths(id) {
		b.Ended = append(b.Ended, event.Ended{Path: path, At: h.opts.Now().UTC(), Removed: true})
	}
	if err := h.commit(ctx, b); err != nil {
		return err
	}
	h.hooks.Remove(id)
	h.forget(id)
	return nil
}

// releaseSub ends a subscription on its server if the server keeps it. If the server does not
// confirm that, it becomes an orphan (field notes 14). The subscription must not run.
func (h *Host) releaseSub(ctx context.Context, id event.SubID) {
	sub, err := h.opts.Store.Subscription(id)
	if err != nil || !atServer(sub) {
		return
	}
	if err := h.tellServer(ctx, sub, delivery.Release); err != nil {
		h.logOf(sub).Warn("the lease stays on the server until it ends there", "sub", id, "err", err)
		h.orphan(ctx, sub)
		return
	}
	h.dropHeld(ctx, sub)
}

// Unsubscribe implements [API].
func (h *Host) Unsubscribe(ctx context.Context, id event.SubID) error {
	_, mu, err := h.lockSub(ctx, id)
	if err != nil {
		return err
	}
	defer mu.unlock()
	return h.endSub(ctx, id)
}

// endSub ends a subscription here and on its server.
func (h *Host) endSub(ctx context.Context, id event.SubID) error {
	h.stopRunning(id)
	h.releaseSub(ctx, id)
	err := h.removeSub(ctx, id, event.ActorOperator, "unsubscribe")
	if err != nil {
		h.restart(id)
	}
	return err
}

// restart runs a subscription as it is stored. It is called after failed acts too.
func (h *Host) restart(id event.SubID) {
	if sub, err := h.opts.Store.Subscription(id); err == nil {
		h.start(sub)
	}
}

// subscription returns a stored subscription.
//
// Error: [event.ErrNotFound].
func (h *Host) subscription(id event.SubID) (event.Subscription, error) {
	sub, err := h.opts.Store.Subscription(id)
	if err != nil {
		return sub, fmt.Errorf("subscription %s: %w; see: eventdeck subs list", id, err)
	}
	return sub, nil
}

// Pause implements [API].
func (h *Host) Pause(ctx context.Context, id event.SubID) error {
	sub, mu, err := h.lockSub(ctx, id)
	if err != nil {
		return err
	}
	defer mu.unlock()
	if sub.Paused {
		return nil
	}
	if sub.State.Over() { // resuming it would start it again
		return overError(sub)
	}
	h.stopRunning(id)
	h.suspend(ctx, sub)
	change := &event.StateChange{State: event.StatePaused, Evidence: "paused by the operator"}
	audit := h.auditEntry(event.ActorOperator, "pause", sub, "")
	err = h.commitChange(ctx, id, []event.Record{h.stateRecord(sub, change)}, audit, func(s *event.Subscription) {
		s.Paused, s.State, s.Evidence = true, change.State, change.Evidence
	})
	if err != nil {
		h.restart(id)
	}
	return err
}

// stateRecord returns the record of a change of state.
func (h *Host) stateRecord(sub event.Subscription, change *event.StateChange) event.Record {
	return event.Record{
		Kind: event.KindState, Sub: sub.ID, Server: sub.Key.Server, Type: sub.Key.Type,
		Mode: sub.Mode, ReceivedAt: h.opts.Now().UTC(), State: change,
	}
}

// Resume implements [API].
func (h *Host) Resume(ctx context.Context, id event.SubID) error {
	sub, mu, err := h.lockSub(ctx, id)
	if err != nil {
		return err
	}
	defer mu.unlock()
	if !sub.Paused {
		if sub.State.Over() {
			return overError(sub)
		}
		return nil
	}
	err = h.commitChange(ctx, id, nil, h.auditEntry(event.ActorOperator, "resume", sub, ""), func(s *event.Subscription) {
		s.Paused, s.State, s.Evidence = false, event.StateResumed, "resumed by the operator"
	})
	if err != nil {
		return err
	}
	h.restart(id)
	h.notify()
	return nil
}

// Printed implements [API].
func (h *Host) Printed(ctx context.Context, id event.SubID, seq uint64) error {
	if _, err := h.subscription(id); err != nil {
		return err
	}
	return h.tryCommit(ctx, id, nil, func(s *event.Subscription) { s.Printed = max(s.Printed, seq) })
}

// tryCommit commits a change of a subscription, unless that was removed. It waits no longer than
// ctx: the caller does not need to know whether the change was committed.
func (h *Host) tryCommit(ctx context.Context, id event.SubID, records []event.Record, change func(*event.Subscription)) error {
	done := make(chan error, 1)
	err := h.opts.Store.Submit(ctx, event.Batch{
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

var _ API = (*Host)(nil)
