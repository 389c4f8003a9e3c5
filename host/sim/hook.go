package sim

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/receiver"
)

// window is how many deliveries of one subscription are under way at once.
const window = 12

// hook is a webhook subscription that the server holds. Its watermark is the
// position up to which everything was acknowledged.
type hook struct {
	feed *Feed
	kick chan struct{}

	mu     sync.Mutex
	url    string
	secret event.Secret
	until  time.Time
	mark   int
	acked  map[int]bool
	busy   map[int]bool
	due    map[int]time.Time // of what failed
	gap    bool              // events were skipped, and the receiver did not take note
	told   bool              // of that; the answer is not there yet
	turn   int               // grows when the watermark goes back
	old    []sent            // what was sent, to be sent again as it was
	over   bool              // the receiver does not want it
}

// sent is a request as somebody on the way may have kept it.
type sent struct {
	url    string
	header http.Header
	body   []byte
}

// grant renews the lease and returns the watermark.
func (k *hook) grant(url string, secret event.Secret, until time.Time, at int, held bool) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.url, k.secret, k.until, k.over = url, secret, until, false
	clear(k.due)
	if held && at != k.mark {
		if at < k.mark {
			clear(k.acked)
			k.turn++
		}
		k.mark = at
		k.advance()
	} else if !held {
		k.mark = at
		clear(k.acked)
		k.turn++
	}
	k.wake()
	return k.mark
}

func (k *hook) wake() {
	select {
	case k.kick <- struct{}{}:
	default:
	}
}

// advance moves the watermark over what was acknowledged. The lock is held.
func (k *hook) advance() {
	for k.acked[k.mark+1] {
		delete(k.acked, k.mark+1)
		k.mark++
	}
}

// work delivers until the server's life ends. The server's lock is held.
func (s *Server) work(k *hook) {
	l := s.life
	if l == nil {
		return
	}
	l.wg.Go(func() {
		timer := time.NewTicker(100 * time.Millisecond)
		defer timer.Stop()
		for {
			changed := k.feed.wait()
			s.deliver(l, k)
			select {
			case <-l.ctx.Done():
				return
			case <-changed:
			case <-k.kick:
			case <-timer.C:
			}
		}
	})
}

// deliver starts the deliveries that are due.
func (s *Server) deliver(l *serverLife, k *hook) {
	m := s.behaviour()
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	if k.over || now.After(k.until) {
		return
	}
	if at, moved := k.feed.held(k.mark); moved {
		k.mark, k.gap = at, true
		clear(k.acked)
		k.turn++
	}
	if k.gap {
		// No position behind it may be told before the receiver knows: it would be
		// where the next subscribe begins, and nobody would tell of the gap.
		if !k.told {
			k.told = true
			turn := k.turn
			s.launch(l, m, k, "msg_gap_"+strconv.Itoa(s.rand.N(1<<30)), map[string]any{"type": "gap", "cursor": k.feed.cursor(k.mark)}, func(ok bool) {
				k.told = false
				k.gap = k.gap && !(ok && turn == k.turn)
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
		position, turn := k.beside(n), k.turn
		s.launch(l, m, k, k.feed.id(n), k.feed.occurrence(n, position), func(ok bool) {
			delete(k.busy, n)
			if !ok {
				k.due[n] = time.Now().Add(s.rand.Between(50*time.Millisecond, 2*time.Second))
				return
			}
			s.acked(k.feed, n)
			delete(k.due, n)
			if turn == k.turn && n > k.mark {
				k.acked[n] = true
				k.advance()
			}
		})
		if s.chance(m.Repeat, "deliveries doubled") {
			s.launch(l, m, k, k.feed.id(n), k.feed.occurrence(n, position), func(bool) {})
		}
	}
	if len(k.old) > 0 && s.chance(m.Repeat/8, "deliveries replayed") {
		again := k.old[s.rand.N(len(k.old))]
		l.wg.Go(func() { s.post(l, again) })
	}
}

// beside returns the watermark if n were acknowledged too: a position that may be
// stored with it. The lock is held.
func (k *hook) beside(n int) int {
	if n != k.mark+1 {
		return k.mark
	}
	for k.acked[n+1] {
		n++
	}
	return n
}

// launch makes one request. done is called with the hook's lock held. So is launch.
func (s *Server) launch(l *serverLife, m Manners, k *hook, id string, body map[string]any, done func(ok bool)) {
	raw, err := json.Marshal(body)
	if err != nil {
		panic("a delivery of the model: " + err.Error())
	}
	now := time.Now()
	signature, err := receiver.Sign(k.secret, id, now, raw)
	if err != nil {
		panic("a signature of the model: " + err.Error())
	}
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set(receiver.HeaderID, id)
	h.Set(receiver.HeaderTimestamp, strconv.FormatInt(now.Unix(), 10))
	h.Set(receiver.HeaderSignature, signature)
	h.Set(receiver.HeaderSubscription, "sub-"+k.feed.Name)
	request := sent{k.url, h, raw}
	if len(k.old) < 64 {
		k.old = append(k.old, request)
	} else {
		k.old[s.rand.N(len(k.old))] = request
	}
	l.wg.Go(func() {
		if s.chance(m.Shuffle, "deliveries delayed") {
			select {
			case <-time.After(s.rand.Between(0, 3*time.Second)):
			case <-l.ctx.Done():
			}
		}
		status := s.post(l, request)
		k.mu.Lock()
		defer k.mu.Unlock()
		if status == http.StatusGone {
			k.over = true
		}
		done(status/100 == 2)
		k.wake()
	})
}

// post returns the status of the answer, 0 for none.
func (s *Server) post(l *serverLife, r sent) int {
	req, err := http.NewRequestWithContext(l.ctx, http.MethodPost, r.url, bytes.NewReader(r.body))
	if err != nil {
		return 0
	}
	req.Header = r.header.Clone()
	res, err := l.client.Do(req)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body) // the status says it all
	return res.StatusCode
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
