package delivery

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/trust/scan"
	"eventdeck/host/trust/strict"
	"eventdeck/host/wire"
)

// errStore is the end of an attempt whose events could not be stored.
var errStore = errors.New("the store did not take the events")

// ErrStopped: the runner has ended and takes nothing any more.
var ErrStopped = errors.New("the subscription is not running")

// ingest hands what one subscription receives to the store. It knows how many
// batches are under way, so that an attempt begins from what is really stored.
type ingest struct {
	r        *Runner
	replayed atomic.Uint64
	repeated atomic.Uint64 // duplicates dropped
	lastSeen atomic.Int64  // Unix nanoseconds of the last sign of life
	whole    whole         // up to where nothing is missing
	gave     atomic.Bool   // the server gave a cursor at least once
	fresh    atomic.Bool   // this attempt brought an event that was not stored before

	mu      sync.Mutex
	idle    *sync.Cond
	pending int // batches under way
	behind  int // of these, those behind a fence
	fence   *event.Fence
	passed  bool        // a batch of this attempt was not handed over: nothing later may hide that
	stopped bool        // the runner has ended
	failed  func(error) // ends the attempt under way
	paused  bool        // the operator paused before this attempt

	refusedBefore malformed // those of this run that are stored
	changed       changes   // of the store's writer
}

func (in *ingest) init(r *Runner, sub event.Subscription) {
	in.r = r
	in.whole.began = r.deps.Now()
	in.know(sub)
	in.idle = sync.NewCond(&in.mu)
	in.fence = new(event.Fence)
	in.failed = func(error) {}
}

// know takes over what an earlier life of the subscription left.
func (in *ingest) know(sub event.Subscription) {
	if !sub.LastSeen.IsZero() {
		in.lastSeen.CompareAndSwap(0, sub.LastSeen.UnixNano())
	}
	in.whole.reset(sub.CompleteUntil, in.r.Mode())
	if sub.Gave {
		in.gave.Store(true)
	}
}

// stop refuses what comes from now on and waits for what is under way: a batch
// after the end would bring a removed subscription back.
func (in *ingest) stop() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.stopped = true
	for in.pending > 0 {
		in.idle.Wait()
	}
}

// settled waits until the store has answered what attempts handed over behind a
// fence; it answers each batch that it took, also while closing. Deliveries by
// webhook are not waited for: they come at any time, and their cursors are safe.
func (in *ingest) settled() {
	in.mu.Lock()
	defer in.mu.Unlock()
	for in.behind > 0 {
		in.idle.Wait()
	}
}

// begin waits for what is under way and returns the subscription as it is stored:
// the position from which an attempt may start.
func (in *ingest) begin() (*event.Subscription, error) {
	in.settled()
	sub, err := in.r.deps.Store.Subscription(in.r.id)
	if err != nil {
		return nil, fmt.Errorf("subscription %s: %w", in.r.id, err)
	}
	in.mu.Lock()
	in.r.intact = in.r.intact && !in.fence.Broken() && !in.passed
	in.fence, in.passed = new(event.Fence), false
	in.paused = sub.State == event.StateResumed
	in.mu.Unlock()
	in.know(sub)
	in.fresh.Store(false)
	return &sub, nil
}

// onFailure sets what ends the attempt under way when a commit fails.
func (in *ingest) onFailure(fn func(error)) {
	in.mu.Lock()
	in.failed = fn
	in.mu.Unlock()
}

// awayCause says why this host did not listen to a type without replay.
func (in *ingest) awayCause() event.Cause {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.paused {
		return event.CausePaused
	}
	return event.CauseNoReplay
}

func (in *ingest) seen(at time.Time) { in.lastSeen.Store(at.UnixNano()) }

// lastSign returns the last sign of life, zero if there never was one.
func (in *ingest) lastSign() time.Time {
	if n := in.lastSeen.Load(); n != 0 {
		return time.Unix(0, n).UTC()
	}
	return time.Time{}
}

// submit hands a batch over and returns when it is queued. A failed commit ends
// the attempt. What one attempt received goes behind one fence; the cursors of
// webhook deliveries are safe without.
//
// Errors: [ErrStopped], errStore.
func (in *ingest) submit(ctx context.Context, b event.Batch) error {
	return in.hand(ctx, b, in.r.Mode() != event.ModeWebhook)
}

