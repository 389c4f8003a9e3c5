package delivery

import (
	"context"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// streamOverlap proves a stream without a poll: it is asked to begin one position back,
// and the stored event behind that must come again before one that leads on, and before
// the second heartbeat.
type streamOverlap struct {
	*proof
	doubtful  bool // overlap has failed: it goes on elsewhere
	noOverlap bool // the server replays nothing: it is not asked for overlap again
}

// newStreamProof is newProof of a stream.
func (r *Runner) newStreamProof(sub *event.Subscription, refused int) *proof {
	p := r.newProof(sub, r.in.lastSign(), true, refused)
	if p != nil {
		p.medium = &streamOverlap{proof: p}
	}
	return p
}

// mark implements [medium].
func (s *streamOverlap) mark(heartbeat bool) verdict {
	switch {
	case !heartbeat:
		return undecided
	case !s.known.IsZero():
		if s.beats < 2 {
			return undecided
		}
		return missing
	case s.lenient:
		return s.leniently()
	case s.echoed && !s.moved:
		return proved // it was looked up to here, and there is nothing new
	}
	return missing
}

// event implements [medium]. Where a stored event must come again, a new one that leads
// to another position shows that it does not; one that overtook it leads to the position
// that was asked for.
func (s *streamOverlap) event(e sight) verdict {
	s.confirming()
	switch {
	case !s.witness.IsZero() && s.known.IsZero():
		return undecided // a catch-up poll decides
	case e.again && e.first && !s.polling && s.known.IsZero():
		return proved // it goes back to what is stored
	case e.again:
		return undecided
	}
	s.witnessed(e.id)
	v := undecided
	switch {
	case !s.known.IsZero():
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
	s.doubtful = s.doubtful || v == missing
	if s.polling {
		return undecided
	}
	return v
}

// decide implements [medium]. A stream decides by its notes, and by two heartbeats that
// did not come.
func (s *streamOverlap) decide(ctx context.Context) verdict {
	s.mu.Lock()
	decided := s.first || s.doubtful || s.told
	s.mu.Unlock()
	if !decided {
		s.pause(ctx, 2*s.r.deps.Timing.ProveWithin)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.settled || ctx.Err() != nil:
		return undecided
	case s.first || s.doubtful || s.told || !s.known.IsZero():
		return missing
	case s.lenient:
		return s.leniently()
	case s.moved:
		return missing
	}
	return undecided // nothing came
}

// leniently decides where overlap cannot be had, by what speaks for a loss. The lock
// is held.
func (s *streamOverlap) leniently() verdict {
	if s.unsure || s.moved && !s.heard {
		return missing
	}
	return proved
}

// settle implements [medium]: of a stream, the stored position is the proved one.
func (s *streamOverlap) settle(b *event.Batch, _ verdict) {
	if s.held != nil && !s.held.Same(s.asked) {
		b.Cursor, b.Newest = s.held, s.witness
	}
	noOverlap := s.noOverlap
	also(b, func(sub *event.Subscription) {
		sub.Uncheck()
		if noOverlap {
			sub.Before, sub.Newest = event.Cursor{}, trust.Text{}
		}
	})
}

// mostUndecided is how many streams in a row may end before their proof: a server that
// closes them early shows by that, too, that it replays nothing. Where no stored event can
// come again, a gap is told for that once in [Timing.RenewEvery].
const mostUndecided = 5

// endedWith takes note that the stream has ended with this proof.
func (p *proof) endedWith(ctx context.Context) {
	if p == nil {
		return
	}
	p.mu.Lock()
	open := !p.settled && p.confirmed && !p.polling
	p.mu.Unlock()
	r, now := p.r, p.r.deps.Now()
	if !open {
		r.undecided = 0
		return
	}
	r.undecided++
	if r.undecided < mostUndecided || p.known.IsZero() && now.Sub(r.shortStreams) < r.deps.Timing.RenewEvery {
		return
	}
	r.undecided, r.shortStreams = 0, now
	p.medium.(*streamOverlap).noOverlap = true
	p.conclude(ctx, missing)
}
