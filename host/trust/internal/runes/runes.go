// Package runes decides by class and neighbours whether a code point may be shown as it is,
// and spells those that may not.
package runes

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"eventdeck/host/internal/jsontext"
)

// MaxMarks is the number of combining marks that may follow one base.
const MaxMarks = 4

// Class says why a code point may not be shown as it is.
type Class uint8

const (
	Plain      Class = iota // shown as it is
	Control                 // C0 and DEL
	C1                      // U+0080 to U+009F
	Bidi                    // reorders text
	Invisible               // default-ignorable, zero width
	Tag                     // U+E0000 to U+E007F
	Selector                // variation selector
	Space                   // blank other than U+0020
	Separator               // U+2028, U+2029
	Private                 // private use
	Nonchar                 // noncharacter
	Unassigned              // no glyph known
	Wide                    // drawn wider than its cells
	Mark                    // combining mark: shown only on a base
	Surrogate               // lone surrogate
	Invalid                 // byte that is not UTF-8
)

// Code points that rules name.
const (
	ZWNJ      = 0x200c
	ZWJ       = 0x200d
	vs15      = 0xfe0e
	vs16      = 0xfe0f
	keycap    = 0x20e3
	blackFlag = 0x1f3f4
)

// ClassOf returns the class of r without regard to its neighbours.
func ClassOf(r rune) Class {
	switch {
	case r < 0x20 || r == 0x7f:
		return Control
	case r < 0x7f:
		return Plain
	case r < 0xa0:
		return C1
	case r < 0x300:
		switch r {
		case 0xa0:
			return Space
		case 0xad:
			return Invisible
		}
		return Plain
	}
	switch {
	case r < tabled:
		return classTable()[r]
	case 0x3400 <= r && r <= 0x9fff && r&0xff80 != 0x4d80 && r&0xff80 != 0x9f80, 0xac00 <= r && r <= 0xd7a3:
		return Plain
	}
	return classOfHigh(r)
}

// tabled is the first code point that is not in the table of classes.
const tabled = 0x3400

// classTable has the classes of the most common scripts.
var classTable = sync.OnceValue(func() *[tabled]Class {
	var t [tabled]Class
	for r := range rune(tabled) {
		t[r] = classOfHigh(r)
	}
	return &t
})

func classOfHigh(r rune) Class {
	switch {
	case r == 0x61c, r == 0x200e, r == 0x200f, 0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069:
		return Bidi
	case r == 0x2028, r == 0x2029:
		return Separator
	case r == 0x1680, 0x2000 <= r && r <= 0x200a, r == 0x202f, r == 0x205f, r == 0x3000, r == 0x2800:
		return Space
	case 0xfe00 <= r && r <= 0xfe0f, 0xe0100 <= r && r <= 0xe01ef:
		return Selector
	case 0xe0000 <= r && r <= 0xe007f:
		return Tag
	case jsontext.IsSurrogate(r):
		return Surrogate
	case 0xfdd0 <= r && r <= 0xfdef, r&0xfffe == 0xfffe:
		return Nonchar
	case 0xe000 <= r && r <= 0xf8ff, r >= 0xf0000:
		return Private
	case IsInvisible(r):
		return Invisible
	case r == 0xfdfd, r == 0xa9c5, r == 0x2e3a, r == 0x2e3b, 0x12000 <= r && r <= 0x1254f,
		isPrepend(r):
		return Wide
	case unicode.Is(unicode.M, r), r == 0xff9e, r == 0xff9f:
		return Mark
	case !unicode.IsGraphic(r):
		return Unassigned
	}
	return Plain
}

// IsInvisible reports whether r has no glyph and no other class.
func IsInvisible(r rune) bool {
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

// isPrepend reports whether r combines with the character after it, even a token or a
// border.
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

// joins reports whether r is a shown letter or mark of a joinerScript.
func joins(r rune) bool {
	return r >= 0x600 && unicode.In(r, joinerScripts...) && (ClassOf(r) == Plain || ClassOf(r) == Mark)
}

// isPictograph reports whether r may be part of an emoji sequence.
func isPictograph(r rune) bool {
	switch {
	case r < 0xa9:
		return false
	case 0x1f000 <= r && r <= 0x1faff:
		return ClassOf(r) == Plain
	case r == 0xa9, r == 0xae, r == 0x2139, r == 0x303d, r == 0x3030, r == 0x3297, r == 0x3299:
		return true
	}
	return 0x203c <= r && r <= 0x2bff && !unicode.IsLetter(r) && ClassOf(r) == Plain
}

// flags are the tag sequences that draw a flag after a black flag.
var flags = []string{Tagged("gbeng"), Tagged("gbsct"), Tagged("gbwls")}

// Tagged returns s in tag characters with the cancel tag at the end.
func Tagged(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(0xe0000 + r)
	}
	b.WriteRune(0xe007f)
	return b.String()
}

