package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"eventdeck/host/event"
)

// limitFlags are bounds as they were typed; "" leaves a bound as it is.
type limitFlags struct{ age, size, records string }

// apply changes the bounds that were typed. prefix begins the names of the flags.
func (f limitFlags) apply(l *event.Limits, prefix string) (err error) {
	if f.age != "" {
		if l.Age, err = parseAge(f.age); err != nil {
			return usagef("--%sage: %w", prefix, err)
		}
	}
	if f.size != "" {
		if l.Bytes, err = parseSize(f.size); err != nil {
			return usagef("--%ssize: %w", prefix, err)
		}
	}
	if f.records != "" {
		if l.Records, err = strconv.ParseUint(f.records, 10, 63); err != nil {
			return usagef("--%sevents: %q is not a number of records", prefix, f.records)
		}
	}
	return nil
}

// parseAge reads a duration that may be in days.
func parseAge(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		if age := n * float64(24*time.Hour); err == nil && n >= 0 && age < math.MaxInt64 {
			return time.Duration(age), nil
		}
	} else if age, err := time.ParseDuration(s); err == nil && age >= 0 {
		return age, nil
	} else if s == "0" {
		return 0, nil
	}
	return 0, fmt.Errorf("%q is not an age like 90m, 12h or 30d", s)
}

var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

// parseSize reads a number of bytes with a unit.
func parseSize(s string) (int64, error) {
	number, unit := s, int64(1)
	for _, u := range sizeUnits {
		if n := len(s) - len(u.name); n > 0 && strings.EqualFold(s[n:], u.name) {
			number, unit = strings.TrimSpace(s[:n]), u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if size := n * float64(unit); err == nil && n >= 0 && size < math.MaxInt64 {
		return int64(size), nil
	}
	return 0, fmt.Errorf("%q is not a size like 500MB or 2GiB", s)
}

// sizeWords tells a number of bytes.
func sizeWords(n int64) string {
	for i := 3; i >= 0; i-- {
		if u := sizeUnits[i]; n >= u.bytes {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(u.bytes), u.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}

func ageWords(d time.Duration) string {
	if day := 24 * time.Hour; d >= day && d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	return d.String()
}

func limitWords(l event.Limits) string {
	var words []string
	if l.Age > 0 {
		words = append(words, ageWords(l.Age))
	}
	if l.Bytes > 0 {
		words = append(words, sizeWords(l.Bytes))
	}
	if l.Records > 0 {
		words = append(words, fmt.Sprintf("%d records", l.Records))
	}
	if len(words) == 0 {
		return "no bound"
	}
	return "at most " + strings.Join(words, ", ")
}
