package store

import (
	"slices"
	"sync"
	"time"

	"eventdeck/host/event"
)

// load counts commits, and how long the newest ones took. The zero load is ready.
type load struct {
	mu      sync.Mutex
	commits uint64
	records uint64
	took    [128]time.Duration // a ring; commits say how much of it is used
}

func (l *load) add(records int, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took[l.commits%uint64(len(l.took))] = took
	l.commits++
	l.records += uint64(records)
}

func (s *Store) loadNow() event.StoreLoad {
	out := event.StoreLoad{QueuedMax: s.queue.maxRecords, QueuedBytesMax: s.queue.maxBytes}
	out.Queued, out.QueuedBytes = s.queue.size()
	l := &s.load
	l.mu.Lock()
	out.Commits, out.Records = l.commits, l.records
	took := slices.Clone(l.took[:min(l.commits, uint64(len(l.took)))])
	l.mu.Unlock()
	if len(took) > 0 {
		slices.Sort(took)
		out.CommitP50, out.CommitP95 = took[len(took)/2], took[len(took)*95/100]
	}
	return out
}
