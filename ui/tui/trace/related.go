package trace

import (
	"context"
	"errors"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/filter"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/compare"
	"eventdeck/ui/tui/related"
	"eventdeck/ui/tui/top"
	"eventdeck/ui/tui/widget"
	"eventdeck/ui/tui/words"
)

func (d *Desk) forRelated() *related.Env {
	return &related.Env{Env: d.env.Env, Screen: d.env.Screen, Log: d.env.Log, Goto: d.env.Goto}
}

// Related shows everything that shares the value.
func (d *Desk) Related() tea.Cmd {
	return d.withValue("show everything that shares it", func(term string, text trust.Text) tea.Cmd {
		return d.showRelated(term, "Related: "+trust.Line(text).Plain())
	})
}

func (d *Desk) showRelated(term, title string) tea.Cmd {
	f, err := filter.Parse(term, d.env.Clock())
	if err != nil {
		d.env.Fail("cannot look for the value", err)
		return nil
	}
	return related.Open(d.forRelated(), related.Request{Title: title, Match: f.Match, At: d.env.Stream.At})
}

// Repeats shows what the stream shows, with repeats folded.
func (d *Desk) Repeats() tea.Cmd {
	q := d.env.Stream.Query
	return related.Open(d.forRelated(), related.Request{Title: "What is shown", Match: func(r *event.Record) bool {
		return r.Kind != event.KindState && q.Matches(r)
	}, At: d.env.Stream.At, Fold: true})
}

// RunRelated does what a typed line asks: it shows what shares its words, or the chosen value.
// Error: that there is no value.
func (d *Desk) RunRelated(words []string) (tea.Cmd, error) {
	if len(words) == 0 {
		if !d.hasValue() {
			return nil, errors.New(d.noValue())
		}
		return d.Related(), nil
	}
	text := strings.Join(words, " ")
	return d.showRelated(filter.ValueTerm(trust.Untrusted(text)), "Related: "+cells.Sanitize(text).Plain()), nil
}

// RunTop shows the most frequent values of the path that a typed line names.
// Errors: [words.ErrUsage], that it is no path.
func (d *Desk) RunTop(typed []string) (tea.Cmd, error) {
	if len(typed) != 1 {
		return nil, words.ErrUsage
	}
	path, err := filter.ParsePath(typed[0])
	if err != nil {
		return nil, err
	}
	q := d.env.Stream.Query
	return top.Open(&top.Env{Env: d.env.Env, Screen: d.env.Screen, Log: d.env.Log, Filter: func(term string) tea.Cmd {
		d.useTerm(q.Node, filter.With(d.env.Stream.Query.Text, term, false), "")
		return nil
	}}, path, q.Matches), nil
}

// Compare compares the chosen event with the one that was chosen for it before, or
// the ends of the range.
func (d *Desk) Compare() tea.Cmd {
	first, second := d.Comparing, d.env.Stream.At
	if d.env.Stream.Selected.On && !d.env.Stream.Selected.All {
		first, second = d.env.Stream.Ends()
	}
	if first == 0 || first == second {
		d.Comparing = d.env.Stream.At
		d.env.Tell("record " + cells.Number(d.Comparing) + " is to be compared: choose another, and " + d.env.KeyOf("compare") + " again; " + d.env.KeyOf("back") + " ends it")
		return nil
	}
	d.Comparing = 0
	return d.compareRecords(first, second)
}

// compareRecords reads two records and shows what differs.
func (d *Desk) compareRecords(first, second uint64) tea.Cmd {
	log := d.env.Log()
	return d.env.Do(func(context.Context) tea.Msg {
		x, err := log.Get(first)
		y, err2 := log.Get(second)
		return widget.Then(func() tea.Cmd {
			if err := errors.Join(err, err2); err != nil {
				d.env.Fail("cannot compare", err)
				return nil
			}
			compare.Open(d.env.Env, d.env.Screen, &x, &y)
			return nil
		})
	})
}

// RunCompare shows what differs between the two records that a typed line names.
// Error: [words.ErrUsage].
func (d *Desk) RunCompare(typed []string) (tea.Cmd, error) {
	if len(typed) != 2 {
		return nil, words.ErrUsage
	}
	var seqs [2]uint64
	for i, w := range typed {
		seq, err := strconv.ParseUint(strings.TrimPrefix(w, "#"), 10, 64)
		if err != nil {
			return nil, words.ErrUsage
		}
		seqs[i] = seq
	}
	return d.compareRecords(seqs[0], seqs[1]), nil
}
