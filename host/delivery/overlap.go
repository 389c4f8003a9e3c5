package delivery

import (
	"context"

	"eventdeck/host/event"
)

// overlap waits for what decides where no poll does. A stream decides by its notes;
// deliveries by webhook are given some time.
func (p *proof) overlap(ctx context.Context) verdict {
	p.mu.Lock()
	p.polling = false
	v := undecided
	if p.doubtful || p.told {
		v = missing
	}
	p.mu.Unlock()
	if v != undecided {
		return v
	}
	wait := p.r.deps.Timing.ProveWithin
	if !p.webhook {
		wait *= 2 // two heartbeats
	}
	if !p.await(ctx, wait, func() bool { return false }) {
		return undecided
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.known.IsZero():
		return missing
	case p.lenient || p.heard || p.moved:
		return p.leniently()
	case p.webhook && p.echoed:
		return proved // nothing came, and the position is the one of before
	case p.webhook:
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
	if p.moved && !p.heard {
		return missing
	}
	return proved
}
