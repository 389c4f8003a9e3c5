package query

import (
	"context"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
)

// Find searches the log for the next record of a query that matches. It searches in parts, and each
// part reports how far it came.
type Find struct {
	Query Query
	// Match is called from several goroutines and must not keep the record. Nil matches every record
	// of the query.
	Match func(*event.Record) bool
	From  uint64 // the search starts after this record, or before it for Back
	Back  bool   // searches older records, the newest first
}

// Found is the result of one part of a search.
type Found struct {
	Seq    uint64    // the record that was found; 0: none in this part
	Edge   uint64    // the From of the next part
	At     time.Time // when the record at Edge was received; zero if that is not known
	Oldest uint64    // the oldest stored record; 0 if At is zero or nothing is stored
	End    bool      // the whole log was searched
	Err    error
}

// Part searches the log for at most partTime, or until ctx ends. It is called in the background.
func (f Find) Part(ctx context.Context, log eventlog.Records) Found {
	out := Found{Edge: f.From}
	end := time.Now().Add(partTime)
	if f.Back {
		out.Err = log.Search(ctx, f.takes, f.From, func(p eventlog.Found) bool {
			if out.Edge, out.End = p.Edge, p.End; len(p.Seqs) > 0 {
				out.Seq = p.Seqs[0]
			}
			return out.Seq == 0 && time.Now().Before(end)
		})
	} else {
		out.End = true
		n := 0
		out.Err = after(log, f.From, func(r event.Record) bool {
			out.Edge = r.Seq
			if f.takes(&r) {
				out.Seq, out.End = r.Seq, false
				return false
			}
			if n++; n%clockEvery == 0 && (ctx.Err() != nil || time.Now().After(end)) {
				out.End = false
				return false
			}
			return true
		})
	}
	if out.Seq == 0 && !out.End && out.Err == nil {
		out.At = receivedAt(log, out.Edge)
		out.Err = after(log, 0, func(r event.Record) bool {
			out.Oldest = r.Seq
			return false
		})
	}
	return out
}

// clockEvery is the number of records after which a search checks the time.
const clockEvery = 256

func (f Find) takes(r *event.Record) bool {
	return f.Query.Matches(r) && (f.Match == nil || f.Match(r))
}
