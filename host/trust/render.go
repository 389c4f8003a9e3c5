package trust

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/trust/internal/runes"
)

// Segment is a run of cells of one kind. Its text is safe to print.
type Segment struct {
	Text string // safe text
	Mark bool   // stands for something that is not shown as it is
	// Span is one more than the index of the [Place] around the text; 0 outside of places
	// and in views without them.
	Span int
	Kind Kind // of a value of JSON in [Detail]; 0 elsewhere
}

// Kind is the kind of a part of a JSON text.
type Kind uint8

// The kinds.
const (
	_       Kind = iota
	Key          // name of a member
	String       // a value in quotes
	Number       // digits
	Literal      // true, false, null
	Sign         // brackets, commas, colons
)

// Rendered is one line of safe text, ready to be laid out. Its width is known
// before any style is added.
//
// Different texts have different lines, even without style: a token has an odd number of
// backslashes or opening guillemets, literal ones that could imitate a token are doubled,
// and a collapsed run has its count and a hash.
type Rendered struct {
	Segments []Segment
	Width    int // cells
}

// Plain returns the line without styles.
func (r Rendered) Plain() string {
	if len(r.Segments) == 1 {
		return r.Segments[0].Text
	}
	var b strings.Builder
	for _, s := range r.Segments {
		b.WriteString(s.Text)
	}
	return b.String()
}

// CutMark ends a clipped line. It is a marked [Segment] of its own, unlike the same
// character in a text.
const CutMark = "…"

// Clip returns the line in at most width cells. The part that does not fit is replaced by
// one [CutMark]; a token is kept whole or left out.
func (r Rendered) Clip(width int) Rendered {
	if r.Width <= width {
		return r
	}
	if width <= 0 {
		return Rendered{}
	}
	var out Rendered
	for _, s := range r.Segments {
		head, _, w := s.split(width - 1 - out.Width)
		if w > 0 {
			out.push(head, w)
		}
		if len(head.Text) < len(s.Text) {
			break
		}
	}
	out.push(Segment{Text: CutMark, Mark: true}, 1)
	return out
}

// push adds a segment of w cells.
func (r *Rendered) push(s Segment, w int) {
	r.Segments = append(r.Segments, s)
	r.Width += w
}

// split cuts s at most room cells from its start: between grapheme clusters, and not within
// a token.
func (s Segment) split(room int) (head, tail Segment, w int) {
	head, tail = s, s
	if s.Mark {
		if w = cells(s.Text); w <= room {
			tail.Text = ""
			return head, tail, w
		}
		head.Text = ""
		return head, tail, 0
	}
	n, w := fit(s.Text, room)
	head.Text, tail.Text = s.Text[:n], s.Text[n:]
	return head, tail, w
}

// fit returns how many bytes of safe text fit into room cells, and their width in cells.
func fit(s string, room int) (n, w int) {
	for n < len(s) {
		size, cw := firstGlyph(s[n:])
		if w+cw > room {
			break
		}
		n += size
		w += cw
	}
	return n, w
}

// firstCluster returns the bytes and cells of the first grapheme cluster of s.
func firstCluster(s string) (size, width int) {
	if s[0] < 0x80 && (len(s) == 1 || s[1] < 0x80) {
		return 1, 1
	}
	c, w := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return len(c), w
}

// firstGlyph is firstCluster with the spacing marks after it that are clusters of their
// own, such as some Myanmar ones: a line must not begin with one.
func firstGlyph(s string) (size, width int) {
	size, width = firstCluster(s)
	for size < len(s) && s[size] >= 0x80 {
		r, _ := utf8.DecodeRuneInString(s[size:])
		if !unicode.Is(unicode.Mc, r) {
			break
		}
		n, w := firstCluster(s[size:])
		size, width = size+n, width+w
	}
	return size, width
}

