package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/tables"
)

// entry is a record on its way into the file.
type entry struct {
	rec    event.Record // with its own copy of the exact bytes
	value  []byte
	sum    uint32 // of the value
	id     tables.Identity
	hashes [2]uint64
	hashed int // how many of them there are; 0 if the record has no identity
}

// Submit implements [event.Store]. The batch is encoded on the caller's
// goroutine, and the store keeps none of its bytes. A record without a Sub gets
// that of the batch.
//
// Errors: [event.ErrClosed], the cause of ctx, [ErrBatch].
func (s *Store) Submit(ctx context.Context, b event.Batch) error {
	if b.Sub == "" && (b.Cursor != nil || b.Update != nil || b.Remove) {
		return fmt.Errorf("%w: it changes a subscription and names none", ErrBatch)
	}
	for _, e := range b.Ended {
		if e.Path == "" || len(e.Path) > maxKey {
			return fmt.Errorf("%w: the path of an ended hook has %d bytes", ErrBatch, len(e.Path))
		}
	}
	if len(b.Sub) > maxKey {
		return fmt.Errorf("%w: the subscription id has %d bytes", ErrBatch, len(b.Sub))
	}
	j := &job{batch: b, done: b.Done, entries: make([]entry, len(b.Records))}
	for i := range b.Records {
		if err := s.enter(&j.entries[i], b.Sub, &b.Records[i]); err != nil {
			return fmt.Errorf("%w: %w", ErrBatch, err)
		}
		j.bytes += len(j.entries[i].value)
	}
	j.batch.Records = nil
	return s.queue.put(ctx, j)
}

// enter makes the entry of a record.
func (s *Store) enter(e *entry, sub event.SubID, r *event.Record) error {
	e.rec = *r
	if e.rec.Sub == "" {
		e.rec.Sub = sub
	}
	enc, err := tables.EncodeRecord(&e.rec)
	if err != nil {
		return err
	}
	e.value, e.rec.Raw, e.rec.Data, e.rec.Meta = enc.Value, enc.Raw, enc.Data, enc.Meta
	e.sum = boltfile.Sum(enc.Value)
	e.rec.ReceivedAt = e.rec.ReceivedAt.UTC()
	if id, ok := tables.Identify(&e.rec); ok {
		e.id = id
		e.hashed = len(id.Hashes(e.hashes[:0], s.hashID))
	}
	return nil
}

func (s *Store) hashID(in tables.Space, sub event.SubID, id string) uint64 {
	return s.hash(s.hashKey, in, sub, id)
}

// do queues a change and waits until it is committed. When ctx ends first the
// change may still be made.
func (s *Store) do(ctx context.Context, change func(*commit) error) error {
	return s.doBytes(ctx, 0, change)
}

// doBytes is do for a change of the given size in bytes.
func (s *Store) doBytes(ctx context.Context, bytes int, change func(*commit) error) error {
	result := make(chan error, 1)
	j := &job{change: change, bytes: bytes, done: func(_ event.Outcome, err error) { result <- err }}
	if err := s.queue.put(ctx, j); err != nil {
		return err
	}
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.end.broken: // the writer may never come to it
		return s.failed()
	}
}

// run is the writer's goroutine: it ends when the queue is closed and empty.
func (s *Store) run() {
	defer close(s.stopped)
	loadErr := s.loadDedup()
	if loadErr != nil {
		s.fail(loadErr)
	}
	close(s.loaded)
	var next pace
	for {
		jobs := s.queue.next(next, s.signs.due())
		if jobs == nil {
			break
		}
		began := time.Now()
		s.checkFile()
		if loadErr != nil {
			s.finish(jobs, nil, loadErr)
		} else if jobs = s.takeSigns(s.whole(jobs)); len(jobs) > 0 || s.signs.areDue() {
			s.commit(jobs)
			next = paceAfter(began, time.Now())
		}
	}
	if len(s.signs.subs) > 0 && s.failed() == nil {
		s.commit(nil)
	}
}

// whole refuses the batches behind a broken fence and returns the others.
func (s *Store) whole(jobs []*job) []*job {
	return slices.DeleteFunc(jobs, func(j *job) bool {
		broken := j.batch.Fence != nil && j.batch.Fence.Broken()
		if broken && j.done != nil {
			j.done(event.Outcome{}, event.ErrFenced)
		}
		return broken
	})
}

// commit writes the jobs in one transaction, and then calls the watchers and the jobs' Done.
func (s *Store) commit(jobs []*job) {
	c := &commit{store: s, last: s.last.Load()}
	began := time.Now()
	err := c.write(jobs)
	took := time.Since(began)
	if err == nil && s.hooks.AfterCommit != nil {
		s.hooks.AfterCommit()
	}
	if err != nil {
		err = commitError(err)
	}
	s.signs.noteCommitted(c.subs, err != nil)
	if err == nil || c.landed() {
		c.witness()
		s.index.publish(c.hashes, c.dropped)
		s.subs.publish(c.subs)
		s.usage.publish(c.usage)
		s.last.Store(c.last)
		if c.audited > 0 {
			s.audited.Store(c.audited)
		}
		if c.decided {
			s.snapshotNeeded()
		}
		s.load.add(len(c.stored), took)
		s.watchers.call(c.stored)
		s.overflow(c.usage)
	} else {
		clear(s.pruner.scanned)
	}
	s.finish(jobs, c.outcomes, err)
}

// finish remembers err as the state of the store and calls the jobs' Done.
func (s *Store) finish(jobs []*job, outcomes []event.Outcome, err error) {
	s.setErr(err)
	for i, j := range jobs {
		if err != nil && j.batch.Fence != nil {
			j.batch.Fence.Break()
		}
		switch {
		case j.done == nil:
		case err != nil:
			j.done(event.Outcome{}, err)
		default:
			j.done(outcomes[i], nil)
		}
	}
}

func commitError(err error) error {
	switch {
	case boltfile.IsNoSpace(err):
		return fmt.Errorf("%w: %w", event.ErrFull, err)
	case errors.Is(err, ErrDamaged), errors.Is(err, ErrGone):
		return err
	}
	return fmt.Errorf("commit to the store: %w", err)
}

// watchers are the callbacks of [Store.Watch].
type watchers struct {
	mu   sync.Mutex
	next int
	fns  []watcher
}

type watcher struct {
	id int
	fn func([]event.Record)
}

// Watch implements [event.Store]. Watchers are called before the Done of the
// batches in the same commit, in the order in which they were added, and share
// the records. A call that has begun may still be running when stop returns.
func (s *Store) Watch(fn func([]event.Record)) (stop func()) {
	w := &s.watchers
	w.mu.Lock()
	defer w.mu.Unlock()
	id := w.next
	w.next++
	w.fns = append(slices.Clone(w.fns), watcher{id, fn})
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.fns = slices.DeleteFunc(slices.Clone(w.fns), func(have watcher) bool { return have.id == id })
	}
}

func (w *watchers) call(records []event.Record) {
	if len(records) == 0 {
		return
	}
	w.mu.Lock()
	fns := w.fns
	w.mu.Unlock()
	for _, have := range fns {
		have.fn(records)
	}
}
