package react

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// ParseDuration reads a duration like [time.ParseDuration], optionally with a number of days
// first: 90s, 12h, 1d, 1d12h. Negative durations are refused.
func ParseDuration(text string) (time.Duration, error) {
	wrong := fmt.Errorf("%q is not a duration such as 90s, 15m, 12h or 7d", text)
	days, rest, found := strings.Cut(text, "d")
	if !found {
		days, rest = "", text
	}
	var d time.Duration
	if found {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return 0, wrong
		}
		d = time.Duration(n) * day
	}
	if rest != "" || !found {
		more, err := time.ParseDuration(rest)
		if err != nil || more < 0 || d+more < d {
			return 0, wrong
		}
		d += more
	}
	return d, nil
}

// FormatDuration formats a duration for [ParseDuration], without parts that are zero: 7d, 36h,
// 1m30s.
func FormatDuration(d time.Duration) string {
	if d >= day && d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// units are the units of a rate.
var units = []struct {
	name string
	per  time.Duration
}{{"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}, {"d", day}}

// MaxRate is the largest number in a rate: the time of each start is stored.
const MaxRate = 20_000

// ParseRate reads a rate: a number up to [MaxRate] and a unit of time, as 6/h. Units are s,
// m, h and d.
func ParseRate(text string) (Rate, error) {
	number, unit, _ := strings.Cut(text, "/")
	n, err := strconv.ParseUint(number, 10, 31)
	for _, u := range units {
		switch {
		case u.name != unit || err != nil || n == 0:
		case n > MaxRate:
			return Rate{}, fmt.Errorf("%q counts more than %d in its span, and the time of each is kept: say it for a shorter one, as 10/s or 30/m", text, MaxRate)
		default:
			return Rate{N: int(n), Per: u.per}, nil
		}
	}
	return Rate{}, fmt.Errorf("%q is not a rate such as 10/s, 30/m, 6/h or 50/d", text)
}

// String formats the rate for [ParseRate]; "" for the zero value.
func (r Rate) String() string {
	for _, u := range units {
		if u.per == r.Per {
			return fmt.Sprintf("%d/%s", r.N, u.name)
		}
	}
	return ""
}

// Counted returns the starts, given oldest first, that are within the rate's time span at now:
// no more than the rate allows. It also returns their number, and when the oldest leaves the
// span, the zero time if there is none. The zero value counts nothing.
func (r Rate) Counted(starts []time.Time, now time.Time) (still []time.Time, n int, until time.Time) {
	if r.N == 0 {
		return nil, 0, until
	}
	old := 0
	for old < len(starts) && (now.Sub(starts[old]) >= r.Per || len(starts)-old > r.N) {
		old++
	}
	if still = starts[old:]; len(still) > 0 {
		until = still[0].Add(r.Per)
	}
	return still, len(still), until
}

// Above reports whether the rate is higher than another one.
func (r Rate) Above(other Rate) bool {
	return float64(r.N)*float64(other.Per) > float64(other.N)*float64(r.Per)
}

// ParseMoney reads an amount of dollars, such as 0.50, and returns micro-dollars.
func ParseMoney(text string) (int64, error) {
	wrong := fmt.Errorf("%q is not an amount of dollars such as 0.50", text)
	whole, part, _ := strings.Cut(text, ".")
	if len(part) > 6 || strings.HasSuffix(text, ".") {
		return 0, wrong
	}
	n, err := strconv.ParseUint(whole+part+strings.Repeat("0", 6-len(part)), 10, 62)
	if err != nil || whole == "" {
		return 0, wrong
	}
	return int64(n), nil
}

// Money formats micro-dollars for [ParseMoney], with at least two decimals.
func Money(micro int64) string {
	text := fmt.Sprintf("%d.%06d", micro/1e6, micro%1e6)
	least := len(text) - 4
	return text[:least] + strings.TrimRight(text[least:], "0")
}
