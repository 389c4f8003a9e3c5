package plain

import (
	"errors"
	"testing"
	"time"
)

// --since takes what since: takes.
func TestSince(t *testing.T) {
	now := time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"":                     {},
		"10m":                  now.Add(-10 * time.Minute),
		"7d":                   now.Add(-7 * 24 * time.Hour),
		"2026-07-27T10:00:00Z": now.Add(-26 * time.Hour),
		"2026-07-27":           time.Date(2026, 7, 27, 0, 0, 0, 0, time.UTC),
		"2026-07-27 10:00":     now.Add(-26 * time.Hour),
		"2026-07-27T10:00":     now.Add(-26 * time.Hour),
		"1w":                   now.Add(-7 * 24 * time.Hour),
		"1d12h":                now.Add(-36 * time.Hour),
		"11:30":                now.Add(-30 * time.Minute),
		"13:00:30":             now.Add(-23*time.Hour + 30*time.Second),
	} {
		if got, err := ParseSince(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	var mistake UsageError
	if _, err := ParseSince("yesterday", now); !errors.As(err, &mistake) {
		t.Errorf("%v is no mistake in the command line", err)
	}
}
