package tui

import (
	"fmt"
	"strings"

	"eventdeck/host"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/form"
)

// formDrawing is how the form was drawn last.
type formDrawing struct {
	wide        bool
	left, right []string
	focus, end  int // lines of the item that has the keys
}

// Sizes of the form.
const (
	formWidth    = 150 // cells it never needs more of
	formWide     = 92  // from here the preview stands beside the fields
	formLabel    = 18
	formMaxLines = 5 // of a field with several lines
)

func (f *subForm) size(a *app) (int, int) {
	w := min(formWidth, max(1, a.w-4))
	h := max(1, a.h-4)
	d := &f.drawn
	d.wide = w >= formWide
	left, right := w, w
	if d.wide {
		left = w * 3 / 5
		right = w - left - 1
	}
	d.left = f.drawFields(a, left, true)
	if len(d.left) > h {
		d.left = f.drawFields(a, left, false)
	}
	d.right = f.drawPreview(a, right)
	if d.wide {
		return w, max(len(d.left), min(len(d.right), h))
	}
	return w, len(d.left)
}

func (f *subForm) draw(a *app, c *canvas, h int) {
	d := &f.drawn
	if f.preview && !d.wide {
		for y := range h {
			c.row(rowAt(d.right, y, c.width))
		}
		return
	}
	f.top = max(0, min(f.top, d.focus, len(d.left)-h))
	f.top = max(f.top, min(d.end-h, d.focus))
	divider := ""
	right := 0
	if d.wide {
		divider = c.theme.On(themes.Rule) + a.glyphs.divider + themes.Reset
		right = c.width - c.width*3/5 - 1
	}
	for y := range h {
		row := rowAt(d.left, f.top+y, c.width-right-min(right, 1))
		if d.wide {
			row += divider + rowAt(d.right, y, right)
		}
		c.row(row)
	}
}

// rowAt returns a drawn row, or a blank one of so many cells.
func rowAt(rows []string, i, width int) string {
	if i < len(rows) {
		return rows[i]
	}
	return pad("", max(0, width-1))
}

func (f *subForm) drawFields(a *app, w int, roomy bool) []string {
	var c canvas
	c.begin(&a.theme, w)
	f.drawHead(a, &c, roomy)
	for _, it := range f.items() {
		if it.kind == itemField {
			f.drawHeadings(&c, it.entry)
		}
		start := len(c.ends)
		f.drawItem(a, &c, it, roomy)
		if it == f.on {
			f.drawn.focus, f.drawn.end = start, len(c.ends)
		}
	}
	return c.rows(len(c.ends), nil)
}

func (f *subForm) drawHead(a *app, c *canvas, roomy bool) {
	c.put(themes.Plain, " ")
	if f.many != nil {
		for i, n := range f.many {
			if i > 0 {
				c.put(themes.Plain, "  ")
			}
			c.safe(themes.Type, trust.Line(n.typ).Clip(c.room))
		}
	} else {
		c.safe(themes.Server, ours(f.server))
		c.put(themes.Plain, "  ")
		c.safe(themes.Type, trust.Line(f.typ.Name).Clip(c.room))
	}
	c.end()
	if !f.typ.Description.IsZero() && f.many == nil && roomy {
		f.serverText(a, c, f.typ.Description, 2)
	}
	if f.differ {
		for _, l := range wrap("Their schemas differ: what you write here as one JSON object is sent for each of them.", c.width-4, 2) {
			c.put(themes.Plain, " ")
			c.safe(themes.Warn, l)
			c.end()
		}
	}
	if f.banner.text != "" {
		for _, l := range wrap(f.banner.text, c.width-4, 3) {
			c.put(themes.Bad, " "+a.glyphs.bad+" ")
			c.safe(themes.Bad, l)
			c.end()
		}
	}
	if f.banner.next != "" {
		for _, l := range wrap("Next: "+f.banner.next, c.width-4, 2) {
			c.put(themes.Plain, "   ")
			c.safe(themes.Strong, l)
			c.end()
		}
	}
}

