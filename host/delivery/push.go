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

// errSilent ends a stream on which nothing came for too long.
var errSilent = errors.New("no sign of life on the stream")

// ErrUnconfirmed: a stream is open, and the server has said nothing on it yet: no
// confirmation, heartbeat or event. The subscription goes on waiting for one.
var ErrUnconfirmed = errors.New("the stream is open, and the server has not confirmed the subscription")

// Heartbeats come at least every 30 s (mcp-events, section 6): a shorter interval is learned
// from the stream, a longer one is not believed. Heartbeats closer together than the shortest
// interval count as one, since a burst says nothing about the interval.
const (
	longestInterval  = 30 * time.Second
	shortestInterval = 500 * time.Millisecond
)

// push is an attempt in push mode: it opens a stream and returns at its end. If the position is
// refused or too old, it opens another stream from a later one. Many goroutines wait here for days,
// so the functions below keep nothing large on the stack.
func (r *Runner) push(ctx context.Context, sub *event.Subscription) error {
	before := r.in.lastSeenAt()
	p := r.newStreamProof(sub, 0)
	err := r.stream(ctx, r.streamRequest(sub, p), before, p)
	for refused := 1; p.canStartLater() && (errors.Is(err, errTooFarBack) || positionRefused(err)); refused++ {
		p = r.newStreamProof(sub, refused)
		err = r.stream(ctx, r.streamRequest(sub, p), before, p)
	}
	if !sub.Opening().Valid || !positionRefused(err) {
		p.streamEnded(ctx)
		return err
	}
	if err := r.in.dropCursor(ctx); err != nil {
		return err
	}
	req := r.streamRequest(sub, nil)
	req.At = wirePosition(sub, event.Cursor{})
	return r.stream(ctx, req, time.Time{}, nil) // dropCursor recorded the gap
}

// positionRefused reports whether a stream could not begin where it was asked to.
func positionRefused(err error) bool {
	var t *terminated
	return cursorRefused(err) && !errors.As(err, &t)
}

// stream opens one stream and returns at its end. before is the last sign of life until now.
func (r *Runner) stream(ctx context.Context, req *wire.StreamRequest, before time.Time, proof *proof) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.in.onFailure(cancel)
	defer r.in.onFailure(func(error) {})
	defer proof.start(ctx, cancel)()
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

// open opens a stream. Its notifications may come before open returns.
func (r *Runner) open(ctx context.Context, cancel context.CancelCauseFunc, req *wire.StreamRequest, before time.Time) (*pushStream, Stream, error) {
	opened := r.deps.Now()
	p := &pushStream{
		r:      r,
		ctx:    ctx,
		cancel: cancel,
		intact: r.intact,
		continuity: continuity{
			sent:   event.Cursor{Text: req.At.Cursor, Valid: req.At.Valid, Number: req.At.Number},
			before: before,
			from:   r.in.gapStart(before),
			opened: opened,
		},
		heartbeat: heartbeat{signal: opened},
		wake:      make(chan struct{}, 1),
	}
	stream, err := r.deps.Source.Stream(ctx, *req, p.note)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause // a note ended the opening
	}
	return p, stream, err
}

// pushStream is one open push stream. note runs on the stream's goroutine, watch on the
// runner's.
type pushStream struct {
	r                *Runner
	ctx              context.Context
	cancel           context.CancelCauseFunc // ends the stream
	continuity       continuity              // of note
	intact           bool                    // nothing was lost before this stream
	wake             chan struct{}           // one slot: watch is to look again
	began            time.Time               // of watch
	unconfirmedNoted bool                    // of watch: it was reported that nothing confirms the stream

	mu        sync.Mutex
	heartbeat heartbeat
	live      bool // an event, heartbeat or confirmation has come
}

// heartbeat is what is known of a stream's heartbeats.
type heartbeat struct {
	signal   time.Time     // last event, heartbeat or confirmation
	last     time.Time     // last heartbeat
	counted  time.Time     // last heartbeat that the interval was measured by
	interval time.Duration // 0: not learned yet
}

