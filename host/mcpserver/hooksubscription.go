package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventserver"
)

const (
	hookAhead      = 64        // events that a webhook subscription reads ahead
	hookAheadBytes = 512 << 10 // of them; the last one may exceed it
	suspendAfter   = 2 * time.Minute
)

// hook is one webhook subscription. Its worker delivers one event after the other, so that the
// cursor of each is also the position of the receiver.
type hook struct {
	owner   *hooks
	id, url string

	kick     chan struct{} // something changed for the worker
	stop     chan struct{}
	stopOnce sync.Once

	mu            sync.Mutex
	over          bool
	wanted              // its position is how far the log was read
	done          place // everything up to here was delivered or given up
	ahead         []queued
	tries         int       // failed deliveries of the first of ahead
	due           time.Time // when to try it again
	gapOwed       bool      // the receiver must be told that events were skipped
	epoch         int       // grows when the position is moved: outcomes of earlier deliveries are ignored
	secrets       eventserver.Secrets
	refreshBefore time.Time
	health        eventserver.Health
}

// queued is an event that waits for its delivery.
type queued struct {
	place
	id   string
	body []byte
}

func newHook(h *hooks, a eventserver.Asked, w wanted) *hook {
	return &hook{owner: h, id: a.ID, url: a.URL, wanted: w, done: w.place, secrets: eventserver.NewSecrets(a.Secret),
		refreshBefore: h.server.opts.Now().Add(a.Lease), kick: make(chan struct{}, 1), stop: make(chan struct{})}
}

// Stop implements [eventserver.Hook].
func (k *hook) Stop() { k.stopOnce.Do(func() { close(k.stop) }) }

// IsOver implements [eventserver.Hook].
func (k *hook) IsOver() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.over
}

// grant applies a subscribe or refresh and returns its result; nil when the subscription has just
// ended. A refresh lifts a suspension, retries failed deliveries at once, and continues at its
// cursor if it has one.
func (k *hook) grant(a eventserver.Asked, w wanted, fresh bool) map[string]any {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over {
		return nil
	}
	now := k.owner.server.opts.Now()
	k.refreshBefore = now.Add(a.Lease)
	k.secrets.Rotate(a.Secret, now)
	status := k.health.Status()
	if !fresh && w.held && (w.seq != k.done.seq || w.generation != k.done.generation) {
		k.moveLocked(w)
	}
	k.health.Renew()
	k.due = time.Time{}
	truncated := k.firstLocked()
	select {
	case k.kick <- struct{}{}:
	default:
	}
	return map[string]any{"id": k.id, "cursor": k.done.cursor(), "truncated": truncated,
		"refreshBefore": k.refreshBefore.UTC().Format(time.RFC3339Nano), "deliveryStatus": status}
}

// moveLocked continues at another position.
func (k *hook) moveLocked(w wanted) {
	k.wanted, k.done, k.ahead, k.tries = w, w.place, nil, 0
	k.epoch++
}

// firstLocked reads ahead, and reports whether wanted events were skipped for which no gap was owed
// before: the response to the subscribe says so instead.
func (k *hook) firstLocked() bool {
	before := k.gapOwed
	k.readLocked()
	truncated := k.gapOwed && !before
	if truncated {
		k.gapOwed = false
	}
	return truncated
}

// readLocked fills ahead.
func (k *hook) readLocked() {
	if len(k.ahead) > 0 {
		return
	}
	s, size := k.owner.server, 0
	err := s.advance(&k.wanted, func(r *event.Record) bool {
		body := append(k.appendCursor(s.appendOccurrence(nil, k.in, k.name, "", r)), '}')
		k.ahead = append(k.ahead, queued{k.place, eventID(k.in, r.Seq), body})
		size += len(body)
		return len(k.ahead) < hookAhead && size < hookAheadBytes
	})
	if err != nil {
		s.opts.Log.Error("the log cannot be read", "err", err)
	}
	if k.truncated {
		k.truncated, k.gapOwed = false, true
	}
	if k.done = k.place; len(k.ahead) > 0 {
		k.done = k.before(k.ahead[0].seq)
	}
}

// Run implements [eventserver.Hook].
func (k *hook) Run(ctx context.Context) {
	select {
	case <-k.kick: // granted: its position is known
	case <-ctx.Done():
		return
	case <-k.stop:
		return
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		next := k.owner.server.next()
		d, epoch, wait, over := k.plan()
		if over {
			return
		}
		if d != nil {
			o := k.owner.Sender.Send(ctx, *d)
			if ctx.Err() != nil {
				return
			}
			k.settle(o, epoch)
		} else {
			timer.Reset(wait)
			select {
			case <-ctx.Done():
				return
			case <-next:
			case <-k.kick:
			case <-timer.C:
			case <-k.stop:
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-k.stop:
			return
		default:
		}
	}
}

// plan returns the delivery that is due, or how long to wait for the next one.
func (k *hook) plan() (d *eventserver.Delivery, epoch int, wait time.Duration, over bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.owner.server.opts.Now()
	if !now.Before(k.refreshBefore) {
		k.over = true
		return nil, 0, 0, true
	}
	wait = k.refreshBefore.Sub(now)
	if k.health.Suspended {
		return nil, 0, wait, false
	}
	if k.readLocked(); now.Before(k.due) {
		return nil, 0, min(wait, k.due.Sub(now)), false
	}
	switch {
	case k.gapOwed:
		body := fmt.Appendf(nil, `{"type":"gap","cursor":%q}`, k.done.cursor())
		return k.deliveryLocked("msg_gap_"+k.owner.Verifier.Token(), body, now), k.epoch, 0, false
	case len(k.ahead) > 0:
		return k.deliveryLocked(k.ahead[0].id, k.ahead[0].body, now), k.epoch, 0, false
	}
	return nil, 0, wait, false
}

func (k *hook) deliveryLocked(id string, body json.RawMessage, now time.Time) *eventserver.Delivery {
	return &eventserver.Delivery{URL: k.url, SubID: k.id, WebhookID: id, Body: body, Secrets: k.secrets.At(now)}
}

// settle records the outcome of a delivery.
func (k *hook) settle(o eventserver.Outcome, epoch int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.owner.server.opts.Now()
	k.health.Note(o, now)
	if epoch != k.epoch {
		return
	}
	waits := k.owner.server.opts.Backoff
	switch {
	case !o.OK && !o.Final && k.tries < len(waits):
		k.due = now.Add(max(waits[k.tries], o.Wait))
		k.tries++
	case k.gapOwed: // the delivery was the gap
		k.gapOwed, k.tries = false, 0
	default: // delivered, or given up, which is a gap
		k.done, k.tries, k.due = k.ahead[0].place, 0, time.Time{}
		k.ahead = k.ahead[1:]
		k.gapOwed = !o.OK
	}
	if k.health.Suspend(now, suspendAfter) {
		k.owner.server.opts.Log.Warn("a webhook subscription is suspended", "subscription", k.id, "error", k.health.LastError)
	}
}
