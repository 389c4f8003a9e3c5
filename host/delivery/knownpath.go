package delivery

import (
	"context"
	"time"

	"eventdeck/host/event"
)

// knownPath proves a webhook on a path that its server knew before, where the server may
// ignore the position that is asked for: by a catch-up poll alone.
type knownPath struct {
	*proof
	answer  granted // the newest one
	covered granted // the one before the polls that decide
	looked  time.Time
}

// granted is what a server answered to a subscribe.
type granted struct {
	at      *event.Cursor // nil: none
	failure event.Failure
	doubts  uint64 // raised until then
}

// newKnownPathProof returns the proof of a webhook whose path stays; nil as [Runner.newProof].
func (r *Runner) newKnownPathProof(sub *event.Subscription) *proof {
	p := r.newProof(sub, r.lastLife(), false, 0)
	if p != nil {
		p.asked = p.stored
		p.medium = &knownPath{proof: p}
	}
	return p
}

// look begins what is to be covered by the polls that follow: all until now.
func (k *knownPath) look() {
	doubts := k.r.doubts.raised.Load()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.covered = k.answer
	k.covered.doubts = doubts
	k.looked = k.r.deps.Now()
}

// isUpToDate reports whether nothing spoke for a loss since the last look.
func (k *knownPath) isUpToDate() bool {
	doubts := k.r.doubts.raised.Load()
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.covered.doubts == doubts
}

// answered implements [hookMedium].
func (k *knownPath) answered(g granted) { k.answer = g }

// newest implements [hookMedium].
func (k *knownPath) newest() granted { return k.answer }

// mark implements [medium].
func (k *knownPath) mark(bool) verdict { return undecided }

// event implements [medium].
func (k *knownPath) event(e sight) verdict {
	if !e.again {
		k.witnessed(e.id)
	}
	return undecided
}

// decide implements [medium]. Without a poll, a fresh path is to prove it; where there
// can be none, what the server says of failures is all there is.
func (k *knownPath) decide(context.Context) verdict {
	k.look()
	switch {
	case k.reached != undecided:
		return k.reached
	case k.first:
		return missing
	case k.r.canBeFresh():
		k.handOn()
		return undecided
	case k.told || k.r.isDoubted():
		return missing
	}
	return proved
}

// handOn ends the proof without a verdict: another one is to begin.
func (k *knownPath) handOn() {
	k.mu.Lock()
	k.settled = true
	k.r.proof.CompareAndSwap(k.proof, nil)
	k.mu.Unlock()
	k.r.Doubt()
}

// settle implements [medium]. All is stored up to the answer before the polls; deliveries
// may have passed over something since.
func (k *knownPath) settle(b *event.Batch, v verdict) {
	covered := k.covered
	b.Cursor = k.reachedBy()
	to := covered.at
	if v == missing { // the gap tells of all until now
		covered.failure, covered.doubts = k.answer.failure, k.r.doubts.raised.Load()
		to = b.Cursor
	}
	k.r.settleHook(b, to, covered)
	k.r.noteNewest(k.witness)
}
