package tui

import (
	"context"
	"sort"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/ui/tui/query"
)

// Bounds of what a stream holds and how much of the log it reads at a time.
const (
	windowMax  = 10_000 // rows that are held
	firstScan  = 2_000  // records read at once when the query changes
	firstRows  = 300    // rows with which a first read is content
	pageScan   = 20_000 // records read by one request for newer ones
	pageRows   = 1_000  // rows with which such a request is content
	catchUpMax = 4_000  // arrivals taken in one step
)

// window is the part of the log that a stream holds: the sequence numbers of
// the records that match its query, ascending. It grows at both ends on demand
// and holds at most windowMax numbers.
type window struct {
	query query.Query
	gen   int // answers to requests of another generation are stale

	seqs     []uint64
	from     uint64 // everything from here …
	seen     uint64 // … to here was examined
	oldest   bool   // there is nothing before from
	cut      bool   // rows after the last one were let go to make room
	tally    tally
	fetching bool
	stop     context.CancelFunc // ends the search that runs; nil if there is none
}

// page is the answer to a request for more rows.
type page struct {
	gen   int
	older bool
	seqs  []uint64 // ascending
	edge  uint64   // how far the log was examined
	end   bool     // the log has nothing beyond
	err   error
}

// reset begins anew at the newest record. What is at hand is read at once, so
// that a change of the query shows in the same frame.
func (w *window) reset(log *eventlog.Log, q query.Query) error {
	w.begin(q)
	w.cut, w.oldest = false, false
	w.seen = log.Last()
	w.from = w.seen + 1
	w.seqs = nil
	w.level()
	p := readOlder(log, q, w.gen, w.from, firstScan, firstRows)
	w.take(p)
	return p.err
}

// readOlder examines the log before seq, newest first.
func readOlder(log *eventlog.Log, q query.Query, gen int, before uint64, scan, rows int) page {
	p := page{gen: gen, older: true, edge: before, end: true}
	if before <= 1 {
		return p
	}
	p.err = log.Before(before, func(r event.Record) bool {
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

// readNewer examines the log after seq, oldest first.
func readNewer(log *eventlog.Log, q query.Query, gen int, after uint64, scan, rows int) page {
	p := page{gen: gen, edge: after, end: true}
	p.err = log.After(after, func(r event.Record) bool {
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

// take joins a page to the window.
func (w *window) take(p page) {
	if p.gen != w.gen {
		return
	}
	w.fetching = false
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
	if p.older {
		w.seqs = append(p.seqs[:len(p.seqs):len(p.seqs)], w.seqs...)
		w.from = p.edge
		w.oldest = p.end && p.err == nil
		w.cutEnd()
		return
	}
	w.seqs = append(w.seqs, p.seqs...)
	w.seen = p.edge
	w.reached(p.seqs)
	if p.end {
		w.cut = false
	}
	w.trimFront()
}

// trimFront lets go of the oldest rows beyond windowMax.
func (w *window) trimFront() {
	over := len(w.seqs) - windowMax
	if over <= 0 {
		return
	}
	w.seqs = w.seqs[over:]
	w.from, w.oldest = w.seqs[0], false
}

// index returns the place of seq, or of the first row after it.
func (w *window) index(seq uint64) int {
	return sort.Search(len(w.seqs), func(i int) bool { return w.seqs[i] >= seq })
}
