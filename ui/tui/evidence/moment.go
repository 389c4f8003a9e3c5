package evidence

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"eventdeck/host/filter"
)

// ErrUsage: a typed line has words that its command does not accept.
var ErrUsage = errors.New("usage")

// Moment parses a moment; see [filter.Moment].
//
// Error: [ErrUsage].
func Moment(text string, now time.Time) (time.Time, error) {
	if t, ok := filter.Moment(text, now); ok {
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
