package delivery

import (
	"context"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// A webhook of a type that cannot be polled is proved on a fresh path: a server may
// ignore the position that is asked for while it knows the path, and does not on one
// that it hears of first. The new path is subscribed before the old one is ended, so
// that nothing is lost between the two; both take deliveries meanwhile, the old one for
// some time longer. What comes on the new one is held against what is stored, as on a
// stream.

// oldGrace is how long the path before a new one takes deliveries after the server was
// told to end it.
const oldGrace = 5 * time.Minute

// freshPath proves a webhook on a path that its server did not know. A stored event must
// come again on it: the known one where it is opened one position back, else any.
type freshPath struct {
	*proof
	oldURL   string // the address of the path before it; empty: none
	answer   granted
	initial  *granted                // the first answer; nil: none yet
	doubts   uint64                  // raised before it was asked for
	seen     map[trust.Text]struct{} // new events that it brought
	repeated trust.Text              // the stored event that came again
}

// newFreshPathProof returns the proof of a webhook on a fresh path; nil, and refused, as of
// [Runner.newProof].
func (r *Runner) newFreshPathProof(sub *event.Subscription, refused int) *proof {
	p := r.newProof(sub, r.lastLife(), true, refused)
	if p != nil {
		p.unsure = p.unsure && !r.vouched.Same(p.stored)
		r.replay(p.from.Same(p.stored))
		p.medium = &freshPath{proof: p, oldURL: sub.Hook.OldURL, doubts: r.doubts.raised.Load(), seen: map[trust.Text]struct{}{}}
	}
	return p
}

// answered implements [hookMedium].
func (f *freshPath) answered(g granted) {
	if f.answer = g; f.initial == nil {
		f.initial = &g
	}
}

// newest implements [hookMedium].
func (f *freshPath) newest() granted { return f.answer }

// mark implements [medium].
func (f *freshPath) mark(bool) verdict { return undecided }

// event implements [medium]. Deliveries overtake each other, so that a new event shows
// nothing; one that was repeated is not one that was stored.
func (f *freshPath) event(e sight) verdict {
	if _, repeated := f.seen[e.id]; repeated {
		return undecided
	}
	if e.again {
		if !f.known.IsZero() || f.unsure {
			return undecided
		}
		f.repeated = e.id
		return proved
	}
	if len(f.seen) < mostRemembered {
		f.seen[e.id] = struct{}{}
	}
	f.witnessed(e.id)
	return undecided
}

// decide implements [medium].
func (f *freshPath) decide(ctx context.Context) verdict {
	f.pause(ctx, f.r.deps.Timing.ProveWithin)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.settled || ctx.Err() != nil:
		return undecided
	case f.reached != undecided:
		return f.reached
	case f.told, f.unsure, !f.known.IsZero(), !f.from.Same(f.stored):
		return missing // what is stored had to come again, or cannot
	case f.moved || !f.echoed, f.heard && !f.lenient:
		return missing
	}
	return proved // it goes on at the position of before
}

// settle implements [medium]. What is delivered on a path that replays is proved with the
// next answer. The stored position stays if it is the proved one; else it may be ahead of
// what is replayed now.
func (f *freshPath) settle(b *event.Batch, v verdict) {
	if v == missing {
		f.r.replay(false)
	}
	switch b.Cursor = f.held; {
	case b.Cursor != nil:
	case v == missing:
		b.Cursor = f.answer.at
	case !f.from.Same(f.stored):
		b.Cursor = &f.from
		f.r.untell()
	}
	covered := granted{doubts: f.doubts}
	if f.initial != nil {
		covered.at, covered.failure = f.initial.at, f.initial.failure
	}
	switch {
	case v == missing: // the gap tells of all until now
		if b.Cursor == nil {
			b.Cursor = &f.asked
		}
		from, behind := covered.at, f.witness
		covered.failure, covered.doubts = f.answer.failure, f.r.doubts.raised.Load()
		f.r.settleHook(b, b.Cursor, covered)
		also(b, func(s *event.Subscription) {
			if from != nil && !behind.IsZero() {
				s.Before, s.Newest = *from, behind
			}
		})
	case f.lenient:
		f.r.settleHook(b, &f.asked, covered)
		f.r.noteNewest(f.repeated)
	default:
		f.r.settleHook(b, nil, covered)
		f.r.noteNewest(f.repeated)
	}
}

// replay says whether stored events come again from before the stored position, which is
// proved: positions that they tell lie behind it. A refresh ends that.
func (r *Runner) replay(again bool) { r.replaying.Store(again) }

func (r *Runner) isReplaying() bool { return r.replaying.Load() }

// wantsFresh reports whether the opening that begins now needs a path of its own, where it
// can have one: after
// a time away, in another mode or process; and where something speaks for a loss, once
// in [Timing.RenewEvery]. A proof that was interrupted begins again.
func (r *Runner) wantsFresh(sub *event.Subscription, opening bool) bool {
	switch {
	case !sub.Opening().Valid || sub.LastSeen.IsZero():
		return false
	case opening && (!r.wasConfirmed() || unproved(&sub.Hook)):
		return true
	}
	return r.isDoubted() && r.freshIn() <= 0
}

// canBeFresh reports whether the subscription can be proved on a path of its own, and
// not by a poll.
func (r *Runner) canBeFresh() bool {
	return r.deps.Read == nil && !r.deps.ServerSecret && !r.mayPoll()
}

// freshIn returns the time until another path may be made.
func (r *Runner) freshIn() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.renewed.IsZero() {
		return 0
	}
	return r.renewed.Add(r.deps.Timing.RenewEvery).Sub(r.deps.Now())
}

// unproved reports whether the path was made in place of another one, and not proved.
func unproved(hook *event.Hook) bool { return hook.OldPath != "" && hook.OldUntil.IsZero() }

// makeWay gives the hook another path. One that was not proved is left: what is on its way
// there would look like a replay.
func (r *Runner) makeWay(ctx context.Context, sub *event.Subscription, hook *event.Hook) {
	r.mu.Lock()
	r.renewed = r.deps.Now()
	r.mu.Unlock()
	switch {
	case hook.URL == "":
		return // there is none yet
	case unproved(hook), sub.Lease.GrantedAt.IsZero():
		r.release(ctx, sub, hook.URL)
	default:
		hook.OldPath, hook.OldURL, hook.OldUntil = hook.Path, hook.URL, time.Time{}
	}
	hook.Path, hook.URL = "", ""
}

// endOld ends the old path on the server, when the new one is proved, and returns the
// hook without what is over of it.
func (r *Runner) endOld(ctx context.Context, sub *event.Subscription) event.Hook {
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

// refusesSecond reports whether an answer may mean that the server takes one
// subscription to a type at a time.
func refusesSecond(err error) bool {
	switch wire.NameFrom(err) {
	case wire.ResourceExhausted, wire.InvalidRequest:
		return true
	}
	return false
}

// breakFirst ends the old path before the new one is subscribed, where the server does
// not take both.
func (r *Runner) breakFirst(ctx context.Context, sub event.Subscription) (event.Subscription, error) {
	r.release(ctx, &sub, sub.Hook.OldURL)
	sub.Hook.OldURL = ""
	_, err := r.in.commit(ctx, event.Batch{Update: func(s *event.Subscription) { s.Hook.OldURL = "" }})
	return sub, err
}
