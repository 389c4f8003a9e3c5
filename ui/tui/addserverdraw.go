package tui

import (
	"strings"

	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
)

func (d *addServer) size(a *app) (int, int) {
	w := min(90, a.w-4)
	return w, len(d.rows(a, w))
}

func (d *addServer) draw(a *app, c *cells.Canvas, h int) {
	rows := d.rows(a, c.Width)
	// On a low screen the end, where the result stands, matters once it is there.
	top := 0
	if d.tested != nil || d.problem != "" || d.at == addPairs {
		top = max(0, len(rows)-h)
	}
	for y := range h {
		c.Row(rowAt(rows, top+y, c.Width))
	}
}

func (d *addServer) rows(a *app, w int) []string {
	var c cells.Canvas
	c.Begin(&a.Theme, w)
	d.drawField(a, &c, addWhere, "Server", "https://host/mcp, or a command and its arguments")
	d.drawField(a, &c, addName, "Name", "how it is called here")
	label, empty := "Variables", "NAME=value, one a line; ${NAME} is taken from the environment"
	if d.isURL() {
		label, empty = "Headers", "Authorization: Bearer ${TOKEN}, one a line"
	}
	d.drawField(a, &c, addPairs, label, empty)
	c.End()
	switch {
	case d.problem != "":
		d.lines(a, &c, themes.Bad, a.Glyphs.Bad, d.problem, 3)
	case d.busy != "":
		c.Put(themes.Busy, " "+a.Glyphs.Busy+" "+d.busy+" "+a.Glyphs.More)
		c.Put(themes.Dim, " esc stops waiting")
		c.End()
	case d.tested != nil:
		d.drawResult(a, &c)
	default:
		d.lines(a, &c, themes.Dim, " ", "ctrl+s tests the connection and shows what was found; then it saves to "+a.servers.File, 3)
	}
	return c.All()
}

func (d *addServer) drawField(a *app, c *cells.Canvas, i int, label, empty string) {
	on := i == d.at && d.busy == ""
	role := themes.Dim
	if on {
		c.Put(themes.Key, " "+a.Glyphs.Cursor+" ")
		role = themes.Strong
	} else {
		c.Put(themes.Plain, "   ")
	}
	c.Put(role, cells.Pad(label, 9))
	left := c.Width - c.Room
	e := d.fields[i]
	if i == addPairs && !d.bare {
		e = hidden(e, d.separator(), a.Glyphs.Masked)
	}
	if len(e.lines) == 1 && len(e.lines[0]) == 0 && !on {
		c.Safe(themes.Dim, cells.Sanitize(empty).Clip(c.Room))
		c.End()
		return
	}
	top := max(0, min(e.row-2, len(e.lines)-4))
	for j := top; j < len(e.lines) && j < top+4; j++ {
		if j > top {
			c.Put(themes.Plain, cells.Pad("", left-1))
		}
		e.drawLine(c, j, on)
		if on {
			c.Style(themes.FieldOn)
			c.Fill(c.Room - 1)
		}
		c.End()
	}
	if on && len(e.lines) == 1 && len(e.lines[0]) == 0 {
		c.Put(themes.Plain, cells.Pad("", left-1))
		c.Safe(themes.Dim, cells.Sanitize(empty).Clip(c.Room))
		c.End()
	}
}

// hidden hides the values of headers or variables. What is taken from the
// environment is no secret and stays.
func hidden(e editor, separator, glyph string) editor {
	show := e
	show.lines = make([][]rune, len(e.lines))
	for i, line := range e.lines {
		name, value, ok := strings.Cut(string(line), separator)
		if !ok {
			show.lines[i] = line
			continue
		}
		var out strings.Builder
		out.WriteString(name + separator)
		for value != "" {
			if end := strings.IndexByte(value, '}'); strings.HasPrefix(value, "${") && end > 0 {
				out.WriteString(value[:end+1])
				value = value[end+1:]
				continue
			}
			for _, r := range value {
				if r == ' ' {
					out.WriteByte(' ')
				} else {
					out.WriteString(glyph)
				}
				value = value[len(string(r)):]
				break
			}
		}
		show.lines[i] = []rune(out.String())
	}
	return show
}

func (d *addServer) lines(_ *app, c *cells.Canvas, role themes.Role, glyph, text string, most int) {
	for i, l := range cells.Wrap(text, c.Width-4, most) {
		if i > 0 {
			glyph = " "
		}
		c.Put(role, " "+glyph+" ")
		c.Safe(role, l)
		c.End()
	}
}

// drawResult says what the test found.
func (d *addServer) drawResult(a *app, c *cells.Canvas) {
	if d.failed != nil {
		d.lines(a, c, themes.Bad, a.Glyphs.Bad, d.failed.Error(), 4)
		d.lines(a, c, themes.Strong, " ", "ctrl+s saves it all the same", 1)
		return
	}
	v := &d.found
	text := "It answers: " + v.Transport
	for _, s := range []string{v.HTTP, evidence.Protocol(v), v.Profile} {
		if s != "" {
			text += ", " + s
		}
	}
	d.lines(a, c, themes.Good, a.Glyphs.Live, text, 2)
	if !v.Title.IsZero() {
		c.Put(themes.Plain, "   ")
		c.Put(themes.Gutter, a.Glyphs.Gutter)
		c.Safe(themes.Dim, trust.Line(trust.Untrusted(v.Title.Raw()+" "+v.Release.Raw())).Clip(c.Room))
		c.End()
	}
	d.lines(a, c, themes.Plain, " ", cells.Count(len(v.Types), "event type"), 1)
	for i, t := range v.Types {
		if i == 6 {
			c.Put(themes.Dim, "     "+cells.Count(len(v.Types)-i, "more type"))
			c.End()
			break
		}
		c.Put(themes.Plain, "   ")
		c.Put(themes.Gutter, a.Glyphs.Gutter)
		c.Safe(themes.Type, trust.Line(t.Name).Clip(c.Room))
		c.Put(themes.Dim, "  "+evidence.ModesOf(t))
		c.End()
	}
	d.lines(a, c, themes.Strong, " ", "ctrl+s saves it to "+a.servers.File, 2)
}
