package trust

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/trust/internal/runes"
)

// Bounds of one grapheme cluster.
const (
	maxRunes = 16 // code points
)

// printer turns text into lines of safe segments.
type printer struct {
	spell  func(runes.Unit) string
	json   bool // the text is in a JSON string
	breaks bool // a line feed ends the line
	width  int  // in cells; 0 or less: lines are not wrapped

	indent int // of continuation lines
	lines  []Rendered
	value  int   // offset of the value on the line plus 1; 0: none
	values []int // of each line; for JSON only
	cur    Rendered
	buf    []byte // text of the open segment, not yet in cur
	bufW   int
	span   int // of the open segment
	kind   Kind
	open   Kind // of the open segment
	run    []runes.Unit
}

// add appends safe text of w cells. A token is a segment of its own.
func (p *printer) add(s string, w int, mark bool, span int) {
	if mark {
		p.flush()
		p.cur.push(Segment{Text: s, Mark: true, Span: span, Kind: p.kind}, w)
		return
	}
	if span != p.span || p.kind != p.open {
		p.flush()
		p.span, p.open = span, p.kind
	}
	p.buf = append(p.buf, s...)
	p.bufW += w
}

func (p *printer) flush() {
	if len(p.buf) > 0 {
		p.cur.push(Segment{Text: string(p.buf), Span: p.span, Kind: p.open}, p.bufW)
		p.buf, p.bufW = p.buf[:0], 0
	}
}

// line returns the added segments as one line.
func (p *printer) line() Rendered {
	p.flush()
	return p.cur
}

// newLine ends the line. The next one starts with indent blanks.
func (p *printer) newLine(indent int) {
	p.flush()
	before := len(p.lines)
	if p.width <= 0 || p.cur.Width <= p.width {
		p.lines = append(p.lines, p.cur)
	} else {
		p.lines = append(p.lines, p.wrapped()...)
	}
	if p.json {
		for range p.lines[before:] {
			p.values = append(p.values, p.value)
		}
	}
	p.cur = Rendered{}
	if p.json {
		p.cur.Segments = make([]Segment, 0, jsonSegments)
	}
	if indent > 0 {
		p.cur.push(Segment{Text: blanks(indent)}, indent)
	}
}

// jsonSegments is the capacity for a usual line of JSON: indentation, name, colon, value,
// comma.
const jsonSegments = 6

// wrapped breaks a line that is too wide. In JSON no comma gets a line of its own.
func (p *printer) wrapped() []Rendered {
	if !p.json || p.width < 2 {
		return p.cur.wrap(p.width, p.indent)
	}
	lines := p.cur.wrap(p.width-1, p.indent)
	last := len(lines) - 1
	if segments := lines[last].Segments; last > 0 && segments[len(segments)-1].Text == "," && lines[last].Width == continuing(p.indent, p.width-1)+1 {
		lines[last-1].push(segments[len(segments)-1], 1)
		lines = lines[:last]
	}
	return lines
}

// column is the width of the line so far.
func (p *printer) column() int { return p.cur.Width + p.bufW }

// text adds s. at has the spans of s; nil means none.
func (p *printer) text(s string, at spanMap) {
	u := runes.Units{S: s}
	for u.I < len(s) {
		if n := p.cleanRun(s[u.I:]); n > 0 {
			p.ascii(s[u.I:u.I+n], u.I, at)
			u.I += n
			u.Prev2, u.Prev = u.Prev, rune(s[u.I-1])
			continue
		}
		save := u
		w := u.Next()
		switch {
		case p.breaks && (w.R == '\n' || w.R == '\t' || w.R == '\r' && u.Peek(w) == '\n') && w.Class == runes.Control:
			p.layout(w)
		case w.Class == runes.Plain:
			u = save
			p.shown(&u, at)
		default:
			u = save
			p.hidden(&u, at)
		}
	}
}

