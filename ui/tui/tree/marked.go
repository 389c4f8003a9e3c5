package tree

import (
	"cmp"
	"slices"

	"eventdeck/ui/tui/query"
)

// Mark marks the chosen event type, or removes its mark, and returns the number of marked types.
// Marked types are subscribed to together.
func (t *Tree) Mark() int {
	if t.marked == nil {
		t.marked = map[query.Node]bool{}
	}
	if t.marked[t.At] {
		delete(t.marked, t.At)
	} else {
		t.marked[t.At] = true
	}
	t.Redraw()
	return len(t.marked)
}

// Marked returns the marked event types, sorted by server and name.
func (t *Tree) Marked() []query.Node {
	var out []query.Node
	for n := range t.marked {
		out = append(out, n)
	}
	slices.SortFunc(out, func(x, y query.Node) int {
		return cmp.Or(cmp.Compare(x.Server, y.Server), cmp.Compare(x.Type.Raw(), y.Type.Raw()))
	})
	return out
}

// Unmark removes all marks.
func (t *Tree) Unmark() {
	t.marked = nil
	t.Redraw()
}