// serverText writes words of the server behind the mark of such text.
func (f *subForm) serverText(a *app, c *canvas, text trust.Text, most int) {
	lines := trust.Block(text, max(1, c.width-5))
	for i, l := range lines[:min(len(lines), most)] {
		c.put(themes.Plain, "   ")
		c.put(themes.Gutter, a.glyphs.gutter)
		if i == most-1 && len(lines) > most {
			l = trust.Line(trust.Untrusted(l.Plain() + a.glyphs.more)).Clip(c.room)
		}
		c.safe(themes.Dim, l)
		c.end()
	}
}

// wrap breaks our own text into lines.
func wrap(text string, width, most int) []trust.Rendered {
	lines := trust.Block(trust.Untrusted(text), max(1, width))
	return lines[:min(len(lines), most)]
}

// drawHeadings writes the headings of the sections that begin with an entry.
func (f *subForm) drawHeadings(c *canvas, e *form.Entry) {
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
			c.put(themes.Plain, "   "+depthOf(h.Depth))
			c.safe(themes.Strong, trust.Line(h.Name()).Clip(c.room))
			if h.Required {
				c.put(themes.Strong, " *")
			}
			c.end()
		}
	}
}

func depthOf(depth int) string { return "        "[:min(2*depth, 8)] }

func (f *subForm) drawItem(a *app, c *canvas, it formItem, roomy bool) {
	on := it == f.on
	switch it.kind {
	case itemMode:
		f.drawModes(a, c, on)
	case itemStart:
		f.label(a, c, on, ours("Start"))
		chips := make([]chip, len(starts))
		for i := range starts {
			chips[i] = chip{label: ours(starts[i].word), on: i == f.start, cursor: on && i == f.start}
		}
		f.drawChips(a, c, chips, false)
		if why := f.noReplay(a); why != "" {
			f.remark(a, c, themes.Warn, why)
		}
	case itemAge:
		f.drawText(a, c, on, "at most", f.age, "1h30m")
		f.drawDuration(a, c, f.age, true)
	case itemTTL:
		f.drawHook(a, c)
		f.drawText(a, c, on, "Lease", f.ttl, "the server decides")
		f.drawDuration(a, c, f.ttl, false)
	case itemSend:
		f.drawSend(a, c, on)
	default:
		f.drawEntry(a, c, it.entry, on, roomy)
	}
}

func (f *subForm) label(a *app, c *canvas, on bool, text trust.Rendered) {
	role := themes.Dim
	if on {
		c.put(themes.Key, " "+a.glyphs.cursor+" ")
		role = themes.Strong
	} else {
		c.put(themes.Plain, "   ")
	}
	c.column(role, text, min(formLabel, c.width/3))
	c.put(themes.Plain, " ")
}

// remark writes a line under a field.
func (f *subForm) remark(a *app, c *canvas, role themes.Role, text string) {
	for _, l := range wrap(text, c.width-6, 2) {
		c.put(role, "   "+a.glyphs.bad+" ")
		c.safe(role, l)
		c.end()
	}
}

func (f *subForm) drawDuration(a *app, c *canvas, text string, needed bool) {
	if why := durationProblem(text, needed && f.tried); why != "" {
		f.remark(a, c, themes.Bad, why)
	}
}

func (f *subForm) drawModes(a *app, c *canvas, on bool) {
	f.label(a, c, on, ours("Delivery"))
	chips := make([]chip, len(f.modes))
	for i, m := range f.modes {
		chips[i] = chip{label: ours(string(m.mode)), on: i == f.mode, off: m.why != "", cursor: on && i == f.mode}
	}
	f.drawChips(a, c, chips, false)
	for _, m := range f.modes {
		if m.why != "" {
			c.put(themes.Off, "     "+string(m.mode)+": ")
			c.safe(themes.Off, ours(m.why).Clip(c.room))
			c.end()
		}
	}
}

