package trace

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/filter"
	"eventdeck/host/trust"
	"eventdeck/ui/incidents"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// noValue says that the chosen row or line has no value to act on.
func (t *Tracer) noValue() string {
	if says := t.env.NoValue(); says != "" {
		return says
	}
	return "no id was found in the chosen row (" + t.env.RowName() + "); open it and choose a line with a value"
}

// withValue calls then with the value to act on: that of the chosen line of the detail pane, else an
// id of the chosen event. If several ids may be meant, the operator chooses one; does says what
// happens to the value.
func (t *Tracer) withValue(does string, then func(term string, text trust.Text) tea.Cmd) tea.Cmd {
	if term, text, ok := t.env.Value(); ok {
		return then(term, text)
	}
	ids, clear := t.chosenIDs()
	take := func(id incidents.ID) tea.Cmd { return then(filter.ValueTerm(id.Text), id.Text) }
	switch {
	case len(ids) == 0:
		t.env.Screen.Tell(t.noValue())
		return nil
	case clear:
		return take(ids[0])
	}
	rows := make([]widget.Row, len(ids))
	for i, id := range ids {
		rows[i] = widget.Row{Name: trust.Line(id.Path), Value: trust.Line(id.Text)}
	}
	t.env.Screen.Show(&widget.Numbered{Screen: t.env.Screen, Glyphs: t.env.Glyphs, Head: "Which value?", Says: does, Rows: rows, Take: func(i int) tea.Cmd { return take(ids[i]) }})
	return nil
}

// hasValue reports whether there is a value to act on.
func (t *Tracer) hasValue() bool {
	if _, _, ok := t.env.Value(); ok {
		return true
	}
	ids, _ := t.chosenIDs()
	return len(ids) > 0
}

// How says how a value changes the filter.
type How uint8

// The ways to filter by a value.
const (
	Only How = iota // only records with the value, in place of the present filter
	Not             // in addition, only records without the value
	Too             // in addition, only records with the value
)

// Follow filters by the value. [Only] searches it at all servers, whatever its member is called. The
// focus does not change, so that another value can follow.
func (t *Tracer) Follow(how How) tea.Cmd {
	does := [...]string{Only: "show only what has it", Not: "leave out what has it", Too: "add it to the filter"}[how]
	return t.withValue(does, func(term string, _ trust.Text) tea.Cmd {
		if how == Only {
			t.useTerm(query.Node{}, term, t.env.Stream.Query.Text)
		} else {
			t.narrow(term, how == Not)
		}
		return nil
	})
}

// Hide adds a term to the filter that excludes its matches.
func (t *Tracer) Hide(term string) { t.narrow(term, true) }

// narrow adds a term to the filter, negated for not.
func (t *Tracer) narrow(term string, not bool) {
	q, was := t.env.Stream.Query, ""
	if q.Off {
		q.Text, was = "", q.Text
	}
	t.useTerm(q.Node, filter.With(q.Text, term, not), was)
}

// wasMax is the largest width of a replaced filter in the message, in cells.
const wasMax = 40

// useTerm applies a filter to a node and remembers it. It names the filter that it replaces, was, if
// that differs.
func (t *Tracer) useTerm(node query.Node, text, was string) {
	q, err := query.New(node, text, t.env.Clock())
	if err != nil {
		t.env.Screen.Fail("cannot filter by the value", err)
		return
	}
	if was == text {
		was = ""
	}
	t.env.Filter(q, was)
	told := "filter " + cells.Sanitize(text).Plain() + "; "
	if was == "" {
		told += t.env.Screen.KeyOf("back") + " takes it away"
	} else {
		told += "filter was " + cells.Sanitize(was).Clip(wasMax).Plain() + "; " + t.env.Screen.KeyOf("filter.toggle") + " brings it back"
	}
	t.env.Screen.Tell(told)
}

// Pin highlights the value in all payloads, or ends that. A new pin replaces the oldest one if there
// are [cells.PinsMax] of them.
func (t *Tracer) Pin() tea.Cmd {
	return t.withValue("pin it, or take its pin away", func(_ string, text trust.Text) tea.Cmd {
		if plain := trust.Line(text).Plain(); plain != "" {
			t.pin(plain)
		} else {
			t.env.Screen.Tell(t.noValue())
		}
		return nil
	})
}

func (t *Tracer) pin(plain string) {
	pin := strings.ToLower(plain)
	pins := slices.DeleteFunc(slices.Clone(t.env.Pins), func(p string) bool { return p == pin })
	if len(pins) < len(t.env.Pins) {
		t.env.Screen.Tell(plain + " is not pinned any more")
	} else {
		pins = append(pins[max(0, len(pins)+1-cells.PinsMax):], pin)
		t.env.Screen.Tell(plain + " is pinned; " + t.env.Screen.KeyOf("value.pin") + " again takes the pin away")
	}
	t.env.Pin(pins)
}
