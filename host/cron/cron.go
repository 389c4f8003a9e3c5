// Package cron parses cron expressions and computes the times that they match, in any time zone.
//
// The package is a leaf, and does no I/O: it embeds Go's time zone database.
package cron

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // for systems without zone files

	"eventdeck/host/trust"
)

// Errors of the package.
var (
	// ErrExpression: the expression is invalid; the text says why.
	ErrExpression = errors.New("cron expression")
	// ErrZone: no time zone has that name.
	ErrZone = errors.New("no IANA time zone")
)

// Expression is a cron expression of five fields: minute, hour, day of the month, month, day
// of the week. If both kinds of day are restricted, one of them must match, as in crontab(5).
type Expression struct {
	minutes, hours, days, months, weekdays uint64 // one bit for each value
	anyDay, anyWeekday                     bool   // the field begins with *
}

// field is one field of an expression.
type field struct {
	name     string
	from, to int
	names    []string // of the values, beginning with from
}

func fields() [5]field {
	return [5]field{
		{"minute", 0, 59, nil},
		{"hour", 0, 23, nil},
		{"day of the month", 1, 31, nil},
		{"month", 1, 12, strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")},
		{"day of the week", 0, 7, strings.Fields("sun mon tue wed thu fri sat")},
	}
}

func macros() map[string]string {
	return map[string]string{
		"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *",
		"@weekly": "0 0 * * 0", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
	}
}

// Parse parses an expression, or one of the usual names such as @daily.
//
// Error: [ErrExpression], which names the field.
func Parse(text string) (Expression, error) {
	if macro, ok := macros()[strings.ToLower(strings.TrimSpace(text))]; ok {
		text = macro
	}
	parts := strings.Fields(text)
	if len(parts) != 5 {
		return Expression{}, fmt.Errorf("%w: it needs five fields, minute, hour, day of the month, month, day of the week, and has %d", ErrExpression, len(parts))
	}
	var bits [5]uint64
	for i, f := range fields() {
		var err error
		if bits[i], err = f.parse(parts[i]); err != nil {
			return Expression{}, err
		}
	}
	c := Expression{
		minutes: bits[0], hours: bits[1], days: bits[2], months: bits[3], weekdays: bits[4],
		anyDay: isStar(parts[2]), anyWeekday: isStar(parts[4]),
	}
	if c.weekdays&(1<<7) != 0 { // Sunday has two numbers
		c.weekdays |= 1
	}
	return c, nil
}

func isStar(text string) bool { return strings.HasPrefix(text, "*") || text == "?" }

func (f field) errorf(format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", ErrExpression, f.name, fmt.Sprintf(format, args...))
}

func (f field) parse(text string) (bits uint64, err error) {
	for _, part := range strings.Split(text, ",") {
		more, err := f.item(part)
		if err != nil {
			return 0, err
		}
		bits |= more
	}
	return bits, nil
}

// item parses one of *, a and a-b, with an optional step.
func (f field) item(text string) (bits uint64, err error) {
	span, stepText, stepped := strings.Cut(text, "/")
	step := 1
	if stepped {
		if step, err = strconv.Atoi(stepText); err != nil || step < 1 {
			return 0, f.errorf("the step %v is no number from 1 on", trust.Untrusted(stepText))
		}
	}
	from, to := f.from, f.to
	if span != "*" && !(span == "?" && strings.HasPrefix(f.name, "day")) {
		low, high, ranged := strings.Cut(span, "-")
		if from, err = f.value(low); err != nil {
			return 0, err
		}
		switch {
		case ranged:
			if to, err = f.value(high); err != nil {
				return 0, err
			}
		case !stepped:
			to = from
		}
	}
	if from > to {
		return 0, f.errorf("%d-%d runs backwards", from, to)
	}
	for v := from; v <= to; v += step {
		bits |= 1 << v
	}
	return bits, nil
}

func (f field) value(text string) (int, error) {
	if i := slices.Index(f.names, strings.ToLower(text)); i >= 0 {
		return f.from + i, nil
	}
	v, err := strconv.Atoi(text)
	if err != nil || text[0] == '+' || v < f.from || v > f.to || len(text) > 2 {
		return 0, f.errorf("%v is not from %d to %d", trust.Untrusted(text), f.from, f.to)
	}
	return v, nil
}

// horizon is how many days Next searches: there may be eight years between two 29ths of February.
const horizon = 9 * 366

// Next returns the first matching time after t, in the zone of t, the zero time if there is none.
// Times that a change to daylight saving time skips do not match; those that occur twice match
// once.
func (c Expression) Next(t time.Time) time.Time {
	zone := t.Location()
	for day := range horizon {
		d := time.Date(t.Year(), t.Month(), t.Day()+day, 12, 0, 0, 0, zone)
		if !c.onDay(d) {
			continue
		}
		for hour := range 24 {
			if c.hours&(1<<hour) == 0 {
				continue
			}
			for minute := range 60 {
				if c.minutes&(1<<minute) == 0 {
					continue
				}
				at := time.Date(d.Year(), d.Month(), d.Day(), hour, minute, 0, 0, zone)
				if at.Hour() == hour && at.Minute() == minute && at.After(t) {
					return at
				}
			}
		}
	}
	return time.Time{}
}

func (c Expression) onDay(d time.Time) bool {
	if c.months&(1<<int(d.Month())) == 0 {
		return false
	}
	day, weekday := c.days&(1<<d.Day()) != 0, c.weekdays&(1<<int(d.Weekday())) != 0
	if c.anyDay || c.anyWeekday {
		return day && weekday
	}
	return day || weekday
}

// Firings returns the next n matching times after t, or fewer if there are no more.
func (c Expression) Firings(t time.Time, n int) []time.Time {
	var all []time.Time
	for range n {
		if t = c.Next(t); t.IsZero() {
			break
		}
		all = append(all, t)
	}
	return all
}

// Zone returns the time zone with an IANA name; "" means UTC.
//
// Error: [ErrZone].
func Zone(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, fmt.Errorf("%w: %v; they are like Europe/Berlin", ErrZone, trust.Untrusted(name))
	}
	return zone, nil
}
