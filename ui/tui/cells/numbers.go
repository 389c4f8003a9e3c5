package cells

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ShortBytes formats a size in bytes in at most seven cells.
func ShortBytes(n int) string {
	switch {
	case n < 1<<10:
		return Number(uint64(n)) + " B"
	case n < 1<<20:
		return Number(uint64(n>>10)) + " KB"
	}
	return Number(uint64(n>>20)) + " MB"
}

// Precise formats a duration with two or three digits.
func Precise(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d us", d.Microseconds())
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return Span(d)
}

// Bytes formats a size in bytes.
func Bytes(n uint64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// delta formats the time between two rows.
func delta(d time.Duration) string {
	sign := "+"
	if d < 0 {
		sign, d = "-", -d
	}
	switch {
	case d < time.Second:
		return sign + strconv.Itoa(int(d/time.Millisecond)) + "ms"
	case d < time.Minute:
		return sign + strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + "s"
	}
	return sign + Span(d)
}

// Span formats a duration in its one or two largest units: 3 s, 12 m, 2 h 5 m. A negative one is
// 0 s.
func Span(d time.Duration) string {
	switch {
	case d < 0:
		d = 0
		fallthrough
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " m"
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h %d m", int(d/time.Hour), int(d%time.Hour/time.Minute))
	}
	return fmt.Sprintf("%d d %d h", int(d/(24*time.Hour)), int(d%(24*time.Hour)/time.Hour))
}

// Ago formats the time since t: 5 s ago.
func Ago(now, t time.Time) string { return Span(now.Sub(t)) + " ago" }

// Number groups digits: 18,332.
func Number(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count formats a number with its noun: 1 delivery, 1,204 deliveries.
func Count[N int | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		noun = stem + "ie"
	}
	return Number(uint64(n)) + " " + noun + "s"
}

// Commas joins the parts that are not empty with commas.
func Commas(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
}

// Latest returns the latest of some times, the zero time if there is none.
func Latest(times ...time.Time) time.Time {
	var t time.Time
	for _, u := range times {
		if u.After(t) {
			t = u
		}
	}
	return t
}

// ShortSpan formats a duration for a narrow column: 120 ms, 2.5 s, 4 m.
func ShortSpan(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.Itoa(int(d/time.Millisecond)) + " ms"
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return Span(d)
}
