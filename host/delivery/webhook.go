package delivery

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// A challenge is answered while a subscribe was begun on the path within this
// time (contracts, receiver).
const verifyWindow = 60 * time.Second

// leastLease keeps a server with absurdly short grants from being hammered.
const leastLease = 500 * time.Millisecond

// webhook keeps a lease: it subscribes, refreshes at 70 to 80 % of what was
// granted, and returns when that fails or the server ends the subscription.
func (r *Runner) webhook(ctx context.Context, stored *event.Subscription) error {
	sub := *stored
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.in.onFailure(func(err error) { cancel(err) })
	defer r.in.onFailure(func(error) {})
	if final := r.endable(cancel); final != nil {
		return final
	}
	defer func() {
		// What ended this attempt is used up; what came too late for it is not.
		final := r.endable(func(error) {})
		if final != nil && final != context.Cause(ctx) {
			r.terminated(final)
		}
	}()

	if err := r.checkpoint(ctx, &sub); err != nil {
		return err
	}
	var open openLease
	defer open.stop()
	for first := true; ; first = false {
		proving := r.doubt.Swap(false) || first
		fresh := proving && r.wantsFresh(&sub)
		var err error
		if sub, err = r.hook(ctx, sub, fresh); err != nil {
			return err
		}
		if proving {
			open.begin(ctx, cancel, r, &sub, fresh)
		}
		wait, err := r.lease(ctx, sub, first, &open)
		for proving && errors.Is(err, errTooFarBack) {
			open.older++
			wait, err = r.again(ctx, cancel, sub, first, &open)
		}
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return err
		}
		r.answer(nil)
		if r.doubt.Load() {
			wait = 0
		}
		r.set(func(s *Status) { s.NextTry = r.deps.Now().Add(wait) })
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-r.nudged:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
		timer.Stop()
		if sub, err = r.deps.Store.Subscription(r.id); err != nil {
			return fmt.Errorf("subscription %s: %w", r.id, err)
		}
	}
}

// endable sets what ends the attempt under way, and returns why it must not go
// on if the server ended the subscription meanwhile.
func (r *Runner) endable(end context.CancelCauseFunc) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	final := r.final
	r.final, r.terminate = nil, end
	return final
}

// terminated ends the attempt under way, or else the next one.
func (r *Runner) terminated(err error) {
	r.mu.Lock()
	end := r.terminate
	r.final = err
	r.mu.Unlock()
	end(err)
}

// hook makes sure that the subscription has a path, a secret and the present
// address, and that they are stored before the server hears of them.
//
// fresh asks for a path that the server does not know yet.
func (r *Runner) hook(ctx context.Context, sub event.Subscription, fresh bool) (event.Subscription, error) {
	hook := r.endOld(ctx, &sub)
	if fresh {
		r.makeWay(ctx, &sub, &hook)
	}
	if hook.Path == "" {
		path, err := newPath(r.deps.Random)
		if err != nil {
			return sub, err
		}
		hook.Path = path
	}
	if hook.Secret.IsZero() && !r.deps.ServerSecret {
		if err := Rotate(&hook, r.deps.Random, r.deps.Now()); err != nil {
			return sub, err
		}
	}
	rotated, err := r.turnSecret(&hook, r.deps.Now())
	if err != nil {
		return sub, err
	}
	url, err := r.deps.Callback(hook.Path)
	if err != nil {
		return sub, err
	}
	if hook.URL != "" && hook.URL != url {
		// The address is a part of the subscription's identity on the server.
		if err := Release(ctx, r.deps.Source, sub); err != nil {
			r.deps.Log.Warn("old callback address stays on the server until its lease ends", "sub", r.id, "err", err)
			r.deps.Left(ctx, sub)
		}
	}
	hook.URL = url
	if hook == sub.Hook {
		return sub, nil
	}
	before, stored := sub.Hook, event.Hook{}
	b := event.Batch{Update: func(s *event.Subscription) {
		changeHook(&s.Hook, before, hook)
		stored = s.Hook
	}}
	if rotated {
		b.Audit = append(b.Audit, r.act(event.ActorHost, ActionRotate))
	}
	if _, err = r.in.commit(ctx, b); err != nil {
		return sub, err
	}
	sub.Hook = stored
	return sub, nil
}

