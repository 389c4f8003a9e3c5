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
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/widget"
)

// Related shows the records that share the value.
func (t *Tracer) Related() tea.Cmd {
	return t.withValue("show everything that shares it", func(term string, text trust.Text) tea.Cmd {
		return t.showRelated(term, "Related: "+trust.Line(text).Plain())
	})
}

func (t *Tracer) showRelated(term, title string) tea.Cmd {
	f, err := filter.Parse(term, t.env.Clock())
	if err != nil {
		t.env.Screen.Fail("cannot look for the value", err)
		return nil
	}
	return OpenRelated(&t.env, Request{Title: title, Match: f.Match, At: t.env.Stream.At})
}

// Repeats shows the records of the stream with repeats folded.
func (t *Tracer) Repeats() tea.Cmd {
	q := t.env.Stream.Query
	return OpenRelated(&t.env, Request{Title: "What is shown", Match: func(r *event.Record) bool {
		return r.Kind != event.KindState && q.Matches(r)
	}, At: t.env.Stream.At, Fold: true})
}

// RunRelated shows the records that share the typed words, or without any the chosen value. Error:
// there is no value.
func (t *Tracer) RunRelated(words []string) (tea.Cmd, error) {
	if len(words) == 0 {
		if !t.hasValue() {
			return nil, errors.New(t.noValue())
		}
		return t.Related(), nil
	}
	text := strings.Join(words, " ")
	return t.showRelated(filter.ValueTerm(trust.Untrusted(text)), "Related: "+cells.Sanitize(text).Plain()), nil
}

// ErrNoPath: a line names no path.
var ErrNoPath = errors.New("a path is needed, such as .service")

// RunTop shows the most frequent values of the typed path.
//
// Errors: [ErrNoPath], [evidence.ErrUsage], those of [filter.ParsePath].
func (t *Tracer) RunTop(typed []string) (tea.Cmd, error) {
	switch len(typed) {
	case 0:
		return nil, ErrNoPath
	case 1:
	default:
		return nil, evidence.ErrUsage
	}
	path, err := filter.ParsePath(typed[0])
	if err != nil {
		return nil, err
	}
	q := t.env.Stream.Query
	return OpenTop(&t.env, func(term string) tea.Cmd {
		t.useTerm(q.Node, filter.With(t.env.Stream.Query.Text, term, false), "")
		return nil
	}, path, q.Matches), nil
}

// Compare compares the ends of the selection, or the chosen event with the one for which Compare was
// called before.
func (t *Tracer) Compare() tea.Cmd {
	first, second := t.Comparing, t.env.Stream.At
	if t.env.Stream.Selected.On && !t.env.Stream.Selected.All {
		first, second = t.env.Stream.Ends()
	}
	if first == 0 || first == second {
		t.Comparing = t.env.Stream.At
		t.env.Screen.Tell("record " + cells.Number(t.Comparing) + " is to be compared: choose another, and " + t.env.Screen.KeyOf("compare") + " again; " + t.env.Screen.KeyOf("back") + " ends it")
		return nil
	}
	t.Comparing = 0
	return t.compareRecords(first, second)
}

// compareRecords reads two records and shows their differences.
func (t *Tracer) compareRecords(first, second uint64) tea.Cmd {
	log := t.env.Log()
	return t.env.Screen.Do(func(context.Context) tea.Msg {
		x, err := log.Get(first)
		y, err2 := log.Get(second)
		return widget.Then(func() tea.Cmd {
			if err := errors.Join(err, err2); err != nil {
				t.env.Screen.Fail("cannot compare", err)
				return nil
			}
			OpenComparison(t.env.Env, t.env.Screen, &x, &y)
			return nil
		})
	})
}

// RunCompare shows the differences between two typed records. Error: [evidence.ErrUsage].
func (t *Tracer) RunCompare(typed []string) (tea.Cmd, error) {
	if len(typed) != 2 {
		return nil, evidence.ErrUsage
	}
	var seqs [2]uint64
	for i, w := range typed {
		seq, err := strconv.ParseUint(strings.TrimPrefix(w, "#"), 10, 64)
		if err != nil {
			return nil, evidence.ErrUsage
		}
		seqs[i] = seq
	}
	return t.compareRecords(seqs[0], seqs[1]), nil
}
