package delivery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// errSilent is the end of a stream on which nothing came for too long.
var errSilent = errors.New("no sign of life on the stream")

// ErrUnconfirmed: a stream is open, and the server has said nothing on it yet: no
// confirmation, heartbeat or event. The subscription goes on waiting for one.
var ErrUnconfirmed = errors.New("the stream is open, and the server has not confirmed the subscription")

// Heartbeats come at least every 30 s (mcp-events, section 6); a shorter interval
// is learned, a longer one is not believed. Those that come closer than the
// shortest are one beat: a burst says nothing about the interval.
const (
	longestInterval  = 30 * time.Second
	shortestInterval = 500 * time.Millisecond
)

// push opens one stream and lives it to its end; another one if the server refuses the
// position, or does not hold the one before it any more. What waits here for days is
// many goroutines with small stacks: the functions on the way keep nothing large.
func (r *Runner) push(ctx context.Context, sub *event.Subscription) error {
	before := r.in.lastSign()
	p := r.newStreamProof(sub, 0)
	err := r.stream(ctx, r.streamRequest(sub, p), before, p)
	for refused := 1; p.canGoOn() && (errors.Is(err, errTooFarBack) || positionRefused(err)); refused++ {
		p = r.newStreamProof(sub, refused)
		err = r.stream(ctx, r.streamRequest(sub, p), before, p)
	}
	if !sub.Opening().Valid || !positionRefused(err) {
		p.endedWith(ctx)
		return err
	}
	if err := r.in.forget(ctx); err != nil {
		return err
	}
	req := r.streamRequest(sub, nil)
	req.At = at(sub, event.Cursor{})
	return r.stream(ctx, req, time.Time{}, nil) // the gap is told
}

// positionRefused reports whether a stream could not begin where it was asked to.
func positionRefused(err error) bool {
	var t *terminated
	return cursorRefused(err) && !errors.As(err, &t)
}

// stream opens one stream and lives it to its end. before is the last sign of
// life until now.
func (r *Runner) stream(ctx context.Context, req *wire.StreamRequest, before time.Time, proof *proof) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.in.onFailure(cancel)
	defer r.in.onFailure(func(error) {})
	defer proof.run(ctx, cancel)()
	if proof != nil {
		r.deps.Failpoint(FailAsked)
	}
	p, stream, err := r.open(ctx, cancel, req, before)
	if err == nil {
		err = p.watch(stream)
	}
	r.unproved = r.proof.Load() != nil
	return err
}

func (r *Runner) open(ctx context.Context, cancel context.CancelCauseFunc, req *wire.StreamRequest, before time.Time) (*pushed, Stream, error) {
	opened := r.deps.Now()
	p := &pushed{
		r:      r,
		ctx:    ctx,
		cancel: cancel,
		intact: r.intact,
		cont: continuity{
			sent:   event.Cursor{Text: req.At.Cursor, Valid: req.At.Valid, Number: req.At.Number},
			before: before,
			from:   r.in.since(before),
			opened: opened,
		},
		beat: heart{signal: opened},
		ring: make(chan struct{}, 1),
	}
	stream, err := r.deps.Source.Stream(ctx, *req, p.note)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause // a note ended the opening
	}
	return p, stream, err
}

// pushed is one open push stream. note runs on the stream's goroutine, watch on
// the runner's.
type pushed struct {
	r      *Runner
	ctx    context.Context
	cancel context.CancelCauseFunc
	cont   continuity // of note
	intact bool       // nothing was lost before this stream
	ring   chan struct{}
	began  time.Time // of watch
	unsaid bool      // of watch: it was told that nothing confirms the stream

	mu   sync.Mutex
	beat heart
	live bool
}

// heart is what is known of a stream's heartbeat.
type heart struct {
	signal   time.Time     // last event, heartbeat or confirmation
	last     time.Time     // last heartbeat
	counted  time.Time     // last heartbeat from which the interval is measured
	interval time.Duration // 0: not learned yet
}

func (h *heart) beat(at time.Time) {
	h.last, h.signal = at, at
	gap := at.Sub(h.counted)
	if !h.counted.IsZero() && gap < shortestInterval {
		return
	}
	if !h.counted.IsZero() {
		h.interval = max(min(gap, longestInterval), h.interval*9/10)
	}
	h.counted = at
}

