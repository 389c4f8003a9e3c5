package form

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/form"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/widget"
)

// formDrawing is the last drawing of the form.
type formDrawing struct {
	wide        bool
	left, right []string
	cursor      cells.Point
	focus, end  int // the lines of the item with the focus, without end
}

// Sizes of the form.
const (
	formWidth    = 150 // largest width in cells
	formWide     = 92  // smallest width for the preview beside the fields
	formLabel    = 18
	formMaxLines = 5 // of a field with several lines
)

// Size implements [widget.Dialog].
func (f *Form) Size(sw, sh int) (int, int) {
	w := min(formWidth, max(1, sw-4))
	h := max(1, sh-4)
	d := &f.drawn
	d.wide = w >= formWide
	left, right := w, w
	if d.wide {
		left = w * 3 / 5
		right = w - left - 1
	}
	d.left = f.drawFields(left, true)
	if len(d.left) > h {
		d.left = f.drawFields(left, false)
	}
	d.right = f.drawPreview(right)
	if d.wide {
		return w, max(len(d.left), min(len(d.right), h))
	}
	return w, len(d.left)
}

// Draw implements [widget.Dialog].
func (f *Form) Draw(c *cells.Canvas, h int) {
	d := &f.drawn
	if f.preview && !d.wide {
		for y := range h {
			c.Row(rowAt(d.right, y, c.Width))
		}
		return
	}
	f.top = max(0, min(f.top, d.focus, len(d.left)-h))
	f.top = max(f.top, min(d.end-h, d.focus))
	divider := ""
	right := 0
	if d.wide {
		divider = f.env.Divider(themes.Rule)
		right = c.Width - c.Width*3/5 - 1
	}
	for y := range h {
		row := rowAt(d.left, f.top+y, c.Width-right-min(right, 1))
		if d.wide {
			row += divider + rowAt(d.right, y, right)
		}
		c.Row(row)
	}
	c.Cursor = cells.Point{X: d.cursor.X, Y: d.cursor.Y - f.top}
}

// rowAt returns row i, or a blank row of width cells if there is none.
func rowAt(rows []string, i, width int) string {
	if i < len(rows) {
		return rows[i]
	}
	return cells.Pad("", max(0, width-1))
}

func (f *Form) drawFields(w int, roomy bool) []string {
	var c cells.Canvas
	c.Begin(&f.env.Theme, w)
	f.drawHead(&c, roomy)
	for _, it := range f.items() {
		if it.kind == itemField {
			f.drawHeadings(&c, it.entry)
		}
		start := c.Height()
		f.drawItem(&c, it, roomy)
		if it == f.on {
			f.drawn.focus, f.drawn.end = start, c.Height()
		}
	}
	f.drawn.cursor = c.Cursor
	return c.All()
}

func (f *Form) drawHead(c *cells.Canvas, roomy bool) {
	c.Put(themes.Plain, " ")
	if f.many != nil {
		for i, n := range f.many {
			if i > 0 {
				c.Put(themes.Plain, "  ")
			}
			c.Safe(themes.Type, trust.Line(n.Type).Clip(c.Room))
		}
	} else {
		c.Safe(themes.Server, cells.Sanitize(f.server))
		c.Put(themes.Plain, "  ")
		c.Safe(themes.Type, trust.Line(f.typ.Name).Clip(c.Room))
	}
	c.End()
	if !f.typ.Description.IsZero() && f.many == nil && roomy {
		f.serverText(c, f.typ.Description, 2)
	}
	if f.differ {
		c.Lines(themes.Plain, " ", themes.Warn, cells.Wrap("Their schemas differ: what you write here as one JSON object is sent for each of them.", c.Width-4, 2))
	}
	told := f.banner
	if f.late || f.busy && f.answered() {
		told = f.waitingBanner()
	}
	if told.text != "" {
		c.Lines(themes.Bad, " "+f.env.Glyphs.Bad+" ", themes.Bad, cells.Wrap(told.text, c.Width-4, 3))
	}
	if told.next != "" {
		c.Lines(themes.Plain, "   ", themes.Strong, cells.Wrap("Next: "+told.next, c.Width-4, 2))
	}
}

