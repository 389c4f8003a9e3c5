package filter

import "eventdeck/host/trust"

// Demand is a value that the payload of every matching record has at a path.
type Demand struct {
	Path  *Path
	Wants string // as typed
	want  *member
}

// Takes reports whether a text at the path satisfies the demand.
func (d Demand) Takes(text trust.Text) bool {
	begins := byte('"')
	if number(text.Raw()) {
		begins = '0'
	}
	return d.want.holds(text.Raw(), begins)
}

// Demands returns the values that every matching record has.
func (f *Filter) Demands() []Demand {
	if f.Everything() {
		return nil
	}
	parts := []node{f.root}
	if all, ok := f.root.(allOf); ok {
		parts = all
	}
	var out []Demand
	for _, n := range parts {
		if m, ok := n.(*member); ok && !m.meta && m.op == opEqual && m.want.re == nil {
			out = append(out, Demand{Path: &Path{m.path}, Wants: m.want.word.text, want: m})
		}
	}
	return out
}

// Paths returns the paths into the payload that the filter uses.
func (f *Filter) Paths() []*Path {
	var out []*Path
	f.each(func(n node) {
		if m, ok := n.(*member); ok && !m.meta {
			out = append(out, &Path{m.path})
		}
	})
	return out
}

// Timed reports whether the filter depends on when a record was received.
func (f *Filter) Timed() bool {
	timed := false
	f.each(func(n node) {
		_, ok := n.(*moment)
		timed = timed || ok
	})
	return timed
}

// each calls fn for every leaf of the filter.
func (f *Filter) each(fn func(node)) {
	if f.Everything() {
		return
	}
	var walk func(node)
	walk = func(n node) {
		switch n := n.(type) {
		case allOf:
			for _, part := range n {
				walk(part)
			}
		case oneOf:
			for _, part := range n {
				walk(part)
			}
		case invert:
			walk(n.of)
		default:
			fn(n)
		}
	}
	walk(f.root)
}

// Names returns the names of members on the path, without array indexes.
func (p *Path) Names() []string {
	var names []string
	for _, s := range p.path {
		if s.index < 0 {
			names = append(names, s.name)
		}
	}
	return names
}
