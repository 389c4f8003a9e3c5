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

// wantsFresh reports whether the opening that begins now needs a path of its own: after
// a time away, in another mode or process; and behind a sign of failure, once in
// [Timing.RenewEvery]. A proof that was interrupted goes on.
func (r *Runner) wantsFresh(sub *event.Subscription) bool {
	switch {
	case !r.canBeFresh() || !sub.Opening().Valid || sub.LastSeen.IsZero():
		return false
	case !r.wasConfirmed(), unproved(&sub.Hook), r.lastFresh.isOpen():
		return true
	}
	return r.freshIn() <= 0
}

// canBeFresh reports whether the subscription can be proved on a path of its own, and
// not by a poll.
func (r *Runner) canBeFresh() bool {
	return r.deps.Read == nil && !r.deps.ServerSecret && !r.mayPoll()
}

// freshIn returns the time until another path may be made for a sign of failure.
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

// makeWay gives the hook another path. One that was made and not proved is ended on the
// server and used again: it is a fresh one then.
func (r *Runner) makeWay(ctx context.Context, sub *event.Subscription, hook *event.Hook) {
	r.mu.Lock()
	r.renewed = r.deps.Now()
	r.mu.Unlock()
	switch {
	case hook.URL == "":
		return // there is none yet
	case unproved(hook), sub.Lease.GrantedAt.IsZero():
		r.release(ctx, sub, hook.URL)
		return
	}
	hook.OldPath, hook.OldURL, hook.OldUntil = hook.Path, hook.URL, time.Time{}
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

// release ends the subscription at an address, as far as the server answers.
func (r *Runner) release(ctx context.Context, sub *event.Subscription, url string) {
	at := *sub
	at.Mode, at.Hook.URL, at.Hook.OldURL = event.ModeWebhook, url, ""
	within, cancel := context.WithTimeout(ctx, takeLeave)
	defer cancel()
	if err := Release(within, r.deps.Source, at); err != nil {
		r.deps.Log.Warn("a callback address stays on the server until its lease ends", "sub", r.id, "err", err)
		r.deps.Left(ctx, at)
	}
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

// again opens a fresh path at a later position, where the one that was asked for is too
// old for the server.
func (r *Runner) again(ctx context.Context, cancel context.CancelCauseFunc, sub event.Subscription, opening bool, open *openLease) (time.Duration, error) {
	r.release(ctx, &sub, sub.Hook.URL)
	open.start(ctx, cancel, r, &sub, true)
	return r.lease(ctx, sub, opening, open)
}

// position returns where the server is asked to begin.
func (l *openLease) position(sub *event.Subscription) event.Cursor {
	if l.isFresh() {
		return l.proof.asked
	}
	return sub.Cursor
}

func (l *openLease) isFresh() bool { return l.proof.isFresh() }

// isFresh reports whether the proof is open, and of a fresh path.
func (p *proof) isFresh() bool { return p.isOpen() && p.fresh }

// doubted notes that something speaks for a loss.
func (p *proof) doubted() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.suspect = true
}

// mostSeen bounds the events that a proof remembers of a fresh path.
const mostSeen = 4096

// comesAgain looks at an event on a fresh path where any stored one shows that it goes
// back far enough. Deliveries overtake each other. The lock is held.
func (p *proof) comesAgain(id trust.Text) verdict {
	if _, again := p.seen[id]; again {
		return undecided // a delivery that was repeated
	}
	if p.r.deps.Store.HasEvent(p.r.id, id) {
		p.repeated = id
		return proved
	}
	if len(p.seen) < mostSeen {
		p.seen[id] = struct{}{}
	}
	if p.witness.IsZero() {
		p.witness = id
		p.rouse()
	}
	return undecided
}

// freshVerdict decides about a fresh path when its time is over. The lock is held.
func (p *proof) freshVerdict() verdict {
	switch {
	case p.told, !p.known.IsZero(), !p.from.Same(p.stored):
		return missing // what is stored had to come again
	case p.lenient:
		return p.leniently()
	case p.heard, !p.echoed:
		return missing
	}
	return proved // nothing came, and it is the position of before
}

// reachedBy returns the position of a fresh path where something may be missing: what it
// delivered led there, or what the server answered. A path that is proved leaves the
// stored position: what is delivered again tells positions before it. The lock is held.
func (p *proof) reachedBy(v verdict) *event.Cursor {
	switch {
	case v == proved:
		return nil
	case p.held != nil:
		return p.held
	case p.answer != nil:
		return p.answer
	}
	return &p.asked
}

// dropOld ends the path before a fresh one that is proved.
func (r *Runner) dropOld(ctx context.Context, url string) {
	sub, err := r.deps.Store.Subscription(r.id)
	if url == "" || err != nil || sub.Hook.OldURL != url {
		return
	}
	r.release(ctx, &sub, url)
	err = r.in.submit(ctx, event.Batch{Update: func(s *event.Subscription) {
		if s.Hook.OldURL == url {
			s.Hook.OldURL = ""
		}
	}})
	if err != nil && ctx.Err() == nil {
		r.deps.Log.Warn("that the old callback address was ended is not stored", "sub", r.id, "err", err)
	}
}
