package engine

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// prefixSpend begins the keys of amounts. A day in UTC, a slash and the rule follow; the value
// is micro-dollars, reservations included. They are not in the table spend, where older
// releases expect only starts.
const prefixSpend = "spend/"

// spendDays is for how many days amounts are kept. Days in the future count too: a wrong clock
// frees no money.
const spendDays = 31

// spending is what rules spent and reserved, in micro-dollars.
type spending struct {
	days map[string]map[string]int64
	out  map[stepID]reservation
}

// stepID identifies a step among all runs.
type stepID struct {
	run react.RunID
	n   int
}

// reservation is the upper bound of the cost of a pending call.
type reservation struct {
	day, rule string
	micro     int64
}

func dayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// pay adds an amount to a day; a negative amount releases a reservation.
func (s *spending) pay(day, rule string, micro int64) {
	rules := s.days[day]
	if rules == nil {
		rules = map[string]int64{}
		s.days[day] = rules
	}
	rules[rule] = changed(rules[rule], micro)
}

// changed adds a change to an amount, which stays between 0 and the largest number.
func changed(amount, by int64) int64 {
	if by < 0 {
		return max(0, amount+by)
	}
	return react.Sum(amount, by)
}

// on returns what a rule and all rules spent on a day. Reservations of other days count too, so
// that a jump of the clock frees none.
func (s *spending) on(day, rule string) (own, all int64) {
	for name, micro := range s.days[day] {
		all = react.Sum(all, micro)
		if name == rule {
			own = react.Sum(own, micro)
		}
	}
	for _, r := range s.out {
		if r.day == day {
			continue
		}
		all = react.Sum(all, r.micro)
		if r.rule == rule {
			own = react.Sum(own, r.micro)
		}
	}
	return own, all
}

// forget removes the oldest days and returns their keys.
func (s *spending) forget() (gone []string) {
	for len(s.days) > spendDays {
		oldest := ""
		for day := range s.days {
			if oldest == "" || day < oldest {
				oldest = day
			}
		}
		for rule := range s.days[oldest] {
			gone = append(gone, spendKey(oldest, rule))
		}
		delete(s.days, oldest)
	}
	return gone
}

func spendKey(day, rule string) string { return prefixSpend + day + "/" + rule }

// pay adds an amount to a day, and stages it.
func (e *Engine) pay(day, rule string, micro int64) {
	e.spent.pay(day, rule, micro)
	mark(&e.staged.spent, day+"/"+rule)
}

// putSpent returns the entry of an amount. key is DAY/RULE.
func (e *Engine) putSpent(key string) event.JournalEntry {
	day, rule, _ := strings.Cut(key, "/")
	return event.JournalEntry{Table: event.TableReact, Key: prefixSpend + key, Value: strconv.AppendInt(nil, e.spent.days[day][rule], 10)}
}

func (e *Engine) loadSpent(key string, value []byte) error {
	day, rule, _ := strings.Cut(key, "/")
	micro, err := strconv.ParseInt(string(value), 10, 64)
	if err == nil {
		e.spent.pay(day, rule, micro)
	}
	return err
}

// spendLimit is what all rules together may spend a day.
func (e *Engine) spendLimit() int64 {
	return cmp.Or(e.set.File.Limits.Spend, react.DaySpend)
}
