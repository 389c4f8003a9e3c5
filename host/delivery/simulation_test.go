package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// history is a server that keeps every event: event n happens at a moment of its
// own, has the id en and the cursor n.
type history struct {
	mu   sync.Mutex
	rand *rand.Rand
	at   []time.Time
	mark int // webhook: everything up to here was acknowledged
}

func (h *history) chance(p float64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rand.Float64() < p
}

// disturb makes a store slow, and full with probability p.
func (h *history) disturb(s *memory, p float64) {
	s.delay = 3 * time.Millisecond
	s.failWith(func(event.Batch) error {
		if h.chance(p) {
			return event.ErrFull
		}
		return nil
	})
}

func (h *history) n(limit int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rand.IntN(limit)
}

func (h *history) happen() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = append(h.at, time.Now())
}

func (h *history) last() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.at)
}

func (h *history) occurrence(n int) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return occurrence(fmt.Sprint("e", n), h.at[n-1], strconv.Itoa(n))
}

func position(p wire.Position) int {
	n, _ := strconv.Atoi(p.Cursor.Raw())
	return n
}

func (h *history) poll(_ int, q wire.PollRequest) (wire.PollResult, error) {
	if h.chance(0.15) {
		return wire.PollResult{}, errors.New("cut")
	}
	from := position(q.At)
	if h.chance(0.2) {
		from = max(0, from-3) // repeats
	}
	to := min(h.last(), from+1+h.n(5))
	res := wire.PollResult{Cursor: cur(strconv.Itoa(max(to, position(q.At)))), HasMore: to < h.last()}
	for i := from + 1; i <= to; i++ {
		res.Events = append(res.Events, json.RawMessage(h.occurrence(i)))
	}
	if n := len(res.Events); n > 1 && h.chance(0.3) {
		res.Events[0], res.Events[n-1] = res.Events[n-1], res.Events[0]
	}
	return res, nil
}

func (h *history) stream(_ int, q wire.StreamRequest, s *stream) error {
	at := position(q.At)
	s.active(strconv.Itoa(at))
	if at > 0 && h.chance(0.3) {
		s.note(wire.NoteEvent, h.occurrence(at))
	}
	for s.ctx.Err() == nil {
		for at < h.last() {
			if h.chance(0.05) {
				return errors.New("cut")
			}
			at++
			s.note(wire.NoteEvent, h.occurrence(at))
		}
		if h.chance(0.1) {
			s.heartbeat(strconv.Itoa(at))
		}
		s.wait(100 * time.Millisecond)
	}
	return s.ctx.Err()
}

func (h *history) subscribe(_ int, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
	if h.chance(0.2) {
		return wire.SubscribeResult{}, errors.New("cut")
	}
	h.mu.Lock()
	h.mark = min(h.mark, position(q.At))
	at := h.mark
	h.mu.Unlock()
	return wire.SubscribeResult{ID: trust.Untrusted("s"), Expires: true, RefreshBefore: time.Now().Add(20 * time.Second), Cursor: cur(strconv.Itoa(at))}, nil
}

// deliver sends unacknowledged events concurrently and in disorder; its watermark follows the answers.
func (h *history) deliver(ctx context.Context, r *Runner) {
	h.mu.Lock()
	from := h.mark
	h.mu.Unlock()
	to := min(h.last(), from+6)
	var wg sync.WaitGroup
	failed := make([]bool, to+1)
	for i := to; i > from; i-- {
		wg.Go(func() {
			o := h.occurrence(i)
			var body map[string]any
			_ = json.Unmarshal([]byte(o), &body)
			body["cursor"] = strconv.Itoa(from)
			raw, _ := json.Marshal(body)
			failed[i] = r.Deliver(ctx, Delivered{WebhookID: trust.Untrusted(fmt.Sprint("e", i)), Body: raw}) != nil
		})
	}
	wg.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := from + 1; i <= to && !failed[i]; i++ {
		h.mark = i
	}
}

// TestNothingLostAndNothingTwice runs through cuts, repetitions, disorder,
// failed commits and restarts, drawn from a seed. At every commit the stored
// cursor must not be ahead of the stored events, and in the end all of them are
// stored once.
func TestNothingLostAndNothingTwice(t *testing.T) {
	const events = 120
	for _, mode := range []event.Mode{event.ModePoll, event.ModePush, event.ModeWebhook} {
		for seed := range uint64(15) {
			t.Run(fmt.Sprint(mode, " ", seed), func(t *testing.T) {
				bubble(t, mode, func(r *rig) {
					h := &history{rand: rand.New(rand.NewPCG(seed, 1))}
					r.sub.Cursor = event.At(cur("0").Text)
					r.src.poll, r.src.stream, r.src.subscribe = h.poll, h.stream, h.subscribe
					h.disturb(r.store, 0.05)
					r.start()
					for h.last() < events {
						h.happen()
						r.pass(time.Duration(h.n(400)) * time.Millisecond)
						if mode == event.ModeWebhook {
							h.deliver(context.Background(), r.runner)
						}
						if h.chance(0.04) {
							r.stop()
							r.start()
						}
						r.wantNothingPassedOver()
					}
					r.store.failWith(nil)
					for range 200 {
						r.pass(time.Second)
						if mode == event.ModeWebhook {
							h.deliver(context.Background(), r.runner)
						}
					}
					synctest.Wait()
					r.wantNothingPassedOver()
					r.wantOnce(events)
				})
			})
		}
	}
}

// wantOnce checks that the events up to e-last are stored, and once.
func (r *rig) wantOnce(last int) {
	r.t.Helper()
	r.wantOnceFrom(1, last)
}

func (r *rig) wantOnceFrom(first, last int) {
	r.t.Helper()
	count := map[string]int{}
	for _, rec := range r.store.all() {
		if rec.Kind == event.KindEvent {
			count[rec.EventID.Raw()]++
		}
	}
	for n := first; n <= last; n++ {
		if c := count[fmt.Sprint("e", n)]; c != 1 {
			r.t.Errorf("e%d is stored %d times", n, c)
		}
	}
}

func (r *rig) wantNothingPassedOver() {
	r.t.Helper()
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	at, _ := strconv.Atoi(r.store.subs[subID].Cursor.Text.Raw())
	for n := 1; n <= at; n++ {
		if !r.store.ids[fmt.Sprint("e", n)] {
			r.t.Fatalf("the stored cursor is %d, e%d is not stored", at, n)
		}
	}
}
