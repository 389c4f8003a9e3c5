package delivery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// emptyPages is how many pages without an event are requested in a row while the server says that
// it has more.
const emptyPages = 3

// joinGaps is how long after the gap of a truncated answer further ones share one gap.
const joinGaps = time.Minute

// smallPage is how many events are requested after the answer to a poll was too large.
const smallPage = 128

// smallerPage returns how many events to request after the answer to a request for n was too large;
// n is 0 if the server chose the number, and not 1.
func smallerPage(n int) int {
	if n == 0 {
		return smallPage
	}
	return max(1, n/4)
}

// poll polls until that fails, from the last proved position on.
func (r *Runner) poll(ctx context.Context, sub *event.Subscription) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.in.onFailure(func(err error) { cancel(err) })
	defer r.in.onFailure(func(error) {})

	before := r.in.lastSeenAt()
	p := pollLoop{
		r: r, position: wirePosition(sub, sub.Opening()), stored: wirePosition(sub, sub.Cursor), before: before,
		from: r.in.openingGapStart(sub, before), began: r.deps.Now(),
	}
	p.replaying = p.position.Valid
	for {
		wait, err := p.once(ctx)
		if err != nil {
			if cause := context.Cause(ctx); cause != nil && errors.Is(cause, errStore) {
				return cause
			}
			return err
		}
		next := r.deps.Now().Add(wait)
		r.set(func(s *Status) { s.NextTry = next })
		if wait > 0 && !r.pause(ctx, wait) || ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// pollLoop is one attempt in poll mode.
type pollLoop struct {
	r         *Runner
	position  wire.Position // of the next request
	stored    wire.Position // the stored position; position begins before it after webhook mode, at the last proved one
	unsure    bool          // the server refused the last proved position, and was asked from the stored one
	began     time.Time     // of this attempt
	before    time.Time     // last sign of life before this attempt; zero: none
	from      time.Time     // where a gap of this attempt begins
	answered  bool          // the server has answered once
	gapOwed   bool          // an answer was truncated, and its gap is to be recorded with a later one
	replaying bool          // answers still bring events from before this attempt
	empty     int           // pages without an event in a row
	maxEvents int           // of one page; 0: the server decides
}

// ask asks for a page. Meanwhile [Status.Asked] says since when the answer is awaited.
func (p *pollLoop) ask(ctx context.Context) (wire.PollResult, error) {
	r, asked := p.r, p.r.deps.Now()
	waits := func(since time.Time) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.status.Asked = since
	}
	waits(asked)
	defer waits(time.Time{})
	defer time.AfterFunc(UnansweredAfter, r.deps.Changed).Stop()
	return r.deps.Source.Poll(ctx, wire.PollRequest{Name: r.key.Type, Arguments: r.key.Args, At: p.position, MaxEvents: p.maxEvents})
}

// once polls one time and returns how long to wait before the next poll.
func (p *pollLoop) once(ctx context.Context) (time.Duration, error) {
	r, in := p.r, &p.r.in
	sent, asked := p.position, r.deps.Now()
	res, err := p.ask(ctx)
	if err != nil {
		return 0, p.failed(ctx, err)
	}
	now := r.deps.Now()
	b := event.Batch{Records: p.gaps(res, now)}
	records, cursor := p.records(res, now)
	b.Records = append(b.Records, records...)
	if b.Cursor = in.position(cursor); b.Cursor != nil {
		b.Newest = firstEvent(b.Records)
		p.position.Cursor, p.position.Valid, p.position.Number = b.Cursor.Text, b.Cursor.Valid, b.Cursor.Number
		if p.gapOwed {
			b.Cursor = nil // a process that dies now asks from here again, and is told of the gap again
		}
	}
	p.replaying = p.replaying && res.HasMore
	if !res.HasMore {
		p.maxEvents = 0 // the events that were too large for a page are stored
	}
	if !p.answered {
		p.answered = true
		r.opened(ctx, now, sent.Valid && !p.before.IsZero(), event.StatePolling)
		b.Update = (*event.Subscription).DropCheckpoint
		r.setProof(p.proof(sent.Valid, res.Truncated || p.unsure))
	}
	in.noteSeen(now)
	switch n := len(b.Records); {
	case p.gapOwed: // that gap begins at the watermark
	case !res.HasMore:
		in.watermark.advance(asked)
	case n > 0 && b.Records[n-1].Kind == event.KindEvent:
		in.watermark.advance(occurredAt(b.Records[n-1].Timestamp, asked))
	}
	// The next request tells the server how far this host has come, which must be stored then.
	outcome, err := in.commit(ctx, b)
	if err != nil {
		return 0, err
	}
	r.resolveAsked(nil)
	if len(res.Events) > outcome.Duplicates || p.position != sent && len(res.Events) > 0 {
		p.empty = 0
	} else {
		p.empty++
	}
	return p.rest(ctx, res, now), nil
}

