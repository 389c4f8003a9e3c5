package delivery

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"eventdeck/host/event"
)

// remarkEvery is how often the same oddity of a server is told of a subscription.
const remarkEvery = time.Hour

// maxRemarks bounds the kinds of oddities that are told apart; further ones are told
// as one.
const maxRemarks = 20

// remarks remember when which oddity was told last.
type remarks struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// due reports whether an oddity is to be told now.
func (m *remarks) due(kind string, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.last[kind]; !known && len(m.last) >= maxRemarks {
		kind = ""
	}
	if last, known := m.last[kind]; known && now.Sub(last) < remarkEvery {
		return false
	}
	if m.last == nil {
		m.last = map[string]time.Time{}
	}
	m.last[kind] = now
	return true
}

// Remark tells the operator of something odd that the server does and that ends
// nothing: in the subscription's history, and in the program's log. The same kind is
// told once an hour.
func (r *Runner) Remark(ctx context.Context, kind, text string) {
	if !r.remarks.due(kind, r.deps.Now()) {
		return
	}
	r.deps.Log.Warn("the server does something odd", "sub", r.id, "what", text)
	rec := r.in.record(event.KindState)
	rec.State = &event.StateChange{State: r.Status().State, Evidence: text}
	if err := r.in.submit(ctx, event.Batch{Records: []event.Record{rec}}); err != nil && ctx.Err() == nil {
		r.deps.Log.Warn("a remark was not stored", "sub", r.id, "err", err)
	}
}

// maxMalformed is how many malformed events are remembered.
const maxMalformed = 1000

// malformed remembers the refused events of a run by their bytes: they have no id by
// which the store would know them again, and some servers send them with every page.
// Its owner locks it.
type malformed struct {
	known map[[sha256.Size]byte]struct{}
	order [][sha256.Size]byte
}

// split takes out the refused events that are known, and returns the sums of the
// others.
func (m *malformed) split(records []event.Record) (left []event.Record, sums [][sha256.Size]byte, dropped int) {
	left = records[:0:0]
	for i := range records {
		if records[i].Kind == event.KindRejected {
			sum := sha256.Sum256(records[i].Raw)
			if _, known := m.known[sum]; known {
				dropped++
				continue
			}
			sums = append(sums, sum)
		}
		left = append(left, records[i])
	}
	return left, sums, dropped
}

// remember keeps the sums of events that are stored, the oldest give way.
func (m *malformed) remember(sums [][sha256.Size]byte) {
	if m.known == nil {
		m.known = map[[sha256.Size]byte]struct{}{}
	}
	for _, sum := range sums {
		if _, known := m.known[sum]; known {
			continue
		}
		if len(m.order) == maxMalformed {
			delete(m.known, m.order[0])
			m.order = m.order[1:]
		}
		m.known[sum] = struct{}{}
		m.order = append(m.order, sum)
	}
}

// refusesAny reports whether there is a refused event among the records.
func refusesAny(records []event.Record) bool {
	for i := range records {
		if records[i].Kind == event.KindRejected {
			return true
		}
	}
	return false
}

// changedEvery is how often changed data of events that are stored are told.
const changedEvery = time.Minute

// changes counts the events that came again with other data.
type changes struct {
	mu     sync.Mutex
	untold int
	last   time.Time
}

// told returns how many are to be told now, with n more; 0 if none.
func (c *changes) told(n int, now time.Time) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.untold += n
	if c.untold == 0 || n == 0 || !c.last.IsZero() && now.Sub(c.last) < changedEvery {
		return 0
	}
	n, c.untold, c.last = c.untold, 0, now
	return n
}
