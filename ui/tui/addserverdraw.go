package tui

import (
	"strings"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
)

func (d *addServer) size(a *app) (int, int) {
	w := min(90, a.w-4)
	return w, len(d.rows(a, w))
}

func (d *addServer) draw(a *app, c *canvas, h int) {
	rows := d.rows(a, c.width)
	// On a low screen the end, where the result stands, matters once it is there.
	top := 0
	if d.tested != nil || d.problem != "" || d.at == addPairs {
		top = max(0, len(rows)-h)
	}
	for y := range h {
		c.row(rowAt(rows, top+y, c.width))
	}
}

func (d *addServer) rows(a *app, w int) []string {
	var c canvas
	c.begin(&a.theme, w)
	d.drawField(a, &c, addWhere, "Server", "https://host/mcp, or a command and its arguments")
	d.drawField(a, &c, addName, "Name", "how it is called here")
	label, empty := "Variables", "NAME=value, one a line; ${NAME} is taken from the environment"
	if d.isURL() {
		label, empty = "Headers", "Authorization: Bearer ${TOKEN}, one a line"
	}
	d.drawField(a, &c, addPairs, label, empty)
	c.end()
	switch {
	case d.problem != "":
		d.lines(a, &c, themes.Bad, a.glyphs.bad, d.problem, 3)
	case d.busy != "":
		c.put(themes.Busy, " "+a.glyphs.busy+" "+d.busy+" "+a.glyphs.more)
		c.put(themes.Dim, " esc stops waiting")
		c.end()
	case d.tested != nil:
		d.drawResult(a, &c)
	default:
		d.lines(a, &c, themes.Dim, " ", "ctrl+s tests the connection and shows what was found; then it saves to "+a.servers.File, 3)
	}
	return c.rows(len(c.ends), nil)
}

func (d *addServer) drawField(a *app, c *canvas, i int, label, empty string) {
	on := i == d.at && d.busy == ""
	role := themes.Dim
	if on {
		c.put(themes.Key, " "+a.glyphs.cursor+" ")
		role = themes.Strong
	} else {
		c.put(themes.Plain, "   ")
	}
	c.put(role, pad(label, 9))
	left := c.width - c.room
	e := d.fields[i]
	if i == addPairs && !d.bare {
		e = hidden(e, d.separator(), a.glyphs.masked)
	}
	if len(e.lines) == 1 && len(e.lines[0]) == 0 && !on {
		c.safe(themes.Dim, ours(empty).Clip(c.room))
		c.end()
		return
	}
	top := max(0, min(e.row-2, len(e.lines)-4))
	for j := top; j < len(e.lines) && j < top+4; j++ {
		if j > top {
			c.put(themes.Plain, pad("", left-1))
		}
		e.drawLine(c, j, on)
		if on {
			c.style(themes.FieldOn)
			c.fill(c.room - 1)
		}
		c.end()
	}
	if on && len(e.lines) == 1 && len(e.lines[0]) == 0 {
		c.put(themes.Plain, pad("", left-1))
		c.safe(themes.Dim, ours(empty).Clip(c.room))
		c.end()
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

func (d *addServer) lines(_ *app, c *canvas, role themes.Role, glyph, text string, most int) {
	for i, l := range wrap(text, c.width-4, most) {
		if i > 0 {
			glyph = " "
		}
		c.put(role, " "+glyph+" ")
		c.safe(role, l)
		c.end()
	}
}

// drawResult says what the test found.
func (d *addServer) drawResult(a *app, c *canvas) {
	if d.failed != nil {
		d.lines(a, c, themes.Bad, a.glyphs.bad, d.failed.Error(), 4)
		d.lines(a, c, themes.Strong, " ", "ctrl+s saves it all the same", 1)
		return
	}
	v := &d.found
	text := "It answers: " + v.Transport
	for _, s := range []string{v.HTTP, protocol(v), v.Profile} {
		if s != "" {
			text += ", " + s
		}
	}
	d.lines(a, c, themes.Good, a.glyphs.live, text, 2)
	if !v.Title.IsZero() {
		c.put(themes.Plain, "   ")
		c.put(themes.Gutter, a.glyphs.gutter)
		c.safe(themes.Dim, trust.Line(trust.Untrusted(v.Title.Raw()+" "+v.Release.Raw())).Clip(c.room))
		c.end()
	}
	d.lines(a, c, themes.Plain, " ", count(len(v.Types), "event type"), 1)
	for i, t := range v.Types {
		if i == 6 {
			c.put(themes.Dim, "     "+count(len(v.Types)-i, "more type"))
			c.end()
			break
		}
		c.put(themes.Plain, "   ")
		c.put(themes.Gutter, a.glyphs.gutter)
		c.safe(themes.Type, trust.Line(t.Name).Clip(c.room))
		c.put(themes.Dim, "  "+modesOf(t))
		c.end()
	}
	d.lines(a, c, themes.Strong, " ", "ctrl+s saves it to "+a.servers.File, 2)
}

func modesOf(t event.Type) string {
	var words []string
	for _, m := range t.Modes {
		words = append(words, modeWord(m))
	}
	return strings.Join(words, " ")
}
