package delivery

import (
	"context"
	"errors"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// resumeToken returns the token with which an earlier stream can be resumed; "": it must not
// be. A server that resumes sends only what it has not sent before. That is safe if this
// process has stored everything that was sent, or if there is no cursor to go on from. After
// a crash, and after a stream that was given up here, only the cursor passes nothing over.
func (r *Runner) resumeToken(sub *event.Subscription) string {
	if sub.Resume.IsZero() || sub.Cursor.Valid && !r.intact {
		return ""
	}
	return sub.Resume.Reveal()
}

// noteEnd notes whether a stream ended by itself, so that everything on it was stored, or was given
// up here.
func (p *pushStream) noteEnd(err error) {
	p.r.intact = err == nil || context.Cause(p.ctx) == nil && !errors.Is(err, errSilent) && !errors.Is(err, errAsked)
}

// streamRequest returns the request for a stream that begins where its proof wants it to.
func (r *Runner) streamRequest(sub *event.Subscription, p *proof) *wire.StreamRequest {
	return &wire.StreamRequest{
		Name: r.key.Type, Arguments: r.key.Args, At: p.requested(sub),
		Held: sub.Lease.ServerID, Resume: r.resumeToken(sub),
	}
}

// notedStream takes a notification about the stream itself.
func (p *pushStream) notedStream(n wire.Note, now time.Time) error {
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
			p.continuity.gapDecided = true // the server goes on where it stopped
		} else if p.continuity.takeGap() {
			b.Records = append(b.Records, in.gapRecord(in.missedCause(), p.continuity.from, false))
		}
		p.showAlive(now, nil)
		p.r.recordAs(p.ctx, event.StateResumed, event.StateLive, "the server resumed the stream", nil)
		in.noteSeen(now) // after the two records above, which are stored ahead of the gap
		return p.r.submit(p.ctx, b, func(pr *proof) verdict {
			if p.intact && !p.r.unproved {
				return proved
			}
			pr.confirm()
			return undecided
		})
	case wire.NoteAbandoned:
		p.r.recordAs(p.ctx, event.StateAbandoned, event.StateBackoff, "the server gave up the stream; asking anew", nil)
		return in.submit(p.ctx, event.Batch{Update: func(s *event.Subscription) { s.Resume = event.Secret{} }})
	case wire.NoteInterrupt:
		from := in.lastSeenAt()
		if !n.Since.IsZero() && n.Since.Before(from) {
			from = n.Since.UTC()
		}
		gap := in.gapRecord(event.CauseNoReplay, from, false)
		in.noteSeen(now)
		return in.submit(p.ctx, event.Batch{Records: []event.Record{gap}})
	}
	return nil
}
