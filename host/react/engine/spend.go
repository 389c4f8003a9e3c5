package engine

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// prefixSpend begins the keys of what was spent: a day in UTC, a slash and the rule. The
// value are micro-dollars, with what is reserved for calls that are out. It is not in the
// table spend: releases that know starts alone would take it for those.
const prefixSpend = "spend/"

// spendDays is of how many days it is known what was spent. Days that have not come yet
// count too: a clock that was wrong frees nothing.
const spendDays = 31

// spending is what rules spent, by day and rule, in micro-dollars.
type spending struct {
	days map[string]map[string]int64
	out  map[stepID]reservation
}

// stepID names a step of all runs.
type stepID struct {
	run react.RunID
	n   int
}

// reservation is what a call that is out may cost.
type reservation struct {
	day, rule string
	micro     int64
}

func dayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// pay adds what was spent on a day; less than nothing gives a reservation back.
func (s *spending) pay(day, rule string, micro int64) {
	rules := s.days[day]
	if rules == nil {
		rules = map[string]int64{}
		s.days[day] = rules
	}
	rules[rule] = changed(rules[rule], micro)
}

// changed returns an amount after a change, between nothing and the largest number.
func changed(amount, by int64) int64 {
	if by < 0 {
		return max(0, amount+by)
	}
	return react.Sum(amount, by)
}

// on returns what a rule and all rules spent on a day. What is reserved since another day
// counts as well: a clock that jumps frees no reservation.
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

// pay stages what was spent.
func (e *Engine) pay(day, rule string, micro int64) {
	e.spent.pay(day, rule, micro)
	mark(&e.staged.spent, day+"/"+rule)
}

// putSpent returns what is stored under a key without its prefix.
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