// cells returns the width of safe text.
func cells(s string) int {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// continuing returns the indentation of continuation lines of at most width cells.
func continuing(indent, width int) int {
	indent = min(indent, width/2)
	if width-indent < 2 { // a wide glyph must fit
		return 0
	}
	return indent
}

// wrap breaks a line into lines of at most width cells, after a blank if there is one in
// the second half. All but the first start with indent blanks.
func (r Rendered) wrap(width, indent int) []Rendered {
	if width <= 0 || r.Width <= width {
		return []Rendered{r}
	}
	indent = continuing(indent, width)
	var lines []Rendered
	var cur Rendered
	breakLine := func() {
		lines = append(lines, cur)
		cur = Rendered{}
		if indent > 0 {
			cur.push(Segment{Text: blanks(indent)}, indent)
		}
	}
	for _, s := range r.Segments {
		for s.Text != "" {
			fresh := cur.Width == 0 || len(lines) > 0 && cur.Width == indent
			head, tail, w := s.split(width - cur.Width)
			if s.Mark && w == 0 && fresh {
				// A token wider than the pane must be cut.
				n, nw := fit(s.Text, width-cur.Width)
				head.Text, tail.Text, w = s.Text[:n], s.Text[n:], nw
			}
			if tail.Text != "" && !s.Mark {
				at := strings.LastIndexByte(head.Text, ' ')
				if size, _ := firstCluster(s.Text[max(at, 0):]); at >= len(head.Text)/2 && size == 1 {
					head.Text, tail.Text = s.Text[:at+1], s.Text[at+1:]
					w = cells(head.Text)
				}
			}
			if w == 0 && fresh {
				// A glyph wider than the pane.
				n, _ := firstGlyph(s.Text)
				head.Text, tail.Text, w = CutMark, s.Text[n:], 1
				head.Mark = true
			}
			if w > 0 {
				cur.push(head, w)
			}
			if s = tail; s.Text != "" {
				breakLine()
			}
		}
	}
	return append(lines, cur)
}

const manyBlanks = "                                                                "

func blanks(n int) string {
	if n <= len(manyBlanks) {
		return manyBlanks[:n]
	}
	return strings.Repeat(" ", n)
}

// Line returns the one-line form of t: line feeds and tabs are tokens too.
func Line(t Text) Rendered {
	if runes.CleanASCII(t.s) {
		if t.s == "" {
			return Rendered{}
		}
		return Rendered{Segments: []Segment{{Text: t.s}}, Width: len(t.s)}
	}
	p := printer{spell: runes.Spell}
	p.text(t.s, nil)
	return p.line()
}

// Block returns t with its line ends and tabs as layout, wrapped to width cells; a width of
// 0 or less means unlimited. A carriage return before a line feed is part of the line end.
func Block(t Text, width int) []Rendered {
	p := printer{spell: runes.Spell, breaks: true, width: width}
	p.text(t.s, nil)
	p.newLine(0)
	return p.lines
}

// Escaped returns t in ASCII only, which distinguishes look-alike letters: every other code
// point is a token of its own, nothing is collapsed, every backslash is doubled. Lines end
// after the token of a line feed.
func Escaped(t Text, width int) []Rendered {
	p := printer{width: width}
	for u := (runes.Units{S: t.s}); u.I < len(t.s); {
		w := u.Next()
		switch {
		case w.R == '\n':
			p.add(`\n`, 2, true, 0)
			p.newLine(0)
		case w.R == '\\':
			p.add(`\\`, 2, false, 0)
		case w.Class == runes.Plain && w.R < 0x80:
			p.add(t.s[w.Start:w.End], 1, false, 0)
		default:
			for part := t.s[w.Start:w.End]; part != ""; {
				r, n, _ := runes.DecodeRune(part)
				tok := runes.Spell(runes.Unit{R: r, Class: w.Class})
				p.add(tok, len(tok), true, 0)
				part = part[n:]
			}
		}
	}
	p.newLine(0)
	return p.lines
}

// Hex returns raw as a table: offset, bytes, and their ASCII characters. width, in cells,
// chooses between 16 and 8 bytes per line; 0 or less means 16.
func Hex(raw []byte, width int) []Rendered {
	per := 16
	if width > 0 && width < 76 {
		per = 8
	}
	const digits = "0123456789abcdef"
	lines := make([]Rendered, 0, len(raw)/per+1)
	for at := 0; at < len(raw); at += per {
		b := make([]byte, 0, 80)
		for shift := 20; shift >= 0; shift -= 4 {
			b = append(b, digits[at>>shift&15])
		}
		b = append(b, ' ', ' ')
		row := raw[at:min(at+per, len(raw))]
		for i := range per {
			if i < len(row) {
				b = append(b, digits[row[i]>>4], digits[row[i]&15], ' ')
			} else {
				b = append(b, ' ', ' ', ' ')
			}
		}
		b = append(b, ' ')
		for _, c := range row {
			if c < 0x20 || c >= 0x7f {
				c = '.'
			}
			b = append(b, c)
		}
		line := Rendered{Segments: []Segment{{Text: string(b)}}, Width: len(b)}
		lines = append(lines, line.wrap(width, 0)...)
	}
	return lines
}