// Unit is a piece of text with one class: a code point, an invalid byte or a legal flag.
type Unit struct {
	Start, End int
	R          rune
	Class      Class
}

// Units splits text into units and decides by their neighbours which are legal.
type Units struct {
	S     string
	I     int
	Prev  rune // last shown rune, 0 at the start or after a hidden one
	Prev2 rune // the one before it
}

// Next returns the next unit. Call it only while u.i < len(u.s).
func (u *Units) Next() Unit {
	r, n, ok := DecodeRune(u.S[u.I:])
	w := Unit{Start: u.I, End: u.I + n, R: r}
	switch {
	case !ok:
		w.Class = Invalid
	default:
		w.Class = ClassOf(r)
	}
	if w.Class != Plain && ok && u.legal(w) {
		w.Class = Plain
	}
	if r == blackFlag {
		for _, f := range flags {
			if strings.HasPrefix(u.S[w.End:], f) {
				w.End += len(f)
			}
		}
	}
	u.I = w.End
	u.Prev2, u.Prev = u.Prev, 0
	if w.Class == Plain {
		u.Prev = r
	}
	return w
}

// Peek returns the rune after w, 0 at the end and before an invalid byte.
func (u *Units) Peek(w Unit) rune {
	if w.End >= len(u.S) {
		return 0
	}
	r, _, ok := DecodeRune(u.S[w.End:])
	if !ok {
		return 0
	}
	return r
}

// legal reports whether a code point of a hidden class is ordinary in its place.
func (u *Units) legal(w Unit) bool {
	switch w.Class {
	case Mark:
		return u.Prev != 0 && u.Prev > ' '
	case Invisible:
		if w.R != ZWJ && w.R != ZWNJ {
			return 0x180b <= w.R && w.R <= 0x180d && unicode.Is(unicode.Mongolian, u.Prev)
		}
		next := u.Peek(w)
		if joins(u.Prev) && (joins(next) || w.R == ZWNJ && next != 0 && ClassOf(next) == Plain && u.Prev2 != 0) {
			return true
		}
		emoji := isPictograph(u.Prev) || u.Prev == vs16 && isPictograph(u.Prev2)
		return w.R == ZWJ && emoji && isPictograph(next)
	case Selector:
		switch {
		case w.R == vs15 || w.R == vs16:
			return isPictograph(u.Prev) || isKeycapBase(u.Prev) && u.Peek(w) == keycap
		case w.R <= 0xfe02 || w.R >= 0xe0100:
			return unicode.Is(unicode.Han, u.Prev)
		}
	case Space:
		// The blank of Japanese and Chinese typography between wide letters.
		return w.R == 0x3000 && isIdeographic(u.Prev) && isIdeographic(u.Peek(w))
	}
	return false
}

// isIdeographic reports whether r is a letter or a sign of Chinese, Japanese or
// Korean text.
func isIdeographic(r rune) bool {
	return (0x3001 <= r && r <= 0x9fff || 0xac00 <= r && r <= 0xd7a3 || 0xff01 <= r && r <= 0xff60) && ClassOf(r) == Plain
}

func isKeycapBase(r rune) bool { return '0' <= r && r <= '9' || r == '#' || r == '*' }

// DecodeRune decodes the first rune of s. ok is false for an invalid byte; a lone surrogate
// is returned as itself.
func DecodeRune[T []byte | string](s T) (r rune, n int, ok bool) {
	if c := s[0]; c < utf8.RuneSelf {
		return rune(c), 1, true
	}
	if len(s) >= 3 && s[0] == 0xed && s[1] >= 0xa0 && s[1] <= 0xbf && s[2]&0xc0 == 0x80 {
		return rune(0xd000) | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), 3, true
	}
	r, n = utf8.DecodeRune([]byte(s[:min(len(s), utf8.UTFMax)]))
	if r == utf8.RuneError && n == 1 {
		return rune(s[0]), 1, false
	}
	return r, n, true
}

// CleanASCII reports whether s is shown as it is in every text view.
func CleanASCII(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '\\' {
			return false
		}
	}
	return true
}
