package form

import (
	"slices"
	"strings"

	"eventdeck/host/schema"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/form"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// drawEntry writes a field: its name, its value and what is wrong with it. If the form is roomy or the
// field has the focus, it also writes the server's description.
func (f *Form) drawEntry(c *cells.Canvas, e *form.Entry, on, roomy bool) {
	name := e.Name()
	label := cells.Sanitize("Arguments")
	if !name.IsZero() {
		label = trust.Line(trust.Untrusted(depthOf(e.Depth) + name.Raw()))
		if f.needed(e) {
			label = trust.Line(trust.Untrusted(depthOf(e.Depth) + name.Raw() + " *"))
		}
	}
	f.label(c, on, label)
	switch {
	case e.Null():
		c.Put(themes.Strong, "null")
		c.End()
	case e.Chooses():
		chips := make([]chip, len(e.Choices))
		sent := -1 // the choice that is sent by default
		if e.Required && !e.Set() && e.Kind != schema.FieldEnums {
			sent = e.DefaultChoice()
		}
		for i, ch := range e.Choices {
			chips[i] = chip{label: trust.Line(ch.Label), on: e.Picked(i) || i == sent, cursor: on && i == f.chip}
		}
		f.drawChips(c, chips, e.Kind == schema.FieldEnums)
	case e.Lines():
		f.drawLines(c, e, on)
	default:
		f.drawBox(c, on, f.shownText(e), placeholder(e))
	}
	if e.Means() != "" {
		c.Put(themes.Plain, "     = ")
		c.Safe(themes.Good, cells.Sanitize(e.Means()).Clip(c.Room))
		c.End()
	}
	if why := f.problemOf(e); why != "" {
		f.remark(c, themes.Bad, why)
	}
	if on || roomy {
		if !e.Description.IsZero() {
			f.serverText(c, e.Description, 2)
		}
		if hint := about(e); !hint.IsZero() {
			f.serverText(c, hint, 2)
		}
	}
}

// needed reports whether a field must be filled in. The required members of an optional object are
// needed once another member of it is filled in.
func (f *Form) needed(e *form.Entry) bool {
	if !e.Required {
		return false
	}
	for _, h := range f.model.Entries() {
		if h.Heading && !h.Required && below(e, h) && !f.begins(h) {
			return false
		}
	}
	return true
}

// below reports whether an entry belongs to a heading.
func below(e, h *form.Entry) bool {
	return len(e.Path) > len(h.Path) && slices.Equal(e.Path[:len(h.Path)], h.Path)
}

// begins reports whether something below a heading is filled in.
func (f *Form) begins(h *form.Entry) bool {
	return slices.ContainsFunc(f.model.Entries(), func(e *form.Entry) bool { return !e.Heading && below(e, h) && e.Set() })
}

// about describes the values of a field, its default, and keys for it.
func about(e *form.Entry) trust.Text {
	parts := []string{}
	if !e.Title.IsZero() && e.Title != e.Name() {
		parts = append(parts, e.Title.Raw())
	}
	if !e.Hint.IsZero() && e.Hint.Raw() != "text" { // the usual case needs no hint
		parts = append(parts, e.Hint.Raw())
	}
	if n := len(e.Examples); n > 0 {
		parts = append(parts, "ctrl+l fills in "+cells.Count(n, "example")+", as "+e.Examples[0].Raw())
	}
	switch {
	case e.Null():
		parts = append(parts, "ctrl+n takes null back")
	case e.Nullable:
		parts = append(parts, "ctrl+n sends null")
	}
	if e.Secret {
		parts = append(parts, "shown masked; ctrl+r shows it")
	}
	if e.Default != nil {
		parts = append(parts, "default "+string(e.Default))
	}
	return trust.Untrusted(strings.Join(parts, "; "))
}

// placeholder returns the dim text of an empty field.
func placeholder(e *form.Entry) trust.Rendered {
	switch {
	case e.Default != nil:
		return trust.Line(trust.Untrusted("default " + string(e.Default)))
	case e.Format == "date-time":
		return cells.Sanitize("e.g. 2026-03-14T14:00:00Z, 14:00, -1h")
	}
	return trust.Rendered{}
}

// drawText writes a field that is not an argument.
func (f *Form) drawText(c *cells.Canvas, on bool, label, text, empty string) {
	f.label(c, on, cells.Sanitize(label))
	f.drawBox(c, on, text, cells.Sanitize(empty))
}

// drawBox writes the box of a field with one line.
func (f *Form) drawBox(c *cells.Canvas, on bool, text string, empty trust.Rendered) {
	width := min(max(c.Room-3, 1), 48)
	c.Put(themes.Dim, "[")
	rest := c.Room - width
	c.Room = width
	switch {
	case on:
		f.shownEdit().DrawLine(c, 0, true)
		c.Style(themes.FieldOn)
	case text != "":
		c.Safe(themes.Field, cells.Sanitize(text).Clip(c.Room))
		c.Style(themes.Field)
	default:
		c.Safe(themes.Dim, empty.Clip(c.Room))
		c.Style(themes.Field)
	}
	c.Fill(c.Room)
	c.Room += rest
	if on {
		c.Cursor.X -= rest
	}
	c.Put(themes.Dim, "]")
	c.End()
}

// hides reports whether the value of a field is masked.
func (f *Form) hides(e *form.Entry) bool { return e != nil && e.Secret && !f.unmasked }

// shownText returns the value of a field as it is shown.
func (f *Form) shownText(e *form.Entry) string {
	if f.hides(e) {
		return stars(e.Text())
	}
	return e.Text()
}

// shownEdit returns the field with the focus as it is shown.
func (f *Form) shownEdit() *widget.Field {
	f.edit.Mask = nil
	if f.on.kind == itemField && f.hides(f.on.entry) {
		f.edit.Mask = stars
	}
	return &f.edit
}

// stars replaces each character of a text, except line feeds, by a star.
func stars(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return '*'
	}, text)
}

