package cli

import (
	"errors"
	"fmt"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/filter"
)

// errFailed: what --fail-on waits for has come.
var errFailed = errors.New("failed")

// parseFilter reads the filter of a flag. Without one it returns nil.
func parseFilter(flag, text string, now time.Time) (*filter.Filter, error) {
	if text == "" {
		return nil, nil
	}
	f, err := filter.Parse(text, now)
	if err != nil {
		return nil, usagef("--%s: %w", flag, err)
	}
	return f, nil
}

// tailFilters decide what tail prints, and when it ends. Each may be nil.
type tailFilters struct {
	print  *filter.Filter
	until  *filter.Filter
	failOn *filter.Filter
}

func (f tailFlags) filters(now time.Time) (t tailFilters, err error) {
	if t.print, err = parseFilter("filter", f.filter, now); err != nil {
		return t, err
	}
	if t.until, err = parseFilter("until", f.until, now); err != nil {
		return t, err
	}
	t.failOn, err = parseFilter("fail-on", f.failOn, now)
	return t, err
}

// ends tells whether a record is the one after which tail ends, and if so why it
// has failed.
func (t *tailFilters) ends(r *event.Record) (ends bool, failure error) {
	if t.failOn != nil && t.failOn.Match(r) {
		return true, fmt.Errorf("%w: record %d is what --fail-on '%s' waits for", errFailed, r.Seq, t.failOn)
	}
	return t.until != nil && t.until.Match(r), nil
}

// notMet says what did not come in time, nil if nothing was waited for.
func (t *tailFilters) notMet(came, count uint64, within time.Duration) error {
	switch {
	case t.until != nil:
		return fmt.Errorf("%w: nothing that --until '%s' takes came within %v", errNotMet, t.until, within)
	case count > 0:
		return fmt.Errorf("%w: %d of %d events came within %v", errNotMet, came, count, within)
	}
	return nil
}

// hint says on standard error how a filter was understood where that is likely not
// what was meant.
func (a *app) hint(flag, text string) {
	if h, ok := filter.HintOf(text, nil); ok {
		a.say("--%s: %s", flag, safe(h.String()))
	}
}
