package demo

import (
	"context"
	"encoding/json"
	"math"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventserver"
)

// maxOutstanding bounds the events of one subscription that were sent and are not acknowledged.
const maxOutstanding = 1024

// hook is one webhook subscription. Its worker sends events in order, and keeps the ones that are
// not acknowledged: the watermark is the position before the oldest of them.
type hook struct {
	owner     *hooks
	id        string
	principal string
	url       string
	requested requested

	stop     chan struct{} // closed by Stop
	stopOnce sync.Once
	kick     chan struct{} // something changed for the worker

	mu            sync.Mutex
	over          bool // the worker delivers nothing any more
	secrets       eventserver.Secrets
	refreshBefore time.Time
	forgetAt      time.Time // zero: never
	pos           uint64    // newest event that was sent
	epoch         int       // grows when pos is moved; older results are ignored
	outstanding   map[uint64]*attempt
	waiting       int       // outstanding events that wait for a retry
	gapOwed       bool      // the receiver must be told that events were skipped
	quietUntil    time.Time // no deliveries until then, as the receiver asked
	health        eventserver.Health
	abandoned     int  // events whose delivery was given up
	erred         bool // the delivery that a fault signs wrongly was made
}

// attempt is an outstanding event.
type attempt struct {
	tries int
	due   time.Time // of the next try; zero while one is under way
}

func newHook(h *hooks, a eventserver.Asked, w requested) *hook {
	return &hook{owner: h, id: a.ID, principal: a.Principal, url: a.URL, requested: w, secrets: eventserver.NewSecrets(a.Secret), pos: w.pos, refreshBefore: time.Now().Add(a.Lease),
		stop: make(chan struct{}), kick: make(chan struct{}, 1), outstanding: map[uint64]*attempt{}}
}

// Stop implements [eventserver.Hook].
func (k *hook) Stop() { k.stopOnce.Do(func() { close(k.stop) }) }

// grant applies a subscribe or refresh and returns its result. A refresh lifts a suspension,
// retries unacknowledged events at once, and replays from an older cursor. The result is nil when
// the subscription has just ended.
func (k *hook) grant(a eventserver.Asked, w requested, fresh bool) map[string]any {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over {
		return nil
	}
	now := time.Now()
	k.refreshBefore = now.Add(a.Lease)
	k.secrets.Rotate(a.Secret, now)
	status, faults := k.statusLocked(), k.owner.engine.faults
	k.forgetAt = time.Time{}
	if after := faults[faultForgotten]; after > 0 {
		k.forgetAt = now.Add(after)
	}
	if faults.has(faultLiveIgnored) && !fresh {
		w.truncated = false
	}
	if !fresh {
		k.health.Renew()
		k.quietUntil = time.Time{}
		if !faults.has(faultLiveIgnored, faultReplayNever) {
			k.moveLocked(w, now)
		}
	}
	result := map[string]any{"id": k.id, "cursor": k.owner.engine.mark(k.requested.kind, k.watermarkLocked()),
		"truncated": w.truncated, "refreshBefore": string(appendTime(nil, k.refreshBefore)), "deliveryStatus": status}
	select {
	case k.kick <- struct{}{}:
	default:
	}
	return result
}

// IsOver implements [eventserver.Hook].
func (k *hook) IsOver() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.over
}

func (k *hook) moveLocked(w requested, now time.Time) {
	if w.held && (w.truncated || w.pos < k.watermarkLocked()) {
		k.rewindLocked(w.pos)
		return
	}
	for n, a := range k.outstanding {
		if w.held && n <= w.pos {
			k.dropLocked(n)
		} else if !a.due.IsZero() {
			a.tries, a.due = 0, now
		}
	}
	if w.held {
		k.pos = max(k.pos, w.pos)
	}
}

func (k *hook) rewindLocked(pos uint64) {
	k.pos, k.waiting = pos, 0
	k.epoch++
	clear(k.outstanding)
}

func (k *hook) dropLocked(n uint64) {
	if a := k.outstanding[n]; a != nil && !a.due.IsZero() {
		k.waiting--
	}
	delete(k.outstanding, n)
}

