package delivery

import (
	"context"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// A webhook of a type that cannot be polled is proved on a fresh path. A server may ignore
// the cursor of a subscribe while it knows the callback address; for an address that is new
// to it, it must use the cursor. The new path is subscribed before the old one is ended, so
// that nothing is lost between the two. Both take deliveries meanwhile, the old one for
// [oldPathGrace] longer. Events on the new path are compared with what is stored, as on a
// stream.

// oldPathGrace is how long the old path takes deliveries after the server was told to end it.
const oldPathGrace = 5 * time.Minute

// freshPath proves a webhook on a path that is new to its server: a stored event must come again on
// it. If the lease begins one position back, that is [opening.expected]; otherwise it is any.
type freshPath struct {
	*proof
	oldURL    string                  // the address of the path before it; empty: none
	answer    granted                 // the newest answer
	initial   *granted                // the first answer; nil: none yet
	doubts    uint64                  // raised before the server was asked
	newEvents map[trust.Text]struct{} // events on this path that were not stored before
	repeated  trust.Text              // the stored event that came again
}

// newFreshPathProof returns the proof of a webhook on a fresh path; nil, and refused, as of
// [Runner.newProof].
func (r *Runner) newFreshPathProof(sub *event.Subscription, refused int) *proof {
	p := r.newProof(sub, r.lastSeen(), true, refused)
	if p != nil {
		p.unsure = p.unsure && !r.failureFree.Same(p.stored)
		r.replaying.Store(p.from.Same(p.stored))
		p.method = &freshPath{proof: p, oldURL: sub.Hook.OldURL, doubts: r.doubts.raised.Load(), newEvents: map[trust.Text]struct{}{}}
	}
	return p
}

// answered implements [webhookMethod].
func (f *freshPath) answered(g granted) {
	if f.answer = g; f.initial == nil {
		f.initial = &g
	}
}

// newest implements [webhookMethod].
func (f *freshPath) newest() granted { return f.answer }

// mark implements [proofMethod].
func (f *freshPath) mark(bool) verdict { return undecided }

// event implements [proofMethod]. Deliveries overtake each other, so that a new event shows
// nothing. A repeat of an event that was new on this path is not a stored event that came
// again.
func (f *freshPath) event(e seenEvent) verdict {
	if _, repeated := f.newEvents[e.id]; repeated {
		return undecided
	}
	if e.again {
		if !f.expected.IsZero() || f.unsure {
			return undecided
		}
		f.repeated = e.id
		return proved
	}
	if len(f.newEvents) < maxRemembered {
		f.newEvents[e.id] = struct{}{}
	}
	f.noteNew(e.id)
	return undecided
}

// decide implements [proofMethod].
func (f *freshPath) decide(ctx context.Context) verdict {
	f.pause(ctx, f.r.deps.Timing.ProveWithin)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.settled || ctx.Err() != nil:
		return undecided
	case f.reached != undecided:
		return f.reached
	case f.gapNoted, f.unsure, !f.expected.IsZero(), !f.from.Same(f.stored):
		return missing // a stored event had to come again, or no replay can show anything
	case f.moved || !f.echoed, f.eventCame && !f.lenient:
		return missing
	}
	return proved // the server goes on at the position that was asked for
}

