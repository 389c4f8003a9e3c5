package plain

import (
	"time"

	"eventdeck/host/filter"
)

// ParseSince reads what the filter since: takes, see [filter.Moment]; "" is the zero time.
//
// Error: [UsageError].
func ParseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, ok := filter.Moment(text, now); ok {
		return t, nil
	}
	return time.Time{}, UsageErrorf("--since %q: give a duration like 10m or 7d, a time like 14:05 or 2026-07-28T12:00:00Z, or a date", text)
}

// ParseFilter reads the filter of a flag; nil for "".
//
// Error: [UsageError].
func ParseFilter(flag, text string, now time.Time) (*filter.Filter, error) {
	if text == "" {
		return nil, nil
	}
	f, err := filter.Parse(text, now)
	if err != nil {
		return nil, UsageErrorf("--%s: %w", flag, err)
	}
	return f, nil
}
