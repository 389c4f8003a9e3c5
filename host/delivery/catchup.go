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

// polls reports whether the type is known to offer poll; mayPoll, whether it does or its
// modes are not known now. A server that refused a poll counts as one that does not offer it.
func (r *Runner) polls() bool {
	offered, _ := r.offersPoll()
	return offered
}

func (r *Runner) mayPoll() bool {
	offered, known := r.offersPoll()
	return offered || !known
}

func (r *Runner) offersPoll() (offered, known bool) {
	if r.deps.Modes == nil || r.pollRefused.Load() {
		return false, true
	}
	modes := r.deps.Modes(r.key)
	return slices.Contains(modes, event.ModePoll), len(modes) > 0
}

// listPause is the pause between two looks at the types of a server that are not known yet.
const listPause = 250 * time.Millisecond

// awaitPollable waits until it is known whether the type offers poll, at most
// [Timing.ProveWithin], and reports whether it may be polled.
func (p *proof) awaitPollable(ctx context.Context) bool {
	for waited := time.Duration(0); p.isByPoll() && waited < p.r.deps.Timing.ProveWithin; waited += listPause {
		if _, known := p.r.offersPoll(); known || !p.pause(ctx, listPause) {
			break
		}
	}
	return p.isByPoll() && p.r.mayPoll()
}

func (p *proof) isByPoll() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byPoll
}

// catchUp polls for everything since the last proved position while the delivery is open.
// It returns undecided when it was interrupted.
func (p *proof) catchUp(ctx context.Context) verdict {
	if !p.awaitPollable(ctx) {
		return unable
	}
	c := &catchUpPoll{proof: p, at: p.from, began: p.from}
	if lease, ok := p.method.(*knownPath); ok {
		v := c.proveWebhook(ctx, lease)
		if v == proved {
			p.r.in.watermark.advance(lease.coveredAt)
		}
		return v
	}
	if done := p.r.catchUpDone; done.from.Valid && done.from.Same(p.from) {
		c.at, c.began, c.truncated = done.at, done.at, done.truncated
	}
	v := c.proveStream(ctx)
	if v == proved {
		p.r.in.watermark.advance(p.opened)
	}
	return v
}

// catchUpProgress is how far a catch-up poll came whose stream ended before the proof: all
// that the server holds from one position to the other is stored. The next poll goes on
// there; otherwise none would ever end on a server whose streams are short.
type catchUpProgress struct {
	from, at  event.Cursor
	truncated bool
}

// catchUpPoll is a catch-up poll under way. Its position is never stored as that of the
// subscription.
type catchUpPoll struct {
	*proof
	at        event.Cursor // where the next page begins
	began     event.Cursor // where the first page began
	hasEvents bool         // events have come
	truncated bool         // the server did not go on from the last proved position
	maxEvents int          // of one page; 0: the server decides
}

// maxDrains is how often all pages are asked for while the poll does not bring the first new
// event of the delivery.
const maxDrains = 4

// proveStream polls until the poll has brought the first new event of the stream: then all
// before that event is stored. Where the poll does not bring it, the server may answer polls
// from a replica that lags, and is polled again: soon, after two heartbeats, and after
// [Timing.ProveWithin]. It is polled once more also where the stream brought no event.
func (c *catchUpPoll) proveStream(ctx context.Context) verdict {
	for tries := 1; ; tries++ {
		if v := c.drain(ctx); v != proved {
			return v
		}
		switch {
		case c.isMatched(), tries > 1 && !c.isUnmatched():
			return proved
		case tries == maxDrains:
			return missing
		case !c.awaitReplica(ctx, tries):
			return undecided
		case c.isMatched():
			return proved
		}
		c.rewind()
	}
}

// proveWebhook polls for everything twice, with time for the lag of a replica in between. A delivered
// event in the poll is no proof here, as deliveries overtake each other. A sign of a loss meanwhile
// is left to another proof.
func (c *catchUpPoll) proveWebhook(ctx context.Context, lease *knownPath) verdict {
	lease.markCovered()
	for tries := 1; ; tries++ {
		if v := c.drain(ctx); v != proved {
			return v
		}
		switch {
		case tries > 1 && !c.isUnmatched():
			return proved
		case tries == maxDrains:
			return missing
		}
		if !c.pause(ctx, c.r.deps.Timing.ProveWithin) {
			return undecided
		}
		c.rewind()
	}
}

// rewind goes back to the first position if no events have come.
func (c *catchUpPoll) rewind() {
	if !c.hasEvents {
		c.at = c.began
	}
}

// isMatched reports whether the poll has brought the first new event of the delivery.
func (p *proof) isMatched() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.matched
}

// isUnmatched reports whether the delivery brought a new event that the poll did not bring.
func (p *proof) isUnmatched() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.matched && !p.firstNew.IsZero()
}

// awaitReplica waits until a lagging replica may have caught up: for a new event on the
// stream, a heartbeat (after the first poll two, as the first may come with the opening), or
// [Timing.ProveWithin]. It reports false when the proof was decided or interrupted.
func (c *catchUpPoll) awaitReplica(ctx context.Context, tries int) bool {
	timing := &c.r.deps.Timing
	c.mu.Lock()
	beats := c.beats + 1
	if tries == 1 {
		beats++
	}
	c.mu.Unlock()
	if !c.await(ctx, timing.ProveWithin, func() bool {
		return tries == 1 && !c.firstNew.IsZero() || tries < 3 && c.beats >= beats
	}) {
		return false
	}
	return !c.isUnmatched() || c.pause(ctx, timing.PollFloor)
}

