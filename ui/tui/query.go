package tui

import (
	"time"

	"eventdeck/host/event"
	"eventdeck/host/filter"
)

// query says which records a stream shows: those of a node that the filter
// takes, unless the filter is off.
type query struct {
	node   node
	text   string // of the filter, as typed
	off    bool   // the filter is kept and takes everything
	filter *filter.Filter
}

// newQuery reads the text of a filter. Times in it count from now.
//
// Error: *[filter.Error].
func newQuery(n node, text string, now time.Time) (query, error) {
	f, err := filter.Parse(text, now)
	return query{node: n, text: text, filter: f}, err
}

// at is the same query on another node.
func (q query) at(n node) query {
	q.node = n
	return q
}

// filters tells whether the filter hides something.
func (q *query) filters() bool { return !q.off && !q.filter.Everything() }

// everything tells whether the query takes every record.
func (q *query) everything() bool { return q.node.level() == 0 && !q.filters() }

// matches tells whether the stream shows the record.
func (q *query) matches(r *event.Record) bool {
	return q.node.holds(r) && (q.off || q.filter.Match(r))
}
