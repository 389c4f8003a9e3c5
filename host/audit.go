package host

import (
	"context"
	"errors"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
)

// Audit implements [API].
func (h *Host) Audit() *eventlog.Audit { return eventlog.NewAudit(h.opts.Store) }

// act returns the entry of an act on a subscription that was done.
func (h *Host) act(actor event.Actor, action string, sub event.Subscription, detail string) event.AuditEntry {
	return event.AuditEntry{
		At: h.opts.Now().UTC(), Actor: actor, Action: action,
		Server: sub.Key.Server, Type: sub.Key.Type, Sub: sub.ID,
		Result: event.ResultOK, Detail: trust.Unescaped(detail),
	}
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

// quietFor is how long further results of the same check are only counted: a
// flood of bad requests must not wash the operator's acts out of the audit log.
const quietFor = 10 * time.Second

// damper lets one of a kind through in [quietFor] and counts the others.
type damper struct {
	mu   sync.Mutex
	told map[damped]*quiet
}

type damped struct {
	sub  event.SubID
	what string
}

type quiet struct {
	at   time.Time
	left uint64 // not told since
}

// pass reports whether a result of this kind is to be told now, and how many were
// left out since the last one.
func (d *damper) pass(kind damped, now time.Time) (left uint64, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.told == nil {
		d.told = map[damped]*quiet{}
	}
	q := d.told[kind]
	if q == nil {
		q = &quiet{}
		d.told[kind] = q
	} else if now.Sub(q.at) < quietFor {
		q.left++
		return 0, false
	}
	left = q.left
	q.at, q.left = now, 0
	return left, true
}
