package filter

import (
	"strconv"
	"strings"
	"time"
)

// longest bounds a duration before now.
const longest = 200 * 365 * 24 * time.Hour

// Moment reads what since: takes: a duration before now (10m, 2h, 3d, 1w, 1d12h), a time of day,
// which is the most recent one, or a date with or without a time. Times are in the zone of now.
func Moment(text string, now time.Time) (time.Time, bool) {
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
	i := strings.IndexAny(text, "dw")
	if i < 0 {
		return 0, false
	}
	unit, rest := 24*time.Hour, time.Duration(0)
	if text[i] == 'w' {
		unit *= 7
	}
	ok := true
	if text[i+1:] != "" {
		rest, ok = parseAgo(text[i+1:])
	}
	n, err := strconv.ParseUint(text[:i], 10, 16)
	if err != nil || !ok || time.Duration(n) > (longest-rest)/unit {
		return 0, false
	}
	return time.Duration(n)*unit + rest, true
}