// watermarkLocked returns the position up to which everything is acknowledged
// or given up.
func (k *hook) watermarkLocked() uint64 { return k.watermarkBesideLocked(math.MaxUint64) }

// watermarkBesideLocked is the watermark if event n were acknowledged too: a receiver that stores n
// may store that cursor with it.
func (k *hook) watermarkBesideLocked(n uint64) uint64 {
	mark := k.pos
	for m := range k.outstanding {
		if m != n {
			mark = min(mark, m-1)
		}
	}
	return mark
}

func (k *hook) statusLocked() map[string]any {
	s := k.health.Status()
	s["abandoned"] = k.abandoned
	if k.owner.engine.faults.has(faultLastErrorSticky) {
		s["lastError"], s["failedSince"] = "http_5xx", string(appendTime(nil, k.owner.engine.start))
	}
	if wait := time.Until(k.quietUntil); wait > 0 {
		s["throttled"], s["retryAfterMs"] = true, wait.Milliseconds()
	}
	return s
}

// job is one request to make.
type job struct {
	n     uint64 // 0: a gap envelope
	epoch int
	eventserver.Delivery
}

type result struct {
	job
	eventserver.Outcome
}

// Run implements [eventserver.Hook].
func (k *hook) Run(ctx context.Context) {
	if k.owner.engine.faults.has(faultForgotten) {
		defer k.owner.Verifier.Forget(k.principal, k.url)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan result, deliveriesEach)
	inFlight := 0
	defer func() {
		cancel()
		for ; inFlight > 0; inFlight-- {
			<-results
		}
	}()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		for inFlight < deliveriesEach {
			j, ok := k.take(time.Now())
			if !ok {
				break
			}
			inFlight++
			go func() { results <- result{j, k.owner.Sender.Send(ctx, j.Delivery)} }()
		}
		expired, gone, next := k.plan(time.Now(), inFlight)
		if expired {
			return
		}
		if gone {
			k.sendTerminated(ctx)
			return
		}
		timer.Reset(max(time.Millisecond, time.Until(next)))
		select {
		case <-ctx.Done():
			return
		case <-k.stop:
			return
		case r := <-results:
			inFlight--
			if ctx.Err() == nil {
				k.settle(r, time.Now())
			}
		case <-k.kick:
		case <-timer.C:
		}
	}
}

// take returns the next request to make, if one is due.
func (k *hook) take(now time.Time) (job, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.health.Suspended || now.Before(k.quietUntil) {
		return job{}, false
	}
	kind := k.requested.kind
	count := kind.feed.count(now)
	if first := kind.oldest(count); k.pos+1 < first {
		k.pos, k.gapOwed = first-1, true
	}
	if k.gapOwed && k.waiting == 0 {
		k.gapOwed = false
		return k.controlLocked("gap", map[string]any{"cursor": k.owner.engine.mark(kind, k.watermarkLocked())}, now), true
	}
	if k.waiting > 0 {
		for n, a := range k.outstanding {
			if !a.due.IsZero() && !a.due.After(now) {
				a.due = time.Time{}
				k.waiting--
				return k.eventLocked(n, now), true
			}
		}
	}
	if len(k.outstanding) >= maxOutstanding {
		return job{}, false
	}
	for k.pos < count {
		k.pos++
		if kind.feed.matches(k.pos, k.requested.args) {
			k.outstanding[k.pos] = &attempt{}
			return k.eventLocked(k.pos, now), true
		}
	}
	return job{}, false
}

func (k *hook) eventLocked(n uint64, now time.Time) job {
	e := k.owner.engine
	body := e.appendOccurrence(make([]byte, 0, 1024), k.requested.kind, n, k.watermarkBesideLocked(n))
	var id struct {
		EventID string `json:"eventId"`
	}
	_ = json.Unmarshal(body, &id) // encoded above
	d := k.deliveryLocked(id.EventID, body, now)
	if !k.erred && k.owner.engine.faults.has(faultSignatureOnce) {
		k.erred, d.Secrets = true, []event.Secret{event.NewSecret(unknownSecret)}
	}
	return job{n: n, epoch: k.epoch, Delivery: d}
}

