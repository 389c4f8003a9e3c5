package form

import (
	"strings"
	"unicode/utf8"

	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
)

func (d *addServer) Size(sw, _ int) (int, int) {
	w := min(90, sw-4)
	return w, len(d.rows(w))
}

func (d *addServer) Draw(c *cells.Canvas, h int) {
	rows := d.rows(c.Width)
	// On a low screen the result at the end is more important than the fields.
	top := 0
	if d.tested != nil || d.problem != "" || d.at == addPairs {
		top = max(0, len(rows)-h)
	}
	for y := range h {
		c.Row(rowAt(rows, top+y, c.Width))
	}
	c.Cursor = cells.Point{X: d.cursor.X, Y: d.cursor.Y - top}
}

func (d *addServer) rows(w int) []string {
	e := d.env
	var c cells.Canvas
	c.Begin(&e.Theme, w)
	d.drawField(&c, addWhere, "Server", "https://host/mcp, or a command and its arguments")
	d.drawField(&c, addName, "Name", "how it is called here")
	label, empty := "Variables", "NAME=value, one a line; ${NAME} is taken from the environment"
	if d.isURL() {
		label, empty = "Headers", "Authorization: Bearer ${TOKEN}, one a line"
	}
	d.drawField(&c, addPairs, label, empty)
	c.End()
	switch {
	case d.problem != "":
		d.lines(&c, themes.Bad, e.Glyphs.Bad, d.problem, 3)
	case d.busy != "":
		c.Put(themes.Busy, " "+e.Turning()+" "+d.busy+" "+e.Glyphs.More)
		c.Put(themes.Dim, " esc stops waiting")
		c.End()
	case d.tested != nil:
		d.drawResult(&c)
	default:
		d.lines(&c, themes.Dim, " ", "ctrl+s tests the connection and shows what was found; then it saves to "+e.Servers.File, 3)
	}
	d.cursor = c.Cursor
	return c.All()
}

func (d *addServer) drawField(c *cells.Canvas, i int, label, empty string) {
	on := i == d.at && d.busy == ""
	role := d.env.lead(c, on)
	c.Put(role, cells.Pad(label, 9))
	left := c.Width - c.Room
	field := &d.fields[i]
	if field.Mask = nil; i == addPairs && !d.unmasked {
		field.Mask = func(line string) string { return hidden(line, d.separator(), d.env.Glyphs.Masked) }
	}
	lines := field.Lines()
	blank := len(lines) == 1 && lines[0] == ""
	if blank && !on {
		c.Safe(themes.Dim, cells.Sanitize(empty).Clip(c.Room))
		c.End()
		return
	}
	top := max(0, min(field.Row()-2, len(lines)-4))
	for j := top; j < len(lines) && j < top+4; j++ {
		if j > top {
			c.Put(themes.Plain, cells.Pad("", left-1))
		}
		field.DrawLine(c, j, on)
		if on {
			c.Style(themes.FieldOn)
			c.Fill(c.Room - 1)
		}
		c.End()
	}
	if on && blank {
		c.Put(themes.Plain, cells.Pad("", left-1))
		c.Safe(themes.Dim, cells.Sanitize(empty).Clip(c.Room))
		c.End()
	}
}

// hidden masks the value in a line of headers or variables, except references to environment
// variables, which are not secret.
func hidden(line, separator, glyph string) string {
	name, value, ok := strings.Cut(line, separator)
	if !ok {
		return line
	}
	var out strings.Builder
	out.WriteString(name + separator)
	for i := 0; i < len(value); {
		if end := strings.IndexByte(value[i:], '}'); strings.HasPrefix(value[i:], "${") && end > 0 {
			out.WriteString(value[i : i+end+1])
			i += end + 1
			continue
		}
		r, n := utf8.DecodeRuneInString(value[i:])
		if r == ' ' {
			out.WriteByte(' ')
		} else {
			out.WriteString(glyph)
		}
		i += n
	}
	return out.String()
}

func (d *addServer) lines(c *cells.Canvas, role themes.Role, glyph, text string, most int) {
	for i, l := range cells.Wrap(text, c.Width-4, most) {
		if i > 0 {
			glyph = " "
		}
		c.Put(role, " "+glyph+" ")
		c.Safe(role, l)
		c.End()
	}
}

// drawResult writes the result of the test.
func (d *addServer) drawResult(c *cells.Canvas) {
	e := d.env
	if d.failed != nil {
		d.lines(c, themes.Bad, e.Glyphs.Bad, d.failed.Error(), 4)
		d.lines(c, themes.Strong, " ", "ctrl+s saves it all the same", 1)
		return
	}
	v := &d.found
	text := "It answers: " + v.Transport
	for _, s := range []string{v.HTTP, evidence.Protocol(v), v.Profile} {
		if s != "" {
			text += ", " + s
		}
	}
	d.lines(c, themes.Good, e.Glyphs.Live, text, 2)
	if !v.Title.IsZero() {
		c.Put(themes.Plain, "   ")
		c.Put(themes.Gutter, e.Glyphs.Gutter)
		c.Safe(themes.Dim, trust.Line(trust.Untrusted(v.Title.Raw()+" "+v.Release.Raw())).Clip(c.Room))
		c.End()
	}
	d.lines(c, themes.Plain, " ", cells.Count(len(v.Types), "event type"), 1)
	for i, t := range v.Types {
		if i == 6 {
			c.Put(themes.Dim, "     "+cells.Count(len(v.Types)-i, "more type"))
			c.End()
			break
		}
		c.Put(themes.Plain, "   ")
		c.Put(themes.Gutter, e.Glyphs.Gutter)
		c.Safe(themes.Type, trust.Line(t.Name).Clip(c.Room))
		c.Put(themes.Dim, "  "+evidence.ModesOf(t))
		c.End()
	}
	d.lines(c, themes.Strong, " ", "ctrl+s saves it to "+e.Servers.File, 2)
}
