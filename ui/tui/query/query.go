// Package query says which records a stream shows: a place in the tree, and a filter.
package query

import (
	"time"

	"eventdeck/host/event"
	"eventdeck/host/filter"
)

// Query says which records a stream shows: those of a node that the filter
// takes, unless the filter is off.
type Query struct {
	Node   Node
	Text   string // of the filter, as typed
	Off    bool   // the filter is kept and takes everything
	filter *filter.Filter
}

// New reads the text of a filter. Times in it count from now.
//
// Error: *[filter.Error].
func New(n Node, text string, now time.Time) (Query, error) {
	f, err := filter.Parse(text, now)
	return Query{Node: n, Text: text, filter: f}, err
}

// At is the same query on another node.
func (q Query) At(n Node) Query {
	q.Node = n
	return q
}

// Filters reports whether the filter hides something.
func (q *Query) Filters() bool { return !q.Off && !q.filter.Everything() }

// Everything reports whether the query takes every record.
func (q *Query) Everything() bool { return q.Node.Level() == 0 && !q.Filters() }

// Matches reports whether the stream shows the record.
func (q *Query) Matches(r *event.Record) bool {
	return q.Node.Holds(r) && (q.Off || q.filter.Match(r))
}
