// Package filterbar is the prompt for filters.
package filterbar

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/eventlog"
	"eventdeck/host/filter"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/persist"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/widget"
)

// says is the text below the filter while nothing is wrong with it.
const says = "enter keep  tab complete  up earlier  esc undo   words !not a|b server: sev: .path>5 since:10m"

// Env is what the filter, the search, and the dialogs of views, marks and columns need.
type Env struct {
	*cells.Env
	widget.Screen
	Stream  *stream.Stream
	Snap    *host.Snapshot
	Persist *persist.Saver
	Log     func() eventlog.Records

	View     func() View // the current view
	OpenView func(View) tea.Cmd

	Goto func(seq uint64) // shows a record in the stream
}

// Bar edits the filter of the stream.
type Bar struct {
	env         *Env
	line        *widget.Prompt // the last prompt for a filter; it may be closed
	before      query.Query    // the query that esc restores
	removed     query.Query    // the filter that was removed last; no text: none
	replacedBy  string         // the filter that replaced removed, "" for none
	completions completions    // the candidates of tab
	seen        *filter.Seen   // the values for completion
}

// New returns a bar.
func New(env *Env) Bar {
	return Bar{env: env}
}

// Typing reports whether the prompt for a filter is open, and which query was shown before.
func (b *Bar) Typing() (before query.Query, typing bool) {
	return b.before, b.line != nil && b.line == b.env.Line()
}

// Open opens the prompt with the present filter selected, so that typing replaces it. The stream shows
// the typed filter as long as it is valid.
func (b *Bar) Open() tea.Cmd {
	s := b.env.Stream
	before, place := s.Query, s.Place()
	b.env.EnterStream()
	b.before, b.completions = before, completions{}
	b.line = &widget.Prompt{
		Label: "/", Says: says, Past: b.env.Persist.Lines.Filters,
		Change:    func(text string) { b.try(before.Node, text) },
		Cancelled: func() { s.ShowAt(before, place) },
		Tab: func() tea.Cmd {
			b.complete()
			return nil
		},
		Done: func(text string) tea.Cmd {
			if b.try(before.Node, text) {
				b.Remember(text)
			}
			s.DropAnchor()
			return nil
		},
	}
	b.env.AskLine(b.line, before.Text)
	b.line.Field.Select()
	b.Count()
	return b.Learn(func() {})
}

// Remember adds a filter to the history.
func (b *Bar) Remember(text string) {
	m := b.env.Persist
	m.Lines.Filters = widget.Remember(m.Lines.Filters, text)
}

// try applies a text if it is a filter. The prompt shows the number of matches, or what is wrong.
func (b *Bar) try(n query.Node, text string) bool {
	line, s := b.env.Line(), b.env.Stream
	q, err := query.New(n, text, b.env.Clock())
	if err != nil {
		if line != nil {
			line.Problem = err.Error()
		}
		return false
	}
	if s.Query.Text != q.Text || s.Query.Node != q.Node || s.Query.Off {
		s.Show(q)
	}
	b.Count()
	if h, ok := filter.HintOf(text, b.seen); ok && line != nil {
		line.Warning = h.Says
		if h.Meant != "" {
			line.Warning = "tab: " + h.Meant + "   (" + h.Says + ")"
		}
	}
	return true
}

// Hint explains how a filter without matches was understood, if that is probably not what was meant;
// nil otherwise.
func (b *Bar) Hint() []string {
	q := b.env.Stream.Query
	h, ok := filter.HintOf(q.Text, b.seen)
	if !ok || q.Off {
		return nil
	}
	return []string{cells.Sentence(h.Says), h.Meant, ""}
}

// Count shows the number of matches in the prompt, and how far back the search has come. It does
// nothing while the prompt is closed.
func (b *Bar) Count() {
	if _, typing := b.Typing(); !typing || len(b.completions.list) > 0 && b.line.Says == b.completions.words() {
		return
	}
	s := b.env.Stream
	if b.line.Says = says; !s.Query.Filters() {
		return
	}
	n := cells.Number(uint64(len(s.Seqs)))
	back, searching := s.Searching()
	words := n + " shown"
	switch {
	case searching && back.IsZero():
		words = "searching, " + n + " so far"
	case searching:
		words = "searching, back to " + b.env.Moment(back) + ", " + n + " so far"
	case !s.Oldest && len(s.Seqs) > 0:
		words = n + "+ shown"
	}
	b.line.Says = words + "   " + says
}

// Take shows a query, and remembers its filter. was is the filter that it replaces, "" for none;
// [Bar.Toggle] brings it back.
func (b *Bar) Take(q query.Query, was string) {
	if b.replacedBy = ""; was != "" {
		b.removed, b.replacedBy = b.env.Stream.Query, q.Text
		b.removed.Off = false
	}
	b.Remember(q.Text)
	b.env.ShowQuery(q)
}

// Toggle brings back the filter that the present one has replaced, else turns the present one off or
// on. Without a filter it brings back the one that was removed last.
func (b *Bar) Toggle() {
	q := b.env.Stream.Query
	switch {
	case q.Text != "" && q.Text == b.replacedBy:
		b.replacedBy = ""
		b.env.ShowQuery(b.removed)
		b.env.Tell("filter " + cells.Sanitize(b.removed.Text).Plain() + " is back")
	case q.Text != "":
		b.setOff(!q.Off)
	case b.removed.Text != "":
		b.env.Stream.Show(b.removed.At(q.Node))
	default:
		b.env.Tell("there is no filter to turn off; " + b.env.KeyOf("filter") + " makes one")
	}
}

// setOff turns the filter off or on.
func (b *Bar) setOff(off bool) {
	q := b.env.Stream.Query
	q.Off = off
	b.env.Stream.Show(q)
	if off {
		b.env.Tell("the filter is off, and kept")
	}
}

// Clear removes the filter; [Bar.Toggle] brings it back.
func (b *Bar) Clear() {
	s := b.env.Stream
	b.removed, b.replacedBy = s.Query, ""
	b.removed.Off = false
	s.Show(query.Query{Node: s.Query.Node})
	b.env.Tell("the filter is gone; " + b.env.KeyOf("filter.toggle") + " brings it back")
}
