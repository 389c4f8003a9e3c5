package palette

import (
	"slices"
	"strings"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
)

// Hints draws a line of w cells with the keys that work: the second keys of a sequence that was
// begun, else pairs (key, label, key, label, …) unless nil, else the actions of the panes.
func (t *Table) Hints(theme *themes.Theme, w int, pairs []string) string {
	c := &t.hints
	c.Begin(theme, w)
	switch {
	case t.Chord != "":
		t.hintChords(c)
	case pairs != nil:
		for i := 0; i+1 < len(pairs); i += 2 {
			hint(c, pairs[i], pairs[i+1])
		}
	default:
		t.hintActions(c)
	}
	c.End()
	return c.Top()
}

// hintActions draws the actions that work in the panes. It reserves room for the palette, help and
// quit, and in the detail, which has many keys, for its tabs.
func (t *Table) hintActions(c *cells.Canvas) {
	ends := []*Action{t.Find("palette"), t.Find("help"), t.Find("quit")}
	if x := t.Find("tab.previous"); t.Focus() == layout.Detail && t.Works(x) {
		ends = slices.Insert(ends, 0, x)
	}
	kept := 0
	for _, x := range ends {
		kept += len(t.hintKey(x)) + len(x.hint()) + 3
	}
	c.Room -= kept
	menu := ""
	for i := range t.Actions {
		x := &t.Actions[i]
		if x.Menu == "" && x.Hint == "" || slices.Contains(ends, x) {
			continue
		}
		first, _, two := strings.Cut(x.Key(), " ")
		switch {
		case two && (x.Menu == "" || first == menu), !two && x.Hint == "", !t.Works(x):
		case two:
			menu = first
			hint(c, first, x.Menu)
		default:
			hint(c, t.hintKey(x), x.hint())
		}
	}
	c.Room += kept
	for _, x := range ends {
		hint(c, t.hintKey(x), x.hint())
	}
}

// hintKey returns the key of an action for the hints, with that of its opposite.
func (t *Table) hintKey(x *Action) string {
	if x.Twin == "" {
		return x.Key()
	}
	if other := t.Find(x.Twin); other != nil {
		return strings.TrimSpace(x.Key() + " " + other.Key())
	}
	return x.Key()
}

// hintChords draws the second keys of the sequence that was begun.
func (t *Table) hintChords(c *cells.Canvas) {
	for i := range t.Actions {
		x := &t.Actions[i]
		if !t.Works(x) {
			continue
		}
		word := x.Hint
		if word == "" {
			word = x.Title
		}
		for _, k := range x.Keys {
			if second, ok := strings.CutPrefix(k, t.Chord+" "); ok {
				hint(c, second, word)
				break
			}
		}
	}
	hint(c, "esc", "back")
}

// hint draws a key and its label if both are there and fit.
func hint(c *cells.Canvas, key, word string) {
	if key == "" || word == "" || c.Room < len(key)+len(word)+3 {
		return
	}
	c.Put(themes.Key, " ")
	c.Put(themes.Key, key)
	c.Put(themes.Dim, " ")
	c.Put(themes.Dim, word)
	c.Put(themes.Dim, " ")
}