// changeHook makes of what is stored what the runner made of before. Secrets that
// were changed by somebody else meanwhile stay.
func changeHook(stored *event.Hook, before, after event.Hook) {
	stored.Path, stored.URL = after.Path, after.URL
	stored.OldPath, stored.OldURL, stored.OldUntil = after.OldPath, after.OldURL, after.OldUntil
	ours := after.Secret != before.Secret || after.Previous != before.Previous
	if ours && stored.Secret == before.Secret && stored.Previous == before.Previous {
		stored.Secret, stored.Since = after.Secret, after.Since
		stored.Previous, stored.Until = after.Previous, after.Until
	}
}

func newPath(random io.Reader) (string, error) {
	if random == nil {
		random = rand.Reader
	}
	b := make([]byte, 18)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", fmt.Errorf("no randomness for a webhook path: %w", err)
	}
	return "/hooks/" + base64.RawURLEncoding.EncodeToString(b), nil
}

// openLease is the lease that an attempt holds, with its proof.
type openLease struct {
	proof *proof // nil: this lease needs none
	end   func()
	older int // as of [Runner.newProof]
}

// begin begins a proof in place of the last one.
func (l *openLease) begin(ctx context.Context, cancel context.CancelCauseFunc, r *Runner, sub *event.Subscription, fresh bool) {
	l.older = 2
	if fresh {
		l.older = 0
	}
	l.start(ctx, cancel, r, sub, fresh)
}

func (l *openLease) start(ctx context.Context, cancel context.CancelCauseFunc, r *Runner, sub *event.Subscription, fresh bool) {
	l.stop()
	before := r.in.lastSign()
	if !r.wasConfirmed() {
		before = r.away // deliveries may be ahead of the answer
	}
	l.proof = r.newProof(sub, before, l.older, fresh)
	if fresh {
		r.lastFresh = l.proof
	}
	l.end = l.proof.run(ctx, cancel)
}

func (l *openLease) stop() {
	if l.end != nil {
		l.end()
	}
}

// lease subscribes or refreshes once and returns when to do it again.
func (r *Runner) lease(ctx context.Context, sub event.Subscription, opening bool, open *openLease) (time.Duration, error) {
	now := r.deps.Now()
	r.mu.Lock()
	r.inflight, r.granted, r.early = now.Add(verifyWindow), !sub.Cursor.Valid && sub.LastSeen.IsZero(), nil
	r.mu.Unlock()
	r.set(func(s *Status) {
		if opening && s.State != event.StateBackoff {
			s.State = event.StateVerifying
		} else if s.State == event.StateLive {
			s.State = event.StateRefreshing
		}
	})
	r.challenged.Store(false)
	if open.proof.isOpen() {
		r.deps.Failpoint(FailAsked)
	}
	res, err := r.deps.Source.Subscribe(ctx, wire.SubscribeRequest{
		Name: r.key.Type, Arguments: r.key.Args, At: at(&sub, open.position(&sub)),
		URL: sub.Hook.URL, Secret: sub.Hook.Secret.Reveal(), TTL: r.deps.TTL, Held: r.held(sub),
	})
	if err != nil {
		if refusesSecond(err) && sub.Hook.OldURL != "" && open.isFresh() {
			if sub, err = r.breakFirst(ctx, sub); err != nil {
				return 0, err
			}
			open.proof.doubted()
			return r.lease(ctx, sub, opening, open)
		}
		if !cursorRefused(err) || !sub.Cursor.Valid {
			return 0, err
		}
		if open.isFresh() && open.proof.canGoOn() {
			return 0, errTooFarBack
		}
		open.stop()
		open.proof = nil
		if err := r.in.forget(ctx); err != nil {
			return 0, err
		}
		sub.Reset(event.Cursor{})
		sub.LastSeen, r.away = time.Time{}, time.Time{} // the gap is told
		return r.lease(ctx, sub, opening, open)
	}
	r.deps.Failpoint(FailSubscribed)
	if res.Truncated && open.isFresh() && open.proof.canGoOn() {
		return 0, errTooFarBack
	}
	return r.grant(ctx, sub, res, opening, open.proof)
}

