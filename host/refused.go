package host

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/receiver"
	"eventdeck/host/trust"
)

// How many refused deliveries wait to be noted, and how often that is done: anybody
// can have a delivery refused, and must not keep the store's writer busy by it.
// Beyond that they are only counted.
const (
	refusalsWaiting = 1024
	noteEvery       = 100 * time.Millisecond
)

// badRate allows for ten seconds of bad requests at once.
func badRate(perSecond int) receiver.Rate {
	return receiver.Rate{PerSecond: float64(perSecond), Burst: 10 * perSecond}
}

// refused is told of every refused request. It does not wait for the store.
func (k *hooks) refused(r event.Refusal) {
	k.host.meter.refused()
	k.host.refusedDelivery(r)
	select {
	case k.refusals <- r:
	default:
		k.uncounted.Add(1)
	}
}

// isRefusedDelivery reports whether r is a delivery to a known subscription that was not
// answered as a success.
func isRefusedDelivery(r event.Refusal) bool {
	return r.Sub != "" && r.Status >= http.StatusMultipleChoices
}

// refusedDelivery counts a refused delivery to a subscription. A verification that was
// not asked for says nothing of deliveries, but the operator wants to see it.
func (h *Host) refusedDelivery(r event.Refusal) {
	if !isRefusedDelivery(r) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	c := &h.count(r.Sub).refused
	c.Count++
	c.Last, c.Reason = r.At, r.Reason
	if c.open.IsZero() && r.Reason != receiver.ReasonNotInFlight {
		c.open = h.opts.Now()
		time.AfterFunc(refusedAfter, func() { // then the state says it
			h.hooks.turn()
			h.notify()
		})
	}
}

// acceptedDelivery notes that a delivery to a subscription was taken.
func (h *Host) acceptedDelivery(id event.SubID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.counts[id]; c != nil && !c.refused.open.IsZero() {
		c.refused.open = time.Time{}
		h.hooks.turn()
	}
}

// tooLarge leaves a gap for a delivery that is too large: it will not become smaller,
// so the server drops it. It returns after the commit.
func (k *hooks) tooLarge(ctx context.Context, id event.SubID, webhookID trust.Text) error {
	l := k.host.runningSub(id)
	if l == nil {
		return fmt.Errorf("%w: subscription %s is not running", receiver.ErrBusy, id)
	}
	return l.runner.Missed(ctx, webhookID)
}

// altered notes events that came by poll or push with an id that is stored and other
// data, as the receiver does for one that was delivered.
func (k *hooks) altered(id event.SubID, n int) {
	r := event.Refusal{At: k.host.opts.Now().UTC(), Sub: id, Reason: receiver.ReasonChanged}
	if n > 1 {
		r.Reason += fmt.Sprintf(" (%d events)", n)
	}
	select {
	case k.refusals <- r:
	default:
		k.uncounted.Add(1)
	}
}

// challenged is told of every challenge that was answered. It does not wait for
// the store.
func (k *hooks) challenged(id event.SubID, serverID trust.Text) {
	sub, err := k.host.opts.Store.Subscription(id)
	if err != nil {
		return // removed meanwhile
	}
	if l := k.host.runningSub(id); l != nil {
		l.runner.Challenged()
		if !alive(l.runner.Status().State) {
			k.host.acceptedDelivery(id) // a new beginning: what was refused may have been its challenge
		}
	}
	e := k.host.act(event.ActorSecurity, "challenge answered", sub, "")
	e.Detail = serverID
	select {
	case k.challenges <- e:
	default:
		k.uncounted.Add(1)
	}
}

// keepRefusals stores for the operator which deliveries were refused, which
// subscriptions receive none therefore, and which challenges were answered, until the host ends, and then those that wait.
func (k *hooks) keepRefusals() {
	done := k.host.ctx.Done()
	for {
		select {
		case r := <-k.refusals:
			k.noteRefusals(k.host.ctx, r)
			k.keepStates(k.host.ctx)
		case <-k.turned:
			k.keepStates(k.host.ctx)
			continue
		case e := <-k.challenges:
			k.host.note(k.host.ctx, e)
			continue
		case <-done:
			ctx, cancel := context.WithTimeout(context.Background(), finishWithin)
			defer cancel()
			k.noteRest(ctx)
			k.keepStates(ctx)
			return
		}
		pause := time.NewTimer(noteEvery)
		select {
		case <-pause.C:
		case <-done:
		}
		pause.Stop()
	}
}

