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
	answer    granted   // the newest one
	covered   granted   // the newest one when the polls that decide began
	coveredAt time.Time // when that was
}

// granted is what a server answered to a subscribe.
type granted struct {
	at      *event.Cursor // nil: it gave no cursor
	failure event.Failure
	doubts  uint64 // doubts that were raised until then
}

// newKnownPathProof returns the proof of a webhook whose path stays; nil as of
// [Runner.newProof].
func (r *Runner) newKnownPathProof(sub *event.Subscription) *proof {
	p := r.newProof(sub, r.lastSeen(), false, 0)
	if p != nil {
		p.asked = p.stored
		p.method = &knownPath{proof: p}
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

// isUpToDate reports whether no doubt was raised since markCovered.
func (k *knownPath) isUpToDate() bool {
	doubts := k.r.doubts.raised.Load()
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.covered.doubts == doubts
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

// decide implements [proofMethod]. Without a poll it hands over to a proof on a fresh path.
// Where there can be none, only what the server says of failed deliveries is left.
func (k *knownPath) decide(context.Context) verdict {
	k.markCovered()
	k.mu.Lock()
	reached, gapNoted := k.reached, k.gapNoted
	k.mu.Unlock()
	switch {
	case reached != undecided:
		return reached
	case k.firstOpening:
		return missing
	case k.r.canBeFresh():
		k.handOver()
		return undecided
	case gapNoted || k.r.isDoubted():
		return missing
	}
	return proved
}

// handOver ends this proof without a verdict, and asks for another one.
func (k *knownPath) handOver() {
	k.mu.Lock()
	k.settled = true
	k.r.proof.CompareAndSwap(k.proof, nil)
	k.mu.Unlock()
	k.r.Doubt()
}

// settle implements [proofMethod]. The checkpoint moves to the answer before the polls only:
// deliveries since then may have passed over a lost event.
func (k *knownPath) settle(b *event.Batch, v verdict) {
	covered := k.covered
	b.Cursor = k.reachedBy()
	to := covered.at
	if v == missing { // the gap covers everything until now
		covered.failure, covered.doubts = k.answer.failure, k.r.doubts.raised.Load()
		to = b.Cursor
	}
	k.r.settleHook(b, to, covered)
	k.r.noteNewEvent(k.firstNew)
}
