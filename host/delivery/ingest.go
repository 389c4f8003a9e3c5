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

// errStore ends an attempt whose events could not be stored.
var errStore = errors.New("the store did not take the events")

// ErrStopped: the runner has ended, and nothing more is stored through it.
var ErrStopped = errors.New("the subscription is not running")

// ingest hands what one subscription receives to the store. It counts the batches under way, so
// that an attempt begins when all earlier ones are stored.
type ingest struct {
	r            *Runner
	replayed     atomic.Uint64 // events from the server's history
	repeated     atomic.Uint64 // duplicates dropped
	lastSeenNano atomic.Int64  // Unix nanoseconds of the last sign of life
	watermark    watermark
	gaveCursor   atomic.Bool // the server gave a cursor at least once
	broughtNew   atomic.Bool // this attempt brought an event that was not stored before

	mu      sync.Mutex
	idle    *sync.Cond
	pending int // batches under way
	fenced  int // of these, those behind a fence
	fence   *event.Fence
	hole    bool        // a batch of this attempt did not reach the store: no later one may hide that
	stopped bool        // the runner has ended
	failed  func(error) // ends the attempt under way
	paused  bool        // the operator paused before this attempt

	rejected malformed // payloads of this run that are stored
	changed  changes   // of the store's writer
}

func (in *ingest) init(r *Runner, sub event.Subscription) {
	in.r = r
	in.watermark.began = r.deps.Now()
	in.restore(sub)
	in.idle = sync.NewCond(&in.mu)
	in.fence = new(event.Fence)
	in.failed = func(error) {}
}

// restore takes over the stored progress of the subscription.
func (in *ingest) restore(sub event.Subscription) {
	if !sub.LastSeen.IsZero() {
		in.lastSeenNano.CompareAndSwap(0, sub.LastSeen.UnixNano())
	}
	in.watermark.reset(sub.CompleteUntil, in.r.Mode())
	if sub.Gave {
		in.gaveCursor.Store(true)
	}
}

// stop refuses further batches and waits for those under way.
func (in *ingest) stop() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.stopped = true
	for in.pending > 0 {
		in.idle.Wait()
	}
}

// awaitFenced waits until the store has answered all batches behind a fence; it answers every batch
// that it took, even while closing. Webhook deliveries are not awaited: they come at any time, and
// each is acknowledged by itself.
func (in *ingest) awaitFenced() {
	in.mu.Lock()
	defer in.mu.Unlock()
	for in.fenced > 0 {
		in.idle.Wait()
	}
}

// begin waits for the batches of the previous attempt, and returns the stored subscription for the
// next one.
func (in *ingest) begin() (*event.Subscription, error) {
	in.awaitFenced()
	sub, err := in.r.deps.Store.Subscription(in.r.id)
	if err != nil {
		return nil, fmt.Errorf("subscription %s: %w", in.r.id, err)
	}
	in.mu.Lock()
	in.r.intact = in.r.intact && !in.fence.Broken() && !in.hole
	in.fence, in.hole = new(event.Fence), false
	in.paused = sub.State == event.StateResumed
	in.mu.Unlock()
	in.restore(sub)
	in.broughtNew.Store(false)
	return &sub, nil
}

// onFailure sets what ends the attempt under way when a commit fails.
func (in *ingest) onFailure(fn func(error)) {
	in.mu.Lock()
	in.failed = fn
	in.mu.Unlock()
}

// missedCause returns the cause of a gap in a type without replay: why the host did not
// listen before this attempt.
func (in *ingest) missedCause() event.Cause {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.paused {
		return event.CausePaused
	}
	return event.CauseNoReplay
}

func (in *ingest) noteSeen(at time.Time) { in.lastSeenNano.Store(at.UnixNano()) }

// lastSeenAt returns the last sign of life, zero if there never was one.
func (in *ingest) lastSeenAt() time.Time {
	if n := in.lastSeenNano.Load(); n != 0 {
		return time.Unix(0, n).UTC()
	}
	return time.Time{}
}

// submit hands a batch to the store and returns when it is queued. A failed commit ends the
// attempt. Batches of one attempt go behind one fence, except in webhook mode, where each
// delivery is acknowledged by itself.
//
// Errors: [ErrStopped], errStore.
func (in *ingest) submit(ctx context.Context, b event.Batch) error {
	return in.submitAs(ctx, b, in.r.Mode() != event.ModeWebhook)
}

