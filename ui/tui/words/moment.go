package words

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrUsage: a typed line has words that its command does not accept.
var ErrUsage = errors.New("usage")

// momentForms are the accepted layouts of a time; without a date they mean the most recent such
// time.
var momentForms = []struct {
	form  string
	dated bool
}{
	{"15:04", false}, {"15:04:05", false}, {time.DateTime, true}, {"2006-01-02 15:04", true}, {time.DateOnly, true}, {"2006-01-02T15:04:05", true}, {time.RFC3339, true},
}

// Moment parses a time of day, a date with or without a time, or a duration before now. Times are in
// the zone of now.
//
// Error: [ErrUsage].
func Moment(text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, f := range momentForms {
		t, err := time.ParseInLocation(f.form, text, now.Location())
		if err != nil {
			continue
		}
		if f.dated {
			return t, nil
		}
		t = time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), 0, now.Location())
		if t.After(now) {
			t = t.AddDate(0, 0, -1)
		}
		return t, nil
	}
	return time.Time{}, fmt.Errorf("%w: %q is no moment, such as 14:05, 2026-03-14 14:05 or 10m", ErrUsage, text)
}

// ShellQuote quotes a word for a POSIX shell if needed.
func ShellQuote(s string) string {
	plain := s != ""
	for _, r := range s {
		plain = plain && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/:@%+=,", r))
	}
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
