package query

import (
	"context"
	"slices"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
)

// Bounds of one request.
const (
	FirstScan  = 2_000  // records read around a place, or at the end of the log
	FirstRows  = 300    // rows after which that reading ends
	PageScan   = 20_000 // records read for newer rows
	PageRows   = 1_000  // rows of a full page
	CatchUpMax = 4_000  // new records read in one step
)

// partTime bounds the time of one part of a search; after each part, rows and progress are shown.
const partTime = 30 * time.Millisecond

// Kind is the kind of rows that a request asks for.
type Kind uint8

const (
	Newest  Kind = iota // the newest rows
	Oldest              // the oldest rows
	Around              // the rows on both sides of record At
	Older               // the rows before record At
	Newer               // the rows after record At
	Arrived             // the new rows after record At; the newest rows if there are too many of them
	Counted             // no rows: the new rows after record At are counted
	Records             // no rows: only records
)

// Request asks for rows of the log.
type Request struct {
	Kind   Kind
	Stream int // the id of the stream that asks; the answer has it too
	Gen    int // the generation of the window that asks; the answer has it too
	Query  Query
	At     uint64
	Near   int      // the number of rows, on each side of the position, whose records are read too
	Want   []uint64 // further records to read
	Keep   bool     // for [Arrived]: read all new rows, however many
}

// Page is the answer to a request.
type Page struct {
	Request
	Seqs   []uint64        // rows, ascending
	Folds  map[uint64]Fold // of the rows that are changes of state or gaps
	From   uint64          // the log was read from here …
	To     uint64          // … to here
	Oldest bool            // there is no record before From
	Newest bool            // there was no record after To
	Last   uint64          // the newest record when the request was answered
	Count  int             // for [Counted]
	Back   time.Time       // when the record at From was received; zero if that is not known
	Got    []event.Record  // the records that were asked for
	Lost   []uint64        // records that were asked for and cannot be read
	Err    error

	states *states // collected while the request is answered
}

// Answer answers a request. It is called in the background. If ctx ends the search for [Older] rows,
// the error of the page is that of ctx.
func Answer(ctx context.Context, log eventlog.Records, r Request) Page {
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

// newest reads the newest records.
func (p *Page) newest(log eventlog.Records) {
	p.From, p.To, p.Newest = p.Last+1, p.Last, true
	p.readBackward(log, FirstScan, FirstRows)
}

// readBackward reads at most scan records before From, the newest first, for at most rows rows.
func (p *Page) readBackward(log eventlog.Records, scan, rows int) {
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

// readForward reads at most scan records after To, the oldest first, for at most rows rows.
func (p *Page) readForward(log eventlog.Records, scan, rows int) {
	p.Newest = true
	var record event.Record // one for all records, because a matched one escapes to the heap
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

// matches reports whether the query matches a record, and collects changes of state and gaps.
func (p *Page) matches(r *event.Record) bool {
	ok := p.Query.Matches(r)
	if ok && (r.Kind == event.KindState && r.State != nil || r.Kind == event.KindGap) {
		p.states.note(r)
	}
	return ok
}

// after calls [eventlog.Log.After], but never from the beginning of the log: there the store first
// checks its whole file for damage, a quarter of a second for a million records, and the screen does
// not need that check. It gets the first record by its number instead.
func after(log eventlog.Records, seq uint64, fn func(event.Record) bool) error {
	if seq == 0 {
		if r, err := log.Get(1); err == nil && !fn(r) {
			return nil
		}
		seq = 1
	}
	return log.After(seq, fn)
}

// search searches the log before From for a page of rows, for at most partTime.
func (p *Page) search(ctx context.Context, log eventlog.Records) {
	end := time.Now().Add(partTime)
	p.fail(log.Search(ctx, p.matches, p.From, func(f eventlog.Found) bool {
		p.Seqs = append(p.Seqs, f.Seqs...)
		p.From, p.Oldest = f.Edge, f.End
		return len(p.Seqs) < PageRows && time.Now().Before(end)
	}))
	slices.Reverse(p.Seqs)
	p.Back = receivedAt(log, p.From)
}

// count counts the matching records after At.
func (p *Page) count(log eventlog.Records) {
	if p.To, p.Newest = p.Last, true; p.Query.Everything() {
		p.Count = int(p.Last - min(p.At, p.Last))
		return
	}
	p.To = p.At
	p.readForward(log, CatchUpMax, CatchUpMax)
	p.Count, p.Seqs = len(p.Seqs), nil
}

// records reads the records that the request asks for.
func (p *Page) records(log eventlog.Records) {
	for _, seq := range append(p.near(), p.Want...) {
		r, err := log.Get(seq)
		if err != nil {
			p.Lost = append(p.Lost, seq)
			continue
		}
		p.Got = append(p.Got, r)
	}
}

// near returns the rows around the position of the request: record At, or the end of the log.
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

// receivedAt returns when a record was received, the zero time if it cannot be read.
func receivedAt(log eventlog.Records, seq uint64) time.Time {
	r, err := log.Get(seq)
	if err != nil {
		return time.Time{}
	}
	return r.ReceivedAt
}
