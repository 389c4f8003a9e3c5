package sim

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/receiver"
)

// window is the number of concurrent deliveries of one subscription.
const window = 12

// hook is a webhook subscription on the server. Its watermark is the position up to which
// every event was acknowledged or given up.
type hook struct {
	feed    *Feed
	kick    chan struct{}
	removed chan struct{} // closed when the server has removed it

	mu      sync.Mutex
	url     string
	secret  event.Secret
	until   time.Time
	mark    int
	acked   map[int]bool
	busy    map[int]bool
	due     map[int]time.Time // when each failed event is retried
	tries   map[int]int       // failed tries of each event
	last    time.Time         // when a delivery last succeeded
	failed  time.Time         // when a delivery was last given up
	gap     bool              // events were skipped, and the gap is not acknowledged yet
	gapSent bool              // a gap is being sent
	gapDue  time.Time         // when the gap is resent
	epoch   int               // incremented when the watermark goes back
	old     []sent            // sent requests, for replays
	over    bool              // the receiver has rejected it
}

func newHook(f *Feed, mark int) *hook {
	return &hook{
		feed: f, mark: mark, acked: map[int]bool{}, busy: map[int]bool{}, due: map[int]time.Time{}, tries: map[int]int{},
		kick: make(chan struct{}, 1), removed: make(chan struct{}),
	}
}

// sent is a sent request, which may be replayed like by an attacker.
type sent struct {
	feed   *Feed
	forged bool // signed with wrongSecret
	url    string
	header http.Header
	body   []byte
}

// isAlive reports whether deliveries are made.
func (k *hook) isAlive(now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.aliveLocked(now)
}

func (k *hook) aliveLocked(now time.Time) bool {
	return !k.over && (!now.After(k.until) || k.feed.Deviates(GrantExpiredKept))
}

// grant renews the lease and returns the watermark. With held, at is the position of a
// cursor, to which the watermark moves.
func (k *hook) grant(url string, secret event.Secret, until time.Time, at int, held bool) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.url, k.secret, k.until, k.over = url, secret, until, false
	clear(k.due)
	if held && at != k.mark {
		if at < k.mark {
			clear(k.acked)
			k.epoch++
		}
		k.mark = at
		k.advance()
	} else if !held {
		k.mark = at
		clear(k.acked)
		k.epoch++
	}
	k.wake()
	return k.mark
}

// renew renews the lease without a position, and returns the watermark.
func (k *hook) renew(secret event.Secret, until time.Time) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.secret, k.until = secret, until
	k.wake()
	return k.mark
}

// status returns the server's deliveryStatus; nil: it has none.
func (k *hook) status() map[string]any {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.feed.Deviates(FailureUnsaid) {
		return nil
	}
	told := map[string]any{"active": true, "lastDeliveryAt": nil, "lastError": nil, "failedSince": nil}
	if !k.last.IsZero() {
		told["lastDeliveryAt"] = k.last.UTC().Format(time.RFC3339Nano)
	}
	since := k.failed
	if since.IsZero() && k.feed.Deviates(LastErrorSticky) {
		since = epoch
	}
	if !since.IsZero() {
		told["lastError"], told["failedSince"] = "http_5xx", since.UTC().Format(time.RFC3339Nano)
	}
	return told
}

func (k *hook) wake() {
	select {
	case k.kick <- struct{}{}:
	default:
	}
}

// advance moves the watermark over acknowledged events. The lock is held.
func (k *hook) advance() {
	for k.acked[k.mark+1] {
		delete(k.acked, k.mark+1)
		k.mark++
	}
}

// work delivers until the server's process ends. The server's lock is held.
func (s *Server) work(k *hook) {
	l := s.process
	if l == nil {
		return
	}
	l.wg.Go(func() {
		timer := time.NewTimer(0)
		defer timer.Stop()
		for {
			changed := k.feed.wait()
			s.deliver(l, k)
			timer.Reset(s.idlePause(k))
			select {
			case <-l.ctx.Done():
				return
			case <-k.removed:
				return
			case <-changed:
			case <-k.kick:
			case <-timer.C:
			}
		}
	})
}

// idlePause returns how long an idle worker waits.
func (s *Server) idlePause(k *hook) time.Duration {
	repeats := s.behaves().Repeat > 0
	k.mu.Lock()
	defer k.mu.Unlock()
	if repeats || k.gap || len(k.busy) > 0 || k.mark < k.feed.Last() {
		return 100 * time.Millisecond
	}
	return 5 * time.Second
}

// deliver starts the deliveries that are due.
func (s *Server) deliver(l *serverProcess, k *hook) {
	b := s.behaves()
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	if !k.aliveLocked(now) {
		return
	}
	if at, moved := k.feed.oldestFrom(k.mark); moved {
		k.mark, k.gap = at, true
		clear(k.acked)
		k.epoch++
	}
	if k.gap {
		// No later cursor may be sent before the gap is acknowledged: the next subscribe
		// would begin there, and the gap would never be reported.
		if !k.gapSent && !k.gapDue.After(now) {
			k.gapSent = true
			at := k.epoch
			s.launch(l, b, k, "msg_gap_"+strconv.Itoa(s.rand.N(1<<30)), map[string]any{"type": "gap", "cursor": k.feed.cursor(k.mark)}, func(a response) {
				k.gapSent = false
				k.gapDue = time.Now().Add(retries[0])
				k.gap = k.gap && !(a.ok() && at == k.epoch)
			})
		}
		return
	}
	last := k.feed.Last()
	for n := k.mark + 1; n <= last && len(k.busy) < window && n <= k.mark+64; n++ {
		if k.acked[n] || k.busy[n] || k.due[n].After(now) {
			continue
		}
		k.busy[n] = true
		position, at := k.cursorWith(n), k.epoch
		s.launch(l, b, k, k.feed.id(n), k.feed.occurrence(n, position), func(a response) {
			delete(k.busy, n)
			if !a.ok() {
				s.retry(k, n, at, a)
				return
			}
			s.acked(k.feed, n)
			k.done(n, at)
		})
		if s.chance(b.Repeat, "deliveries doubled") {
			s.launch(l, b, k, k.feed.id(n), k.feed.occurrence(n, position), func(response) {})
		}
	}
	if len(k.old) > 0 && s.chance(b.Repeat/8, "deliveries replayed") {
		again := k.old[s.rand.N(len(k.old))]
		l.wg.Go(func() { s.post(l, again) })
	}
}