// cleanRun returns the length of the ASCII at the start of s that is shown as it is and is
// not followed by a combining mark.
func (p *printer) cleanRun(s string) int {
	i := 0
	for i < len(s) && s[i] >= 0x20 && s[i] < 0x7f && s[i] != '\\' && (s[i] != '"' || !p.json) {
		i++
	}
	if i < len(s) && s[i] >= 0x80 && i > 0 {
		i--
	}
	return i
}

// ascii adds clean ASCII that starts at offset base of its text.
func (p *printer) ascii(s string, base int, at spanMap) {
	for s != "" {
		id, until := at.find(base)
		n := min(len(s), until-base)
		p.add(s[:n], n, false, id)
		s, base = s[n:], base+n
	}
}

// layout turns a line end or a tab into layout.
func (p *printer) layout(w runes.Unit) {
	switch {
	case p.json && w.R == '\n':
		p.add(`\n`, 2, true, 0)
		p.newLine(p.indent)
	case p.json && w.R == '\r':
		p.add(`\r`, 2, true, 0)
	case p.json:
		p.add(`\t`, 2, true, 0)
	case w.R == '\n':
		p.newLine(0)
	case w.R == '\t':
		n := 4 - p.column()%4
		p.add(blanks(n), n, false, 0)
	}
}

// shown adds the run of shown units at u, cluster by cluster.
func (p *printer) shown(u *runes.Units, at spanMap) {
	start := u.I
	for u.I < len(u.S) {
		save := *u
		w := u.Next()
		if w.Class != runes.Plain || w.R == '\\' || w.R == '"' && p.json {
			if w.Class == runes.Plain && u.I == start+1 && w.Start == start {
				p.escapedASCII(u, w, at)
				return
			}
			*u = save
			break
		}
	}
	p.clusters(u.S[start:u.I], start, at)
}

// escapedASCII adds a quote or a run of backslashes. A run that could imitate
// a token is doubled.
func (p *printer) escapedASCII(u *runes.Units, w runes.Unit, at spanMap) {
	id, _ := at.find(w.Start)
	if w.R == '"' {
		p.add(`\"`, 2, false, id)
		return
	}
	for u.I < len(u.S) && u.S[u.I] == '\\' {
		u.I++
	}
	run := u.S[w.Start:u.I]
	if p.json || p.tokenFollows(*u) {
		run += run
	}
	p.add(run, len(run), false, id)
	u.Prev = '\\'
}

// tokenFollows reports whether the next unit is a token or would look like one after a
// backslash.
func (p *printer) tokenFollows(u runes.Units) bool {
	if u.I >= len(u.S) {
		return false
	}
	switch u.S[u.I] {
	case 'x', 'u', 'U':
		return true
	}
	u.Prev = '\\'
	rest := u.S[u.I:]
	if u.Next().Class != runes.Plain || extends(rest) {
		return true
	}
	_, w := firstCluster(rest)
	return w == 0 || w > 2
}

// clusters adds shown text that starts at offset base of its text.
func (p *printer) clusters(s string, base int, at spanMap) {
	if extends(s) {
		// It would combine with the character before it.
		r, n, _ := runes.DecodeRune(s)
		id, _ := at.find(base)
		tok := p.spell(runes.Unit{R: r, Class: runes.Mark})
		p.add(tok, len(tok), true, id)
		s, base = s[n:], base+n
		if s != "" {
			p.clusters(s, base, at)
		}
		return
	}
	for i := 0; i < len(s); {
		id, _ := at.find(base + i)
		size, w := firstCluster(s[i:])
		c := s[i : i+size]
		i += size
		switch {
		case size == 1:
			p.add(c, 1, false, id)
		case c == tokenOpen:
			p.add(tokenOpen+tokenOpen, 2*w, false, id)
		case w == 0 || w > 2:
			for c != "" {
				r, n, _ := runes.DecodeRune(c)
				tok := p.spell(runes.Unit{R: r})
				p.add(tok, len(tok), true, id)
				c = c[n:]
			}
		default:
			p.cluster(c, w, id)
		}
	}
}

