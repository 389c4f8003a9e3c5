package dialect

import (
	"fmt"

	"eventdeck/host/event"
)

// Bounds of a list of event types: a server may page for ever.
const (
	maxPages     = 100
	maxTypes     = 10_000
	maxTypeBytes = 64 << 20 // of all pages
)

// listing counts the pages and bytes read of a list of event types.
type listing struct {
	opts         Options
	pages, bytes int
}

// page counts a page.
func (l *listing) page(raw []byte) {
	l.pages++
	l.bytes += len(raw)
}

// full returns why no further page may be requested, or nil.
//
// Error: [ErrPartial].
func (l *listing) full() error {
	switch {
	case l.pages >= l.opts.typePages:
		return partial(event.Some(l.opts.typePages, "page was", "pages were") + " read")
	case l.bytes > l.opts.typeBytes:
		return partial("its pages have more than " + event.Some(l.opts.typeBytes, "byte", "bytes"))
	}
	return nil
}

// enough returns why no type may be added to the given number, or nil.
//
// Error: [ErrPartial].
func (l *listing) enough(types int) error {
	if types < l.opts.types {
		return nil
	}
	return partial(event.Some(l.opts.types, "type is", "types are") + " taken")
}

func partial(what string) error {
	return fmt.Errorf("%w: %s, and the server has more", ErrPartial, what)
}