func (k *hook) controlLocked(kind string, members map[string]any, now time.Time) job {
	members["type"] = kind
	body, err := json.Marshal(members)
	if err != nil {
		panic("demo: an envelope of our own cannot be encoded: " + err.Error())
	}
	return job{epoch: k.epoch, Delivery: k.deliveryLocked("msg_"+kind+"_"+k.owner.Verifier.Token(), body, now)}
}

func (k *hook) deliveryLocked(id string, body []byte, now time.Time) eventserver.Delivery {
	secrets := k.secrets.At(now)
	if k.owner.engine.faults.has(faultSignature) {
		secrets = []event.Secret{event.NewSecret(unknownSecret)}
	}
	return eventserver.Delivery{URL: k.url, SubID: k.id, WebhookID: id, Body: body, Secrets: secrets}
}

// settle records the outcome of a request.
func (k *hook) settle(r result, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.health.Note(r.Outcome, now)
	if r.Wait > 0 && !r.OK {
		k.quietUntil = laterOf(k.quietUntil, now.Add(r.Wait))
	}
	if r.epoch != k.epoch {
		return
	}
	a := k.outstanding[r.n]
	switch {
	case r.n == 0:
		if !r.OK && !r.Final {
			k.gapOwed = true
			k.quietUntil = laterOf(k.quietUntil, now.Add(time.Second))
		}
	case a == nil:
	case r.OK:
		k.dropLocked(r.n)
	case r.Final || a.tries >= len(k.owner.opts.Backoff):
		k.dropLocked(r.n)
		k.abandoned++
		k.gapOwed = k.gapOwed || r.Final || !k.owner.engine.faults.has(faultRetriesShort)
	default:
		a.due = now.Add(max(k.owner.opts.Backoff[a.tries], r.Wait))
		a.tries++
		k.waiting++
	}
	if k.health.Suspend(now, k.owner.opts.SuspendAfter) {
		k.owner.opts.Log.Warn("webhook suspended", "subscription", k.id, "error", k.health.LastError)
		k.rewindLocked(k.watermarkLocked())
	}
}

func laterOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// plan reports whether the subscription is over, and when to look again.
func (k *hook) plan(now time.Time, inFlight int) (expired, gone bool, next time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	kind := k.requested.kind
	next = now.Add(time.Minute)
	sooner := func(t time.Time) {
		if t.Before(next) {
			next = t
		}
	}
	end := k.refreshBefore
	if k.owner.engine.faults.has(faultGrantKept) {
		end = never
	}
	if !k.forgetAt.IsZero() {
		end = k.forgetAt
	}
	if !now.Before(end) {
		k.over = true
		return true, false, next
	}
	sooner(end)
	if kind.lifetime != nil {
		exists, change := kind.lifetime.at(now)
		if !exists && inFlight == 0 {
			k.over = true
			return false, true, next
		}
		sooner(change)
	}
	if k.health.Suspended || inFlight == deliveriesEach {
		return false, false, next
	}
	if now.Before(k.quietUntil) {
		sooner(k.quietUntil)
		return false, false, next
	}
	if k.waiting > 0 {
		for _, a := range k.outstanding {
			if !a.due.IsZero() {
				sooner(a.due)
			}
		}
	}
	if len(k.outstanding) < maxOutstanding {
		sooner(kind.feed.when(k.pos + 1))
	}
	return false, false, next
}

// sendTerminated tells the receiver that the event type is gone, with the same retries as an event.
func (k *hook) sendTerminated(ctx context.Context) {
	k.mu.Lock()
	k.over = true
	j := k.controlLocked("terminated", map[string]any{"error": eventserver.Gone(k.requested.kind.name).Body(k.owner.engine.profile)}, time.Now())
	k.mu.Unlock()
	for tries := 0; ; tries++ {
		o := k.owner.Sender.Send(ctx, j.Delivery)
		if o.OK || o.Final || tries >= len(k.owner.opts.Backoff) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-k.stop:
			return
		case <-time.After(max(k.owner.opts.Backoff[tries], o.Wait)):
		}
	}
}
