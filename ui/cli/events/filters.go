package events

import (
	"errors"
	"fmt"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/filter"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
)

// errFailed: a record came that --fail-on takes.
var errFailed = errors.New("failed")

// tailFilters decide which records tail prints, and when it ends. Each may be nil.
type tailFilters struct {
	print  *filter.Filter
	until  *filter.Filter
	failOn *filter.Filter
}

func (f tailFlags) filters(now time.Time) (t tailFilters, err error) {
	if t.print, err = plain.ParseFilter("filter", f.filter, now); err != nil {
		return t, err
	}
	if t.until, err = plain.ParseFilter("until", f.until, now); err != nil {
		return t, err
	}
	t.failOn, err = plain.ParseFilter("fail-on", f.failOn, now)
	return t, err
}

// ends reports whether tail ends after a record, and if so why it has failed.
func (t *tailFilters) ends(r *event.Record) (ends bool, failure error) {
	if t.failOn != nil && t.failOn.Match(r) {
		return true, fmt.Errorf("%w: record %d matches --fail-on '%s'", errFailed, r.Seq, t.failOn)
	}
	return t.until != nil && t.until.Match(r), nil
}

// notMet says what did not come in time, nil if tail waited for nothing.
func (t *tailFilters) notMet(came, count uint64, within time.Duration) error {
	switch {
	case t.until != nil:
		return fmt.Errorf("%w: no record that matches --until '%s' came within %v", program.ErrNotMet, t.until, within)
	case count > 0:
		return fmt.Errorf("%w: %d of %d events came within %v", program.ErrNotMet, came, count, within)
	}
	return nil
}