func (r *Runner) grant(ctx context.Context, sub event.Subscription, res wire.SubscribeResult, opening bool, p *proof) (time.Duration, error) {
	now := r.deps.Now()
	before := sub.LastSeen
	if !r.wasConfirmed() {
		before = r.away // deliveries may be ahead of the answer
	}
	if res.ID.IsZero() {
		res.ID = sub.Lease.ServerID
	}
	lease := event.Lease{ServerID: res.ID, GrantedAt: now.UTC(), RefreshBefore: res.RefreshBefore, Status: status(res.Status)}
	lapsed := !sub.Lease.RefreshBefore.IsZero() && now.After(sub.Lease.RefreshBefore)
	clean, failing := !p.isOpen(), showsFailure(&sub, res)
	challenged := r.challenged.Load() && !sub.Lease.GrantedAt.IsZero()
	suspect := challenged && !opening || failing && r.mayHidePast(&sub, res, before, opening)
	if clean && !opening && (failing || challenged || endsSuspension(&sub, res) || r.leadsOn(&sub, res)) {
		clean = false
		r.suspect = suspect
		r.doubt.Store(true)
	}
	var newest trust.Text
	if clean {
		newest = r.takeNewest()
	}
	position := r.in.position(res.Cursor)
	if early := r.takeEarly(); early != nil && !res.Truncated {
		position = early
	}
	if p.isFresh() {
		position = nil // it is held until the path is proved
	}
	b := event.Batch{Cursor: position, Update: func(s *event.Subscription) {
		s.Lease = lease
		keepGiven(&s.Hook, res.Secret, now)
		// Where no event behind the proved position is known, that stays, so that one
		// that is stored lies behind it.
		if clean && (!newest.IsZero() || !s.Proved.Valid) {
			s.Checkpoint(newest)
		}
	}}
	switch {
	case res.Truncated:
		from := r.in.since(before)
		if p.isOpen() {
			from = p.gapBegins(from)
		}
		b.Records = append(b.Records, r.in.gap(event.CauseTruncated, from, true))
	case sub.Cursor.Valid || before.IsZero():
		// The server replays from the position, or there was no life before.
	case res.Anew:
		b.Records = append(b.Records, r.in.gap(event.CauseLapsed, before, false))
	case lapsed && r.in.awayCause() != event.CausePaused:
		b.Records = append(b.Records, r.in.gap(event.CauseLapsed, before, false))
	case opening:
		b.Records = append(b.Records, r.in.gap(r.in.awayCause(), before, false))
	}
	if !sub.Cursor.Valid && before.IsZero() {
		r.in.whole.to(now) // from now
	}
	if opening {
		r.opened(ctx, now, sub.Cursor.Valid && !before.IsZero(), event.StateLive)
	}
	r.in.seen(now)
	if _, err := r.in.commit(ctx, b); err != nil {
		return 0, err
	}
	r.mu.Lock()
	r.granted = true
	r.mu.Unlock()
	p.answered(res, suspect)
	if p == nil && opening {
		r.showProof(proofless(before, sub.Cursor.Valid))
	}
	state := event.StateLive
	if suspended(lease) {
		state = event.StateSuspended
	}
	r.set(func(s *Status) { s.State, s.Lease, s.Opened = state, lease, now })
	switch was := !opening && suspended(sub.Lease); {
	case suspended(lease) && !was:
		r.record(ctx, state, fmt.Sprintf("the server stopped delivering: %v", lease.Status.LastError), nil)
	case was && !suspended(lease):
		r.record(ctx, state, "the server delivers again", nil)
	}
	if suspended(lease) && r.failsOver() {
		return 0, fmt.Errorf("%w: %v", errSuspended, lease.Status.LastError)
	}
	return r.renewal(res, lease, now), nil
}

// renewal returns the time to the next refresh.
func (r *Runner) renewal(res wire.SubscribeResult, lease event.Lease, now time.Time) time.Duration {
	t := r.deps.Timing
	share := 0.7 + 0.1*r.deps.Jitter()
	part := func(d time.Duration) time.Duration { return time.Duration(share * float64(d)) }
	var wait time.Duration
	switch left := res.RefreshBefore.Sub(now); {
	case !res.Expires:
		wait = part(t.LeaseCheck)
	case res.RefreshBefore.IsZero() || left <= 0:
		wait = t.LeaseFloor
	default:
		wait = max(part(left), leastLease)
	}
	if s := lease.Status; s != nil && !s.Active {
		wait = min(wait, max(s.RetryAfter, t.LeaseFloor))
	}
	return wait
}

