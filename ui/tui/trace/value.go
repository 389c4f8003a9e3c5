package trace

import (
	"slices"
	"strings"

	"eventdeck/host/filter"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
)

// noValue says that the keys for values have none to act on, and in which row.
func (d *Desk) noValue() string {
	return "no id was found in the chosen row (" + d.env.RowName() + "); open it and choose a line with a value"
}

// value is what the keys for values are about: that of the detail's chosen line, else the
// id that says best what the chosen event belongs to.
func (d *Desk) value() (term string, text trust.Text, ok bool) {
	if term, text, ok = d.env.Value(); ok {
		return term, text, true
	}
	if text, ok = d.chosenID(); !ok {
		return "", trust.Text{}, false
	}
	return filter.ValueTerm(text), text, true
}

// How says what becomes of the filter with a value.
type How uint8

// The ways to filter by a value.
const (
	Only How = iota // what has the value, whatever else was filtered
	Not             // and not what has it
	Too             // and only what has it
)

// Follow filters by the value. It is looked for at all servers, as each names it
// differently. The keys stay where they are, so that another value can follow.
func (d *Desk) Follow(how How) {
	term, _, ok := d.value()
	if !ok {
		d.env.Tell(d.noValue())
		return
	}
	if how == Only {
		d.useTerm(query.Node{}, term)
		return
	}
	d.narrow(term, how == Not)
}

// Hide leaves out what a term takes, besides what was filtered.
func (d *Desk) Hide(term string) { d.narrow(term, true) }

// narrow adds a term to the filter, or for not that it is left out.
func (d *Desk) narrow(term string, not bool) {
	q := d.env.Stream.Query
	if q.Off {
		q.Text = ""
	}
	d.useTerm(q.Node, filter.With(q.Text, term, not))
}

// useTerm shows what a filter takes at a node, and remembers the filter.
func (d *Desk) useTerm(node query.Node, text string) {
	q, err := query.New(node, text, d.env.Clock())
	if err != nil {
		d.env.Fail("cannot filter by the value", err)
		return
	}
	d.env.Filter(q)
	d.env.Tell("filter " + cells.Sanitize(text).Plain() + "; " + d.env.KeyOf("back") + " takes it away")
}

// Pin has the value stand out wherever payloads are shown, or no longer. The oldest
// pin makes room for a new one.
func (d *Desk) Pin() {
	_, text, ok := d.value()
	plain := trust.Line(text).Plain()
	if !ok || plain == "" {
		d.env.Tell(d.noValue())
		return
	}
	pin := strings.ToLower(plain)
	pins := slices.DeleteFunc(slices.Clone(d.env.Pins), func(p string) bool { return p == pin })
	if len(pins) < len(d.env.Pins) {
		d.env.Tell(plain + " is not pinned any more")
	} else {
		pins = append(pins[max(0, len(pins)+1-cells.PinsMax):], pin)
		d.env.Tell(plain + " is pinned; " + d.env.KeyOf("value.pin") + " again takes the pin away")
	}
	d.env.Pin(pins)
}