func (p *pushed) note(n wire.Note) {
	now := p.r.deps.Now()
	var err error
	switch n.Method {
	case wire.NoteActive:
		err = p.marked(n, now, false)
	case wire.NoteHeartbeat:
		err = p.marked(n, now, true)
		p.r.set(func(s *Status) { s.Apart = n.Apart })
	case wire.NoteEvent:
		err = p.occurred(n, now)
	case wire.NoteError:
		fault := trust.Unescaped(wire.DecodeFault(n.Params).Error())
		p.r.set(func(s *Status) { s.Error, s.Fault, s.FaultAt = fault, fault, now })
	case wire.NoteResumable, wire.NoteResumed, wire.NoteAbandoned, wire.NoteInterrupt:
		err = p.continued(n, now)
	case wire.NoteSkipped:
		err = p.skipped(n, now)
	case wire.NoteTerminated:
		if n.Planned {
			p.cancel(errPlanned)
			return
		}
		p.cancel(&terminated{wire.DecodeFault(n.Params)})
	}
	if err != nil {
		p.cancel(err)
	}
}

func (p *pushed) marked(n wire.Note, now time.Time, heartbeat bool) error {
	in := &p.r.in
	m := wire.DecodeMark(n.Params)
	pr := p.r.proof.Load()
	b := event.Batch{Cursor: in.position(m.Cursor)}
	switch {
	case m.Truncated && pr.canGoOn():
		return errTooFarBack
	case m.Truncated:
		p.cont.decided = true
		b.Records = append(b.Records, in.gap(event.CauseTruncated, pr.gapBegins(in.since(in.lastSign())), true))
	case p.cont.noReplay(), p.cont.tooEarly(heartbeat):
		b.Records = append(b.Records, in.gap(in.awayCause(), p.cont.from, false))
	}
	if !n.ServerID.IsZero() {
		b.Update = func(s *event.Subscription) { s.Lease.ServerID = n.ServerID }
	}
	var whole time.Time
	if pr == nil && (heartbeat || !p.cont.sent.Valid) {
		whole = now // it has sent all that there was
	}
	p.sign(now, whole, func(h *heart) {
		if heartbeat {
			h.beat(now)
		}
	})
	return p.r.submit(p.ctx, b, func(pr *proof) verdict { return pr.mark(m, heartbeat) })
}

func (p *pushed) occurred(n wire.Note, now time.Time) error {
	in := &p.r.in
	rec := in.noted(n)
	b := event.Batch{Records: []event.Record{rec}}
	proving := p.r.proof.Load() != nil
	var whole time.Time
	if rec.Kind == event.KindRejected {
		b.Cursor = in.position(wire.DecodeMark(n.Params).Cursor)
	} else {
		if rec.Cursor.Valid {
			b.Cursor, b.Newest = &b.Records[0].Cursor, rec.EventID
		}
		if p.cont.noReplay() {
			p.cont.early = true
			b.Records = []event.Record{in.gap(in.awayCause(), p.cont.from, false), rec}
		} else if p.cont.replayed(rec.Timestamp) {
			b.Records[0].Replayed = true
			in.replayed.Add(1)
		}
		if !proving {
			whole = occurred(rec.Timestamp, now)
		}
	}
	p.sign(now, whole, nil)
	p.r.touched(now)
	if !proving {
		return in.submit(p.ctx, b)
	}
	return p.r.submit(p.ctx, b, func(pr *proof) verdict {
		if rec.Kind == event.KindRejected {
			return undecided
		}
		return pr.event(rec.EventID, rec.Cursor)
	})
}

// skipped records a frame that could not be read. It may have been an event.
func (p *pushed) skipped(n wire.Note, now time.Time) error {
	in := &p.r.in
	b := event.Batch{Records: []event.Record{in.rejected(n.Params, n.Refused), in.gap(event.CauseSilent, in.lastSign(), false)}}
	p.sign(now, time.Time{}, nil)
	return in.submit(p.ctx, b)
}

// sign notes a sign of life, and that nothing is missing up to whole; zero says nothing
// of that. The record of a confirmation must not carry both into the store ahead of the
// gap that the sign showed. It does where there was no life before, and so no gap.
func (p *pushed) sign(now, whole time.Time, change func(*heart)) {
	in := &p.r.in
	heard := func() {
		if !whole.IsZero() {
			in.whole.to(whole)
		}
		in.seen(now)
	}
	if p.cont.before.IsZero() {
		heard()
	}
	p.alive(now, change)
	heard()
}

