package cron

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func zoned(t *testing.T, zone, text string) time.Time {
	t.Helper()
	loc, err := Zone(zone)
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.ParseInLocation("2006-01-02 15:04", text, loc)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestFirings(t *testing.T) {
	for _, c := range []struct{ text, zone, now, want string }{
		{"0 9 * * *", "America/New_York", "2026-11-20 09:00", "2026-11-21 09:00, 2026-11-22 09:00, 2026-11-23 09:00"},
		{"*/20 * * * *", "UTC", "2026-11-20 09:41", "2026-11-20 10:00, 2026-11-20 10:20, 2026-11-20 10:40"},
		{"5/20 10 * * *", "UTC", "2026-11-20 10:30", "2026-11-20 10:45, 2026-11-21 10:05, 2026-11-21 10:25"},
		{"0 9 * * mon-FRI", "UTC", "2026-11-20 12:00", "2026-11-23 09:00, 2026-11-24 09:00, 2026-11-25 09:00"},
		{"0 0 * * 7", "UTC", "2026-11-20 12:00", "2026-11-22 00:00, 2026-11-29 00:00, 2026-12-06 00:00"},
		{"0 0 13 * 5", "UTC", "2026-11-06 12:00", "2026-11-13 00:00, 2026-11-20 00:00, 2026-11-27 00:00"}, // either day
		{"0 0 31 * ?", "UTC", "2026-11-20 12:00", "2026-12-31 00:00, 2027-01-31 00:00, 2027-03-31 00:00"},
		{"0 0 29 feb *", "UTC", "2026-11-20 12:00", "2028-02-29 00:00, 2032-02-29 00:00, 2036-02-29 00:00"},
		{"0 0 1,15 jan,jul *", "UTC", "2026-11-20 12:00", "2027-01-01 00:00, 2027-01-15 00:00, 2027-07-01 00:00"},
		{"30 2 * * *", "Europe/Berlin", "2026-03-27 12:00", "2026-03-28 02:30, 2026-03-30 02:30, 2026-03-31 02:30"}, // left out on the 29th
		{"30 2 * * *", "Europe/Berlin", "2026-10-24 12:00", "2026-10-25 02:30, 2026-10-26 02:30, 2026-10-27 02:30"}, // twice on the 25th
		{"@weekly", "UTC", "2026-11-20 12:00", "2026-11-22 00:00, 2026-11-29 00:00, 2026-12-06 00:00"},
		{"0 0 30 2 *", "UTC", "2026-11-20 12:00", ""},
	} {
		cr, err := Parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		var got []string
		for _, at := range cr.Firings(zoned(t, c.zone, c.now), 3) {
			got = append(got, at.Format("2006-01-02 15:04"))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s in %s after %s: %s, want %s", c.text, c.zone, c.now, strings.Join(got, ", "), c.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"":               "and has 0",
		"* * * *":        "and has 4",
		"* * * * * *":    "and has 6",
		"60 * * * *":     "minute",
		"* 24 * * *":     "hour",
		"* * 0 * *":      "day of the month",
		"* * * 13 *":     "month",
		"* * * foo *":    "month",
		"* * * * 8":      "day of the week",
		"5-1 * * * *":    "runs backwards",
		"*/0 * * * *":    "step",
		"*/x * * * *":    "step",
		"1,,2 * * * *":   "minute",
		"+1 * * * *":     "minute",
		"? * * * *":      "minute",
		"@reboot":        "and has 1",
		"1-2-3 * * * *":  "minute",
		"000 * * * *":    "minute",
		"* * * * \x1b[0": "day of the week",
	} {
		_, err := Parse(text)
		if !errors.Is(err, ErrExpression) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestZones(t *testing.T) {
	for name, ok := range map[string]bool{"": true, "Europe/Berlin": true, "UTC": true, "Local": false, "Mars/Olympus": false, "../etc/passwd": false} {
		if _, err := Zone(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("0 9 * * 1-5")
	f.Add("*/5 1,2 ? jan-mar sun")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text)
		if err != nil {
			if !errors.Is(err, ErrExpression) {
				t.Error(err)
			}
			return
		}
		now := time.Date(2026, 11, 20, 12, 30, 0, 0, time.UTC)
		if at := c.Next(now); !at.IsZero() && (!at.After(now) || at.Second() != 0) {
			t.Errorf("%q fires at %v", text, at)
		}
	})
}
