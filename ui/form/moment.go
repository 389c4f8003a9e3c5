package form

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

var errNegative = errors.New("a duration cannot be less than nothing")

// ErrEnd: a text is not a time in the future.
var ErrEnd = errors.New("write a time to come, such as 20:00, 2026-03-14 20:00, 45m, 2h or 3d")

func isMoment(format string) bool { return format == "date-time" || format == "date" }

// isWritten reports whether text is in the format already.
func isWritten(text, format string) bool {
	layout := time.RFC3339Nano
	if format == "date" {
		layout = time.DateOnly
	}
	_, err := time.Parse(layout, text)
	return err == nil
}

// moment reads a moment as people write it: now, -1h, now+30m, today, yesterday, 14:05, 2026-03-14,
// 2026-03-14 14:05, in the zone of now. It returns the moment in the format, and false for a text
// that is in the format already.
func moment(text, format string, now time.Time) (string, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	t, ok := readMoment(text, now)
	if !ok || isWritten(text, format) {
		return "", false
	}
	if format == "date" {
		return t.Format(time.DateOnly), true
	}
	return t.Format(time.RFC3339), true
}

// Until reads when something is to end: how long from now, or a moment as people write it, in the
// zone of now. A time of day is the next such time.
//
// Error: [ErrEnd].
func Until(text string, now time.Time) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, strings.TrimSpace(text))
	if d, wrong := Duration(text); wrong == nil {
		t, err = now.Add(d), nil
	}
	if text = strings.ToLower(strings.TrimSpace(text)); err != nil {
		var ok bool
		if t, ok = readMoment(text, now); !ok {
			return time.Time{}, fmt.Errorf("%q: %w", text, ErrEnd)
		}
		if _, err := time.Parse("15:04", text[:min(len(text), 5)]); err == nil && !t.After(now) {
			t = t.AddDate(0, 0, 1)
		}
	}
	if !t.After(now) {
		return time.Time{}, fmt.Errorf("%q is over: %w", text, ErrEnd)
	}
	return t, nil
}

func readMoment(text string, now time.Time) (time.Time, bool) {
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch text {
	case "now":
		return now, true
	case "today":
		return day, true
	case "yesterday":
		return day.AddDate(0, 0, -1), true
	case "tomorrow":
		return day.AddDate(0, 0, 1), true
	}
	rest := strings.TrimSpace(strings.TrimPrefix(text, "now"))
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		if d, err := Duration(rest[1:]); err == nil {
			if rest[0] == '-' {
				d = -d
			}
			return now.Add(d), true
		}
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return day.Add(time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second), true
		}
	}
	for _, layout := range []string{"2006-01-02", "2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02t15:04", "2006-01-02t15:04:05"} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// Duration reads a duration as people write it: 90s, 5m, 1h30m, 2d. Blanks do
// not matter. It is never negative.
//
// Errors: what [time.ParseDuration] says.
func Duration(text string) (time.Duration, error) {
	text = strings.ReplaceAll(strings.ToLower(text), " ", "")
	var days time.Duration
	if before, after, ok := strings.Cut(text, "d"); ok {
		d, err := time.ParseDuration(before + "h")
		if err != nil {
			return 0, err
		}
		if days, text = 24*d, after; text == "" {
			text = "0s"
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, err
	}
	if d += days; d < 0 || days < 0 {
		return 0, errNegative
	}
	return d, nil
}
