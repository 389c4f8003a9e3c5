package eventlog

import "sync"

// Ring keeps the newest entries of a stream, bounded by their number and by
// their bytes. The newest entry is never dropped. All methods may be called
// from any goroutine.
type Ring[T any] struct {
	maxBytes int

	of *Ring[T]  // of a view that [Ring.Mapped] returned: the ring with the entries; else nil
	fn func(T) T // applied to them

	mu    sync.Mutex
	slots []slot[T] // entry n is at n modulo the length
	first uint64    // oldest entry that is kept
	last  uint64    // newest entry, 0: none yet
	bytes int
}

type slot[T any] struct {
	value T
	bytes int
}

// NewRing returns an empty ring for count entries of bytes bytes in all.
func NewRing[T any](count, bytes int) *Ring[T] {
	return &Ring[T]{maxBytes: bytes, slots: make([]slot[T], max(count, 1)), first: 1}
}

// Add appends an entry that counts as bytes bytes, and drops the oldest ones that no longer
// fit.
func (r *Ring[T]) Add(value T, bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	r.bytes += bytes
	for r.first < r.last && (r.last-r.first >= uint64(len(r.slots)) || r.bytes > r.maxBytes) {
		old := r.slot(r.first)
		r.bytes -= old.bytes
		*old = slot[T]{}
		r.first++
	}
	*r.slot(r.last) = slot[T]{value, bytes}
}

func (r *Ring[T]) slot(n uint64) *slot[T] { return &r.slots[n%uint64(len(r.slots))] }

// Last returns the number of the newest entry, 0 if there never was one. Entries
// are numbered from 1, without holes.
func (r *Ring[T]) Last() uint64 {
	if r.of != nil {
		return r.of.Last()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// After calls fn for the entries after seq that are kept, oldest first, until fn
// returns false. It holds up no writer while fn runs.
func (r *Ring[T]) After(seq uint64, fn func(seq uint64, value T) bool) {
	if r.of != nil {
		r.of.After(seq, func(seq uint64, value T) bool { return fn(seq, r.fn(value)) })
		return
	}
	var chunk [64]T
	for {
		from, n := r.copy(seq, chunk[:])
		if n == 0 {
			return
		}
		for i, value := range chunk[:n] {
			if !fn(from+uint64(i), value) {
				return
			}
		}
		seq = from + uint64(n) - 1
	}
}

// copy fills chunk with the entries after seq. It returns the number of the first
// one and how many there are.
func (r *Ring[T]) copy(seq uint64, chunk []T) (from uint64, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	from = max(seq+1, r.first)
	for n < len(chunk) && from+uint64(n) <= r.last {
		chunk[n] = r.slot(from + uint64(n)).value
		n++
	}
	return from, n
}