// done records that event n needs no further delivery. The lock is held.
func (k *hook) done(n, epoch int) {
	delete(k.due, n)
	delete(k.tries, n)
	if epoch == k.epoch && n > k.mark {
		k.acked[n] = true
		k.advance()
	}
}

// retries are the pauses of [RetriesShort].
var retries = []time.Duration{200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond}

// retry schedules the next try of a failed delivery, or gives it up. The hook's lock is
// held.
func (s *Server) retry(k *hook, n, epoch int, a response) {
	tries := k.tries[n]
	if !k.feed.Deviates(RetriesShort) || k.feed.Deviates(FailureUnsaid, LastErrorSticky) && !a.down {
		k.due[n] = time.Now().Add(s.rand.Between(50*time.Millisecond, 2*time.Second))
		return
	}
	if tries < len(retries) {
		k.due[n] = time.Now().Add(retries[tries])
		k.tries[n]++
		return
	}
	s.net.Count("delivery given up")
	k.failed = time.Now()
	k.feed.skip(n-1, n, k.recoverable(a))
	k.done(n, epoch)
}

// recoverable reports whether the host can get an event in another way if its delivery is
// given up now. While the host runs, the event may lie before the cursor of a later
// delivery; then only the server's status shows the loss, and the host can only record a
// gap. The lock is held.
func (k *hook) recoverable(a response) bool {
	f := k.feed
	switch {
	case !a.down:
		return false
	case f.pollsTruly():
		return true
	case f.Deviates(ReplayNever), !f.undisturbed:
		return false // overlap and a second path are given up if they take too long
	case f.Deviates(ReplayLiveIgnored):
		// By a second path, which the host requests after a failure, once an hour.
		return !f.Deviates(FailureUnsaid, OnePath, LastErrorSticky) && f.maySecondPath()
	}
	return true
}

// cursorWith returns the watermark after an acknowledgement of n: a position that may be
// stored with it. The lock is held.
func (k *hook) cursorWith(n int) int {
	if n != k.mark+1 {
		return k.mark
	}
	for k.acked[n+1] {
		n++
	}
	return n
}

// launch sends one request. launch and done are called with the hook's lock held.
func (s *Server) launch(l *serverProcess, b Behaviour, k *hook, id string, body map[string]any, done func(response)) {
	raw, err := json.Marshal(body)
	if err != nil {
		panic("a delivery of the model: " + err.Error())
	}
	secret, forged := k.secret, s.chance(b.SignWrongly, "deliveries signed wrongly")
	if forged {
		secret = wrongSecret
	}
	h, err := signedHeader(secret, id, k.id(), raw)
	if err != nil {
		panic("a signature of the model: " + err.Error())
	}
	request := sent{k.feed, forged, k.url, h, raw}
	if len(k.old) < 64 {
		k.old = append(k.old, request)
	} else {
		k.old[s.rand.N(len(k.old))] = request
	}
	l.wg.Go(func() {
		if s.chance(b.Shuffle, "deliveries delayed") {
			select {
			case <-time.After(s.rand.Between(0, 3*time.Second)):
			case <-l.ctx.Done():
			}
		}
		a, _ := s.post(l, request)
		k.mu.Lock()
		defer k.mu.Unlock()
		if a.status == http.StatusGone {
			k.over = true
		}
		if a.ok() {
			k.last = time.Now()
		}
		done(a)
		k.wake()
	})
}

// signedHeader returns the header of a delivery with an id, sent now.
func signedHeader(secret event.Secret, id, subscription string, body []byte) (http.Header, error) {
	now := time.Now()
	signature, err := receiver.Sign(secret, id, now, body)
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set(receiver.HeaderID, id)
	h.Set(receiver.HeaderTimestamp, strconv.FormatInt(now.Unix(), 10))
	h.Set(receiver.HeaderSignature, signature)
	h.Set(receiver.HeaderSubscription, subscription)
	return h, err
}

// response is the outcome of a request.
type response struct {
	status int  // 0: none
	down   bool // the connection was refused
}

func (a response) ok() bool { return a.status/100 == 2 }

// post sends a request, and returns its outcome and the beginning of the body.
func (s *Server) post(l *serverProcess, r sent) (a response, said []byte) {
	s.noteSent(r)
	defer func() { s.noteResponse(r, a) }()
	req, err := http.NewRequestWithContext(l.ctx, http.MethodPost, r.url, bytes.NewReader(r.body))
	if err != nil {
		return response{}, nil
	}
	req.Header = r.header.Clone()
	res, err := l.client.Do(req)
	if err != nil {
		return response{down: errors.Is(err, syscall.ECONNREFUSED)}, nil
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(res.Body, 1<<10)) // only a challenge needs the body
	return response{status: res.StatusCode}, body
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
