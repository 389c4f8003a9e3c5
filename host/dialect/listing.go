package dialect

import "fmt"

// Bounds of a list of event types, unless [Options] say otherwise: a server that
// pages for ever is stopped here.
const (
	maxPages     = 100
	maxTypes     = 10_000
	maxTypeBytes = 64 << 20 // of all pages
)

// listing counts what was read of a list of event types.
type listing struct {
	opts         Options
	pages, bytes int
}

// page counts a page.
func (l *listing) page(raw []byte) {
	l.pages++
	l.bytes += len(raw)
}

// full returns why no further page is asked for, nil if one may be.
//
// Error: [ErrPartial].
func (l *listing) full() error {
	switch {
	case l.pages >= l.opts.TypePages:
		return partial("%d pages were read", l.opts.TypePages, "typePages")
	case l.bytes > l.opts.TypeBytes:
		return partial("its pages have more than %d bytes", l.opts.TypeBytes, "typeBytes")
	}
	return nil
}

// enough returns why no type is taken beside those that there are, nil if one may be.
//
// Error: [ErrPartial].
func (l *listing) enough(types int) error {
	if types < l.opts.Types {
		return nil
	}
	return partial("%d types are taken", l.opts.Types, "types")
}

func partial(what string, limit int, key string) error {
	return fmt.Errorf("%w: "+what+`, and the server has more; raise %q under "limits" in settings.json and start again`, ErrPartial, limit, key)
}