// hand is submit. What is ordered goes behind the fence of the attempt.
func (in *ingest) hand(ctx context.Context, b event.Batch, ordered bool) error {
	in.mu.Lock()
	switch {
	case in.stopped:
		in.mu.Unlock()
		return fmt.Errorf("subscription %s: %w", in.r.id, ErrStopped)
	case ordered && in.passed && (b.Cursor != nil || brings(b.Records)):
		in.mu.Unlock()
		return fmt.Errorf("%w: an earlier one was not handed over", errStore)
	}
	behindHole := ordered && in.passed
	b.Sub, b.IfKept = in.r.id, true
	if ordered {
		b.Fence = in.fence
		in.behind++
	}
	in.pending++
	var sums [][sha256.Size]byte
	again := 0
	if ordered && refusesAny(b.Records) {
		b.Records, sums, again = in.refusedBefore.split(b.Records)
	}
	in.mu.Unlock()

	update, done := b.Update, b.Done
	sawCursor, seen, whole, proof := b.Cursor != nil && b.Cursor.Valid, in.lastSign(), in.whole.till(), in.r.shownProof()
	if sawCursor {
		in.gave.Store(true)
	}
	events, gaps := contents(b.Records)
	b.Update = func(s *event.Subscription) {
		s.Gave = s.Gave || sawCursor
		if proof != "" {
			s.Proof = proof
		}
		if seen.After(s.LastSeen) && !behindHole {
			s.LastSeen = seen
		}
		if whole.After(s.CompleteUntil) && !behindHole {
			s.CompleteUntil = whole
		}
		for _, gap := range gaps {
			s.Told(gap)
		}
		if update != nil {
			update(s)
		}
	}
	b.Done = func(o event.Outcome, err error) {
		o.Duplicates += again
		in.repeated.Add(uint64(o.Duplicates))
		if err == nil && ordered {
			in.keepOdd(sums, o.Changed)
		}
		if err == nil && events > o.Duplicates {
			in.fresh.Store(true)
		}
		if err == nil {
			in.whole.told(gaps)
		}
		if err == nil && o.Stored > 0 {
			in.r.deps.Failpoint(FailCommitted)
		}
		if done != nil {
			done(o, err)
		}
		in.answered(err, ordered)
	}
	if err := in.r.deps.Store.Submit(ctx, b); err != nil {
		in.mu.Lock()
		in.passed = in.passed || ordered
		in.mu.Unlock()
		in.answered(nil, ordered)
		return fmt.Errorf("%w: %w", errStore, err)
	}
	return nil
}

// contents returns how many events are among records, and the gaps.
func contents(records []event.Record) (events int, gaps []*event.Gap) {
	for i := range records {
		switch rec := &records[i]; rec.Kind {
		case event.KindEvent:
			events++
		case event.KindGap:
			gaps = append(gaps, rec.Gap)
		}
	}
	return events, gaps
}

// keepOdd remembers the refused events that were stored, and tells of events that came
// again with other data.
func (in *ingest) keepOdd(sums [][sha256.Size]byte, changed int) {
	if len(sums) > 0 {
		in.mu.Lock()
		in.refusedBefore.remember(sums)
		in.mu.Unlock()
	}
	if n := in.changed.told(changed, in.r.deps.Now()); n > 0 {
		in.r.deps.Altered(n)
	}
}

// brings reports whether records are of what a server sent, or did not send. Behind
// one that was not handed over, such records would leave a hole that nothing tells of.
func brings(records []event.Record) bool {
	return slices.ContainsFunc(records, func(r event.Record) bool { return r.Kind != event.KindState })
}

func (in *ingest) answered(err error, ordered bool) {
	in.mu.Lock()
	in.pending--
	if ordered {
		in.behind--
	}
	failed := in.failed
	if in.pending == 0 || ordered && in.behind == 0 {
		in.idle.Broadcast()
	}
	in.mu.Unlock()
	if err != nil {
		failed(fmt.Errorf("%w: %w", errStore, err))
	}
}

// commit submits a batch and waits until it is stored.
func (in *ingest) commit(ctx context.Context, b event.Batch) (event.Outcome, error) {
	return in.commitAs(ctx, b, in.r.Mode() != event.ModeWebhook)
}

func (in *ingest) commitAs(ctx context.Context, b event.Batch, ordered bool) (event.Outcome, error) {
	type answer struct {
		o   event.Outcome
		err error
	}
	ch, done := make(chan answer, 1), b.Done
	b.Done = func(o event.Outcome, err error) {
		if done != nil {
			done(o, err)
		}
		ch <- answer{o, err}
	}
	b.Awaited = true
	if err := in.hand(ctx, b, ordered); err != nil {
		return event.Outcome{}, err
	}
	select {
	case a := <-ch:
		if a.err != nil {
			return a.o, fmt.Errorf("%w: %w", errStore, a.err)
		}
		return a.o, nil
	case <-ctx.Done():
		return event.Outcome{}, context.Cause(ctx)
	}
}

// record returns a record of this subscription, received now.
func (in *ingest) record(kind event.Kind) event.Record {
	return event.Record{
		Kind:       kind,
		Sub:        in.r.id,
		Server:     in.r.key.Server,
		Type:       in.r.key.Type,
		Mode:       in.r.Mode(),
		ReceivedAt: in.r.deps.Now().UTC(),
	}
}

// occurrence turns the bytes of one event into a record: an event, or a rejected
// payload with the reason.
func (in *ingest) occurrence(raw []byte) event.Record {
	rec, _ := in.occurred(raw)
	return rec
}