// alive shows a sign of life, and records the first one as the confirmation.
func (p *pushed) alive(now time.Time, change func(*heart)) {
	p.mu.Lock()
	p.beat.signal = now
	if change != nil {
		change(&p.beat)
	}
	first := !p.live
	p.live = true
	beat := p.beat
	p.mu.Unlock()
	if first {
		p.r.opened(p.ctx, now, p.cont.sent.Valid && !p.cont.before.IsZero(), event.StateLive)
	}
	var woke bool
	p.r.set(func(s *Status) {
		woke = s.State == event.StateStale
		s.State = event.StateLive
		s.LastHeartbeat, s.Interval = beat.last, beat.interval
	})
	if first || woke || change != nil {
		select {
		case p.ring <- struct{}{}:
		default:
		}
	}
}

// watch waits for the end of the stream, and ends it when it is silent.
func (p *pushed) watch(stream Stream) (err error) {
	defer func() { err = p.leave(stream, err) }()
	p.begin()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wait, err := p.look(stream)
		if err != nil {
			return err
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-p.ring:
		case <-p.r.nudged:
			return errAsked
		case <-stream.Done():
			return stream.Err()
		case <-p.ctx.Done():
			return context.Cause(p.ctx)
		}
	}
}

// begin starts the silence: the stream is open now.
func (p *pushed) begin() {
	p.began = p.r.deps.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.live {
		p.beat.signal = p.began
	}
}

// leave ends the stream that is watched and returns why.
func (p *pushed) leave(stream Stream, err error) error {
	if cause := context.Cause(p.ctx); cause != nil {
		err = cause
	}
	p.ended(err)
	p.cancel(context.Canceled) // a note may wait for the store
	stream.Close()
	<-stream.Done()
	return err
}

// look sets the state by what was heard, and returns when to look again: stale at
// two heartbeat intervals without an event or heartbeat, closed at two and a half
// without any byte (contracts, liveness).
//
// Error: errSilent.
func (p *pushed) look(stream Stream) (time.Duration, error) {
	var quiet, silent, stale, dead time.Duration
	timing := &p.r.deps.Timing
	p.r.set(func(s *Status) {
		// Read under the status' lock: a sign of life that comes now is
		// seen here, or sets the state after this.
		p.mu.Lock()
		beat := p.beat
		p.mu.Unlock()
		now, lastByte := p.r.deps.Now(), stream.LastByte()
		if lastByte.Before(beat.signal) {
			lastByte = beat.signal
		}
		stale, dead = timing.Watchdog, timing.Watchdog
		if beat.interval > 0 {
			stale, dead = 2*beat.interval, beat.interval*5/2
		}
		quiet, silent = now.Sub(beat.signal), now.Sub(lastByte)
		s.LastByte = lastByte
		if quiet >= stale && s.State == event.StateLive {
			s.State = event.StateStale
		}
	})
	if silent >= dead {
		return 0, fmt.Errorf("%w for %v", errSilent, silent.Round(time.Millisecond))
	}
	wait := dead - silent
	if quiet < stale {
		wait = min(wait, stale-quiet)
	}
	if left := timing.Unsaid - p.r.deps.Now().Sub(p.began); left > 0 {
		wait = min(wait, left)
	} else if !p.unsaid {
		p.unsaid = true // some servers never say that a stream is active
		p.r.settle(ErrUnconfirmed)
		p.r.answer(ErrUnconfirmed)
	}
	return max(wait, time.Millisecond), nil
}

// opened notes that the server has confirmed the subscription.
func (r *Runner) opened(ctx context.Context, now time.Time, resumed bool, state State) {
	var firstInRun, wasLost bool
	r.set(func(s *Status) {
		firstInRun, wasLost = !r.said, s.Attempt > 0
		r.said = true
		s.State, s.Opened, s.Attempt, s.NextTry, s.Error, s.Reason = state, now, 0, time.Time{}, trust.Text{}, ""
	})
	switch {
	case firstInRun && resumed:
		r.mark(ctx, event.StateResumed, state, "from the saved cursor", nil)
	case firstInRun:
		r.record(ctx, state, "confirmed by the server", nil)
	case wasLost:
		r.record(ctx, state, "connected again", nil)
	}
	r.settle(nil)
	r.answer(nil)
}

// touched notes an event.
func (r *Runner) touched(now time.Time) {
	r.set(func(s *Status) { s.LastEvent = now })
}
