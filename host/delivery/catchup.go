package delivery

import (
	"context"
	"errors"
	"slices"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// polls reports whether the type is known to offer poll; mayPoll, whether it may.
func (r *Runner) polls() bool {
	return r.deps.Modes != nil && slices.Contains(r.deps.Modes(r.key), event.ModePoll)
}

func (r *Runner) mayPoll() bool {
	if r.deps.Modes == nil {
		return false
	}
	modes := r.deps.Modes(r.key)
	return len(modes) == 0 || slices.Contains(modes, event.ModePoll)
}

// knowsModes reports whether the modes of the type are known now.
func (r *Runner) knowsModes() bool { return r.deps.Modes == nil || len(r.deps.Modes(r.key)) > 0 }

// catchUp polls for all since the last proved position, beside the open delivery. The
// poll proves once it has brought an event that the delivery brought too: all before
// that one is there then. An event of the delivery that it did not bring may lie behind
// a replica's lag, and is looked for again: soon, after the next heartbeat, and after
// some time. It returns undecided where the type cannot be polled.
func (p *proof) catchUp(ctx context.Context) verdict {
	c := catchingUp{proof: p, at: p.from}
	for tries := 1; ; tries++ {
		if v := c.drain(ctx); v != proved {
			return v
		}
		switch {
		case p.isMet() && !p.webhook, tries > 1 && !p.isUnmet():
			return proved
		case tries > 3:
			return missing
		case !c.rest(ctx, tries):
			return undecided
		case p.isMet() && !p.webhook:
			return proved
		case !c.brought:
			c.at = p.from
		}
	}
}

// isMet reports whether the poll has brought an event that the delivery brought.
func (p *proof) isMet() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.met
}

// isUnmet reports whether the delivery brought an event that the poll did not bring.
func (p *proof) isUnmet() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.met && !p.witness.IsZero()
}

// catchingUp is a catch-up poll under way. Its position is its own: it is never stored
// as that of the subscription.
type catchingUp struct {
	*proof
	at      event.Cursor
	brought bool // events have come
	most    int  // events asked for at most; 0: the server decides
}

// rest waits until what a lagging replica lacked may be there: when a new event has
// come that the poll must hold too, after the next heartbeat, or some time; no less
// than the server asks for.
func (c *catchingUp) rest(ctx context.Context, tries int) bool {
	timing := &c.r.deps.Timing
	c.mu.Lock()
	beats := c.beats
	c.mu.Unlock()
	if !c.await(ctx, timing.ProveWithin, func() bool {
		return tries == 1 && !c.witness.IsZero() || tries < 3 && c.beats > beats
	}) {
		return false
	}
	wait := c.r.pollAgain.Sub(c.r.deps.Now())
	if c.isUnmet() {
		wait = max(wait, timing.PollFloor)
	}
	return wait <= 0 || c.pause(ctx, wait)
}

// drain asks for page after page. It returns proved when there is no more, or the
// witness has come; missing when the server does not go on from the last proved
// position; undecided when it cannot be asked.
func (c *catchingUp) drain(ctx context.Context) verdict {
	r, backoff, empty := c.r, c.r.deps.Backoff(), 0
	for {
		if wait := r.pollAgain.Sub(r.deps.Now()); wait > 0 && !c.pause(ctx, wait) {
			return undecided
		}
		res, err := c.page(ctx)
		switch {
		case ctx.Err() != nil || c.isOver():
			return undecided
		case errors.Is(err, wire.ErrTooLarge) && c.smaller():
			continue
		case cannotPoll(err):
			return undecided
		case cursorRefused(err) && c.later():
			continue
		case refusedForGood(err):
			return missing
		case err != nil:
			if !c.pause(ctx, backoff.Next(err)) {
				return undecided
			}
			continue
		}
		backoff.Reset()
		if err := c.keep(ctx, res); err != nil {
			return undecided
		}
		if empty++; len(res.Events) > 0 {
			empty = 0
		}
		switch {
		case res.Truncated && c.later():
			continue
		case res.Truncated:
			return missing
		case c.isMet() && !c.webhook || !res.HasMore || empty >= emptyPages:
			r.pollAgain = r.deps.Now().Add(min(res.NextPoll, r.deps.Timing.PollCap))
			return proved
		}
	}
}

func (p *proof) isOver() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over
}

// page asks for one page when the server may be asked.
func (c *catchingUp) page(ctx context.Context) (wire.PollResult, error) {
	if c.r.deps.Pace != nil {
		done, err := c.r.deps.Pace(ctx)
		if err != nil {
			return wire.PollResult{}, err
		}
		defer done()
	}
	return c.r.deps.Source.Poll(ctx, wire.PollRequest{
		Name: c.r.key.Type, Arguments: c.r.key.Args, MaxEvents: c.most,
		At: wire.Position{Cursor: c.at.Text, Valid: c.at.Valid, Number: c.at.Number, MaxAge: c.maxAge},
	})
}

// later goes on at the stored position, where the last proved one is too old for the
// server and nothing speaks for a loss between the two. It reports whether that helps.
func (c *catchingUp) later() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.from == c.stored || c.suspect {
		return false
	}
	c.from, c.at = c.stored, c.stored
	return true
}

// smaller asks for fewer events from now on, and reports whether it can.
func (c *catchingUp) smaller() bool {
	switch c.most {
	case 0:
		c.most = smallPage
	case 1:
		return false
	default:
		c.most = max(1, c.most/4)
	}
	return true
}

// keep stores what a page brought and takes its position for the next one.
func (c *catchingUp) keep(ctx context.Context, res wire.PollResult) error {
	in := &c.r.in
	next := res.Cursor
	b := event.Batch{Records: make([]event.Record, 0, len(res.Events))}
	for _, raw := range res.Events {
		rec, own := in.occurred(raw)
		if !res.Cursor.Present && own.HasText() {
			next = own
		}
		rec.Mode = event.ModePoll
		rec.Replayed = rec.Kind == event.KindEvent && happenedBefore(rec.Timestamp, c.opened)
		b.Records = append(b.Records, rec)
	}
	if next.HasText() {
		c.at = cursorOf(next)
	}
	if len(b.Records) == 0 {
		return nil
	}
	c.brought = true
	o, err := in.commit(ctx, b)
	if err != nil {
		return err
	}
	in.replayed.Add(uint64(o.Stored))
	c.r.deps.Failpoint(FailCaughtUp)
	c.meet(b.Records)
	return nil
}

// meet looks for the witness among what the poll has brought.
func (p *proof) meet(records []event.Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.met = p.met || !p.witness.IsZero() && slices.ContainsFunc(records, func(rec event.Record) bool {
		return rec.Kind == event.KindEvent && rec.EventID == p.witness
	})
}

// cannotPoll reports whether an answer says that the type cannot be polled at all.
func cannotPoll(err error) bool {
	return err != nil && unfit(err) || errors.Is(err, wire.ErrUnacceptable)
}

// refusedForGood reports whether asking again would not help.
func refusedForGood(err error) bool {
	switch wire.NameFrom(err) {
	case wire.InvalidParams, wire.NotFound, wire.Forbidden:
		return true
	}
	return errors.Is(err, wire.ErrTooLarge)
}