// drawHook explains what webhook delivery needs.
func (f *subForm) drawHook(a *app, c *canvas) {
	f.label(a, c, false, ours("Callback"))
	c.safe(themes.Plain, ours(f.callback(a)).Clip(c.room))
	c.end()
	for _, l := range wrap("The server checks the address with a challenge; this host answers it.", c.width-5, 2) {
		c.put(themes.Plain, "     ")
		c.safe(themes.Dim, l)
		c.end()
	}
	f.label(a, c, false, ours("Secret"))
	switch {
	case f.secret.IsZero():
		c.put(themes.Dim, "the one that is kept")
	case f.bare:
		half := len(f.secret.Reveal()) / 2 // it is longer than a narrow screen
		c.safe(themes.Warn, ours(f.secret.Reveal()[:half]).Clip(c.room))
		c.end()
		f.label(a, c, false, ours(""))
		c.safe(themes.Warn, ours(f.secret.Reveal()[half:]).Clip(c.room))
	default:
		c.safe(themes.Plain, ours(f.secret.String()))
		c.put(themes.Dim, "  made here; ctrl+r shows it")
	}
	c.end()
}

func (f *subForm) drawSend(a *app, c *canvas, on bool) {
	if extra := f.model.Extra(); extra != nil {
		c.put(themes.Dim, "   also sent: ")
		c.safe(themes.Dim, ours(string(extra)).Clip(c.room))
		c.end()
	}
	word := " Subscribe "
	if f.old != nil {
		word = " Change "
	}
	c.put(themes.Plain, "   ")
	switch {
	case f.busy:
		c.put(themes.Busy, "asking the server "+a.glyphs.more)
	case on:
		c.put(themes.Cursor, word)
	default:
		c.put(themes.Strong, word)
		c.put(themes.Dim, " ctrl+s")
	}
	c.end()
}

// drawPreview shows the request as it would be sent, and the same as a command.
func (f *subForm) drawPreview(a *app, w int) []string {
	var c canvas
	c.begin(&a.theme, w)
	p, err := f.previewed(a)
	c.put(themes.Strong, " Request ")
	c.put(themes.Dim, p.Method)
	c.end()
	params := indentJSON(string(p.Params))
	if err != nil {
		params = err.Error()
	}
	for _, l := range trust.Block(trust.Untrusted(strings.TrimSpace(params)), max(1, w-2)) {
		c.put(themes.Plain, " ")
		c.safe(themes.Plain, l)
		c.end()
	}
	for i, at := range p.Firings {
		label := "     then "
		if i == 0 {
			label = " Delivers "
		}
		c.put(themes.Dim, label)
		c.put(themes.Plain, firing(at))
		c.end()
	}
	c.end()
	c.put(themes.Strong, " The same as")
	c.end()
	for _, l := range trust.Block(trust.Untrusted(p.Command), max(1, w-2)) {
		c.put(themes.Plain, " ")
		c.safe(themes.Dim, l)
		c.end()
	}
	return c.rows(len(c.ends), nil)
}

// previewed asks the host what it would send, once for each request.
func (f *subForm) previewed(a *app) (host.Preview, error) {
	r := f.request()
	key := fmt.Sprint(r.Mode, r.From, r.MaxAge, r.TTL, r.Secret, string(r.Args))
	if f.shown.key != key {
		f.shown.key = key
		f.shown.preview, f.shown.err = a.api.Preview(r)
	}
	return f.shown.preview, f.shown.err
}

// callback is the address to which the server would deliver, as far as it is
// known.
func (f *subForm) callback(a *app) string {
	p, err := f.previewed(a)
	if err != nil || p.Callback == "" {
		return "an address of this host, made when you subscribe"
	}
	return p.Callback
}