func (k *hooks) noteRest(ctx context.Context) {
	for {
		select {
		case r := <-k.refusals:
			k.noteRefusals(ctx, r)
		case e := <-k.challenges:
			k.host.note(ctx, e)
		default:
			return
		}
	}
}

// turn has the stored states looked at. It does not wait.
func (k *hooks) turn() {
	select {
	case k.turned <- struct{}{}:
	default:
	}
}

// keepStates stores the state of subscriptions whose deliveries are refused, and are
// taken again: of a process that dies meanwhile, the store tells what it was.
func (k *hooks) keepStates(ctx context.Context) {
	h, now := k.host, k.host.opts.Now()
	refused := map[event.SubID]bool{}
	h.mu.Lock()
	for id, c := range h.counts {
		if c.refused.Count > 0 {
			refused[id] = c.refused.lasting(now)
		}
	}
	h.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(refused)) {
		from, to, why := event.StateRefused, event.StateLive, "a delivery was accepted"
		if refused[id] {
			from, to, why = to, from, "no delivery was accepted"
		}
		sub, err := h.opts.Store.Subscription(id)
		if err != nil || sub.State != from || sub.Mode != event.ModeWebhook {
			continue // removed meanwhile, or another state tells more
		}
		err = h.amend(ctx, id, func(s *event.Subscription) {
			if s.State == from {
				s.State, s.Evidence = to, why
			}
		})
		if err != nil && ctx.Err() == nil {
			h.opts.Log.Warn("a change of state was not stored", "sub", id, "state", to, "err", err)
		}
		h.notify()
	}
}

// noteRefusals stores r and those that wait behind it.
func (k *hooks) noteRefusals(ctx context.Context, r event.Refusal) {
	log := k.host.opts.Log
	list := append(make([]event.Refusal, 0, 1+len(k.refusals)), r)
	for range len(k.refusals) {
		list = append(list, <-k.refusals) // there is no other receiver
	}
	if err := k.host.opts.Store.Refuse(ctx, list...); err != nil {
		log.Warn("refused deliveries could not be noted", "refused", len(list), "err", err)
	}
	if n := k.uncounted.Swap(0); n > 0 {
		k.leftOut += n
	}
	if k.leftOut > 0 {
		if _, ok := k.damper.pass(damped{what: "left out"}, k.host.opts.Now()); ok {
			log.Warn("more refused deliveries than could be noted", "left_out", k.leftOut)
			k.leftOut = 0
		}
	}
	for _, r := range list {
		k.auditRefusal(ctx, r)
	}
	k.host.notify()
}

// auditRefusal notes a refused delivery in the audit log, and of many alike one. A
// delivery that was verified and could not be kept now, as during a pause, is
// nothing that an attacker tried.
func (k *hooks) auditRefusal(ctx context.Context, r event.Refusal) {
	if r.Reason == receiver.ReasonNotStored {
		return
	}
	left, ok := k.damper.pass(damped{r.Sub, kindOf(r.Reason)}, r.At)
	if !ok {
		return
	}
	sub, err := k.host.opts.Store.Subscription(r.Sub)
	if err != nil {
		sub = event.Subscription{ID: r.Sub}
	}
	k.host.logOf(sub).Info("delivery refused", "sub", r.Sub, "status", r.Status, "bytes", r.Bytes, "reason", r.Reason, "more", left)
	e := k.host.act(event.ActorSecurity, "delivery refused", sub, r.Reason)
	e.At, e.Result = r.At, "kept as it was"
	if r.Status != 0 {
		e.Result = fmt.Sprintf("answered %d", r.Status)
	}
	if left > 0 {
		e.Detail = trust.Unescaped(fmt.Sprintf("%s (and %d more since the last entry)", r.Reason, left))
	}
	k.host.note(ctx, e)
}

// kindOf returns what refusals of one kind have in common: their reason without
// details and numbers.
func kindOf(reason string) string {
	if end := strings.IndexAny(reason, ":0123456789"); end >= 0 {
		return reason[:end]
	}
	return reason
}
