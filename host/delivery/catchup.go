package delivery

import (
	"context"
	"errors"
	"slices"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// polls reports whether the type is known to offer poll; mayPoll, whether it may. After
// a refusal the next proof of a webhook does without.
func (r *Runner) polls() bool {
	return r.deps.Modes != nil && !r.unpolled.Load() && slices.Contains(r.deps.Modes(r.key), event.ModePoll)
}

func (r *Runner) mayPoll() bool {
	if r.deps.Modes == nil || r.unpolled.Load() {
		return false
	}
	modes := r.deps.Modes(r.key)
	return len(modes) == 0 || slices.Contains(modes, event.ModePoll)
}

// knowsModes reports whether the modes of the type are known now.
func (r *Runner) knowsModes() bool { return r.deps.Modes == nil || len(r.deps.Modes(r.key)) > 0 }

// listPause is how often it is looked whether the types of the server are known.
const listPause = 250 * time.Millisecond

// mayCatchUp reports whether the type may be polled, as far as the server says it within
// some time.
func (p *proof) mayCatchUp(ctx context.Context) bool {
	for waited := time.Duration(0); p.isPolling() && !p.r.knowsModes() && waited < p.r.deps.Timing.ProveWithin; waited += listPause {
		if !p.pause(ctx, listPause) {
			break
		}
	}
	return p.isPolling() && p.r.mayPoll()
}

func (p *proof) isPolling() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.polling
}

// catchUp polls for all since the last proved position, beside the open delivery. It
// returns undecided when it was interrupted.
func (p *proof) catchUp(ctx context.Context) verdict {
	if !p.mayCatchUp(ctx) {
		return unable
	}
	c := &catchingUp{proof: p, at: p.from, began: p.from}
	if lease, ok := p.medium.(*knownPath); ok {
		v := c.besideDeliveries(ctx, lease)
		if v == proved {
			p.r.in.whole.to(lease.looked)
		}
		return v
	}
	if done := p.r.caughtUp; done.from.Valid && done.from.Same(p.from) {
		c.at, c.began, c.short = done.at, done.at, done.short
	}
	v := c.besideStream(ctx)
	if v == proved {
		p.r.in.whole.to(p.opened)
	}
	return v
}

// progress is how far the catch-up polls beside streams have come that ended before their
// proof: all that the server holds between the two positions is stored. The next one goes
// on there, else no poll would come to its end where streams are shorter than it takes.
type progress struct {
	from, at event.Cursor
	short    bool
}

// catchingUp is a catch-up poll under way. Its position is its own: it is never stored
// as that of the subscription.
type catchingUp struct {
	*proof
	at      event.Cursor
	began   event.Cursor // the first one
	brought bool         // events have come
	short   bool         // the server did not go on from the last proved position
	most    int          // events asked for at most; 0: the server decides
}

// mostDrains is how often a poll is made that does not bring what the delivery brought.
const mostDrains = 4

// besideStream proves once the poll has brought an event that the stream brought too:
// all before that one is there then. An event of the stream that it did not bring may
// lie behind a replica's lag, and is looked for again: soon, after two heartbeats, and
// after some time. So it is where the stream brought none.
func (c *catchingUp) besideStream(ctx context.Context) verdict {
	for tries := 1; ; tries++ {
		if v := c.drain(ctx); v != proved {
			return v
		}
		switch {
		case c.isMet(), tries > 1 && !c.isUnmet():
			return proved
		case tries == mostDrains:
			return missing
		case !c.rest(ctx, tries):
			return undecided
		case c.isMet():
			return proved
		}
		c.again()
	}
}

// besideDeliveries proves when all was polled for twice, with time for a replica's lag
// between: deliveries overtake each other, so that one which the poll brought too shows
// nothing of the others. What speaks for a loss meanwhile begins that anew.
func (c *catchingUp) besideDeliveries(ctx context.Context, lease *knownPath) verdict {
	lease.look()
	for tries := 1; ; tries++ {
		if v := c.drain(ctx); v != proved {
			return v
		}
		switch {
		case tries > 1 && !lease.isUpToDate():
			lease.look()
			tries = 1
		case tries > 1 && !c.isUnmet():
			return proved
		case tries == mostDrains:
			return missing
		}
		if !c.pause(ctx, c.r.deps.Timing.ProveWithin) {
			return undecided
		}
		c.again()
	}
}

