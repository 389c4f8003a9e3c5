package trust

import (
	"strings"
	"sync"
	"unicode"
)

// class says why a code point may not be shown as it came.
type class uint8

const (
	plain      class = iota // shown as it came
	control                 // C0 and DEL
	c1                      // U+0080 to U+009F
	bidi                    // reorders text
	invisible               // default-ignorable, zero width
	tag                     // U+E0000 to U+E007F
	selector                // variation selector
	space                   // blank other than U+0020
	separator               // U+2028, U+2029
	private                 // private use
	nonchar                 // noncharacter
	unassigned              // no glyph known
	wide                    // drawn wider than its cells
	mark                    // combining mark: shown only on a base
	surrogate               // lone surrogate
	invalid                 // byte that is no UTF-8
)

// Code points that rules name.
const (
	zwnj      = 0x200c
	zwj       = 0x200d
	vs15      = 0xfe0e
	vs16      = 0xfe0f
	keycap    = 0x20e3
	blackFlag = 0x1f3f4
)

// classOf returns the class of r without regard to its neighbours.
func classOf(r rune) class {
	switch {
	case r < 0x20 || r == 0x7f:
		return control
	case r < 0x7f:
		return plain
	case r < 0xa0:
		return c1
	case r < 0x300:
		switch r {
		case 0xa0:
			return space
		case 0xad:
			return invisible
		}
		return plain
	}
	switch {
	case r < tabled:
		return classTable()[r]
	case 0x3400 <= r && r <= 0x9fff && r&0xff80 != 0x4d80 && r&0xff80 != 0x9f80, 0xac00 <= r && r <= 0xd7a3:
		return plain
	}
	return classOfHigh(r)
}

// tabled is the first code point that is not in the table of classes.
const tabled = 0x3400

// classTable holds the classes of the scripts that are looked up most.
var classTable = sync.OnceValue(func() *[tabled]class {
	var t [tabled]class
	for r := range rune(tabled) {
		t[r] = classOfHigh(r)
	}
	return &t
})

func classOfHigh(r rune) class {
	switch {
	case r == 0x61c, r == 0x200e, r == 0x200f, 0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069:
		return bidi
	case r == 0x2028, r == 0x2029:
		return separator
	case r == 0x1680, 0x2000 <= r && r <= 0x200a, r == 0x202f, r == 0x205f, r == 0x3000, r == 0x2800:
		return space
	case 0xfe00 <= r && r <= 0xfe0f, 0xe0100 <= r && r <= 0xe01ef:
		return selector
	case 0xe0000 <= r && r <= 0xe007f:
		return tag
	case isSurrogate(r):
		return surrogate
	case 0xfdd0 <= r && r <= 0xfdef, r&0xfffe == 0xfffe:
		return nonchar
	case 0xe000 <= r && r <= 0xf8ff, r >= 0xf0000:
		return private
	case isInvisible(r):
		return invisible
	case r == 0xfdfd, r == 0xa9c5, r == 0x2e3a, r == 0x2e3b, 0x12000 <= r && r <= 0x1254f,
		isPrepend(r):
		return wide
	case unicode.Is(unicode.M, r), r == 0xff9e, r == 0xff9f:
		return mark
	case !unicode.IsGraphic(r):
		return unassigned
	}
	return plain
}

// isInvisible tells whether r is drawn as nothing and has no other class.
func isInvisible(r rune) bool {
	switch {
	case r == 0x34f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5,
		0x180b <= r && r <= 0x180f, 0x200b <= r && r <= 0x200d,
		0x2060 <= r && r <= 0x206f, r == 0x3164, r == 0xfeff, r == 0xffa0,
		0xfff0 <= r && r <= 0xfffb, 0x13430 <= r && r <= 0x1345f,
		0x1bca0 <= r && r <= 0x1bca3, 0x1d173 <= r && r <= 0x1d17a:
		return true
	}
	return false
}

// isPrepend tells whether r is a letter that grows together with the character
// behind it, whatever that is: a token or a border.
func isPrepend(r rune) bool {
	switch {
	case r == 0xd4e, r == 0x111c2, r == 0x111c3, r == 0x113d1, r == 0x1193f, r == 0x11941,
		r == 0x11a3a, 0x11a84 <= r && r <= 0x11a89, r == 0x11d46, r == 0x11f02:
		return true
	}
	return false
}

