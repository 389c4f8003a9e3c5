package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"eventdeck/host/config"
	"eventdeck/host/event"
	"eventdeck/ui/cli/plain"
)

// limitFlags are bounds as they were typed; "" leaves a bound as it is.
type limitFlags struct{ age, size, records string }

// apply changes the bounds that were typed. prefix begins the names of the flags.
func (f limitFlags) apply(l *event.Limits, prefix string) (err error) {
	if f.age != "" {
		if l.Age, err = parseAge(f.age); err != nil {
			return plain.UsageErrorf("--%sage: %w", prefix, err)
		}
	}
	if f.size != "" {
		if l.Bytes, err = config.ParseSize(f.size); err != nil {
			return plain.UsageErrorf("--%ssize: %w", prefix, err)
		}
	}
	if f.records != "" {
		if l.Records, err = strconv.ParseUint(f.records, 10, 63); err != nil {
			return plain.UsageErrorf("--%sevents: %q is not a number of records", prefix, f.records)
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
		words = append(words, config.SizeWords(l.Bytes))
	}
	if l.Records > 0 {
		words = append(words, event.Some(l.Records, "record", "records"))
	}
	if len(words) == 0 {
		return "no bound"
	}
	return "at most " + strings.Join(words, ", ")
}