// again prepares another drain.
func (c *catchingUp) again() {
	if !c.brought {
		c.at = c.began
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

// rest waits until what a lagging replica lacked may be there: when a new event has
// come that the poll must hold too, after a heartbeat, or some time. The first heartbeat
// may come with the opening.
func (c *catchingUp) rest(ctx context.Context, tries int) bool {
	timing := &c.r.deps.Timing
	c.mu.Lock()
	beats := c.beats + 1
	if tries == 1 {
		beats++
	}
	c.mu.Unlock()
	if !c.await(ctx, timing.ProveWithin, func() bool {
		return tries == 1 && !c.witness.IsZero() || tries < 3 && c.beats >= beats
	}) {
		return false
	}
	return !c.isUnmet() || c.pause(ctx, timing.PollFloor)
}

// drain asks for page after page, no sooner than the server wants. It returns proved when
// there is no more, or a stream's witness has come; missing when the server refuses, or
// when it did not go on from the last proved position and has no more;
// unable when it cannot be asked; undecided when it was interrupted.
func (c *catchingUp) drain(ctx context.Context) verdict {
	r, backoff, empty := c.r, c.r.deps.Backoff(), 0
	for {
		if wait := r.pollAgain.Sub(r.deps.Now()); wait > 0 && !c.pause(ctx, wait) {
			return undecided
		}
		res, err := c.page(ctx)
		switch {
		case ctx.Err() != nil || c.isSettled():
			return undecided
		case errors.Is(err, wire.ErrTooLarge) && c.smaller():
			continue
		case cursorRefused(err) && (c.anew() || c.later()):
			continue
		case cannotPoll(err):
			return c.refused(ctx, err, unable)
		case refusedForGood(err):
			return c.refused(ctx, err, missing)
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
		if res.Truncated && c.later() {
			continue
		}
		c.short = c.short || res.Truncated
		_, webhook := c.medium.(*knownPath)
		if c.isMet() && !webhook || !res.HasMore || empty >= emptyPages {
			r.pollAgain = r.deps.Now().Add(min(res.NextPoll, r.deps.Timing.PollCap))
			if c.short {
				return missing
			}
			return proved
		}
	}
}

// refused tells that the server refuses a poll, and returns what becomes of the proof:
// otherwise, but for a webhook, which has another way, a path of its own.
func (c *catchingUp) refused(ctx context.Context, err error, otherwise verdict) verdict {
	why := "the server offers poll for this type and refuses it"
	if cursorRefused(err) {
		why = "the server refuses to be polled from a position that it gave with other events of this type"
	}
	c.r.Remark(ctx, "poll refused", why+": whether events are missing cannot be shown by a poll")
	if _, webhook := c.medium.(*knownPath); webhook && !c.first {
		c.r.unpolled.Store(true)
		return unable
	}
	return otherwise
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
	lease, webhook := c.medium.(*knownPath)
	if c.from.Same(c.stored) || !webhook || c.r.isDoubted() && !lease.first {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.from, c.at, c.began = c.stored, c.stored, c.stored
	return true
}

// anew begins at the last proved position again, where the server does not take the one
// that an earlier poll came to. It reports whether that helps.
func (c *catchingUp) anew() bool {
	if !c.at.Same(c.began) || c.began.Same(c.from) {
		return false
	}
	c.at, c.began = c.from, c.from
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
	c.r.caughtUp = progress{c.from, c.at, c.short || res.Truncated}
	c.r.deps.Failpoint(FailCaughtUp)
	c.meet(b.Records)
	return nil
}

// meet looks for the witness among what the poll has brought, and remembers that: the
// delivery may bring it at the same time.
func (p *proof) meet(records []event.Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range records {
		switch rec := &records[i]; {
		case rec.Kind != event.KindEvent:
		case rec.EventID == p.witness:
			p.met = true
		case p.witness.IsZero() && len(p.polled) < mostRemembered:
			if p.polled == nil {
				p.polled = map[trust.Text]struct{}{}
			}
			p.polled[rec.EventID] = struct{}{}
		}
	}
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
