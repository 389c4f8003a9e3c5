package delivery

import (
	"context"

	"eventdeck/host/event"
)

// overlap waits for what decides where no poll does. A stream decides by its notes. Of
// a webhook, whose server may go on in silence with what it has under way, only what it
// answers of failures speaks for a loss.
func (p *proof) overlap(ctx context.Context) verdict {
	p.mu.Lock()
	p.polling = false
	if p.webhook && !p.fresh && p.unlisted && !p.first && !p.r.mayPoll() {
		p.mu.Unlock()
		p.r.Doubt() // now it is known that it needs a path of its own
		return undecided
	}
	if p.webhook && !p.fresh && p.suspect && !p.first && p.r.canBeFresh() {
		p.mu.Unlock()
		// Until another path may be made, the proved position stays where it is.
		if p.pause(ctx, p.r.freshIn()) {
			p.r.Doubt()
		}
		return undecided
	}
	decided := p.first || p.webhook && !p.fresh || p.reached != undecided || p.doubtful || p.told
	p.mu.Unlock()
	if !decided {
		wait := p.r.deps.Timing.ProveWithin
		if !p.webhook {
			wait *= 2 // two heartbeats
		}
		p.pause(ctx, wait)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.over || ctx.Err() != nil:
		return undecided
	case p.reached != undecided:
		return p.reached
	case p.fresh:
		return p.freshVerdict()
	case p.webhook && !p.first && !p.told:
		return p.leniently() // the answer has said all
	case p.first || p.doubtful || p.told || !p.known.IsZero():
		return missing
	case p.lenient:
		return p.leniently()
	case p.moved:
		return missing
	}
	return undecided // a stream on which nothing came
}

// overlaps looks at a position that was told. The lock is held.
func (p *proof) overlaps(heartbeat bool) verdict {
	switch {
	case p.webhook || !heartbeat:
		return undecided
	case !p.known.IsZero():
		if p.beats < 2 {
			return undecided
		}
		return missing
	case p.lenient:
		return p.leniently()
	case p.echoed && !p.moved:
		return proved // it was looked up to here, and there is nothing new
	}
	return missing
}

// passed looks at a new event. Where a stored event must come again, a new one that
// leads to another position shows that it does not; one that overtook it leads to the
// position that was asked for. The lock is held.
func (p *proof) passed(position event.Cursor, replayed bool) verdict {
	v := undecided
	switch {
	case !p.known.IsZero():
		if !p.webhook && position.Valid && !position.Same(p.asked) {
			p.doubtful = true
			v = missing
		}
	case p.webhook:
	case p.lenient:
		v = proved
		if p.moved && !replayed {
			v = missing
		}
		p.doubtful = v == missing
	default:
		p.doubtful = true
		v = missing // only one position is known
	}
	if p.polling {
		return undecided
	}
	return v
}

// leniently decides where overlap cannot be had, by what speaks for a loss. The lock
// is held.
func (p *proof) leniently() verdict {
	if p.suspect || (!p.webhook || p.fresh) && p.moved && !p.heard {
		return missing
	}
	return proved
}

// mostUndecided is how many streams in a row may end before the stored event came again
// that has to: a server that closes them early shows by that, too, that it replays
// nothing.
const mostUndecided = 5

// endedWith takes note that the stream has ended with this proof.
func (p *proof) endedWith(ctx context.Context) {
	if p == nil {
		return
	}
	p.mu.Lock()
	open := !p.over && p.confirmed && !p.polling && !p.known.IsZero()
	p.mu.Unlock()
	if !open {
		p.r.undecided = 0
		return
	}
	if p.r.undecided++; p.r.undecided >= mostUndecided {
		p.r.undecided = 0
		p.noOverlap = true
		p.conclude(ctx, missing)
	}
}
