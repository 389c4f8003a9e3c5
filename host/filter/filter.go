// Package filter is the language in which an operator selects the records to show, to wait
// for or to be notified of.
//
//	pool exhausted            both words, anywhere, in any case
//	"pool exhausted"          the phrase
//	!test                     not the word
//	/p9[59]/                  a regular expression (RE2)
//	server:pager type:incident sub:k3 id:evt_7 mode:push kind:gap
//	value:INC-7                        a whole value, whatever its member is called
//	sev:P1                    what the payload calls its severity, priority or level
//	flag:any tag:eu           what was noticed on arrival, and how the server tagged it
//	server:="pager"           exactly this text
//	.severity=P1 .n>5 .title~latency .tags!=eu .user.name meta.region=eu
//	since:10m until:14:05     when it was received
//	(a | b) c                 or, and parentheses
//
// Case is ignored everywhere. A space means "and" and binds tighter than "|", which means
// "or". A path goes through arrays and matches any of their elements; .items[0] is a single
// one. A path alone matches if the payload has such a value. != is the opposite of =, so it
// also matches a record without such a value.
//
// Matching reads payloads in place and allocates only to decode escapes.
//
// The package is pure: no I/O, no clock.
package filter

import (
	"fmt"
	"time"

	"eventdeck/host/event"
)

// Error is a syntax error in a filter, with its place and what to do about it.
type Error struct {
	At   int    // offset of the error in bytes
	Says string // what is wrong and what helps, with quotes from the text
}

// Error returns the column, counted from 1, and [Error.Says].
func (e *Error) Error() string { return fmt.Sprintf("filter, column %d: %s", e.At+1, e.Says) }

// Filter is a condition on records. It is immutable: any number of goroutines may use it. A
// nil Filter matches every record.
type Filter struct {
	root node // nil matches everything
}

// Parse reads a filter. Relative times in it count back from now. Times of day are in the
// location of now, and mean the last such time that is not after now. A blank text matches
// every record.
//
// Error: *[Error].
func Parse(text string, now time.Time) (*Filter, error) {
	p := parser{lexer: lexer{text: text}, now: now}
	root, err := p.parse()
	if err != nil {
		return nil, err
	}
	return &Filter{root: root}, nil
}

// Match reports whether the record matches the filter. It neither changes nor keeps r.
func (f *Filter) Match(r *event.Record) bool {
	return f == nil || f.root == nil || f.root.match(r)
}

// Everything reports whether the filter has no conditions, so that it matches every record.
func (f *Filter) Everything() bool { return f == nil || f.root == nil }

// String returns the filter in normalized form, which parses to the same filter. Relative
// times stay relative.
func (f *Filter) String() string {
	if f.Everything() {
		return ""
	}
	return string(f.root.append(nil))
}
