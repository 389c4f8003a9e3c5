package usage

import (
	"time"

	"eventdeck/host/filter"
	"eventdeck/host/react"
)

// Since reads a duration before now or a time; "" is the zero time.
//
// Error: [Error].
func Since(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := react.ParseDuration(text); err == nil {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, Errorf("--since %q: give a duration like 10m or 7d, or a time like 2026-07-28T12:00:00Z", text)
}

// Filter reads the filter of a flag; nil for "".
//
// Error: [Error].
func Filter(flag, text string, now time.Time) (*filter.Filter, error) {
	if text == "" {
		return nil, nil
	}
	f, err := filter.Parse(text, now)
	if err != nil {
		return nil, Errorf("--%s: %w", flag, err)
	}
	return f, nil
}