func suspended(l event.Lease) bool { return l.Status != nil && !l.Status.Active }

func status(s *wire.DeliveryStatus) *event.DeliveryStatus {
	if s == nil {
		return nil
	}
	return &event.DeliveryStatus{
		Active: s.Active, LastDeliveryAt: s.LastDeliveryAt, LastError: s.LastError,
		FailedSince: s.FailedSince, Throttled: s.Throttled, RetryAfter: s.RetryAfter,
	}
}

// InFlight reports whether a verification of the callback may be answered.
func (r *Runner) InFlight() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.deps.Now().Before(r.inflight)
}

// Delivered is a webhook delivery whose signature was verified.
type Delivered struct {
	Kind      DeliveredKind
	WebhookID trust.Text
	ServerID  trust.Text // the server's routing handle, to be learned; may be empty
	Body      []byte     // exact bytes; kept
	Refused   error      // of DeliveredMalformed: why strict parsing refused it
	Previous  bool       // signed with the secret before the last rotation
	Old       bool       // came on the path before the present one
}

// DeliveredKind says what the body of a delivery is.
type DeliveredKind int

// The kinds of deliveries.
const (
	DeliveredEvent DeliveredKind = iota
	DeliveredGap
	DeliveredTerminated
	DeliveredMalformed
)

// ErrRejected: the payload was refused and is stored as rejected.
var ErrRejected = errors.New("payload rejected")

// ErrChanged: an event with this id is stored with other data, which stay.
var ErrChanged = errors.New("known id with other data")

// Deliver stores a delivery and returns after the commit.
//
// Errors: [ErrRejected] after the refused payload was stored; [ErrChanged] where
// nothing was; [ErrStopped] when Run has ended; what the store answered; the cause
// of ctx.
func (r *Runner) Deliver(ctx context.Context, d Delivered) error {
	in, now := &r.in, r.deps.Now()
	if d.Old && (d.Kind == DeliveredGap || d.Kind == DeliveredTerminated) {
		return nil // of a subscription that has another path now, from which nothing is missing
	}
	b := event.Batch{Update: func(s *event.Subscription) {
		if !d.ServerID.IsZero() && !d.Old {
			s.Lease.ServerID = d.ServerID
		}
	}}
	var (
		rejected bool
		told     wire.Cursor
	)
	switch d.Kind {
	case DeliveredEvent, DeliveredMalformed:
		var rec event.Record
		rec, told = r.delivered(d, now)
		rec.WebhookID = d.WebhookID
		rejected = rec.Kind == event.KindRejected
		if !rejected && !d.WebhookID.IsZero() && rec.EventID != d.WebhookID {
			rec.Flags = append(rec.Flags, event.FlagIDMismatch)
		}
		if !rejected && r.learns(d.ServerID) {
			rec.Flags = append(rec.Flags, event.FlagIDLearned)
		}
		b.Records = []event.Record{rec}
	case DeliveredGap:
		told = wire.DecodeMark(d.Body).Cursor
		gap := in.gap(event.CauseGap, in.since(in.lastSign()), true)
		gap.WebhookID = d.WebhookID
		b.Records = []event.Record{gap}
	}
	if r.Mode() == event.ModeWebhook && r.deps.Read == nil && !d.Old {
		b.Cursor = r.whenGranted(in.position(told))
	} // else it is late, after a change of mode or of the path
	p := r.proof.Load()
	if d.Kind == DeliveredEvent && !rejected && r.Mode() == event.ModeWebhook && !d.Old {
		p.arrived(&b)
	}
	if p == nil && b.Cursor != nil && d.Kind == DeliveredEvent && !rejected {
		in.whole.delivered(occurred(b.Records[0].Timestamp, now), b.Cursor.Text)
	}
	for i := range b.Records {
		b.Records[i].Mode = event.ModeWebhook
	}
	r.signed(&b, d.Previous, now)
	in.seen(now)
	outcome, err := in.commitAs(ctx, b, false)
	if err != nil {
		return err
	}
	if d.Kind == DeliveredEvent && !rejected && outcome.Stored > 0 {
		r.noteNewest(b.Records[0].EventID)
	}
	r.set(func(s *Status) {
		s.LastDelivery = now
		if d.Kind == DeliveredEvent {
			s.LastEvent = now
		}
	})
	if d.Kind == DeliveredTerminated && r.Mode() == event.ModeWebhook {
		r.terminated(&terminated{wire.DecodeFault(d.Body)})
	}
	switch {
	case rejected:
		return ErrRejected
	case outcome.Changed > 0:
		return ErrChanged
	}
	return nil
}

