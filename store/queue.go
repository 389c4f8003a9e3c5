package store

import (
	"context"
	"sync"
	"time"

	"eventdeck/host/event"
)

// Bounds of the queue, unless [Options] say otherwise, and of one commit.
const (
	queueRecords = 4096
	queueBytes   = 8 << 20
	groupRecords = 2048
	commitEvery  = 5 * time.Millisecond
	// awaitedEvery is the least time between commits while a caller waits. Otherwise the next
	// commit begins when the last one is as long ago as it took: groups grow with the load.
	awaitedEvery = time.Millisecond
)

// pace says when the next commit is to begin.
type pace struct {
	due  time.Time
	soon time.Time // for a job that is awaited; never after due
}

// paceAfter returns the pace after a commit that began and ended at these times.
func paceAfter(began, ended time.Time) pace {
	p := pace{due: began.Add(commitEvery), soon: ended.Add(max(awaitedEvery, ended.Sub(began)))}
	if p.soon.After(p.due) {
		p.soon = p.due
	}
	return p
}

// job is one entry of the queue: a batch, or a change of a small bucket.
type job struct {
	batch   event.Batch
	changed *subChange // what the batch makes of its subscription, if that is known already
	entries []entry
	change  func(*commit) error
	done    func(event.Outcome, error)
	bytes   int
}

// weight is what the job counts against the bounds. A job without records
// counts as one, so that these cannot pile up either.
func (j *job) weight() int { return max(1, len(j.entries)) }

// queue is a bounded first-in first-out queue with many producers and one
// consumer. A caller that finds it full waits in line; the consumer admits from that line
// when it takes. A job larger than the bounds is admitted alone.
type queue struct {
	maxRecords, maxBytes int

	mu      sync.Mutex
	jobs    []*job
	records int
	bytes   int
	awaited int // jobs
	waiting []*waiter
	closed  bool

	wake chan struct{} // one slot: tells the consumer to look again
}

type waiter struct {
	job   *job
	ready chan error // one slot: nil when admitted
}

func newQueue(records, bytes int) *queue {
	return &queue{maxRecords: records, maxBytes: bytes, wake: make(chan struct{}, 1)}
}

// put appends the job, waiting while the queue is full.
//
// Errors: [event.ErrClosed], or the cause of ctx. Then the job is not queued.
func (q *queue) put(ctx context.Context, j *job) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return event.ErrClosed
	}
	if len(q.waiting) == 0 && q.fits(j) {
		q.add(j)
		q.mu.Unlock()
		return nil
	}
	w := &waiter{job: j, ready: make(chan error, 1)}
	q.waiting = append(q.waiting, w)
	q.signal()
	q.mu.Unlock()

	select {
	case err := <-w.ready:
		return err
	case <-ctx.Done():
		return q.leave(ctx, w)
	}
}

// leave takes w out of the line, unless it was admitted meanwhile.
func (q *queue) leave(ctx context.Context, w *waiter) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, have := range q.waiting {
		if have == w {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			q.admit()
			return context.Cause(ctx)
		}
	}
	return <-w.ready
}

func (q *queue) fits(j *job) bool {
	return len(q.jobs) == 0 || q.records+j.weight() <= q.maxRecords && q.bytes+j.bytes <= q.maxBytes
}

func (q *queue) add(j *job) {
	before := q.records
	q.jobs = append(q.jobs, j)
	q.records += j.weight()
	q.bytes += j.bytes
	first := j.batch.Awaited && q.awaited == 0
	if j.batch.Awaited {
		q.awaited++
	}
	if before == 0 || first || before < groupRecords && q.records >= groupRecords {
		q.signal()
	}
}

// admit moves waiting callers into the queue, in order, as far as there is room.
func (q *queue) admit() {
	n := 0
	for n < len(q.waiting) && q.fits(q.waiting[n].job) {
		q.add(q.waiting[n].job)
		q.waiting[n].ready <- nil
		n++
	}
	q.waiting = append(q.waiting[:0], q.waiting[n:]...)
}

// size returns how many records and bytes are queued.
func (q *queue) size() (records, bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.records, q.bytes
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// close refuses new jobs and callers that wait for space; what is queued stays.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, w := range q.waiting {
		w.ready <- event.ErrClosed
	}
	q.waiting = nil
	q.signal()
}

// next waits until jobs are queued and it is time to commit them: when p says so, or earlier
// when there is a whole group, a caller waits for room, or the queue was closed. It returns
// the oldest jobs, at most a group; none when nothing is queued until that time (zero: for ever);
// nil when the queue is closed and empty.
func (q *queue) next(p pace, until time.Time) []*job {
	for {
		q.mu.Lock()
		empty, closed := len(q.jobs) == 0, q.closed
		full := q.records >= groupRecords || len(q.waiting) > 0
		due := p.due
		if q.awaited > 0 {
			due = p.soon
		}
		q.mu.Unlock()

		wait := time.Until(due)
		switch {
		case empty && closed:
			return nil
		case empty && !until.IsZero() && time.Until(until) <= 0:
			return []*job{}
		case empty && !until.IsZero():
			q.awaitWake(time.Until(until))
		case empty:
			<-q.wake
		case closed || full || wait <= 0:
			return q.take()
		default:
			q.awaitWake(wait)
		}
	}
}

// awaitWake waits for a signal, but not longer than most.
func (q *queue) awaitWake(most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-q.wake:
	case <-timer.C:
	}
}

// take removes the oldest jobs: at most groupRecords records, at least one job.
func (q *queue) take() []*job {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, records := 0, 0
	for n < len(q.jobs) {
		records += q.jobs[n].weight()
		if n > 0 && records > groupRecords {
			break
		}
		q.records -= q.jobs[n].weight()
		q.bytes -= q.jobs[n].bytes
		if q.jobs[n].batch.Awaited {
			q.awaited--
		}
		n++
	}
	taken := q.jobs[:n:n]
	q.jobs = append([]*job(nil), q.jobs[n:]...)
	q.admit()
	return taken
}
