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

// A server that says hasMore and brings nothing is believed this often in a row.
const emptyPages = 3

// joinGaps is how long truncated answers are told by one gap, when one was told already.
const joinGaps = time.Minute

// How many events are asked for when the answer to a poll was too large; then a
// quarter of that, down to one.
const smallPage = 128

// poll asks again and again until it fails, from the last proved position on.
func (r *Runner) poll(ctx context.Context, sub *event.Subscription) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.in.onFailure(func(err error) { cancel(err) })
	defer r.in.onFailure(func(error) {})

	before := r.in.lastSign()
	p := polling{
		r: r, position: at(sub, sub.Opening()), stored: at(sub, sub.Cursor), before: before,
		from: r.in.missingSince(sub, before), began: r.deps.Now(),
	}
	p.behind = p.position.Valid
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

type polling struct {
	r        *Runner
	position wire.Position
	stored   wire.Position // of a webhook before; what it had passed over lies between the two
	unsure   bool          // the first of the two was refused
	began    time.Time
	before   time.Time // last sign of life before this attempt; zero: it is the first
	from     time.Time // where a gap begins that this attempt shows
	asked    bool
	owed     bool // a truncated answer is to be told with those behind it
	behind   bool // still reading what happened before this attempt
	empty    int  // pages in a row that brought nothing
	most     int  // events asked for at most; 0: the server decides
}

// smaller asks for fewer events a page, since the answer was too large.
//
// Error: why it was, when fewer cannot be asked for.
func (p *polling) smaller(why error) error {
	switch {
	case p.most == 0:
		p.most = smallPage
	case p.most > 1:
		p.most = max(1, p.most/4)
	default:
		return fmt.Errorf("the server's answer is too large also when one event is asked for; "+
			"raise the limit of the payload, or reset the cursor to go on behind that event: %w", why)
	}
	p.r.deps.Log.Info("the answer to a poll is too large, fewer events are asked for", "sub", p.r.id, "events", p.most)
	return nil
}

// ask asks for a page. While no answer comes, the status says since when.
func (p *polling) ask(ctx context.Context) (wire.PollResult, error) {
	r, asked := p.r, p.r.deps.Now()
	waits := func(since time.Time) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.status.Asked = since
	}
	waits(asked)
	defer waits(time.Time{})
	defer time.AfterFunc(UnansweredAfter, r.deps.Changed).Stop()
	return r.deps.Source.Poll(ctx, wire.PollRequest{Name: r.key.Type, Arguments: r.key.Args, At: p.position, MaxEvents: p.most})
}

// once asks one time and returns how long to wait before the next.
func (p *polling) once(ctx context.Context) (time.Duration, error) {
	r, in := p.r, &p.r.in
	sent, asked := p.position, r.deps.Now()
	res, err := p.ask(ctx)
	if errors.Is(err, wire.ErrTooLarge) {
		return 0, p.smaller(err)
	}
	if cursorRefused(err) && !p.asked && p.position != p.stored {
		p.position, p.unsure = p.stored, true
		return 0, nil
	}
	if err != nil {
		if !cursorRefused(err) || !sent.Valid {
			return 0, err
		}
		p.position = wire.Position{MaxAge: sent.MaxAge}
		p.before, p.behind = time.Time{}, false // the gap is told
		return 0, in.forget(ctx)
	}
	now := r.deps.Now()
	var b event.Batch
	puttingOff := res.Truncated && now.Sub(r.truncatedAt) < joinGaps
	switch {
	case !p.asked && (p.unsure || res.Truncated && p.position != p.stored):
		b.Records = append(b.Records, in.gap(event.CauseUnproved, p.from, false))
	case puttingOff:
	case res.Truncated || p.owed:
		r.truncatedAt = now
		b.Records = append(b.Records, in.gap(event.CauseTruncated, in.since(in.lastSign()), true))
	case !p.asked && !sent.Valid && !p.before.IsZero():
		b.Records = append(b.Records, in.gap(in.awayCause(), p.from, false))
	}
	p.owed = puttingOff
	told := res.Cursor
	for _, raw := range res.Events {
		rec := in.occurrence(raw)
		if !res.Cursor.Present {
			if own := wire.DecodeMark(raw).Cursor; own.HasText() {
				told = own // some servers give the position with each event only (field notes 7)
			}
		}
		if rec.Kind == event.KindEvent {
			rec.Replayed = p.behind && happenedBefore(rec.Timestamp, p.began)
			if rec.Replayed {
				in.replayed.Add(1)
			}
			r.touched(now)
		}
		b.Records = append(b.Records, rec)
	}
	if b.Cursor = in.position(told); b.Cursor != nil {
		b.Newest = firstEvent(b.Records)
		p.position.Cursor, p.position.Valid, p.position.Number = b.Cursor.Text, b.Cursor.Valid, b.Cursor.Number
		if p.owed {
			b.Cursor = nil // a process that dies now asks again, and is told again
		}
	}
	p.behind = p.behind && res.HasMore
	if !res.HasMore {
		p.most = 0 // what was large lies behind
	}
	if !p.asked {
		r.opened(ctx, now, sent.Valid && !p.before.IsZero(), event.StatePolling)
		b.Update = (*event.Subscription).Uncheck
		r.showProof(p.proof(sent.Valid, res.Truncated || p.unsure))
	}
	p.asked = true
	in.seen(now)
	if n := len(b.Records); p.owed {
		// The gap begins where what is stored is whole.
	} else if !res.HasMore {
		in.whole.to(asked)
	} else if n > 0 && b.Records[n-1].Kind == event.KindEvent {
		in.whole.to(occurred(b.Records[n-1].Timestamp, asked))
	}
	// The next request tells the server how far we are: not before it is stored.
	outcome, err := in.commit(ctx, b)
	if err != nil {
		return 0, err
	}
	r.answer(nil)
	if len(res.Events) > outcome.Duplicates || p.position != sent && len(res.Events) > 0 {
		p.empty = 0
	} else {
		p.empty++
	}
	if res.HasMore && p.empty >= emptyPages {
		r.Remark(ctx, "has more", "the server says that it has more and brings nothing; it is asked at its ordinary pace")
	}
	if longest := r.deps.Timing.PollCap; res.NextPoll > longest && !res.HasMore {
		r.Remark(ctx, "long pause", fmt.Sprintf("the server wants to be asked again after %v; it is asked after %v, the longest pause", res.NextPoll, longest))
	}
	return p.rest(res, now), nil
}

// proof says what the first answer shows: a poll brings all since the position that it
// is asked from, or says that it does not.
func (p *polling) proof(position, short bool) event.Proof {
	switch {
	case short:
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

func happenedBefore(timestamp trust.Text, now time.Time) bool {
	at, ok := wire.ParseTime(timestamp)
	return ok && at.Before(now)
}

// rest returns the pause that the server asked for, within bounds: none while it
// has more, but not for ever when nothing comes (field notes 7).
func (p *polling) rest(res wire.PollResult, now time.Time) time.Duration {
	more := res.HasMore && p.empty < emptyPages
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
	t := p.r.deps.Timing
	return min(max(res.NextPoll, t.PollFloor), t.PollCap)
}