// serverText writes at most most lines of untrusted text behind the gutter.
func (f *Form) serverText(c *cells.Canvas, text trust.Text, most int) {
	e := f.env
	lines := trust.Block(text, max(1, c.Width-5))
	for i, l := range lines[:min(len(lines), most)] {
		c.Put(themes.Plain, "   ")
		c.Put(themes.Gutter, e.Glyphs.Gutter)
		if i == most-1 && len(lines) > most {
			l = trust.Line(trust.Untrusted(l.Plain() + e.Glyphs.More)).Clip(c.Room)
		}
		c.Safe(themes.Dim, l)
		c.End()
	}
}

// drawHeadings writes the headings before an entry.
func (f *Form) drawHeadings(c *cells.Canvas, e *form.Entry) {
	entries := f.model.Entries()
	for i := range entries {
		if entries[i] != e {
			continue
		}
		from := i
		for from > 0 && entries[from-1].Heading {
			from--
		}
		for _, h := range entries[from:i] {
			c.Put(themes.Plain, "   "+depthOf(h.Depth))
			c.Safe(themes.Strong, trust.Line(h.Name()).Clip(c.Room))
			if f.needed(h) {
				c.Put(themes.Strong, " *")
			}
			c.End()
		}
	}
}

func depthOf(depth int) string { return "        "[:min(2*depth, 8)] }

func (f *Form) drawItem(c *cells.Canvas, it formItem, roomy bool) {
	on := it == f.on
	switch it.kind {
	case itemMode:
		f.drawModes(c, on)
	case itemStart:
		f.label(c, on, cells.Sanitize("Start"))
		chips := make([]chip, len(starts))
		for i := range starts {
			chips[i] = chip{label: cells.Sanitize(starts[i].word), on: i == f.start, cursor: on && i == f.start}
		}
		f.drawChips(c, chips, false)
		if why := f.noReplay(); why != "" {
			f.remark(c, themes.Warn, why)
		}
	case itemAge:
		f.drawText(c, on, "at most", f.age, "e.g. 1h30m")
		f.drawDuration(c, f.age, true)
	case itemTTL:
		f.drawHook(c)
		f.drawText(c, on, "Lease", f.ttl, "the server decides")
		f.drawDuration(c, f.ttl, false)
	case itemEnd:
		f.drawText(c, on, "Ends", f.end, "never; e.g. 20:00 or 3d")
		if why := f.endProblem(); why != "" {
			f.remark(c, themes.Bad, why)
		}
	case itemSend:
		f.drawSend(c, on)
	default:
		f.drawEntry(c, it.entry, on, roomy)
	}
}

// lead begins the line of a field and returns the role of its label. on says that the field has the
// focus.
func (e *Env) lead(c *cells.Canvas, on bool) themes.Role {
	if !on {
		c.Put(themes.Plain, "   ")
		return themes.Dim
	}
	c.Put(themes.Key, " "+e.Glyphs.Cursor+" ")
	return themes.Strong
}

func (f *Form) label(c *cells.Canvas, on bool, text trust.Rendered) {
	role := f.env.lead(c, on)
	c.Column(role, text, min(formLabel, c.Width/3))
	c.Put(themes.Plain, " ")
}

// remark writes a text below a field.
func (f *Form) remark(c *cells.Canvas, role themes.Role, text string) {
	c.Lines(role, "   "+f.env.Glyphs.Bad+" ", role, cells.Wrap(text, c.Width-6, 2))
}

func (f *Form) drawDuration(c *cells.Canvas, text string, needed bool) {
	if why := durationProblem(text, needed && f.submitted); why != "" {
		f.remark(c, themes.Bad, why)
	}
}

func (f *Form) drawModes(c *cells.Canvas, on bool) {
	f.label(c, on, cells.Sanitize("Delivery"))
	chips := make([]chip, len(f.modes))
	for i, m := range f.modes {
		chips[i] = chip{label: cells.Sanitize(string(m.mode)), on: i == f.mode, off: m.why != "", cursor: on && i == f.mode}
	}
	f.drawChips(c, chips, false)
	for _, m := range f.modes {
		if m.why != "" {
			c.Put(themes.Off, "     "+string(m.mode)+": ")
			c.Safe(themes.Off, cells.Sanitize(m.why).Clip(c.Room))
			c.End()
		}
	}
}