// submitAs is submit; an ordered batch goes behind the fence of the attempt.
func (in *ingest) submitAs(ctx context.Context, b event.Batch, ordered bool) error {
	in.mu.Lock()
	behindHole := ordered && in.hole
	switch {
	case in.stopped:
		in.mu.Unlock()
		return fmt.Errorf("subscription %s: %w", in.r.id, ErrStopped)
	case behindHole && (b.Cursor != nil || hasData(b.Records)):
		in.mu.Unlock()
		return fmt.Errorf("%w: an earlier one was not handed over", errStore)
	}
	b.Sub, b.IfKept = in.r.id, true
	in.pending++
	var sums [][sha256.Size]byte
	known := 0 // rejected payloads that are stored
	if ordered {
		b.Fence = in.fence
		in.fenced++
		b.Records, sums, known = in.rejected.split(b.Records)
	}
	in.mu.Unlock()

	events, gaps := eventsAndGaps(b.Records)
	in.addProgress(&b, gaps, behindHole)
	done := b.Done
	b.Done = func(o event.Outcome, err error) {
		o.Duplicates += known
		in.repeated.Add(uint64(o.Duplicates))
		if err == nil {
			if ordered {
				in.noteStored(sums, o.Changed)
			}
			if events > o.Duplicates {
				in.broughtNew.Store(true)
			}
			in.watermark.passGaps(gaps)
			if o.Stored > 0 {
				in.r.deps.Failpoint(FailCommitted)
			}
		}
		if done != nil {
			done(o, err)
		}
		in.batchDone(err, ordered)
	}
	if err := in.r.deps.Store.Submit(ctx, b); err != nil {
		in.mu.Lock()
		in.hole = in.hole || ordered
		in.mu.Unlock()
		in.batchDone(nil, ordered)
		return fmt.Errorf("%w: %w", errStore, err)
	}
	return nil
}

// addProgress has a batch store how far the subscription has come, before its own Update. Behind a
// hole it stores nothing that would hide the hole.
func (in *ingest) addProgress(b *event.Batch, gaps []*event.Gap, behindHole bool) {
	update, sawCursor := b.Update, b.Cursor != nil && b.Cursor.Valid
	seen, whole, proof := in.lastSeenAt(), in.watermark.at(), in.r.proofShown()
	if sawCursor {
		in.gaveCursor.Store(true)
	}
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
			s.PassGap(gap)
		}
		if update != nil {
			update(s)
		}
	}
}

