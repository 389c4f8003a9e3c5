package delivery

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"
	"time"

	"eventdeck/host/event"
)

// remarkEvery is the least pause between two remarks of the same kind about a subscription.
const remarkEvery = time.Hour

// maxRemarks bounds the kinds of remarks that are told apart; further ones count as one kind.
const maxRemarks = 20

// remarks remember when a remark of each kind was made last.
type remarks struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// due reports whether a remark of this kind is to be made now.
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

// Remark reports unusual behaviour of the server that does not end the subscription, as a record of
// the subscription and in the program's log, each kind once an hour at most. ctx bounds the wait for
// room in the store's queue; a remark that is not stored is logged.
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

// malformed remembers the rejected payloads of a run by a hash of their bytes: they have no
// id by which the store could drop repeats, and some servers send them with every page. Its
// owner locks it.
type malformed struct {
	known map[[sha256.Size]byte]struct{}
	order [][sha256.Size]byte
}

// split returns the records without the rejected payloads that are known, the hashes of the
// other rejected ones, and how many were dropped.
func (m *malformed) split(records []event.Record) (left []event.Record, sums [][sha256.Size]byte, dropped int) {
	if !slices.ContainsFunc(records, func(r event.Record) bool { return r.Kind == event.KindRejected }) {
		return records, nil, 0
	}
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

// remember keeps the hashes of rejected payloads that are stored, the newest maxMalformed.
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

// changedEvery is the least pause between two reports of events that came again with other
// data.
const changedEvery = time.Minute

// changes counts the events that came again with other data since the last report.
type changes struct {
	mu    sync.Mutex
	count int
	last  time.Time
}

// due adds n events, and returns how many are to be reported now; 0: none.
func (c *changes) due(n int, now time.Time) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count += n
	if c.count == 0 || n == 0 || !c.last.IsZero() && now.Sub(c.last) < changedEvery {
		return 0
	}
	n, c.count, c.last = c.count, 0, now
	return n
}