// failed handles a poll that failed. It returns nil if another one is to be made at once: for
// fewer events, or from another position.
func (p *pollLoop) failed(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, wire.ErrTooLarge) && p.maxEvents == 1:
		return fmt.Errorf("the server's answer is too large also when one event is asked for; "+
			"reset the cursor to go on behind that event: %w", err)
	case errors.Is(err, wire.ErrTooLarge):
		p.maxEvents = smallerPage(p.maxEvents)
		p.r.deps.Log.Info("the answer to a poll is too large, fewer events are asked for", "sub", p.r.id, "events", p.maxEvents)
		return nil
	case cursorRefused(err) && !p.answered && p.position != p.stored:
		p.position, p.unsure = p.stored, true
		return nil
	case !cursorRefused(err) || !p.position.Valid:
		return err
	}
	p.position = wire.Position{MaxAge: p.position.MaxAge}
	p.before, p.replaying = time.Time{}, false // dropCursor records the gap
	return p.r.in.dropCursor(ctx)
}

// gaps returns the gap that an answer shows, if any. Truncated answers in quick succession share one
// gap, which is recorded with the first later answer.
func (p *pollLoop) gaps(res wire.PollResult, now time.Time) []event.Record {
	r, in := p.r, &p.r.in
	wasOwed := p.gapOwed
	p.gapOwed = res.Truncated && now.Sub(r.truncatedAt) < joinGaps
	switch {
	case !p.answered && (p.unsure || res.Truncated && p.position != p.stored):
		return []event.Record{in.gapRecord(event.CauseUnproved, p.from, false)}
	case p.gapOwed:
	case res.Truncated || wasOwed:
		r.truncatedAt = now
		return []event.Record{in.gapRecord(event.CauseTruncated, in.gapStart(in.lastSeenAt()), true)}
	case !p.answered && !p.position.Valid && !p.before.IsZero():
		return []event.Record{in.gapRecord(in.missedCause(), p.from, false)}
	}
	return nil
}

// records returns the records of the events of an answer, and the cursor after them: that of the
// page, else that of the last event, as some servers give only these (field notes 7).
func (p *pollLoop) records(res wire.PollResult, now time.Time) (records []event.Record, cursor wire.Cursor) {
	cursor = res.Cursor
	for _, raw := range res.Events {
		rec, own := p.r.in.decode(raw)
		if !res.Cursor.Present && own.HasText() {
			cursor = own
		}
		if rec.Kind == event.KindEvent {
			if rec.Replayed = p.replaying && occurredBefore(rec.Timestamp, p.began); rec.Replayed {
				p.r.in.replayed.Add(1)
			}
			p.r.noteEvent(now)
		}
		records = append(records, rec)
	}
	return records, cursor
}

// proof returns what the first answer shows: a poll brings everything since the position that
// it is asked from (if there was one), or says that it does not.
func (p *pollLoop) proof(position, truncated bool) event.Proof {
	switch {
	case truncated:
		return event.ProofPossibleGap
	case p.before.IsZero():
		return event.ProofNew
	case !position:
		return event.ProofNoReplay
	}
	return event.ProofProved
}

// firstEvent returns the id of the first event among records, zero if there is none.
func firstEvent(records []event.Record) trust.Text {
	for i := range records {
		if records[i].Kind == event.KindEvent {
			return records[i].EventID
		}
	}
	return trust.Text{}
}

// occurredBefore reports whether an event occurred before now by its timestamp.
func occurredBefore(timestamp trust.Text, now time.Time) bool {
	at, ok := timestamp.Time()
	return ok && at.Before(now)
}

// rest returns the pause that the server asked for, within bounds. There is none while it has more,
// unless it keeps saying so without an event (field notes 7).
func (p *pollLoop) rest(ctx context.Context, res wire.PollResult, now time.Time) time.Duration {
	t, more := p.r.deps.Timing, res.HasMore && p.empty < emptyPages
	if res.HasMore && !more {
		p.r.Remark(ctx, "has more", "the server says that it has more and brings nothing; it is asked at its ordinary pace")
	}
	if res.NextPoll > t.PollCap && !res.HasMore {
		p.r.Remark(ctx, "long pause", fmt.Sprintf("the server wants to be asked again after %v; it is asked after %v, the longest pause", res.NextPoll, t.PollCap))
	}
	p.r.set(func(s *Status) {
		s.LastPoll = now
		s.State = event.StatePolling
		if more {
			s.State = event.StateDraining
		}
	})
	if more {
		return 0
	}
	return min(max(res.NextPoll, t.PollFloor), t.PollCap)
}
