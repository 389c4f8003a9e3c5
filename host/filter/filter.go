// Package filter is the language in which an operator says which records to
// show, to wait for or to be told of.
//
//	pool exhausted            both words, anywhere, in any case
//	"pool exhausted"          the phrase
//	!test                     not the word
//	/p9[59]/                  a regular expression (RE2)
//	server:pager type:incident sub:k3 id:evt_7 mode:push kind:gap
//	value:INC-7                        a whole value, whatever its member is called
//	sev:P1                    what the payload calls its severity, priority or level
//	flag:any                  what was noticed on arrival
//	server:="pager"           exactly this text
//	.severity=P1 .n>5 .title~latency .tags!=eu .user.name
//	since:10m until:14:05     when it was received
//	(a | b) c                 or, and parentheses
//
// Nothing distinguishes upper from lower case. A space means "and" and binds
// tighter than "|", which means "or". A path goes through arrays by itself and
// is met by any of their elements; .items[0] is one of them. A path alone asks
// whether the payload has such a value. != is the opposite of =, so that it also
// takes a record without such a value.
//
// Matching reads payloads in place and allocates nothing, except to decode
// escapes in those that have them.
//
// The package is pure: no I/O, no clock.
package filter

import (
	"fmt"
	"time"

	"eventdeck/host/event"
)

// Error says where a text is no filter, and what to do about it.
type Error struct {
	At   int    // offset in bytes at which it went wrong
	Says string // what is wrong and what helps, in our words and those of the text
}

// Error returns the place, counted in columns from 1, and what helps.
func (e *Error) Error() string { return fmt.Sprintf("filter, column %d: %s", e.At+1, e.Says) }

// Filter is a condition on records. It is immutable: any number of goroutines
// may use it. A nil Filter takes every record.
type Filter struct {
	root node // nil takes everything
}

// Parse reads a filter. Relative times in it count from now, whose location is
// that of times of day; such a time is the last one that is not after now. A
// text of blanks takes every record.
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

// Match reports whether the filter takes the record. It changes nothing and
// keeps nothing of r.
func (f *Filter) Match(r *event.Record) bool {
	return f == nil || f.root == nil || f.root.match(r)
}

// Everything reports whether the filter takes every record because it asks for
// nothing.
func (f *Filter) Everything() bool { return f == nil || f.root == nil }

// String returns the filter in its plainest spelling, which parses to the same
// filter. Relative times stay relative.
func (f *Filter) String() string {
	if f.Everything() {
		return ""
	}
	return string(f.root.append(nil))
}
