package tui

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

// searchOlder searches the log before seq for a page of rows.
func searchOlder(ctx context.Context, log *eventlog.Log, q query.Query, gen int, before uint64) page {
	p := page{gen: gen, older: true, edge: before}
	end := time.Now().Add(pageTime)
	p.err = log.Search(ctx, q.Matches, before, func(f eventlog.Found) bool {
		p.seqs = append(p.seqs, f.Seqs...)
		p.edge, p.end = f.Edge, f.End
		return len(p.seqs) < pageRows && time.Now().Before(end)
	})
	slices.Reverse(p.seqs)
	return p
}

// begin makes answers to earlier requests stale and ends the search for them.
func (w *window) begin(q query.Query) {
	w.query = q
	w.gen++
	w.fetching = false
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
}

// searched tells how far a search through the history is, "" when there is none.
func (w *window) searched() string {
	if !w.fetching || !w.query.Filters() || w.seen == 0 || w.oldest {
		return ""
	}
	return fmt.Sprintf("searched %d %%", (w.seen-min(w.from, w.seen))*100/w.seen)
}
