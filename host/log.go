package host

import (
	"slices"
	"sync"

	"eventdeck/host/event"
)

// Bounds of the recent window.
const (
	recentRecords = 10_000
	recentBytes   = 32 << 20
)

// Log reads what is stored: a bounded window of the newest records from memory,
// everything older from the store. All methods may be called from any goroutine.
type Log struct {
	store event.Store
	index gramIndex // of the newest records, for Search

	mu     sync.Mutex
	recent []event.Record // ascending, without holes; a slice that is cut at the front
	bytes  int
	cut    int // bytes of records that were cut and that the array of recent may still hold
}

// NewLog returns a log on what the store keeps; its recent window is empty.
func NewLog(store event.Store) *Log { return &Log{store: store} }

// Last returns the newest sequence number, 0 if the log is empty.
func (l *Log) Last() uint64 { return l.store.Last() }

// Get returns one record. Error: [event.ErrNotFound].
func (l *Log) Get(seq uint64) (event.Record, error) {
	l.mu.Lock()
	if n := len(l.recent); n > 0 && seq >= l.recent[0].Seq && seq <= l.recent[n-1].Seq {
		r := l.recent[seq-l.recent[0].Seq]
		l.mu.Unlock()
		return r, nil
	}
	l.mu.Unlock()
	return l.store.Get(seq)
}

// After calls fn for the records after seq, oldest first, until fn returns false.
func (l *Log) After(seq uint64, fn func(event.Record) bool) error {
	l.mu.Lock()
	window := l.recent
	l.mu.Unlock()
	if len(window) > 0 && seq+1 >= window[0].Seq {
		if last := window[len(window)-1].Seq; seq >= last {
			return nil
		}
		for _, r := range window[seq+1-window[0].Seq:] {
			if !fn(r) {
				return nil
			}
		}
		return nil
	}
	return l.store.Forward(seq+1, fn)
}

// Before calls fn for the records before seq, newest first, until fn returns
// false. Zero means from the newest one.
func (l *Log) Before(seq uint64, fn func(event.Record) bool) error {
	if seq == 0 {
		seq = l.store.Last() + 1
	}
	l.mu.Lock()
	window := l.recent
	l.mu.Unlock()
	if len(window) > 0 {
		for i := len(window) - 1; i >= 0; i-- {
			if window[i].Seq >= seq {
				continue
			}
			if !fn(window[i]) {
				return nil
			}
			seq = window[i].Seq
		}
	}
	if seq <= 1 {
		return nil
	}
	return l.store.Backward(seq-1, fn)
}

// Extend adds records that were read elsewhere, in order, to the recent window. When
// some are missing before or among them, the window begins anew behind the last hole.
func (l *Log) Extend(records []event.Record) {
	if len(records) == 0 {
		return
	}
	for i := len(records) - 1; i > 0; i-- {
		if records[i-1].Seq+1 != records[i].Seq {
			records = records[i:]
			break
		}
	}
	l.mu.Lock()
	if n := len(l.recent); n > 0 && l.recent[n-1].Seq+1 != records[0].Seq {
		l.recent, l.bytes, l.cut = nil, 0, 0
	}
	l.mu.Unlock()
	l.add(records)
}

// add appends committed records. It is called by the store's writer, in order.
func (l *Log) add(records []event.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// Readers may hold the old slice: append grows or fills beyond their length,
	// cutting at the front never writes.
	l.recent = append(l.recent, records...)
	for i := range records {
		l.bytes += weight(&records[i])
	}
	cut := 0
	for cut < len(l.recent)-1 && (len(l.recent)-cut > recentRecords || l.bytes > recentBytes) {
		l.bytes -= weight(&l.recent[cut])
		l.cut += weight(&l.recent[cut])
		cut++
	}
	l.recent = l.recent[cut:]
	if l.cut > recentBytes {
		l.recent, l.cut = slices.Clone(l.recent), 0
	}
}

func weight(r *event.Record) int { return len(r.Raw) + 256 }