// eventsAndGaps returns the number of events among records, and the gaps.
func eventsAndGaps(records []event.Record) (events int, gaps []*event.Gap) {
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

// noteStored remembers the hashes of rejected payloads that were stored, and reports the number of
// events that came again with other data.
func (in *ingest) noteStored(sums [][sha256.Size]byte, changed int) {
	if len(sums) > 0 {
		in.mu.Lock()
		in.rejected.remember(sums)
		in.mu.Unlock()
	}
	if n := in.changed.due(changed, in.r.deps.Now()); n > 0 {
		in.r.deps.Altered(n)
	}
}

// hasData reports whether any of the records is not a change of state: an event, a gap or a rejected
// payload. After a lost batch, such records would hide the loss.
func hasData(records []event.Record) bool {
	return slices.ContainsFunc(records, func(r event.Record) bool { return r.Kind != event.KindState })
}

// batchDone notes that the store has answered a batch, with err, or did not take it.
func (in *ingest) batchDone(err error, ordered bool) {
	in.mu.Lock()
	in.pending--
	if ordered {
		in.fenced--
	}
	failed := in.failed
	if in.pending == 0 || ordered && in.fenced == 0 {
		in.idle.Broadcast()
	}
	in.mu.Unlock()
	if err != nil {
		failed(fmt.Errorf("%w: %w", errStore, err))
	}
}

// commit submits a batch and waits until it is stored.
//
// Errors: [ErrStopped], errStore, the cause of ctx; then the batch may still be stored.
func (in *ingest) commit(ctx context.Context, b event.Batch) (event.Outcome, error) {
	return in.commitAs(ctx, b, in.r.Mode() != event.ModeWebhook)
}

// commitAs is commit; an ordered batch goes behind the fence of the attempt.
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
	if err := in.submitAs(ctx, b, ordered); err != nil {
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

// decode turns the bytes of one event into a record, an event or a rejected payload, and
// returns the cursor that they hold.
func (in *ingest) decode(raw []byte) (event.Record, wire.Cursor) {
	o, report, err := wire.ReadOccurrence(raw, strict.Limits{})
	if err != nil {
		return in.rejectedRecord(raw, err, flagsOf(report)), wire.DecodeMark(raw).Cursor
	}
	return in.eventRecord(o, flagsOf(report)), o.Cursor
}

// fromNote returns the record of an event notification, which the dialect may have read
// already.
func (in *ingest) fromNote(n wire.Note) event.Record {
	switch {
	case n.Refused != nil:
		return in.rejectedRecord(n.Params, n.Refused, scanned(n.Params))
	case n.Event != nil:
		return in.eventRecord(*n.Event, flagsOf(scan.Update(n.Event.Raw)))
	}
	rec, _ := in.decode(n.Params)
	return rec
}

// eventRecord returns the record of an event that was read.
func (in *ingest) eventRecord(o wire.Occurrence, flags []string) event.Record {
	rec := in.record(event.KindEvent)
	rec.EventID, rec.Timestamp = o.EventID, o.Timestamp
	if o.Cursor.HasText() {
		rec.Cursor = cursorOf(o.Cursor)
	}
	rec.Raw, rec.Data, rec.Meta, rec.Flags = o.Raw, o.Data, o.Meta, flags
	rec.Labels = in.labels(o)
	return rec
}

// labels returns the labels of an event; nil if it has none.
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

// scanned returns the flags of the scanner for a payload.
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

// rejectedRecord returns the record of a payload that strict parsing refused with err.
func (in *ingest) rejectedRecord(raw []byte, err error, flags []string) event.Record {
	rec := in.record(event.KindRejected)
	// The kind of the record says that it was refused.
	reason := strings.TrimPrefix(err.Error(), strict.ErrRefused.Error()+": ")
	rec.Raw, rec.Reason, rec.Flags = raw, trust.Unescaped(reason), flags
	return rec
}

// gapRecord returns the record of a gap that ends now.
func (in *ingest) gapRecord(cause event.Cause, from time.Time, certain bool) event.Record {
	rec := in.record(event.KindGap)
	rec.Gap = &event.Gap{Cause: cause, From: from, To: rec.ReceivedAt, Certain: certain}
	return rec
}

// position returns the new position for the cursor of a message; nil: it stays. An absent cursor
// keeps the position, and so does null for a type that gave a cursor before (contracts, cursors).
func (in *ingest) position(c wire.Cursor) *event.Cursor {
	switch {
	case c.HasText():
		at := cursorOf(c)
		return &at
	case c.Null && !in.gaveCursor.Load():
		return &event.Cursor{}
	}
	return nil
}

// cursorOf returns the cursor of a message, which has a text, as it is stored.
func cursorOf(c wire.Cursor) event.Cursor {
	return event.Cursor{Text: c.Text, Valid: true, Number: c.Number}
}

// wirePosition returns a position as it is sent.
func wirePosition(sub *event.Subscription, c event.Cursor) wire.Position {
	return wire.Position{Cursor: c.Text, Valid: c.Valid, Number: c.Number, MaxAge: sub.MaxAge}
}

// requested returns the position at which a delivery is asked to begin.
func (p *proof) requested(sub *event.Subscription) wire.Position {
	if p == nil {
		return wirePosition(sub, sub.Opening())
	}
	return wirePosition(sub, p.asked)
}

// cursorRefused reports whether the server refused the position that was sent.
func cursorRefused(err error) bool {
	return wire.Is(err, wire.InvalidParams, "field", "cursor") || wire.NameFrom(err) == wire.CursorExpired
}

// dropCursor drops the position, which the server refused, and records a gap: what was sent
// since then is lost (field notes 7). The caller asks again at once, from now.
func (in *ingest) dropCursor(ctx context.Context) error {
	sub, err := in.r.deps.Store.Subscription(in.r.id)
	if err != nil {
		return fmt.Errorf("subscription %s: %w", in.r.id, err)
	}
	gap := in.gapRecord(event.CauseCursorRejected, in.openingGapStart(&sub, in.lastSeenAt()), true)
	in.noteSeen(gap.ReceivedAt)
	_, err = in.commit(ctx, event.Batch{Records: []event.Record{gap}, Update: func(s *event.Subscription) {
		whole := s.CompleteUntil
		s.Reset(event.Cursor{})
		s.CompleteUntil = whole
	}})
	return err
}
