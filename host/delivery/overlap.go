package delivery

import (
	"context"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// streamOverlap proves a stream by overlap: the stream is asked to begin one position back,
// and the stored event after that position must come again before any event with a later
// cursor, and before the second heartbeat.
type streamOverlap struct {
	*proof
	overlapFailed bool // a new event came first: the stream did not begin where it was asked to
	noOverlap     bool // the server replays nothing, and is not asked for overlap again
}

// newStreamProof returns the proof of a stream; nil, and refused, as of [Runner.newProof].
func (r *Runner) newStreamProof(sub *event.Subscription, refused int) *proof {
	p := r.newProof(sub, r.in.lastSeenAt(), true, refused)
	if p != nil {
		p.method = &streamOverlap{proof: p}
	}
	return p
}

// mark implements [proofMethod].
func (s *streamOverlap) mark(isHeartbeat bool) verdict {
	switch {
	case !isHeartbeat:
		return undecided
	case !s.expected.IsZero():
		if s.beats < 2 {
			return undecided
		}
		return missing
	case s.lenient:
		return s.decideLeniently()
	case s.echoed && !s.moved:
		return proved // the server looked from there to now, and there is nothing new
	}
	return missing
}

// event implements [proofMethod]. Where a stored event must come again, a new event with
// another cursor than the one that was asked for shows that it will not. A new event with
// that cursor has only overtaken the stored one.
func (s *streamOverlap) event(e seenEvent) verdict {
	s.confirm()
	switch {
	case !s.firstNew.IsZero() && s.expected.IsZero():
		return undecided // a catch-up poll decides
	case e.again && e.first && !s.byPoll && s.expected.IsZero():
		return proved // it goes back to what is stored
	case e.again:
		return undecided
	}
	s.noteNew(e.id)
	v := undecided
	switch {
	case !s.expected.IsZero():
		if e.position.Valid && !e.position.Same(s.asked) {
			v = missing
		}
	case s.lenient:
		v = proved
		if s.unsure || s.moved {
			v = missing
		}
	default:
		v = missing // only one position is known
	}
	s.overlapFailed = s.overlapFailed || v == missing
	if s.byPoll {
		return undecided
	}
	return v
}

// decide implements [proofMethod]. It leaves the verdict to what the stream brings, and gives
// one itself when two heartbeats are overdue.
func (s *streamOverlap) decide(ctx context.Context) verdict {
	s.mu.Lock()
	decided := s.firstOpening || s.overlapFailed || s.gapNoted
	s.mu.Unlock()
	if !decided {
		s.pause(ctx, 2*s.r.deps.Timing.ProveWithin)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.settled || ctx.Err() != nil:
		return undecided
	case s.firstOpening || s.overlapFailed || s.gapNoted || !s.expected.IsZero():
		return missing
	case s.lenient:
		return s.decideLeniently()
	case s.moved:
		return missing
	}
	return undecided // nothing came
}

// decideLeniently returns the verdict where no stored event can come again: missing if there
// is a sign of a loss. The lock is held.
func (s *streamOverlap) decideLeniently() verdict {
	if s.unsure || s.moved && !s.eventCame {
		return missing
	}
	return proved
}

// settle implements [proofMethod]. For a stream the stored position is the proved one.
func (s *streamOverlap) settle(b *event.Batch, _ verdict) {
	if s.held != nil && !s.held.Same(s.asked) {
		b.Cursor, b.Newest = s.held, s.firstNew
	}
	noOverlap := s.noOverlap
	addUpdate(b, func(sub *event.Subscription) {
		sub.DropCheckpoint()
		if noOverlap {
			sub.Before, sub.Newest = event.Cursor{}, trust.Text{}
		}
	})
}

// maxUnprovedStreams is how many streams in a row may end before their proof. Then a gap is
// recorded: a server that closes all streams so early replays nothing. Where no stored event
// has to come again, such a gap is recorded once in [Timing.RenewEvery] at most.
const maxUnprovedStreams = 5

// streamEnded counts streams that ended before their proof, when the stream of p has ended.
func (p *proof) streamEnded(ctx context.Context) {
	if p == nil {
		return
	}
	p.mu.Lock()
	open := !p.settled && p.confirmed && !p.byPoll
	p.mu.Unlock()
	r, now := p.r, p.r.deps.Now()
	if !open {
		r.unprovedStreams = 0
		return
	}
	r.unprovedStreams++
	if r.unprovedStreams < maxUnprovedStreams || p.expected.IsZero() && now.Sub(r.shortStreamsAt) < r.deps.Timing.RenewEvery {
		return
	}
	r.unprovedStreams, r.shortStreamsAt = 0, now
	p.method.(*streamOverlap).noOverlap = true
	p.conclude(ctx, missing)
}