// drain asks for page after page, no sooner than the server wants. It returns
//
//   - proved when there are no more pages, or the first new event of a stream has come;
//   - missing when the server refuses, or has no more pages and did not go on from the last
//     proved position;
//   - unable when the type cannot be polled;
//   - undecided when it was interrupted.
func (c *catchUpPoll) drain(ctx context.Context) verdict {
	r, backoff, empty := c.r, c.r.deps.Backoff(), 0
	_, webhook := c.method.(*knownPath)
	for {
		if wait := r.nextCatchUp.Sub(r.deps.Now()); wait > 0 && !c.pause(ctx, wait) {
			return undecided
		}
		res, err := c.page(ctx)
		switch {
		case ctx.Err() != nil || c.isSettled():
			return undecided
		case errors.Is(err, wire.ErrTooLarge) && c.maxEvents != 1:
			c.maxEvents = smallerPage(c.maxEvents)
			continue
		case cursorRefused(err) && (c.restart() || c.startAtStored()):
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
		if err := c.store(ctx, res); err != nil {
			return undecided
		}
		if empty++; len(res.Events) > 0 {
			empty = 0
		}
		if res.Truncated && c.startAtStored() {
			continue
		}
		c.truncated = c.truncated || res.Truncated
		if c.isMatched() && !webhook || !res.HasMore || empty >= emptyPages {
			r.nextCatchUp = r.deps.Now().Add(min(res.NextPoll, r.deps.Timing.PollCap))
			if c.truncated {
				return missing
			}
			return proved
		}
	}
}

// refused reports that the server refuses a poll, and returns the verdict: unable for a webhook that
// can be proved on a new path, and otherwise the verdict of that name.
func (c *catchUpPoll) refused(ctx context.Context, err error, otherwise verdict) verdict {
	why := "the server offers poll for this type and refuses it"
	if cursorRefused(err) {
		why = "the server refuses to be polled from a position that it gave with other events of this type"
	}
	c.r.Remark(ctx, "poll refused", why+": whether events are missing cannot be shown by a poll")
	if _, webhook := c.method.(*knownPath); webhook && !c.firstOpening {
		c.r.pollRefused.Store(true)
		return unable
	}
	return otherwise
}

// page asks for one page, once [Deps.Pace] lets it.
func (c *catchUpPoll) page(ctx context.Context) (wire.PollResult, error) {
	if c.r.deps.Pace != nil {
		done, err := c.r.deps.Pace(ctx)
		if err != nil {
			return wire.PollResult{}, err
		}
		defer done()
	}
	return c.r.deps.Source.Poll(ctx, wire.PollRequest{
		Name: c.r.key.Type, Arguments: c.r.key.Args, MaxEvents: c.maxEvents,
		At: wire.Position{Cursor: c.at.Text, Valid: c.at.Valid, Number: c.at.Number, MaxAge: c.maxAge},
	})
}

// startAtStored goes on at the stored position when the last proved one is too old for the
// server. It reports false where that is no other position, or where deliveries between the
// two may have been lost.
func (c *catchUpPoll) startAtStored() bool {
	lease, webhook := c.method.(*knownPath)
	if c.from.Same(c.stored) || !webhook || c.r.isDoubted() && !lease.firstOpening {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.from, c.at, c.began = c.stored, c.stored, c.stored
	return true
}

// restart begins at the last proved position again when the server refuses the one that an
// earlier poll came to. It reports false where this poll began there.
func (c *catchUpPoll) restart() bool {
	if !c.at.Same(c.began) || c.began.Same(c.from) {
		return false
	}
	c.at, c.began = c.from, c.from
	return true
}

// store stores the events of a page and takes its position for the next page.
func (c *catchUpPoll) store(ctx context.Context, res wire.PollResult) error {
	in := &c.r.in
	next := res.Cursor
	b := event.Batch{Records: make([]event.Record, 0, len(res.Events))}
	for _, raw := range res.Events {
		rec, own := in.decode(raw)
		if !res.Cursor.Present && own.HasText() {
			next = own
		}
		rec.Mode = event.ModePoll
		rec.Replayed = rec.Kind == event.KindEvent && occurredBefore(rec.Timestamp, c.opened)
		b.Records = append(b.Records, rec)
	}
	if next.HasText() {
		c.at = cursorOf(next)
	}
	if len(b.Records) == 0 {
		return nil
	}
	c.hasEvents = true
	o, err := in.commit(ctx, b)
	if err != nil {
		return err
	}
	in.replayed.Add(uint64(o.Stored))
	c.r.catchUpDone = catchUpProgress{c.from, c.at, c.truncated || res.Truncated}
	c.r.deps.Failpoint(FailCaughtUp)
	c.match(b.Records)
	return nil
}

// match looks for the first new event of the delivery among records of the poll. While the
// delivery has not brought one, it remembers what the poll brought.
func (p *proof) match(records []event.Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range records {
		switch rec := &records[i]; {
		case rec.Kind != event.KindEvent:
		case rec.EventID == p.firstNew:
			p.matched = true
		case p.firstNew.IsZero() && len(p.polled) < maxRemembered:
			if p.polled == nil {
				p.polled = map[trust.Text]struct{}{}
			}
			p.polled[rec.EventID] = struct{}{}
		}
	}
}

// cannotPoll reports whether an answer says that the type cannot be polled at all.
func cannotPoll(err error) bool {
	return err != nil && modeRefused(err) || errors.Is(err, wire.ErrUnacceptable)
}

// refusedForGood reports whether asking again would not help.
func refusedForGood(err error) bool {
	switch wire.NameFrom(err) {
	case wire.InvalidParams, wire.NotFound, wire.Forbidden, wire.HeaderMismatch:
		return true
	}
	return errors.Is(err, wire.ErrTooLarge)
}