// joinerScripts are the scripts in which ZWJ and ZWNJ are ordinary spelling.
var joinerScripts = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Thaana,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
	unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
	unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}

// joins tells whether r is a shown letter or mark of one of them.
func joins(r rune) bool {
	return r >= 0x600 && unicode.In(r, joinerScripts...) && (classOf(r) == plain || classOf(r) == mark)
}

// isPictograph tells whether r may be part of an emoji sequence.
func isPictograph(r rune) bool {
	switch {
	case r < 0xa9:
		return false
	case 0x1f000 <= r && r <= 0x1faff:
		return classOf(r) == plain
	case r == 0xa9, r == 0xae, r == 0x2139, r == 0x303d, r == 0x3030, r == 0x3297, r == 0x3299:
		return true
	}
	return 0x203c <= r && r <= 0x2bff && !unicode.IsLetter(r) && classOf(r) == plain
}

// flags are the tag sequences behind a black flag that draw a flag.
var flags = []string{tagged("gbeng"), tagged("gbsct"), tagged("gbwls")}

// tagged spells s in tag characters and ends it.
func tagged(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(0xe0000 + r)
	}
	b.WriteRune(0xe007f)
	return b.String()
}

// unit is a piece of text with one class: a code point, an invalid byte or a
// legal flag.
type unit struct {
	start, end int
	r          rune
	class      class
}

// units cuts text into units and decides from the neighbours what is legal.
type units struct {
	s     string
	i     int
	prev  rune // last shown rune, 0 at the start or behind a hidden one
	prev2 rune // the one before it
}

// next returns the next unit. It may be called while u.i < len(u.s).
func (u *units) next() unit {
	r, n, ok := decodeRune(u.s[u.i:])
	w := unit{start: u.i, end: u.i + n, r: r}
	switch {
	case !ok:
		w.class = invalid
	default:
		w.class = classOf(r)
	}
	if w.class != plain && ok && u.legal(w) {
		w.class = plain
	}
	if r == blackFlag {
		for _, f := range flags {
			if strings.HasPrefix(u.s[w.end:], f) {
				w.end += len(f)
			}
		}
	}
	u.i = w.end
	u.prev2, u.prev = u.prev, 0
	if w.class == plain {
		u.prev = r
	}
	return w
}

// peek returns the rune behind w, 0 at the end and before an invalid byte.
func (u *units) peek(w unit) rune {
	if w.end >= len(u.s) {
		return 0
	}
	r, _, ok := decodeRune(u.s[w.end:])
	if !ok {
		return 0
	}
	return r
}

// legal tells whether a code point that is hidden by its class is ordinary
// where it stands.
func (u *units) legal(w unit) bool {
	switch w.class {
	case mark:
		return u.prev != 0 && u.prev > ' '
	case invisible:
		if w.r != zwj && w.r != zwnj {
			return 0x180b <= w.r && w.r <= 0x180d && unicode.Is(unicode.Mongolian, u.prev)
		}
		next := u.peek(w)
		if joins(u.prev) && (joins(next) || w.r == zwnj && next != 0 && classOf(next) == plain && u.prev2 != 0) {
			return true
		}
		emoji := isPictograph(u.prev) || u.prev == vs16 && isPictograph(u.prev2)
		return w.r == zwj && emoji && isPictograph(next)
	case selector:
		switch {
		case w.r == vs15 || w.r == vs16:
			return isPictograph(u.prev) || isKeycapBase(u.prev) && u.peek(w) == keycap
		case w.r <= 0xfe02 || w.r >= 0xe0100:
			return unicode.Is(unicode.Han, u.prev)
		}
	case space:
		// The blank of Japanese and Chinese typography between wide letters.
		return w.r == 0x3000 && isIdeographic(u.prev) && isIdeographic(u.peek(w))
	}
	return false
}

// isIdeographic tells whether r is a letter or a sign of Chinese, Japanese or
// Korean text.
func isIdeographic(r rune) bool {
	return (0x3001 <= r && r <= 0x9fff || 0xac00 <= r && r <= 0xd7a3 || 0xff01 <= r && r <= 0xff60) && classOf(r) == plain
}

func isKeycapBase(r rune) bool { return '0' <= r && r <= '9' || r == '#' || r == '*' }