// settle implements [proofMethod]. Without a cursor that was held, the stored position stays
// where it is if it is the proved one; otherwise it goes back to that, as the events between
// the two are still being replayed.
func (f *freshPath) settle(b *event.Batch, v verdict) {
	if v == missing {
		f.r.replaying.Store(false)
	}
	switch b.Cursor = f.held; {
	case b.Cursor != nil:
	case v == missing:
		b.Cursor = f.answer.at
	case !f.from.Same(f.stored):
		b.Cursor = &f.from
		f.r.forgetPositions()
	}
	covered := granted{doubts: f.doubts}
	if f.initial != nil {
		covered.at, covered.failure = f.initial.at, f.initial.failure
	}
	switch {
	case v == missing: // the gap covers everything until now
		if b.Cursor == nil {
			b.Cursor = &f.asked
		}
		from, behind := covered.at, f.firstNew
		covered.failure, covered.doubts = f.answer.failure, f.r.doubts.raised.Load()
		f.r.settleHook(b, b.Cursor, covered)
		addUpdate(b, func(s *event.Subscription) {
			if from != nil && !behind.IsZero() {
				s.Before, s.Newest = *from, behind
			}
		})
	default:
		var to *event.Cursor
		if f.lenient {
			to = &f.asked
		}
		f.r.settleHook(b, to, covered)
		f.r.noteNewEvent(f.repeated)
	}
}

// wantsFresh reports whether the next subscribe uses a fresh path: the first one after a time in
// which this process did not hold the lease, one whose proof was interrupted, and, once in
// [Timing.RenewEvery], one after a sign of a loss.
func (r *Runner) wantsFresh(sub *event.Subscription, opening bool) bool {
	switch {
	case !sub.Opening().Valid || sub.LastSeen.IsZero():
		return false
	case opening && (!r.wasConfirmed() || sub.Hook.Unproved()):
		return true
	}
	return r.isDoubted() && r.freshIn() <= 0
}

// canBeFresh reports whether the subscription is proved on fresh paths, and not by polls.
func (r *Runner) canBeFresh() bool {
	return r.deps.Read == nil && !r.deps.ServerSecret && !r.mayPoll()
}

// freshIn returns the time until another path may be made; 0 or less: now.
func (r *Runner) freshIn() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pathMadeAt.IsZero() {
		return 0
	}
	return r.pathMadeAt.Add(r.deps.Timing.RenewEvery).Sub(r.deps.Now())
}

// replacePath makes room for a new path. The present one becomes the old one. If it was never
// proved it is released instead: late deliveries on it would look like a replay.
func (r *Runner) replacePath(ctx context.Context, sub *event.Subscription, hook *event.Hook) {
	r.mu.Lock()
	r.pathMadeAt = r.deps.Now()
	r.mu.Unlock()
	switch {
	case hook.URL == "":
		return // there is none yet
	case hook.Unproved(), sub.Lease.GrantedAt.IsZero():
		r.release(ctx, sub, hook.URL)
	default:
		hook.OldPath, hook.OldURL, hook.OldUntil = hook.Path, hook.URL, time.Time{}
	}
	hook.Path, hook.URL = "", ""
}

// releaseOldPath ends the old path on the server once the new one is proved. It returns the
// hook without the old address, and without the old path when its grace is over.
func (r *Runner) releaseOldPath(ctx context.Context, sub *event.Subscription) event.Hook {
	hook := sub.Hook
	if hook.OldPath == "" || hook.OldUntil.IsZero() {
		return hook
	}
	if hook.OldURL != "" {
		r.release(ctx, sub, hook.OldURL)
		hook.OldURL = ""
	}
	if r.deps.Now().After(hook.OldUntil) {
		hook.OldPath, hook.OldUntil = "", time.Time{}
	}
	return hook
}

// refusesSecond reports whether an answer may mean that the server takes only one
// subscription to a type at a time.
func refusesSecond(err error) bool {
	switch wire.NameFrom(err) {
	case wire.ResourceExhausted, wire.InvalidRequest:
		return true
	}
	return false
}

// releaseOldPathFirst ends the old path before the new one is subscribed, for a server that
// does not take both.
func (r *Runner) releaseOldPathFirst(ctx context.Context, sub event.Subscription) (event.Subscription, error) {
	r.release(ctx, &sub, sub.Hook.OldURL)
	sub.Hook.OldURL = ""
	_, err := r.in.commit(ctx, event.Batch{Update: func(s *event.Subscription) { s.Hook.OldURL = "" }})
	return sub, err
}