// drawHook explains what webhook delivery needs.
func (f *Form) drawHook(c *cells.Canvas) {
	f.label(c, false, cells.Sanitize("Callback"))
	c.Safe(themes.Plain, cells.Sanitize(f.callback()).Clip(c.Room))
	c.End()
	c.Lines(themes.Plain, "     ", themes.Dim, cells.Wrap("The server checks the address with a challenge; this host answers it.", c.Width-5, 2))
	f.label(c, false, cells.Sanitize("Secret"))
	switch {
	case f.secret.IsZero():
		c.Put(themes.Dim, "the one that is kept")
	case f.unmasked:
		half := len(f.secret.Reveal()) / 2 // on two lines, for narrow screens
		c.Safe(themes.Warn, cells.Sanitize(f.secret.Reveal()[:half]).Clip(c.Room))
		c.End()
		f.label(c, false, cells.Sanitize(""))
		c.Safe(themes.Warn, cells.Sanitize(f.secret.Reveal()[half:]).Clip(c.Room))
	default:
		c.Safe(themes.Plain, cells.Sanitize(f.secret.String()))
		c.Put(themes.Dim, "  made here; ctrl+r shows it")
	}
	c.End()
}

func (f *Form) drawSend(c *cells.Canvas, on bool) {
	e := f.env
	if extra := f.model.Extra(); extra != nil {
		c.Put(themes.Dim, "   also sent: ")
		c.Safe(themes.Dim, cells.Sanitize(string(extra)).Clip(c.Room))
		c.End()
	}
	word := " Subscribe "
	if f.custom != nil {
		word = " " + f.custom.Verb + " "
	}
	if f.old != nil {
		word = " Change "
	}
	c.Put(themes.Plain, "   ")
	switch {
	case f.busy:
		c.Put(themes.Busy, e.Turning()+" "+f.waits()+" "+e.Glyphs.More)
	case on:
		c.Put(themes.Cursor, word)
	default:
		c.Put(themes.Strong, word)
		c.Put(themes.Dim, " ctrl+s")
	}
	c.End()
}

// drawPreview returns the rows of the preview: the request, and the equivalent command.
func (f *Form) drawPreview(w int) []string {
	var c cells.Canvas
	c.Begin(&f.env.Theme, w)
	if f.custom != nil {
		f.drawCustom(&c)
		return c.All()
	}
	p, err := f.shown.preview, f.shown.err
	c.Put(themes.Strong, " Request ")
	c.Put(themes.Dim, p.Method)
	c.End()
	params := indentJSON(string(p.Params))
	if err != nil {
		params = err.Error()
	}
	c.Lines(themes.Plain, " ", themes.Plain, trust.Block(trust.Untrusted(strings.TrimSpace(params)), max(1, w-2)))
	for i, at := range p.Firings {
		label := "     then "
		if i == 0 {
			label = " Delivers "
		}
		c.Put(themes.Dim, label)
		c.Put(themes.Plain, evidence.Firing(at))
		c.End()
	}
	command := f.env.Elsewhere(f.server, p.Command)
	if command == "" {
		return c.All()
	}
	c.End()
	c.Put(themes.Strong, " The same as")
	c.End()
	c.Lines(themes.Plain, " ", themes.Dim, trust.Block(trust.Untrusted(command), max(1, w-2)))
	return c.All()
}

// ask returns a command that updates the preview, nil if the request has not changed. The old preview
// is shown meanwhile.
func (f *Form) ask() tea.Cmd {
	if f.custom != nil {
		return f.askCustom()
	}
	r := f.request()
	key := fmt.Sprint(r.Mode, r.From, r.MaxAge, r.TTL, f.end, r.Secret, string(r.Args))
	if f.shown.key == key {
		return nil
	}
	f.shown.key = key
	return f.env.Do(func(context.Context) tea.Msg {
		preview, err := f.env.Host.Preview(r)
		return widget.Then(func() tea.Cmd {
			if f.shown.key == key {
				f.shown.preview, f.shown.err = preview, err
			}
			return nil
		})
	})
}

// callback returns the callback address, or that it is not known yet.
func (f *Form) callback() string {
	p, err := f.shown.preview, f.shown.err
	if err != nil || p.Callback == "" {
		return "an address of this host, made when you subscribe"
	}
	return p.Callback
}
