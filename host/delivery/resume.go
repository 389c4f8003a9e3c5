package delivery

import (
	"context"
	"errors"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// resumption returns what an earlier stream can be resumed with, "" if it must not
// be. A server that resumes sends what it has not sent before: safe where this
// process has stored all that it was sent, or where there is no position to go on
// from instead. After a crash, and after a stream that was given up here, the
// cursor alone is sure to pass nothing over.
func (r *Runner) resumption(sub *event.Subscription) string {
	if sub.Resume.IsZero() || sub.Cursor.Valid && !r.intact {
		return ""
	}
	return sub.Resume.Reveal()
}

// ended notes how a stream ended: by itself, so that all that came is handed over,
// or given up here.
func (p *pushed) ended(err error) {
	p.r.intact = err == nil || context.Cause(p.ctx) == nil && !errors.Is(err, errSilent) && !errors.Is(err, errAsked)
}

// streamRequest asks for a stream that goes on with what is stored, where the proof
// wants it to begin.
func (r *Runner) streamRequest(sub *event.Subscription, p *proof) *wire.StreamRequest {
	return &wire.StreamRequest{
		Name: r.key.Type, Arguments: r.key.Args, At: p.position(sub),
		Held: sub.Lease.ServerID, Resume: r.resumption(sub),
	}
}

// continued takes what a dialect tells of the stream itself.
func (p *pushed) continued(n wire.Note, now time.Time) error {
	in := &p.r.in
	switch n.Method {
	case wire.NoteResumable:
		var secret event.Secret
		if n.Resume != nil {
			secret = event.NewSecret(n.Resume.Text())
		}
		return in.submit(p.ctx, event.Batch{Update: func(s *event.Subscription) { s.Resume = secret }})
	case wire.NoteResumed:
		var b event.Batch
		if p.intact {
			p.cont.decided = true // the server goes on where it stopped
		} else if p.cont.noReplay() {
			b.Records = append(b.Records, in.gap(in.awayCause(), p.cont.from, false))
		}
		p.alive(now, nil)
		p.r.mark(p.ctx, event.StateResumed, event.StateLive, "the server resumed the stream", nil)
		in.seen(now) // not before: those two are stored ahead of the gap
		return p.r.submit(p.ctx, b, func(pr *proof) verdict {
			if p.intact && !p.r.unproved {
				return proved
			}
			pr.confirming()
			return undecided
		})
	case wire.NoteAbandoned:
		p.r.mark(p.ctx, event.StateAbandoned, event.StateBackoff, "the server gave up the stream; asking anew", nil)
		return in.submit(p.ctx, event.Batch{Update: func(s *event.Subscription) { s.Resume = event.Secret{} }})
	case wire.NoteInterrupt:
		from := in.lastSign()
		if !n.Since.IsZero() && n.Since.Before(from) {
			from = n.Since.UTC()
		}
		gap := in.gap(event.CauseNoReplay, from, false)
		in.seen(now)
		return in.submit(p.ctx, event.Batch{Records: []event.Record{gap}})
	}
	return nil
}
