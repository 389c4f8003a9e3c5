package tui

import (
	"slices"
	"strings"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// drawHints shows the keys that work: in the dialog, after the first of two
// keys, or in the panes.
func (a *app) drawHints() string {
	c := &a.hintses
	c.Begin(&a.Theme, a.w)
	switch {
	case a.chord != "":
		a.hintChords(c)
	case a.dialog != nil:
		h := a.dialog.Hints()
		for i := 0; i+1 < len(h); i += 2 {
			hint(c, h[i], h[i+1])
		}
	default:
		a.hintActions(c)
	}
	c.End()
	return c.Top()
}

// hintActions hints what works in the panes. The palette, help and quit always have room.
func (a *app) hintActions(c *cells.Canvas) {
	ends := []*action{a.action("palette"), a.action("help"), a.action("quit")}
	kept := 0
	for _, x := range ends {
		kept += len(x.key()) + len(x.hint) + 3
	}
	c.Room -= kept
	menu := ""
	for i := range a.actions {
		x := &a.actions[i]
		first, _, two := strings.Cut(x.key(), " ")
		switch {
		case slices.Contains(ends, x) || !x.works(a):
		case two && x.menu != "" && first != menu:
			menu = first
			hint(c, first, x.menu)
		case !two && x.hint != "":
			hint(c, x.key(), x.word(a))
		}
	}
	c.Room += kept
	for _, x := range ends {
		hint(c, x.key(), x.hint)
	}
}

// hintChords names the second keys of the actions whose first one was pressed.
func (a *app) hintChords(c *cells.Canvas) {
	for i := range a.actions {
		x := &a.actions[i]
		if !x.works(a) {
			continue
		}
		word := x.hint
		if word == "" {
			word = x.title
		}
		for _, k := range x.keys {
			if second, ok := strings.CutPrefix(k, a.chord+" "); ok {
				hint(c, second, word)
				break
			}
		}
	}
	hint(c, "esc", "back")
}

// hint names a key and what it does. An action without a key is not hinted.
func hint(c *cells.Canvas, key, word string) {
	if key == "" || c.Room < len(key)+len(word)+2 {
		return
	}
	c.Put(themes.Key, " ")
	c.Put(themes.Key, key)
	c.Put(themes.Dim, " ")
	c.Put(themes.Dim, word)
	c.Put(themes.Dim, " ")
}

// bottom lays what is asked of the operator over the last lines of the frame: a
// prompt, or the second keys where hints have no line of their own.
func (a *app) bottom(lines []string) {
	n := len(lines)
	switch {
	case a.prompt != nil && n >= 2:
		copy(lines[n-2:], a.drawPrompt(n-2))
	case a.chord != "" && a.lay.Hints.Empty() && n >= 1:
		lines[n-1] = a.drawHints()
	}
}
