// Package query selects the records of a stream by a place in the tree and a filter.
package query

import (
	"time"

	"eventdeck/host/event"
	"eventdeck/host/filter"
)

// Query selects the records of a node that match a filter, or all of them if the filter is off.
type Query struct {
	Node   Node
	Text   string // the filter as typed
	Off    bool   // the filter is kept and not applied
	filter *filter.Filter
}

// New parses the text of a filter. Relative times in it count back from now.
//
// Error: *[filter.Error].
func New(n Node, text string, now time.Time) (Query, error) {
	f, err := filter.Parse(text, now)
	return Query{Node: n, Text: text, filter: f}, err
}

// At returns the same query on another node.
func (q Query) At(n Node) Query {
	q.Node = n
	return q
}

// Filters reports whether the filter may hide records.
func (q *Query) Filters() bool { return !q.Off && !q.filter.Everything() }

// Everything reports whether the query matches every record.
func (q *Query) Everything() bool { return q.Node.Level() == 0 && !q.Filters() }

// Matches reports whether the query selects a record.
func (q *Query) Matches(r *event.Record) bool {
	return q.Node.Holds(r) && (q.Off || q.filter.Match(r))
}
