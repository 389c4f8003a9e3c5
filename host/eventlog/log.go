// Package eventlog reads what is stored: the log of records with a window of the
// newest ones in memory, searches over all of it, its distribution over time, the
// audit log, and rings of entries that are kept in memory alone.
package eventlog

import (
	"context"
	"slices"
	"sort"
	"sync"
	"time"

	"eventdeck/host/event"
)

// Bounds of the recent window.
const (
	recentRecords = 10_000
	recentBytes   = 32 << 20
)

// Bounds at which a piece of the window is full.
const (
	pieceRecords = 256
	pieceBytes   = 1 << 20
)

// Reader reads stored records; see [event.Store], whose promises these methods have.
type Reader interface {
	Last() uint64
	Generations() event.Generations
	Get(seq uint64) (event.Record, error)
	Forward(seq uint64, fn func(event.Record) bool) error
	Backward(seq uint64, fn func(event.Record) bool) error
	Scan(from, to uint64, fn func(*event.Record) bool) error
}

// Records are the stored records as the screen and reports read them: [Log], or a stand-in of a test.
type Records interface {
	Last() uint64
	Get(seq uint64) (event.Record, error)
	After(seq uint64, fn func(event.Record) bool) error
	Before(seq uint64, fn func(event.Record) bool) error
	Histogram(ctx context.Context, from, to time.Time, n int) ([]uint64, error)
	Search(ctx context.Context, match func(*event.Record) bool, before uint64, page func(Found) bool) error
	SeqAt(t time.Time) (uint64, error)
}

// Log reads what is stored: a bounded window of the newest records from memory,
// everything older from the store. All methods may be called from any goroutine.
type Log struct {
	store Reader

	mu     sync.Mutex
	recent window
	count  int // records in recent
	bytes  int // their weight, in bytes
	tail   int // weight of the last piece
}

// window holds records in ascending order without holes, in pieces of which none is empty. A
// reader may keep a copy: records that it can reach are never written again.
type window [][]event.Record

func (w window) first() uint64 { return w[0][0].Seq }

func (w window) last() uint64 {
	piece := w[len(w)-1]
	return piece[len(piece)-1].Seq
}

// has reports whether the record is in the window.
func (w window) has(seq uint64) bool { return len(w) > 0 && seq >= w.first() && seq <= w.last() }

// at returns the index of the piece that holds a record, which the window must have, and the
// index of the record in it.
func (w window) at(seq uint64) (piece, place int) {
	piece = sort.Search(len(w), func(i int) bool { return w[i][0].Seq > seq }) - 1
	return piece, int(seq - w[piece][0].Seq)
}

// New returns a log on what a store keeps; its recent window is empty.
func New(store Reader) *Log { return &Log{store: store} }

// Last returns the newest sequence number, 0 if the log is empty.
func (l *Log) Last() uint64 { return l.store.Last() }

// Generations returns the generations of the log.
func (l *Log) Generations() event.Generations { return l.store.Generations() }

// Get returns one record. Error: [event.ErrNotFound].
func (l *Log) Get(seq uint64) (event.Record, error) {
	if w := l.window(); w.has(seq) {
		piece, place := w.at(seq)
		return w[piece][place], nil
	}
	return l.store.Get(seq)
}

func (l *Log) window() window {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.recent
}

// After calls fn for the records after seq, oldest first, until fn returns false.
func (l *Log) After(seq uint64, fn func(event.Record) bool) error {
	w := l.window()
	if len(w) == 0 || seq+1 < w.first() {
		return l.store.Forward(seq+1, fn)
	}
	if seq >= w.last() {
		return nil
	}
	piece, place := w.at(seq + 1)
	for ; piece < len(w); piece, place = piece+1, 0 {
		for _, r := range w[piece][place:] {
			if !fn(r) {
				return nil
			}
		}
	}
	return nil
}

// Before calls fn for the records before seq, newest first, until fn returns
// false. Zero means from the newest one.
func (l *Log) Before(seq uint64, fn func(event.Record) bool) error {
	if seq == 0 {
		seq = l.store.Last() + 1
	}
	w := l.window()
	for i := len(w) - 1; i >= 0; i-- {
		for _, r := range slices.Backward(w[i]) {
			if r.Seq >= seq {
				continue
			}
			if !fn(r) {
				return nil
			}
			seq = r.Seq
		}
	}
	if seq <= 1 {
		return nil
	}
	return l.store.Backward(seq-1, fn)
}

// Append adds committed records, in order, to the recent window; callers may not change
// them any more. When sequence numbers are missing before or among them, the window begins
// again after the last missing one. It is called by one goroutine at a time.
func (l *Log) Append(records []event.Record) {
	for i := len(records) - 1; i > 0; i-- {
		if records[i-1].Seq+1 != records[i].Seq {
			records = records[i:]
			break
		}
	}
	if len(records) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.recent; len(w) > 0 && w.last()+1 != records[0].Seq {
		l.recent, l.count, l.bytes, l.tail = nil, 0, 0, 0
	}
	added := weigh(records)
	l.count, l.bytes = l.count+len(records), l.bytes+added
	w := l.recent
	for len(w) > 0 && (l.count-len(w[0]) >= recentRecords || l.bytes > recentBytes) {
		l.count, l.bytes = l.count-len(w[0]), l.bytes-weigh(w[0])
		w = w[1:]
	}
	w = slices.Clone(w) // readers may hold the old one
	if n := len(w); n > 0 && len(records) < pieceRecords && len(w[n-1]) < pieceRecords && l.tail < pieceBytes {
		w[n-1] = append(w[n-1], records...)
		l.tail += added
	} else {
		w = append(w, slices.Clip(records))
		l.tail = added
	}
	l.recent = w
}

func weigh(records []event.Record) (sum int) {
	for i := range records {
		sum += weight(&records[i])
	}
	return sum
}

// weight returns about how many bytes a record takes in memory.
func weight(r *event.Record) int { return len(r.Raw) + 256 }
