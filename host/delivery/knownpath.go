package delivery

import (
	"context"
	"time"

	"eventdeck/host/event"
)

// knownPath proves a webhook on a path that its server knew before. As the server may ignore
// the cursor of such a subscribe, only a catch-up poll is a proof.
type knownPath struct {
	*proof
	mayLeave  bool      // see [Runner.mayLeave]
	answer    granted   // the newest one
	covered   granted   // the newest one when the polls began
	coveredAt time.Time // when that was
}

// granted is what a server answered to a subscribe.
type granted struct {
	at      *event.Cursor // nil: it gave no cursor
	lease   event.Lease
	failure event.Failure
	doubts  uint64 // doubts that were raised until then
}

// newKnownPathProof returns the proof of a webhook whose path stays; nil as of
// [Runner.newProof].
func (r *Runner) newKnownPathProof(sub *event.Subscription) *proof {
	p := r.newProof(sub, r.lastSeen(), false, 0)
	if p != nil {
		p.asked = p.stored
		p.method = &knownPath{proof: p, mayLeave: r.mayLeave(sub)}
	}
	return p
}

// markCovered notes that the polls that follow cover everything until now.
func (k *knownPath) markCovered() {
	doubts := k.r.doubts.raised.Load()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.covered = k.answer
	k.covered.doubts = doubts
	k.coveredAt = k.r.deps.Now()
}

// answered implements [webhookMethod].
func (k *knownPath) answered(g granted) { k.answer = g }

// newest implements [webhookMethod].
func (k *knownPath) newest() granted { return k.answer }

// mark implements [proofMethod].
func (k *knownPath) mark(bool) verdict { return undecided }

// event implements [proofMethod].
func (k *knownPath) event(e seenEvent) verdict {
	if !e.again {
		k.noteNew(e.id)
	}
	return undecided
}

// decide implements [proofMethod]. Without a poll it leaves a doubt to a replay, or to what the
// server says.
func (k *knownPath) decide(context.Context) verdict {
	k.markCovered()
	k.mu.Lock()
	reached, gapNoted := k.reached, k.gapNoted
	k.mu.Unlock()
	switch {
	case reached != undecided:
		return reached
	case k.firstOpening || gapNoted:
		return missing
	case !k.r.isDoubted():
		return proved
	case k.r.canReplay():
		k.handOver()
		return undecided
	}
	return missing
}

// handOver ends this proof without a verdict, and has the server asked again.
func (k *knownPath) handOver() {
	k.mu.Lock()
	k.settled = true
	k.r.proof.CompareAndSwap(k.proof, nil)
	k.mu.Unlock()
	k.r.Nudge()
}

// settle implements [proofMethod]. The checkpoint moves to the answer before the polls only:
// deliveries since then may have passed over a lost event.
func (k *knownPath) settle(b *event.Batch, v verdict) {
	covered := k.covered
	b.Cursor = k.reachedBy()
	to := covered.at
	if !k.mayLeave && !k.r.polls() {
		to = nil
	}
	if v == missing { // the gap covers everything until now
		covered.failure, covered.doubts = k.answer.failure, k.r.doubts.raised.Load()
		to = b.Cursor
	}
	k.r.settleHook(b, to, k.firstNew, covered)
}