// beat notes a heartbeat and learns the interval from it.
func (h *heartbeat) beat(at time.Time) {
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

func (p *pushStream) note(n wire.Note) {
	now := p.r.deps.Now()
	var err error
	switch n.Method {
	case wire.NoteActive:
		err = p.notedMark(n, now, false)
	case wire.NoteHeartbeat:
		err = p.notedMark(n, now, true)
		p.r.set(func(s *Status) { s.Apart = n.Apart })
	case wire.NoteEvent:
		err = p.notedEvent(n, now)
	case wire.NoteError:
		e := wire.DecodeFault(n.Params)
		fault := trust.OfError(e)
		p.r.set(func(s *Status) { s.Error, s.Fault, s.FaultAt = fault, fault, now })
		if wait := e.RetryAfter(); wait > 0 {
			p.r.throttled(now.Add(wait))
		}
	case wire.NoteResumable, wire.NoteResumed, wire.NoteAbandoned, wire.NoteInterrupt:
		err = p.notedStream(n, now)
	case wire.NoteSkipped:
		err = p.notedSkipped(n, now)
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

func (p *pushStream) notedMark(n wire.Note, now time.Time, isHeartbeat bool) error {
	in := &p.r.in
	m := wire.DecodeMark(n.Params)
	pr := p.r.proof.Load()
	b := event.Batch{Cursor: in.position(m.Cursor)}
	switch {
	case m.Truncated && pr.canStartLater():
		return errTooFarBack
	case m.Truncated:
		p.continuity.gapDecided = true
		b.Records = append(b.Records, in.gapRecord(event.CauseTruncated, pr.gapStart(in.gapStart(in.lastSeenAt())), true))
	case p.continuity.takeGap(), p.continuity.takeEarly(isHeartbeat):
		b.Records = append(b.Records, in.gapRecord(in.missedCause(), p.continuity.from, false))
	}
	if !n.ServerID.IsZero() {
		b.Update = func(s *event.Subscription) { s.Lease.ServerID = n.ServerID }
	}
	var whole time.Time
	if pr == nil && (isHeartbeat || !p.continuity.sent.Valid) {
		whole = now // the server has sent everything until now
	}
	p.noteSign(now, whole, func(h *heartbeat) {
		if isHeartbeat {
			h.beat(now)
		}
	})
	return p.r.submit(p.ctx, b, func(pr *proof) verdict { return pr.mark(m, isHeartbeat) })
}

func (p *pushStream) notedEvent(n wire.Note, now time.Time) error {
	in := &p.r.in
	rec := in.fromNote(n)
	b := event.Batch{Records: []event.Record{rec}}
	proving := p.r.proof.Load() != nil
	var whole time.Time
	if rec.Kind == event.KindRejected {
		b.Cursor = in.position(wire.DecodeMark(n.Params).Cursor)
	} else {
		if rec.Cursor.Valid {
			b.Cursor, b.Newest = &b.Records[0].Cursor, rec.EventID
		}
		if p.continuity.takeGap() {
			p.continuity.early = true
			b.Records = []event.Record{in.gapRecord(in.missedCause(), p.continuity.from, false), rec}
		} else if p.continuity.replayed(rec.Timestamp) {
			b.Records[0].Replayed = true
			in.replayed.Add(1)
		}
		if !proving {
			whole = occurredAt(rec.Timestamp, now)
		}
	}
	p.noteSign(now, whole, nil)
	p.r.noteEvent(now)
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

// notedSkipped records a frame that could not be read, and a gap: it may have been an event.
func (p *pushStream) notedSkipped(n wire.Note, now time.Time) error {
	in := &p.r.in
	b := event.Batch{Records: []event.Record{in.rejectedRecord(n.Params, n.Refused, scanned(n.Params)), in.gapRecord(event.CauseSilent, in.lastSeenAt(), false)}}
	p.noteSign(now, time.Time{}, nil)
	return in.submit(p.ctx, b)
}

// noteSign notes a sign of life, and advances the watermark to complete (zero: it stays). The
// record of a confirmation is stored ahead of the gap that this opening may leave, and must
// not carry either with it; it may where the subscription never ran before.
func (p *pushStream) noteSign(now, complete time.Time, change func(*heartbeat)) {
	note := func() {
		p.r.in.watermark.advance(complete)
		p.r.in.noteSeen(now)
	}
	if p.continuity.before.IsZero() {
		note()
	}
	p.showAlive(now, change)
	note()
}

// showAlive shows a sign of life in the status, and records the first one as the confirmation.
// change, if not nil, changes what is known of heartbeats.
func (p *pushStream) showAlive(now time.Time, change func(*heartbeat)) {
	p.mu.Lock()
	p.heartbeat.signal = now
	if change != nil {
		change(&p.heartbeat)
	}
	first := !p.live
	p.live = true
	beat := p.heartbeat
	p.mu.Unlock()
	if first {
		p.r.opened(p.ctx, now, p.continuity.sent.Valid && !p.continuity.before.IsZero(), event.StateLive)
	}
	var woke bool
	p.r.set(func(s *Status) {
		woke = s.State == event.StateStale
		s.State = event.StateLive
		s.LastHeartbeat, s.Interval = beat.last, beat.interval
	})
	if first || woke || change != nil {
		signal(p.wake)
	}
}

// watch waits for the end of the stream, and ends it when it is silent.
func (p *pushStream) watch(stream Stream) (err error) {
	defer func() { err = p.closeStream(stream, err) }()
	p.startSilence()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wait, err := p.checkSilence(stream)
		if err != nil {
			return err
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-p.wake:
		case <-p.r.nudged:
			return errAsked
		case <-stream.Done():
			return stream.Err()
		case <-p.ctx.Done():
			return context.Cause(p.ctx)
		}
	}
}

// startSilence counts silence from now on, when the stream has been opened.
func (p *pushStream) startSilence() {
	p.began = p.r.deps.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.live {
		p.heartbeat.signal = p.began
	}
}

// closeStream ends the stream, waits for its end, and returns why it ended.
func (p *pushStream) closeStream(stream Stream, err error) error {
	if cause := context.Cause(p.ctx); cause != nil {
		err = cause
	}
	p.noteEnd(err)
	p.cancel(context.Canceled) // the stream's goroutine may wait for the store in note
	stream.Close()
	<-stream.Done()
	return err
}

// checkSilence sets the state by how long the stream has been silent, and returns the time
// until it must be called again. A stream is stale after two heartbeat intervals without an
// event or heartbeat, and ended after two and a half without any byte (contracts, liveness).
//
// Error: errSilent.
func (p *pushStream) checkSilence(stream Stream) (time.Duration, error) {
	var quiet, silent, stale, dead time.Duration
	timing := &p.r.deps.Timing
	p.r.set(func(s *Status) {
		// Read under the status' lock: a sign of life that comes now is
		// seen here, or sets the state after this.
		p.mu.Lock()
		beat := p.heartbeat
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
		return 0, fmt.Errorf("%w for %v", errSilent, silent.Round(time.Second))
	}
	wait := dead - silent
	if quiet < stale {
		wait = min(wait, stale-quiet)
	}
	if left := timing.ConfirmWithin - p.r.deps.Now().Sub(p.began); left > 0 {
		wait = min(wait, left)
	} else if !p.unconfirmedNoted {
		p.unconfirmedNoted = true // some servers never confirm a stream
		p.r.resolveConfirmed(ErrUnconfirmed)
		p.r.resolveAsked(ErrUnconfirmed)
	}
	return max(wait, time.Millisecond), nil
}

// opened notes that the server has confirmed the subscription.
func (r *Runner) opened(ctx context.Context, now time.Time, resumed bool, state event.State) {
	var firstInRun, wasLost bool
	r.set(func(s *Status) {
		firstInRun, wasLost = !r.confirmedOnce, s.Attempt > 0
		r.confirmedOnce = true
		s.State, s.Opened, s.Attempt, s.NextTry, s.Error, s.Reason = state, now, 0, time.Time{}, trust.Text{}, ""
		s.Throttled = time.Time{}
	})
	switch {
	case firstInRun && resumed:
		r.recordAs(ctx, event.StateResumed, state, "from the saved cursor", nil)
	case firstInRun:
		r.record(ctx, state, "confirmed by the server", nil)
	case wasLost:
		r.record(ctx, state, "connected again", nil)
	}
	r.resolveConfirmed(nil)
	r.resolveAsked(nil)
}

// noteEvent notes in the status when an event came.
func (r *Runner) noteEvent(now time.Time) {
	r.set(func(s *Status) { s.LastEvent = now })
}