// drawLines writes a field of several lines.
func (f *Form) drawLines(c *cells.Canvas, e *form.Entry, on bool) {
	if !on && e.Text() == "" {
		f.drawBox(c, false, "", placeholder(e))
		return
	}
	c.Put(themes.Dim, f.env.Glyphs.More)
	c.End()
	show, row := f.shownEdit(), 0
	if on {
		row = show.Row()
	} else {
		show = &widget.Field{Multiline: true}
		show.Set(f.shownText(e))
	}
	lines := len(show.Lines())
	top := max(0, min(row-formMaxLines/2, lines-formMaxLines))
	for i := top; i < lines && i < top+formMaxLines; i++ {
		c.Put(themes.Gutter, "     "+f.env.Glyphs.Divider)
		show.DrawLine(c, i, on)
		c.End()
	}
	if hidden := lines - top - formMaxLines; hidden > 0 {
		c.Put(themes.Dim, "      "+cells.Count(hidden, "more line"))
		c.End()
	}
}

// chip is one of several choices.
type chip struct {
	label  trust.Rendered
	on     bool // chosen
	off    bool // cannot be chosen
	cursor bool
}

// drawChips writes choices side by side in as many lines as needed, of which chipLines around the
// cursor are shown.
func (f *Form) drawChips(c *cells.Canvas, chips []chip, many bool) {
	e := f.env
	left := c.Width - c.Room
	lines := [][]chip{nil}
	room, at := c.Room, 0
	for _, ch := range chips {
		ch.label = ch.label.Clip(max(1, c.Room-4))
		w := ch.label.Width + 6
		if w > room && len(lines[len(lines)-1]) > 0 {
			lines = append(lines, nil)
			room = c.Room
		}
		room -= w
		lines[len(lines)-1] = append(lines[len(lines)-1], ch)
		if ch.cursor {
			at = len(lines) - 1
		}
	}
	top := max(0, min(at-1, len(lines)-chipLines))
	for i := top; i < len(lines) && i < top+chipLines; i++ {
		if i > top {
			c.Put(themes.Plain, cells.Pad("", left-1))
		}
		for _, ch := range lines[i] {
			f.drawChip(c, ch, many)
		}
		if hidden := len(lines) - top - chipLines; hidden > 0 && i == top+chipLines-1 {
			c.Right(themes.Dim, e.Glyphs.More)
		}
		c.End()
	}
}

// chipLines bounds the visible lines of choices.
const chipLines = 4

func (f *Form) drawChip(c *cells.Canvas, ch chip, many bool) {
	before, after := "(", ")"
	if many {
		before, after = "[", "]"
	}
	mark, role := " ", themes.Plain
	switch {
	case ch.off:
		mark, role = f.env.Glyphs.Cannot, themes.Off
	case ch.on:
		mark, role = f.env.Glyphs.Chosen, themes.Strong
	}
	c.Put(role, before+mark+after+" ")
	if ch.cursor {
		role = themes.Cursor
	}
	c.Safe(role, ch.label.Clip(c.Room))
	c.Put(themes.Plain, "  ")
}
