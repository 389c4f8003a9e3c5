package delivery

import (
	"context"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// Where a type cannot be polled, a doubt that only a replay can settle is settled on a new path. A
// server may ignore the cursor of a subscribe while it knows the callback address; for an
// address that is new to it, it must use the cursor. The new path is subscribed beside the
// present one, whose lease continues, and events on it are compared with what is stored, as on a
// stream. With the verdict it becomes the present one, and the one before takes deliveries for
// [oldPathGrace] longer.

// oldPathGrace is how long the old path takes deliveries after the server was told to end it.
const oldPathGrace = 5 * time.Minute

// newPath proves a webhook on a path that is new to its server: a stored event must come again on
// it. If it begins one position back, that is [opening.expected]; otherwise it is any.
type newPath struct {
	*proof
	url       string
	answer    granted                 // the newest answer
	initial   *granted                // the first answer; nil: none yet
	doubts    uint64                  // raised before the server was asked
	newEvents map[trust.Text]struct{} // events on this path that were not stored before
	repeated  trust.Text              // the stored event that came again
}

// newPathProof returns the proof of a webhook on its new path; refused as of [Runner.newProof].
func (r *Runner) newPathProof(sub *event.Subscription, refused int) *proof {
	p := r.newProof(sub, r.lastSeen(), true, refused)
	r.replaying.Store(p.from.Same(p.stored))
	p.method = &newPath{
		proof: p, url: sub.Hook.NewURL, doubts: r.doubts.raised.Load(), newEvents: map[trust.Text]struct{}{},
		answer: granted{failure: r.Status().Lease.Status.Failure()}, // of the present path
	}
	return p
}

// isProvingPath reports whether a new path is being proved.
func (r *Runner) isProvingPath() bool {
	p := r.proof.Load()
	if p == nil {
		return false
	}
	_, onNewPath := p.method.(*newPath)
	return onNewPath
}

// answered implements [webhookMethod].
func (f *newPath) answered(g granted) {
	if f.answer = g; f.initial == nil {
		f.initial = &g
	}
}

// newest implements [webhookMethod].
func (f *newPath) newest() granted { return f.answer }

// mark implements [proofMethod].
func (f *newPath) mark(bool) verdict { return undecided }

// event implements [proofMethod]. Deliveries overtake each other, so that a new event shows
// nothing. A repeat of an event that was new on this path is not a stored event that came
// again.
func (f *newPath) event(e seenEvent) verdict {
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
func (f *newPath) decide(ctx context.Context) verdict {
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
	return proved // the server continues at the position that was asked for
}

// settle implements [proofMethod]. A path that was granted becomes the present one. Without a cursor
// that was held, the stored position stays
// where it is if it is the proved one; otherwise it goes back to that, as the events between
// the two are still being replayed.
func (f *newPath) settle(b *event.Batch, v verdict) {
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
		until, lease := f.r.deps.Now().Add(oldPathGrace).UTC(), f.answer.lease
		lease.Delivered = f.eventCame
		addUpdate(b, func(s *event.Subscription) {
			if s.Hook.NewURL == f.url {
				s.Hook.Promote(until)
				s.Lease = lease
			}
		})
	}
	switch {
	case v == missing: // the gap covers everything until now
		if b.Cursor == nil {
			b.Cursor = &f.asked
		}
		from, behind := covered.at, f.firstNew
		covered.failure, covered.doubts = f.answer.failure, f.r.doubts.raised.Load()
		f.r.settleHook(b, b.Cursor, trust.Text{}, covered)
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
		f.r.settleHook(b, to, f.repeated, covered)
	}
}

// canReplay reports whether a doubt is settled on a new path, and not by polls.
func (r *Runner) canReplay() bool {
	return r.deps.Read == nil && !r.deps.ServerSecret && !r.mayPoll()
}

// replay opens a new path where one is due, or refreshes the one that is being proved, and returns
// the time to the next call. wait is the time to the next refresh of the present path, by which the
// server must have answered. Without an answer the doubt stays until the next try.
func (l *openLease) replay(ctx context.Context, wait time.Duration) time.Duration {
	r, proving := l.r, l.r.isProvingPath()
	if !proving {
		if !r.isBroken() || l.proof.isOpen() || !r.canReplay() {
			return wait
		}
		if due := r.replayIn(&l.sub.Hook); due > 0 {
			return max(due, leastLease)
		}
	}
	within, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	next, err := l.subscribeNewPath(ctx, within, proving)
	if err == nil || ctx.Err() != nil {
		return next
	}
	r.deps.Log.Warn("no new callback path was granted", "sub", r.id, "err", err)
	if refusesSecond(err) || cursorRefused(err) {
		l.proof.conclude(ctx, missing) // the present path continues from before what is missing
	}
	l.dropProof()
	return leastLease // which ends the new path
}

// replayIn returns the time until a new path may be made; 0 or less: now, as when the clock was set
// back since the last one.
func (r *Runner) replayIn(h *event.Hook) time.Duration {
	now := r.deps.Now()
	if h.Tried.After(now) {
		return 0
	}
	return h.Tried.Add(r.deps.Timing.RenewEvery).Sub(now)
}

// subscribeNewPath subscribes on the new path that is being proved, or on another one from each
// position in turn until the server holds it. within bounds the requests. It returns the time to the
// next refresh.
func (l *openLease) subscribeNewPath(ctx, within context.Context, proving bool) (time.Duration, error) {
	r := l.r
	defer r.pollRefused.Store(false) // the next proof may try to poll
	for refused := 0; ; refused++ {
		if !proving {
			if err := l.makeNewPath(ctx); err != nil {
				return 0, err
			}
			l.startProof(ctx, r.newPathProof(&l.sub, refused))
		}
		res, err := l.ask(within, l.sub.Hook.NewURL, l.proof.position())
		tooOld := err == nil && res.Truncated || cursorRefused(err)
		if tooOld && !proving && l.proof.canStartLater() {
			continue
		}
		if err != nil {
			return 0, err
		}
		now := r.deps.Now()
		lease := newLease(res, now)
		if res.Truncated {
			gap := r.in.gapRecord(event.CauseTruncated, l.proof.gapFrom, true)
			if _, err := r.in.commit(ctx, event.Batch{Records: []event.Record{gap}}); err != nil {
				return 0, err
			}
		}
		l.proof.answered(res, lease)
		return r.renewal(res, lease, now), nil
	}
}

// makeNewPath makes a new path and stores it, in the place of one that is not wanted.
func (l *openLease) makeNewPath(ctx context.Context) error {
	r, hook := l.r, &l.sub.Hook
	path, err := randomPath(r.deps.Random)
	if err != nil {
		return err
	}
	url, err := r.deps.Callback(path)
	if err != nil {
		return err
	}
	if hook.NewURL != "" {
		r.release(ctx, &l.sub, hook.NewURL)
	}
	hook.NewPath, hook.NewURL, hook.Tried = path, url, r.deps.Now().UTC()
	made := *hook
	_, err = r.in.commit(ctx, event.Batch{Update: func(s *event.Subscription) {
		s.Hook.NewPath, s.Hook.NewURL, s.Hook.Tried = made.NewPath, made.NewURL, made.Tried
	}})
	return err
}

// concludeNewPath stores the verdict on the new path, if there is one.
func (l *openLease) concludeNewPath(ctx context.Context) error {
	if !l.r.isProvingPath() {
		return nil
	}
	l.proof.mu.Lock()
	v := l.proof.reached
	l.proof.mu.Unlock()
	if v == undecided {
		return nil
	}
	l.proof.conclude(ctx, v)
	_, err := l.r.in.commit(ctx, event.Batch{}) // the hook is another one from now on
	return err
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
