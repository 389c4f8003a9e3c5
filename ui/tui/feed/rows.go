package feed

import (
	"context"
	"slices"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/ui/tui/query"
)

// Bounds of what one request reads.
const (
	FirstScan  = 2_000  // records examined round a place, or at the end of the log
	FirstRows  = 300    // rows with which that is content
	PageScan   = 20_000 // records examined for newer rows
	PageRows   = 1_000  // rows with which a page is content
	CatchUpMax = 4_000  // arrivals examined in one step
)

// partTime bounds the search for one part: what is at hand is shown and progress is
// told at least so often.
const partTime = 30 * time.Millisecond

// Log is what is read of the log; see [eventlog.Log], whose promises its methods have.
type Log interface {
	Last() uint64
	Get(seq uint64) (event.Record, error)
	After(seq uint64, fn func(event.Record) bool) error
	Before(seq uint64, fn func(event.Record) bool) error
	Search(ctx context.Context, match func(*event.Record) bool, before uint64, page func(eventlog.Found) bool) error
}

// Kind says which rows a request is for.
type Kind uint8

const (
	Newest  Kind = iota // the newest ones
	Oldest              // the oldest ones
	Around              // those on both sides of record At
	Older               // those before record At
	Newer               // those after record At
	Arrived             // those that came after record At; the newest ones, if those are too many to follow
	Counted             // none: those that came after record At are counted
	Records             // none: records alone
)

// Request asks for rows of the log.
type Request struct {
	Kind   Kind
	Stream int // the id of the stream that asks; the answer has it too
	Gen    int // of the window that asks; the answer has it too
	Query  query.Query
	At     uint64
	Near   int      // the records of so many rows on each side of where one looks come with them …
	Want   []uint64 // … and these
	Keep   bool     // of [Arrived]: all of them, however many
}

// Page is the answer to a request.
type Page struct {
	Request
	Seqs   []uint64        // rows, ascending
	Folds  map[uint64]Fold // of the rows that are changes of state or gaps
	From   uint64          // everything from here …
	To     uint64          // … to here was examined
	Oldest bool            // nothing is before From
	Newest bool            // nothing was after To
	Last   uint64          // newest record when the request was answered
	Count  int             // of [Counted]
	Back   time.Time       // when the record at From was received; zero if that is not known
	Got    []event.Record
	Lost   []uint64 // of those that were wanted: they are not in the log
	Err    error

	states *states // while it is answered
}

// Answer answers a request. It is called in the background; ctx ends the search of
// [Older], whose page then has the cause as its error.
func Answer(ctx context.Context, log Log, r Request) Page {
	p := Page{Request: r, Last: log.Last(), states: &states{}}
	switch r.Kind {
	case Newest:
		p.newest(log)
	case Oldest:
		p.From, p.Oldest = 1, true
		p.readForward(log, FirstScan, FirstRows)
	case Around:
		p.From, p.To = r.At+1, r.At
		p.readBackward(log, FirstScan, FirstRows)
		p.readForward(log, FirstScan, FirstRows)
	case Older:
		p.From = r.At
		p.search(ctx, log)
	case Newer:
		p.To = r.At
		p.readForward(log, PageScan, PageRows)
	case Arrived:
		if p.To = r.At; !r.Keep && p.Last > r.At+2*CatchUpMax {
			p.Kind = Newest
			p.newest(log)
		} else {
			p.readForward(log, CatchUpMax, CatchUpMax)
		}
	case Counted:
		p.count(log)
	}
	p.fold()
	p.records(log)
	return p
}

// newest reads the end of the log.
func (p *Page) newest(log Log) {
	p.From, p.To, p.Newest = p.Last+1, p.Last, true
	p.readBackward(log, FirstScan, FirstRows)
}

// readBackward examines the log before From, newest first.
func (p *Page) readBackward(log Log, scan, rows int) {
	if p.Oldest = p.From <= 1; p.Oldest {
		return
	}
	p.Oldest = true
	var found []uint64
	p.fail(log.Before(p.From, func(r event.Record) bool {
		if scan == 0 || len(found) >= rows {
			p.Oldest = false
			return false
		}
		scan--
		p.From, p.Back = r.Seq, r.ReceivedAt
		if p.matches(&r) {
			found = append(found, r.Seq)
		}
		return true
	}))
	slices.Reverse(found)
	p.Seqs = append(found, p.Seqs...)
}

// readForward examines the log after To, oldest first.
func (p *Page) readForward(log Log, scan, rows int) {
	p.Newest = true
	var record event.Record // one for all: what is matched is on the heap
	p.fail(after(log, p.To, func(r event.Record) bool {
		if scan == 0 || rows == 0 {
			p.Newest = false
			return false
		}
		scan--
		p.To, record = r.Seq, r
		if p.matches(&record) {
			p.Seqs = append(p.Seqs, r.Seq)
			rows--
		}
		return true
	}))
}

// matches reports whether the query takes a record.
func (p *Page) matches(r *event.Record) bool {
	takes := p.Query.Matches(r)
	if takes && (r.Kind == event.KindState && r.State != nil || r.Kind == event.KindGap) {
		p.states.note(r)
	}
	return takes
}

// after is [eventlog.Log.After]. A reader who begins before the first record has the
// store look through all of its file for damage first, a quarter of a second for a
// million records; what is shown of the log can do without.
func after(log Log, seq uint64, fn func(event.Record) bool) error {
	if seq == 0 {
		if r, err := log.Get(1); err == nil && !fn(r) {
			return nil
		}
		seq = 1
	}
	return log.After(seq, fn)
}

// search examines the whole log before From for a page of rows, as long as a part may
// take.
func (p *Page) search(ctx context.Context, log Log) {
	end := time.Now().Add(partTime)
	p.fail(log.Search(ctx, p.matches, p.From, func(f eventlog.Found) bool {
		p.Seqs = append(p.Seqs, f.Seqs...)
		p.From, p.Oldest = f.Edge, f.End
		return len(p.Seqs) < PageRows && time.Now().Before(end)
	}))
	slices.Reverse(p.Seqs)
	p.Back = receivedAt(log, p.From)
}

// count counts what the log has after At.
func (p *Page) count(log Log) {
	if p.To, p.Newest = p.Last, true; p.Query.Everything() {
		p.Count = int(p.Last - min(p.At, p.Last))
		return
	}
	p.To = p.At
	p.readForward(log, CatchUpMax, CatchUpMax)
	p.Count, p.Seqs = len(p.Seqs), nil
}

// records reads the records that are wanted.
func (p *Page) records(log Log) {
	for _, seq := range append(p.near(), p.Want...) {
		r, err := log.Get(seq)
		if err != nil {
			p.Lost = append(p.Lost, seq)
			continue
		}
		p.Got = append(p.Got, r)
	}
}

// near are the rows round the place where one looks: the record that was asked for, or
// the end at which rows were asked for.
func (p *Page) near() []uint64 {
	i := len(p.Seqs)
	switch p.Kind {
	case Around:
		i, _ = slices.BinarySearch(p.Seqs, p.At)
	case Oldest:
		i = 0
	}
	return slices.Clone(p.Seqs[max(0, i-p.Near):min(len(p.Seqs), i+p.Near)])
}

func (p *Page) fail(err error) {
	if p.Err == nil {
		p.Err = err
	}
}

// receivedAt is when a record was received, the zero time if it is not in the log.
func receivedAt(log Log, seq uint64) time.Time {
	r, err := log.Get(seq)
	if err != nil {
		return time.Time{}
	}
	return r.ReceivedAt
}