// cluster adds one grapheme cluster, or only the start of a very long one.
func (p *printer) cluster(c string, w, span int) {
	cut, marks, n := len(c), 0, 0
	for i, r := range c {
		if unicode.Is(unicode.M, r) && runes.ClassOf(r) == runes.Mark {
			marks++
		}
		if n++; marks > runes.MaxMarks || n > maxRunes {
			cut = i
			break
		}
	}
	if strings.HasPrefix(c, tokenOpen) {
		p.add(tokenOpen, cells(tokenOpen), false, span)
	}
	if cut == len(c) {
		p.add(c, w, false, span)
		return
	}
	rest := c[cut:]
	c = strings.TrimRight(c[:cut], "\u200d")
	what := "more"
	if marks > runes.MaxMarks {
		what = "marks"
	}
	p.add(c, cells(c), false, span)
	tok := fmt.Sprintf("%s+%d %s #%s%s", tokenOpen, utf8.RuneCountInString(rest), what, shortHash(rest), tokenClose)
	p.add(tok, cells(tok), true, span)
}

// firstCombining is the first code point that belongs to the cluster before it (UAX 29).
const firstCombining = 0x300

// extends reports whether the first rune of s belongs to the cluster before it.
func extends(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	if r < firstCombining {
		return false
	}
	c, _ := ansi.FirstGraphemeCluster("a"+s[:n], ansi.GraphemeWidth)
	return len(c) > 1
}

// hidden adds the run of hidden units at u as tokens.
func (p *printer) hidden(u *runes.Units, at spanMap) {
	run := p.run[:0]
	defer func() { p.run = run[:0] }()
	for u.I < len(u.S) {
		save := *u
		w := u.Next()
		if w.Class == runes.Plain || p.breaks && w.Class == runes.Control && (w.R == '\n' || w.R == '\t' || w.R == '\r' && u.Peek(w) == '\n') {
			*u = save
			break
		}
		run = append(run, w)
	}
	for rest := run; len(rest) > 0; {
		n := runLength(rest)
		part := rest[:n]
		rest = rest[n:]
		id, _ := at.find(part[0].Start)
		collapses := n > showMixed || n > showEqual && allEqual(part) ||
			n > 1 && (part[0].Class == runes.Tag || part[0].Class == runes.Selector) && runes.HiddenText(part) != ""
		if collapses {
			tok := collapse(u.S, part, p.spell)
			p.add(tok, cells(tok), true, id)
			continue
		}
		for _, w := range part {
			tok := p.spell(w)
			p.add(tok, len(tok), true, id)
		}
	}
}

func allEqual(run []runes.Unit) bool {
	for _, w := range run {
		if w.R != run[0].R || w.Class != run[0].Class {
			return false
		}
	}
	return true
}

// runLength returns how many units at the start of run are shown together: tags, selectors,
// or a mix of the others without long runs of equal units.
func runLength(run []runes.Unit) int {
	same := func(i int) bool { return run[i].R == run[0].R && run[i].Class == run[0].Class }
	n := 1
	for n < len(run) && same(n) {
		n++
	}
	if n > showEqual {
		return n
	}
	own := run[0].Class == runes.Tag || run[0].Class == runes.Selector
	n = 1
	equal := 1
	for n < len(run) {
		c := run[n].Class
		if own && c != run[0].Class || !own && (c == runes.Tag || c == runes.Selector) {
			break
		}
		if run[n].R == run[n-1].R && c == run[n-1].Class {
			if equal++; equal > showEqual && !own {
				return n - showEqual
			}
		} else {
			equal = 1
		}
		n++
	}
	return n
}

// spanMap finds the span around an offset of one string.
type spanMap []mappedSpan

type mappedSpan struct{ id, start, end int }

const noOffset = int(^uint(0) >> 1)

// find returns the id of the first span around offset i, 0 for none, and the next offset at
// which that may change.
func (m spanMap) find(i int) (id, until int) {
	until = noOffset
	for _, s := range m {
		switch {
		case i < s.start:
			until = min(until, s.start)
		case i < s.end:
			if id == 0 {
				id = s.id
			}
			until = min(until, s.end)
		}
	}
	return id, until
}
