package incidents

import (
	"cmp"
	"slices"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// Lane has the entries of one type of one server, in order of time.
type Lane struct {
	Server  string
	Type    trust.Text
	Entries []int // indexes in the argument of [Lanes]
}

// Lanes groups entries in order of time into lanes, in order of their first entries.
func Lanes(entries []Entry) []Lane {
	type key struct {
		server string
		typ    trust.Text
	}
	at := map[key]int{}
	var lanes []Lane
	for i := range entries {
		k := key{entries[i].Server, entries[i].Type}
		n, ok := at[k]
		if !ok {
			n = len(lanes)
			at[k] = n
			lanes = append(lanes, Lane{Server: k.server, Type: k.typ})
		}
		lanes[n].Entries = append(lanes[n].Entries, i)
	}
	return lanes
}

// Run is a run of consecutive equal entries.
type Run struct{ First, Last int } // indexes in the argument of [Fold]

// Count returns the number of entries.
func (r Run) Count() int { return r.Last - r.First + 1 }

// Span returns the time from the first to the last entry.
func (r Run) Span(entries []Entry) time.Duration {
	return entries[r.Last].At.Sub(entries[r.First].At)
}

// Fold groups consecutive equal entries: events of one server and type, with equal severity and
// summary. Gaps and refusals are not grouped.
func Fold(entries []Entry) []Run {
	var runs []Run
	for i := range entries {
		if n := len(runs); n > 0 && same(&entries[runs[n-1].Last], &entries[i]) {
			runs[n-1].Last = i
			continue
		}
		runs = append(runs, Run{i, i})
	}
	return runs
}

func same(a, b *Entry) bool {
	return a.Kind == event.KindEvent && b.Kind == event.KindEvent && a.Server == b.Server && a.Type == b.Type &&
		a.Severity == b.Severity && a.Summary == b.Summary && !a.Summary.IsZero()
}

// Value is a value with its number of records.
type Value struct {
	Text  trust.Text
	Count int
}

// valuesMax bounds the values that are counted separately.
const valuesMax = 20_000

// Tally counts values. The zero Tally is empty; one goroutine at a time may use it.
type Tally struct {
	counts  map[trust.Text]int
	Records int // with or without a value
	Without int // records without a value
	Other   int // records with values beyond valuesMax
}

// Add counts the value of one record; has is false if it has none.
func (t *Tally) Add(value trust.Text, has bool) {
	t.Records++
	if !has {
		t.Without++
		return
	}
	if _, known := t.counts[value]; !known && len(t.counts) >= valuesMax {
		t.Other++
		return
	}
	if t.counts == nil {
		t.counts = map[trust.Text]int{}
	}
	t.counts[value]++
}

// Top returns the most frequent values, at most most, and the number of distinct ones.
func (t *Tally) Top(most int) (top []Value, distinct int) {
	for text, n := range t.counts {
		top = append(top, Value{text, n})
	}
	slices.SortFunc(top, func(a, b Value) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text.Raw(), b.Text.Raw()))
	})
	return top[:min(len(top), max(most, 0))], len(top)
}
