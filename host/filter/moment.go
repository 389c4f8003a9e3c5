package filter

import (
	"strconv"
	"time"
)

// longest bounds a duration before now.
const longest = 200 * 365 * 24 * time.Hour

// parseMoment reads a duration before now, a time of day, or a date.
func parseMoment(text string, now time.Time) (time.Time, bool) {
	if d, ok := parseAgo(text); ok {
		return now.Add(-d), true
	}
	for _, layout := range []string{"15:04", time.TimeOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			day := func(back int) time.Time {
				return time.Date(now.Year(), now.Month(), now.Day()-back, t.Hour(), t.Minute(), t.Second(), 0, now.Location())
			}
			if at := day(0); !at.After(now) {
				return at, true
			}
			return day(1), true
		}
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateTime, "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// parseAgo reads a duration, with the units of Go and d and w.
func parseAgo(text string) (time.Duration, bool) {
	if d, err := time.ParseDuration(text); err == nil {
		return d, 0 <= d && d <= longest
	}
	if text == "" {
		return 0, false
	}
	unit := 24 * time.Hour
	switch text[len(text)-1] {
	case 'd':
	case 'w':
		unit *= 7
	default:
		return 0, false
	}
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 16)
	if err != nil || time.Duration(n) > longest/unit {
		return 0, false
	}
	return time.Duration(n) * unit, true
}
