package stream

import (
	"context"
	"fmt"
	"slices"
	"time"

	"eventdeck/host/eventlog"
	"eventdeck/ui/tui/query"
)

// A filter reaches the whole stored history. It is searched beside the program,
// newest first, page by page: each page shows its rows and how far the search is,
// and another filter ends it.

// pageTime bounds the search for one page: the rows at hand are shown and
// progress is told at least so often.
const pageTime = 50 * time.Millisecond

// SearchOlder searches the log before seq for a page of rows.
func SearchOlder(ctx context.Context, log *eventlog.Log, q query.Query, gen int, before uint64) Page {
	p := Page{Gen: gen, older: true, edge: before}
	end := time.Now().Add(pageTime)
	p.Err = log.Search(ctx, q.Matches, before, func(f eventlog.Found) bool {
		p.seqs = append(p.seqs, f.Seqs...)
		p.edge, p.end = f.Edge, f.End
		return len(p.seqs) < PageRows && time.Now().Before(end)
	})
	slices.Reverse(p.seqs)
	return p
}

// begin makes answers to earlier requests stale and ends the search for them.
func (w *Window) begin(q query.Query) {
	w.Query = q
	w.Gen++
	w.Fetching = false
	if w.Stop != nil {
		w.Stop()
		w.Stop = nil
	}
}

// Searched tells how far a search through the history is, "" when there is none.
func (w *Window) Searched() string {
	if !w.Fetching || !w.Query.Filters() || w.Seen == 0 || w.Oldest {
		return ""
	}
	return fmt.Sprintf("searched %d %%", (w.Seen-min(w.From, w.Seen))*100/w.Seen)
}