// occurred is occurrence, with the cursor that the bytes hold.
func (in *ingest) occurred(raw []byte) (event.Record, wire.Cursor) {
	o, report, err := wire.ReadOccurrence(raw, in.r.deps.Limits)
	if err != nil {
		return in.refused(raw, err, flagsOf(report)), wire.DecodeMark(raw).Cursor
	}
	return in.happened(o, flagsOf(report)), o.Cursor
}

// noted is occurrence for the notification of an event, which a dialect may have
// read already.
func (in *ingest) noted(n wire.Note) event.Record {
	switch {
	case n.Refused != nil:
		return in.rejected(n.Params, n.Refused)
	case n.Event != nil:
		return in.happened(*n.Event, scanned(n.Event.Raw))
	}
	return in.occurrence(n.Params)
}

// happened turns an event that was read into a record.
func (in *ingest) happened(o wire.Occurrence, flags []string) event.Record {
	rec := in.record(event.KindEvent)
	rec.EventID, rec.Timestamp = o.EventID, o.Timestamp
	if o.Cursor.HasText() {
		rec.Cursor = cursorOf(o.Cursor)
	}
	rec.Raw, rec.Data, rec.Flags = o.Raw, o.Data, flags
	rec.Labels = in.labels(o)
	return rec
}

// labels returns what an event says beside its data; nil if nothing.
func (in *ingest) labels(o wire.Occurrence) *event.Labels {
	var name trust.Text
	if o.Name != in.r.key.Type {
		name = o.Name
	}
	if name.IsZero() && o.Priority.IsZero() && o.Batch.IsZero() && len(o.Tags) == 0 {
		return nil
	}
	return &event.Labels{Name: name, Priority: o.Priority, Tags: o.Tags, Batch: o.Batch}
}

// scanned returns what the scanner notices in a payload, as a record keeps it.
func scanned(raw []byte) []string { return flagsOf(scan.Scan(raw)) }

func flagsOf(report scan.Report) []string {
	if len(report.Flags) == 0 {
		return nil
	}
	flags := make([]string, 0, len(report.Flags)+1)
	for _, f := range report.Flags {
		flags = append(flags, string(f))
	}
	if report.Badge {
		flags = append(flags, event.FlagBadge)
	}
	return flags
}

func (in *ingest) rejected(raw []byte, err error) event.Record {
	return in.refused(raw, err, scanned(raw))
}

func (in *ingest) refused(raw []byte, err error, flags []string) event.Record {
	rec := in.record(event.KindRejected)
	// The kind of the record says that it was refused.
	reason := strings.TrimPrefix(err.Error(), strict.ErrRefused.Error()+": ")
	rec.Raw, rec.Reason, rec.Flags = raw, trust.Unescaped(reason), flags
	return rec
}

// gap returns a record that says that events may be missing since from.
func (in *ingest) gap(cause event.Cause, from time.Time, certain bool) event.Record {
	rec := in.record(event.KindGap)
	rec.Gap = &event.Gap{Cause: cause, From: from, To: rec.ReceivedAt, Certain: certain}
	return rec
}

// position returns what a cursor of a message changes, nil if nothing: absent
// keeps what is held, and so does null for a type that gave a cursor before
// (contracts, cursors).
func (in *ingest) position(c wire.Cursor) *event.Cursor {
	switch {
	case c.HasText():
		at := cursorOf(c)
		return &at
	case c.Null && !in.gave.Load():
		return &event.Cursor{}
	}
	return nil
}

// cursorOf returns the position that a message tells.
func cursorOf(c wire.Cursor) event.Cursor {
	return event.Cursor{Text: c.Text, Valid: true, Number: c.Number}
}

// at returns a position of a subscription as it is sent.
func at(sub *event.Subscription, c event.Cursor) wire.Position {
	return wire.Position{Cursor: c.Text, Valid: c.Valid, Number: c.Number, MaxAge: sub.MaxAge}
}

// position returns where a delivery is asked to begin.
func (p *proof) position(sub *event.Subscription) wire.Position {
	if p == nil {
		return at(sub, sub.Opening())
	}
	return at(sub, p.asked)
}

// cursorRefused reports whether the server refused the position that was sent.
func cursorRefused(err error) bool {
	return wire.Is(err, wire.InvalidParams, "field", "cursor")
}

// forget drops a position that the server refused, and leaves a gap: what lies
// between is gone (field notes 7). The caller asks again at once, from now.
func (in *ingest) forget(ctx context.Context) error {
	sub, err := in.r.deps.Store.Subscription(in.r.id)
	if err != nil {
		return fmt.Errorf("subscription %s: %w", in.r.id, err)
	}
	gap := in.gap(event.CauseCursorRejected, in.missingSince(&sub, in.lastSign()), true)
	in.seen(gap.ReceivedAt)
	_, err = in.commit(ctx, event.Batch{Records: []event.Record{gap}, Update: func(s *event.Subscription) {
		whole := s.CompleteUntil
		s.Reset(event.Cursor{})
		s.CompleteUntil = whole
	}})
	return err
}
