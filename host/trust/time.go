package trust

import (
	"strings"
	"time"
)

// timeLayouts are spellings of a time, in upper case and without blanks.
var timeLayouts = []string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07",
	"2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02",
}

// Time reads a time, in UTC, as servers spell it: RFC 3339, also with a blank for the T, with
// UTC, +0100, +01 or no zone (then it is taken as UTC), without seconds, as a date alone, and
// with a leap second, which is the first second of the next day. ok is false for other text.
func (t Text) Time() (at time.Time, ok bool) {
	s := strings.ToUpper(strings.TrimSpace(t.s))
	if date, rest, found := strings.Cut(s, " "); found {
		s = date + "T" + strings.ReplaceAll(rest, " ", "")
	}
	if zoned, found := strings.CutSuffix(s, "UTC"); found {
		s = zoned + "Z"
	}
	const seconds = len("2006-01-02T15:04")
	leap := len(s) > seconds && strings.HasPrefix(s[seconds:], ":60")
	if leap {
		s = s[:seconds] + ":59" + s[seconds+len(":60"):]
	}
	for _, layout := range timeLayouts {
		at, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		if at = at.UTC(); leap {
			at = at.Add(time.Second)
		}
		return at, !leap || at.Truncate(time.Second).Equal(at.Truncate(24*time.Hour))
	}
	return time.Time{}, false
}
