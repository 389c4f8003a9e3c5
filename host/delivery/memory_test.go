package delivery

import (
	"context"
	"slices"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// memory is a store that keeps the promises of [event.Batch] in memory.
type memory struct {
	queue chan event.Batch
	done  chan struct{}

	mu      sync.Mutex
	subs    map[event.SubID]event.Subscription
	records []event.Record
	audit   []event.AuditEntry
	ended   []event.Ended
	ids     map[string]bool
	fail    func(event.Batch) error // nil: every commit succeeds
	delay   time.Duration           // of every commit
	hold    chan struct{}           // not nil: commits wait until it is closed
}

func newMemory(depth int) *memory {
	m := &memory{
		queue: make(chan event.Batch, depth), done: make(chan struct{}),
		subs: map[event.SubID]event.Subscription{}, ids: map[string]bool{},
	}
	go func() {
		defer close(m.done)
		for b := range m.queue {
			m.commit(b)
		}
	}()
	return m
}

func (m *memory) close() { close(m.queue); <-m.done }

// Submit takes a batch even when ctx is done, if there is room: like the store.
func (m *memory) Submit(ctx context.Context, b event.Batch) error {
	b.Records = slices.Clone(b.Records)
	select {
	case m.queue <- b:
		return nil
	default:
	}
	select {
	case m.queue <- b:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (m *memory) commit(b event.Batch) {
	m.mu.Lock()
	fail, delay, hold := m.fail, m.delay, m.hold
	m.mu.Unlock()
	if hold != nil {
		<-hold
	}
	if delay > 0 {
		time.Sleep(delay)
	}
	var out event.Outcome
	var err error
	switch {
	case b.Fence != nil && b.Fence.Broken():
		err = event.ErrFenced
	case fail != nil:
		err = fail(b)
	}
	if err != nil {
		if b.Fence != nil {
			b.Fence.Break()
		}
	} else {
		out = m.apply(b)
	}
	if b.Done != nil {
		b.Done(out, err)
	}
}

func (m *memory) apply(b event.Batch) (out event.Outcome) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range b.Records {
		if r.Kind == event.KindEvent {
			if m.ids[r.EventID.Raw()] {
				out.Duplicates++
				for _, old := range m.records {
					if old.EventID == r.EventID && string(old.Data) != string(r.Data) {
						out.Changed++
					}
				}
				continue
			}
			m.ids[r.EventID.Raw()] = true
		}
		r.Seq = uint64(len(m.records) + 1)
		m.records = append(m.records, r)
		out.Stored++
		out.Last = r.Seq
	}
	m.audit = append(m.audit, b.Audit...)
	m.ended = append(m.ended, b.Ended...)
	sub := m.subs[b.Sub]
	if b.Cursor != nil {
		sub.MoveTo(*b.Cursor, b.Newest)
	}
	if b.Update != nil {
		b.Update(&sub)
	}
	m.subs[b.Sub] = sub
	return out
}

func (m *memory) Subscription(id event.SubID) (event.Subscription, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sub, ok := m.subs[id]
	if !ok {
		return sub, event.ErrNotFound
	}
	return sub, nil
}

func (m *memory) HasEvent(_ event.SubID, id trust.Text) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ids[id.Raw()]
}

func (m *memory) failWith(fn func(event.Batch) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = fn
}

// fill leaves no room in the queue until release is called.
func (m *memory) fill() (release func()) {
	hold := make(chan struct{})
	m.mu.Lock()
	m.hold = hold
	m.mu.Unlock()
	for range cap(m.queue) + 1 { // one is with the writer
		m.queue <- event.Batch{}
	}
	return func() {
		m.mu.Lock()
		m.hold = nil
		m.mu.Unlock()
		close(hold)
	}
}

func (m *memory) all() []event.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.records)
}

func (m *memory) audits() []event.AuditEntry {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.audit)
}