// learns reports whether a delivery names the subscription by another id than the
// server did before (contracts, receiver).
func (r *Runner) learns(id trust.Text) bool {
	sub, err := r.deps.Store.Subscription(r.id)
	return err == nil && !id.IsZero() && !sub.Lease.ServerID.IsZero() && sub.Lease.ServerID != id
}

// whenGranted returns the position of a delivery if it may be stored now. Before the
// answer to a subscribe is stored, it may lie behind a gap that the answer tells of,
// and the next subscribe would not be told again: then it waits for that answer. The
// answer to a first subscribe, from now, tells of no gap.
func (r *Runner) whenGranted(at *event.Cursor) *event.Cursor {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.granted || at == nil {
		return at
	}
	r.early = at
	return nil
}

// takeEarly returns the newest position that waited for the answer to a subscribe.
func (r *Runner) takeEarly() *event.Cursor {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.early
	r.early = nil
	return at
}

// delivered turns the body of a delivery into a record, and returns the cursor that
// it holds.
func (r *Runner) delivered(d Delivered, now time.Time) (event.Record, wire.Cursor) {
	if d.Refused != nil {
		return r.in.rejected(d.Body, d.Refused), wire.DecodeMark(d.Body).Cursor
	}
	if r.deps.Read == nil {
		return r.in.occurred(d.Body)
	}
	o, err := r.deps.Read(d.Body, d.WebhookID, now)
	if err != nil {
		return r.in.rejected(d.Body, err), wire.Cursor{}
	}
	return r.in.happened(o, scanned(o.Raw)), wire.Cursor{}
}

// givenGrace is how long the secret before the present one is accepted, where the
// server makes them.
const givenGrace = 10 * time.Minute

// keepGiven takes over a secret that the server made.
func keepGiven(h *event.Hook, given *wire.GivenSecret, now time.Time) {
	if given == nil {
		return
	}
	secret := event.NewSecret(given.Text)
	if !h.Secret.IsZero() && h.Secret != secret {
		h.Previous, h.Until = h.Secret, now.Add(givenGrace)
	}
	h.Secret = secret
	switch given.Type {
	case "raw":
		h.Scheme = event.SchemeRaw
	case "none":
		h.Scheme = event.SchemeNone
	default:
		h.Scheme = event.SchemeStandard
	}
}

// held returns the server's id of a subscription whose deliveries can still be
// told from forgeries; "" asks for a new one.
func (r *Runner) held(sub event.Subscription) trust.Text {
	if r.deps.ServerSecret && sub.Hook.Secret.IsZero() && sub.Hook.Scheme != event.SchemeNone {
		return trust.Text{}
	}
	return sub.Lease.ServerID
}

// Suspend asks the server to hold back a push subscription that it keeps.
func Suspend(ctx context.Context, src Source, sub event.Subscription) error {
	return ignoreUnknown(src.Pause(ctx, ending(sub)))
}

// Release ends a webhook subscription, also on the path before its present one, or a push subscription that outlives its
// connection, on its server. A server that does not know
// it, or cannot be reached any more, counts as an end (field notes 14); the
// error of the latter is returned for the record.
func Release(ctx context.Context, src Source, sub event.Subscription) error {
	if sub.Mode != event.ModePush && sub.Hook.URL == "" {
		return nil
	}
	err := ignoreUnknown(src.Unsubscribe(ctx, ending(sub)))
	if sub.Hook.OldURL != "" {
		sub.Hook.URL = sub.Hook.OldURL
		err = errors.Join(err, ignoreUnknown(src.Unsubscribe(ctx, ending(sub))))
	}
	return err
}

func ending(sub event.Subscription) wire.UnsubscribeRequest {
	return wire.UnsubscribeRequest{Name: sub.Key.Type, Arguments: sub.Key.Args, URL: sub.Hook.URL, Held: sub.Lease.ServerID}
}

// ignoreUnknown drops the answer of a server that knows no such subscription.
func ignoreUnknown(err error) error {
	if wire.NameFrom(err) == wire.NotFound {
		return nil
	}
	return err
}
