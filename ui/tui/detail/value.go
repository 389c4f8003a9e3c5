package detail

import (
	"eventdeck/host/filter"
	"eventdeck/host/trust"
)

// HasValue reports whether the chosen line has a value.
func (d *Pane) HasValue() bool {
	l := d.Chosen()
	return l != nil && (l.term != "" || l.value > 0)
}

// Value returns the value of the chosen line and the term of a filter that matches it; ok is
// false if the line has no value.
func (d *Pane) Value() (term string, text trust.Text, ok bool) {
	l := d.Chosen()
	switch {
	case l == nil:
		return "", trust.Text{}, false
	case l.term != "":
		return l.term, l.said, true
	case l.value == 0:
		return "", trust.Text{}, false
	}
	r, ok := d.Payload()
	if !ok {
		return "", trust.Text{}, false
	}
	return filter.TermAt(capped(PayloadOf(&r)), l.value-1)
}
