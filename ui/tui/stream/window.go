package stream

import (
	"context"
	"sort"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/ui/tui/query"
)

// Bounds of what a stream holds and how much of the log it reads at a time.
const (
	WindowMax  = 10_000 // rows that are held
	FirstScan  = 2_000  // records read at once when the query changes
	FirstRows  = 300    // rows with which a first read is content
	PageScan   = 20_000 // records read by one request for newer ones
	PageRows   = 1_000  // rows with which such a request is content
	CatchUpMax = 4_000  // arrivals taken in one step
)

// Window is the part of the log that a stream holds: the sequence numbers of
// the records that match its query, ascending. It grows at both ends on demand
// and holds at most windowMax numbers.
type Window struct {
	Query query.Query
	Gen   int // answers to requests of another generation are stale

	Seqs     []uint64
	From     uint64 // everything from here …
	Seen     uint64 // … to here was examined
	Oldest   bool   // there is nothing before from
	Cut      bool   // rows after the last one were let go to make room
	tally    tally
	Fetching bool
	Stop     context.CancelFunc // ends the search that runs; nil if there is none
}

// Page is the answer to a request for more rows.
type Page struct {
	Gen   int
	older bool
	seqs  []uint64 // ascending
	edge  uint64   // how far the log was examined
	end   bool     // the log has nothing beyond
	Err   error
}

// reset begins anew at the newest record. What is at hand is read at once, so
// that a change of the query shows in the same frame.
func (w *Window) reset(log *eventlog.Log, q query.Query) error {
	w.begin(q)
	w.Cut, w.Oldest = false, false
	w.Seen = log.Last()
	w.From = w.Seen + 1
	w.Seqs = nil
	w.level()
	p := readOlder(log, q, w.Gen, w.From, FirstScan, FirstRows)
	w.Take(p)
	return p.Err
}

// readOlder examines the log before seq, newest first.
func readOlder(log *eventlog.Log, q query.Query, gen int, before uint64, scan, rows int) Page {
	p := Page{Gen: gen, older: true, edge: before, end: true}
	if before <= 1 {
		return p
	}
	p.Err = log.Before(before, func(r event.Record) bool {
		if scan == 0 || len(p.seqs) >= rows {
			p.end = false
			return false
		}
		scan--
		p.edge = r.Seq
		if q.Matches(&r) {
			p.seqs = append(p.seqs, r.Seq)
		}
		return true
	})
	sort.Slice(p.seqs, func(i, j int) bool { return p.seqs[i] < p.seqs[j] })
	return p
}

// ReadNewer examines the log after seq, oldest first.
func ReadNewer(log *eventlog.Log, q query.Query, gen int, after uint64, scan, rows int) Page {
	p := Page{Gen: gen, edge: after, end: true}
	p.Err = log.After(after, func(r event.Record) bool {
		if scan == 0 || len(p.seqs) >= rows {
			p.end = false
			return false
		}
		scan--
		p.edge = r.Seq
		if q.Matches(&r) {
			p.seqs = append(p.seqs, r.Seq)
		}
		return true
	})
	return p
}

// Take joins a page to the window.
func (w *Window) Take(p Page) {
	if p.Gen != w.Gen {
		return
	}
	w.Fetching = false
	if w.Stop != nil {
		w.Stop()
		w.Stop = nil
	}
	if p.older {
		w.Seqs = append(p.seqs[:len(p.seqs):len(p.seqs)], w.Seqs...)
		w.From = p.edge
		w.Oldest = p.end && p.Err == nil
		w.cutEnd()
		return
	}
	w.Seqs = append(w.Seqs, p.seqs...)
	w.Seen = p.edge
	w.reached(p.seqs)
	if p.end {
		w.Cut = false
	}
	w.trimFront()
}

// trimFront lets go of the oldest rows beyond windowMax.
func (w *Window) trimFront() {
	over := len(w.Seqs) - WindowMax
	if over <= 0 {
		return
	}
	w.Seqs = w.Seqs[over:]
	w.From, w.Oldest = w.Seqs[0], false
}

// Index returns the place of seq, or of the first row after it.
func (w *Window) Index(seq uint64) int {
	return sort.Search(len(w.Seqs), func(i int) bool { return w.Seqs[i] >= seq })
}
