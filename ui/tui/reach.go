package tui

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
)

// A filter reaches the whole stored history. It is searched beside the program,
// newest first, page by page: each page shows its rows and how far the search is,
// and another filter ends it.

// pageTime bounds the search for one page: the rows at hand are shown and
// progress is told at least so often.
const pageTime = 50 * time.Millisecond

// narrowRows is the number of rows up to which a stricter filter is held against
// the rows that are there, instead of a new search.
const narrowRows = 2_000

// searchOlder searches the log before seq for a page of rows.
func searchOlder(ctx context.Context, log *host.Log, q query, gen int, before uint64) page {
	p := page{gen: gen, older: true, edge: before}
	end := time.Now().Add(pageTime)
	p.err = log.Search(ctx, q.matches, before, func(f host.Found) bool {
		p.seqs = append(p.seqs, f.Seqs...)
		p.edge, p.end = f.Edge, f.End
		return len(p.seqs) < pageRows && time.Now().Before(end)
	}, q.needs()...)
	slices.Reverse(p.seqs)
	return p
}

// narrow drops the rows that a stricter query does not take, and keeps how far
// the log was searched. It reports false where that is not enough.
func (s *stream) narrow(log *host.Log, q query) (bool, error) {
	if !s.query.filters() || s.paused || s.cut || len(s.seqs) > narrowRows || !q.narrows(&s.query) {
		return false, nil
	}
	left, err := log.Narrow(context.Background(), q.matches, s.seqs)
	if err == nil {
		s.begin(q)
		s.seqs = left
		s.level()
	}
	return true, err
}

// begin makes answers to earlier requests stale and ends the search for them.
func (w *window) begin(q query) {
	w.query = q
	w.gen++
	w.fetching = false
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
}

// prepareSearch reads what makes filters fast, before one is typed.
func (a *app) prepareSearch() tea.Cmd {
	log := a.api.Log()
	return a.do(func(ctx context.Context) tea.Msg {
		// Without it filters are slower; a log that cannot be read is told by them.
		_ = log.Prepare(ctx)
		return nil
	})
}

// searched tells how far a search through the history is, "" when there is none.
func (w *window) searched() string {
	if !w.fetching || !w.query.filters() || w.seen == 0 || w.oldest {
		return ""
	}
	return fmt.Sprintf("searched %d %%", (w.seen-min(w.from, w.seen))*100/w.seen)
}
