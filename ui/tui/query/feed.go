// Reads the host for the screen: rows and records of the log, the snapshot, marks. Its
// functions are called in the background and return values.

package query

import (
	"context"
	"slices"
	"sync"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
)

// Host is the part of the host that the feed reads.
type Host interface {
	Snapshot() host.Snapshot
	Marks() []event.Mark
}

// Feed reads the state of the host and new records. Its methods may be called from any goroutine.
type Feed struct {
	host Host
	log  func() eventlog.Records

	mu     sync.Mutex
	next   []Request
	marks  []event.Mark
	marked map[uint64]event.Record
}

// NewFeed returns a feed of a host and its log.
func NewFeed(h Host, log func() eventlog.Records) *Feed {
	return &Feed{host: h, log: log, marked: map[uint64]event.Record{}}
}

// News is the result of [Feed.Latest].
type News struct {
	Snap   host.Snapshot
	Marks  []event.Mark
	Marked map[uint64]event.Record // the records of the newest marks
	Pages  []Page                  // new records, one page for each stream
}

// SetRequests sets the requests that the next [Feed.Latest] answers, one for each stream. A call
// that is running keeps the former ones.
func (f *Feed) SetRequests(streams ...Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next = append(f.next[:0], streams...)
}

// Latest reads the state of the host and answers the requests of [Feed.SetRequests].
func (f *Feed) Latest(ctx context.Context) News {
	f.mu.Lock()
	next := slices.Clone(f.next)
	f.mu.Unlock()
	log := f.log()
	n := News{Snap: f.host.Snapshot(), Marks: f.host.Marks()}
	n.Marked = f.markedRecords(log, n.Marks)
	for _, r := range next {
		n.Pages = append(n.Pages, Answer(ctx, log, r))
	}
	return n
}

// markedMax bounds the marks whose records are read, newest first.
const markedMax = 200

// markedRecords returns the records of marks. It never changes a map that it has returned.
func (f *Feed) markedRecords(log eventlog.Records, marks []event.Mark) map[uint64]event.Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.Equal(marks, f.marks) {
		return f.marked
	}
	had := f.marked
	f.marks, f.marked = marks, map[uint64]event.Record{}
	for _, m := range slices.Backward(marks) {
		if len(f.marked) >= markedMax {
			break
		}
		r, ok := had[m.Seq]
		if !ok {
			var err error
			if r, err = log.Get(m.Seq); err != nil {
				continue // the mark is shown with the number of its record only
			}
		}
		f.marked[m.Seq] = r
	}
	return f.marked
}
