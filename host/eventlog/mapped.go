package eventlog

import "eventdeck/host/event"

// Mapped returns a view of the log in which fn has been applied to every record. fn must not
// change what the record refers to, and may be called from any goroutine.
func (l *Log) Mapped(fn func(event.Record) event.Record) *Log {
	return New(&mappedReader{l, fn})
}

// mappedReader reads records through a log and a function.
type mappedReader struct {
	log *Log
	fn  func(event.Record) event.Record
}

func (m *mappedReader) Last() uint64                   { return m.log.Last() }
func (m *mappedReader) Generations() event.Generations { return m.log.Generations() }

func (m *mappedReader) Get(seq uint64) (event.Record, error) {
	r, err := m.log.Get(seq)
	if err != nil {
		return r, err
	}
	return m.fn(r), nil
}

func (m *mappedReader) Forward(seq uint64, fn func(event.Record) bool) error {
	return m.log.After(max(seq, 1)-1, func(r event.Record) bool { return fn(m.fn(r)) })
}

func (m *mappedReader) Backward(seq uint64, fn func(event.Record) bool) error {
	if seq == 0 {
		return nil
	}
	return m.log.Before(seq+1, func(r event.Record) bool { return fn(m.fn(r)) })
}

func (m *mappedReader) Scan(from, to uint64, fn func(*event.Record) bool) error {
	return m.log.store.Scan(from, to, func(r *event.Record) bool {
		shown := m.fn(*r)
		return fn(&shown)
	})
}

// Mapped returns a view of the ring in which fn has been applied to every entry. It is for
// reading: entries added to it are lost.
func (r *Ring[T]) Mapped(fn func(T) T) *Ring[T] {
	return &Ring[T]{of: r, fn: fn, slots: make([]slot[T], 1), first: 1}
}

// SameAs reports whether r and other are one ring or views of it. other may be nil.
func (r *Ring[T]) SameAs(other *Ring[T]) bool { return other != nil && r.whole() == other.whole() }

// whole returns the ring with the entries.
func (r *Ring[T]) whole() *Ring[T] {
	for r.of != nil {
		r = r.of
	}
	return r
}
