package host

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/receiver"
	"eventdeck/host/trust"
)

// isRefusedDelivery reports whether r is a delivery to a known subscription that was not
// answered as a success.
func isRefusedDelivery(r event.Refusal) bool {
	return r.Sub != "" && r.Status >= http.StatusMultipleChoices
}

// sumRefused sums up the refused deliveries that a store keeps, which are the newest
// thousand of all.
func sumRefused(kept []event.Refusal) map[event.SubID]event.Refused {
	sums := map[event.SubID]event.Refused{}
	for _, r := range kept {
		if !isRefusedDelivery(r) {
			continue
		}
		sum := sums[r.Sub]
		if sum.Count++; sum.Last.Before(r.At) {
			sum.Last, sum.Reason = r.At, r.Reason
		}
		sums[r.Sub] = sum
	}
	return sums
}

// refusedDelivery counts a refused delivery to a subscription. A verification that was not
// asked for is counted for the operator, but does not change the state.
func (subs *subscriptions) refusedDelivery(r event.Refusal) {
	subs.meter.refused()
	if !isRefusedDelivery(r) {
		return
	}
	subs.mu.Lock()
	defer subs.mu.Unlock()
	c := &entryOf(subs.counts, r.Sub).refused
	c.Count++
	c.Last, c.Reason = r.At, r.Reason
	if c.since.IsZero() && r.Reason != receiver.ReasonNotInFlight {
		c.since = subs.opts.Now()
		subs.hooks.CheckStates()
	}
}

// acceptedDelivery notes that a delivery to a subscription was taken.
func (subs *subscriptions) acceptedDelivery(id event.SubID) {
	subs.mu.Lock()
	defer subs.mu.Unlock()
	if c := subs.counts[id]; c != nil && !c.refused.since.IsZero() {
		c.refused.since = time.Time{}
		subs.hooks.CheckStates()
	}
}

// keepStates stores the state of subscriptions whose deliveries are now refused, or accepted
// again, with a record of each change, so that a restart after a crash shows it. It returns the
// time until the next subscription is refused; 0: none will be.
func (subs *subscriptions) keepStates(ctx context.Context) (next time.Duration) {
	now := subs.opts.Now()
	refused := map[event.SubID]refusals{}
	subs.mu.Lock()
	for id, c := range subs.counts {
		if c.refused.Count == 0 {
			continue
		}
		refused[id] = c.refused
		if wait := c.refused.pending(now); wait > 0 && (next == 0 || wait < next) {
			next = wait
		}
	}
	subs.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(refused)) {
		from, to := event.StateRefused, &event.StateChange{State: event.StateLive, Evidence: "a delivery was accepted"}
		if r := refused[id]; r.lasting(now) {
			from, to = event.StateLive, &event.StateChange{State: event.StateRefused, Evidence: "no delivery was accepted", Error: trust.Unescaped(r.summary())}
		}
		sub, err := subs.opts.Store.Subscription(id)
		if errors.Is(err, event.ErrNotFound) {
			subs.forget(id) // removed while the delivery was under way
		}
		if err != nil || sub.State != from || sub.Mode != event.ModeWebhook {
			continue
		}
		err = subs.tryCommit(ctx, id, []event.Record{subs.stateRecord(sub, to)}, func(s *event.Subscription) {
			if s.State == from {
				s.State, s.Evidence = to.State, to.Evidence
			}
		})
		if err != nil && ctx.Err() == nil {
			subs.opts.Log.Warn("a change of state was not stored", "sub", id, "state", to.State, "err", err)
		}
		subs.notify()
	}
	return next
}
