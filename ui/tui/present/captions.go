package present

import (
	"strings"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
)

// Captions tell an audience what happens, in lines below the screen. The zero value is off: it
// shows and changes nothing.
type Captions struct {
	On       bool
	Rows     int    // of the terminal that the captions take
	key      string // pressed last
	did      string // what the key does
	happened string // the last message of the screen, or caption of a record
	seen     uint64 // the log was examined up to this record
	busy     bool   // the log is being examined
	lines    cells.Canvas
}

// captionRows returns how many rows the captions take on a terminal of h rows.
func (p *Captions) captionRows(h int) int {
	switch {
	case !p.On || h < layout.LeastHeight+2:
		return 0
	case h < 24:
		return 1
	case h < 30:
		return 3
	}
	return 4
}

// Fit returns how many of h rows are left for the screen.
func (p *Captions) Fit(h int) int {
	p.Rows = p.captionRows(h)
	return h - p.Rows
}

// Pressed notes a key and what it does.
func (p *Captions) Pressed(key, does string) {
	p.key, p.did, p.happened = strings.ReplaceAll(key, "+", " + "), does, ""
}

// Typed notes a key that was typed into a dialog or the filter. Letters are not shown: they may be
// part of a secret.
func (p *Captions) Typed(key, where string) {
	if len([]rune(key)) > 1 {
		p.Pressed(key, where)
	}
}

// Told notes a message of the screen.
func (p *Captions) Told(text string) {
	if text != "" {
		p.happened = text
	}
}

// lookMax bounds the records that are examined for captions.
const lookMax = 4_000

// Due reports whether the records after from, up to last, are to be examined for a caption. Then
// nothing else is due until [Captions.Looked].
func (p *Captions) Due(last uint64) (from uint64, due bool) {
	if !p.On || p.busy {
		return 0, false
	}
	if p.seen == 0 || last < p.seen || last-p.seen > lookMax {
		p.seen = last
	}
	p.busy = p.seen < last
	return p.seen, p.busy
}

// Looked notes that the records up to last were examined, and their caption, "" for none.
func (p *Captions) Looked(last uint64, text string) {
	p.busy, p.seen = false, last
	p.Told(text)
}

// Draw returns the lines below a screen of w cells: the last key and what it does, then what
// happened.
func (p *Captions) Draw(env *cells.Env, w int) string {
	c := &p.lines
	c.Begin(&env.Theme, w)
	first := func() {
		if p.key != "" {
			c.Put(themes.Cursor, " "+p.key+" ")
			c.Put(themes.Strong, "  "+p.did)
		}
	}
	if p.Rows == 1 {
		first()
		if p.happened != "" && c.Room > 20 {
			c.Put(themes.Plain, "   ")
			c.Safe(themes.Plain, cells.Sanitize(p.happened).Clip(c.Room))
		}
		c.End()
		return c.Top()
	}
	c.Rule(themes.RuleOn, env.Glyphs.RuleOn)
	c.End()
	left := max(0, w/12)
	c.Fill(left)
	first()
	c.End()
	for _, line := range cells.Wrap(p.happened, w-2*left, p.Rows-2) {
		c.Fill(left)
		c.Safe(themes.Plain, line)
		c.End()
	}
	return strings.Join(c.Rows(p.Rows, nil), "\n")
}

// Airy draws rows of w cells, for an audience with blank rows in between.
func (p *Captions) Airy(w, h int, draw func(h int) []string) []string {
	if !p.On || h < 8 {
		return draw(h)
	}
	blank := themes.Reset + strings.Repeat(" ", w)
	out := make([]string, 0, h)
	for _, row := range draw((h + 1) / 2) {
		out = append(out, row, blank)
	}
	return out[:h]
}

// Stride returns how many rows of the screen a row of a pane takes.
func (p *Captions) Stride(paneRows int) int {
	if !p.On || paneRows < 8 {
		return 1
	}
	return 2
}
