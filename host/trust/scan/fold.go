package scan

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"eventdeck/host/internal/jsontext"
	"eventdeck/host/trust/internal/runes"
)

// folded is a text as rules read it: in lower case, without compatibility forms, accents
// and invisible characters.
type folded struct {
	text    []byte
	offs    []int32 // offset in the original of each byte of text; nil: the same
	size    int     // of the original
	changed bool    // more than the case of ASCII letters
}

// original returns the offset in the original of offset i in the text.
func (f *folded) original(i int) int {
	switch {
	case i >= len(f.text):
		return f.size
	case f.offs == nil:
		return i
	}
	return int(f.offs[i])
}

// fold folds s.
func fold(s string) folded {
	f := folded{text: make([]byte, len(s)), size: len(s)}
	ascii := true
	for i := range len(s) {
		c := s[i]
		if c >= 0x80 {
			ascii = false
			break
		}
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		f.text[i] = c
	}
	if ascii {
		return f
	}
	return foldRunes(s)
}

func foldRunes(s string) folded {
	f := folded{text: make([]byte, 0, len(s)), offs: make([]int32, 0, len(s)), size: len(s), changed: true}
	put := func(b []byte, at int) {
		f.text = append(f.text, b...)
		for range b {
			f.offs = append(f.offs, int32(at))
		}
	}
	var buf [utf8.UTFMax]byte
	for i := 0; i < len(s); {
		c := s[i]
		if c < 0x80 {
			if 'A' <= c && c <= 'Z' {
				c |= 0x20
			}
			f.text = append(f.text, c)
			f.offs = append(f.offs, int32(i))
			i++
			continue
		}
		r, n, ok := runes.DecodeRune(s[i:])
		switch {
		case !ok || jsontext.IsSurrogate(r):
			put([]byte{' '}, i)
		case keepsForm(r):
			put(utf8.AppendRune(buf[:0], r), i)
		case r < foldTabled:
			put([]byte(foldTable()[r]), i)
		default:
			foldRune(r, func(r rune) { put(utf8.AppendRune(buf[:0], r), i) })
		}
		i += n
	}
	return f
}

// keepsForm reports quickly that folding does not change r: Han, kana, Hangul, emoji.
func keepsForm(r rune) bool {
	return 0x1f300 <= r && r <= 0x1f3fa || 0x1f400 <= r && r <= 0x1faff || 0x3041 <= r && r <= 0x3096 || 0x30a1 <= r && r <= 0x30fa ||
		0x4e00 <= r && r <= 0x9fff || 0xac00 <= r && r <= 0xd7a3
}

// foldTabled is the first code point outside the table of folded forms, which has Latin,
// Greek, Cyrillic, Hebrew, Arabic and Indic letters.
const foldTabled = 0x1000

var foldTable = sync.OnceValue(func() *[foldTabled]string {
	var t [foldTabled]string
	for r := range rune(foldTabled) {
		foldRune(r, func(f rune) { t[r] += string(f) })
	}
	return &t
})

// foldRune emits the folded form of one code point, which may be empty.
func foldRune(r rune, emit func(rune)) {
	switch runes.ClassOf(r) {
	case runes.Invisible, runes.Tag, runes.Selector, runes.Bidi, runes.Mark, runes.C1:
		if !unicode.Is(unicode.Mc, r) && !(runes.ClassOf(r) == runes.Mark && keepsMarks(r)) {
			return
		}
	case runes.Space, runes.Separator:
		emit(' ')
		return
	}
	var buf [utf8.UTFMax]byte
	for _, d := range string(norm.NFKD.Bytes(utf8.AppendRune(buf[:0], r))) {
		switch {
		case unicode.Is(unicode.Mn, d) && !keepsMarks(d):
		case d == 'ı':
			emit('i')
		case d == 'ł' || d == 'Ł':
			emit('l')
		case d == 'ø' || d == 'Ø':
			emit('o')
		case d == 'đ' || d == 'Đ':
			emit('d')
		case d == 'ß':
			emit('s')
			emit('s')
		case d == '’' || d == '‘' || d == 'ʼ':
			emit('\'')
		default:
			emit(unicode.ToLower(d))
		}
	}
}

// keepsMarks reports whether r may be a mark that is part of the spelling: vowel signs of
// Indic scripts and Thai.
func keepsMarks(r rune) bool { return 0x900 <= r && r <= 0xfff }

// skeleton returns s in lower case, without invisible characters and with look-alikes as
// Latin letters.
func skeleton(s string) string {
	var b strings.Builder
	for _, r := range norm.NFKC.String(s) {
		switch runes.ClassOf(r) {
		case runes.Invisible, runes.Tag, runes.Selector, runes.Bidi:
			continue
		}
		if l, ok := lookalikes[r]; ok {
			r = rune(l)
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// lookalikes are lower-case letters of other scripts that look like Latin ones.
var lookalikes = func() map[rune]byte {
	m := map[rune]byte{}
	add := func(latin, others string) {
		i := 0
		for _, r := range others {
			m[r] = latin[i]
			if up := unicode.ToUpper(r); up != r {
				if _, ok := m[up]; !ok {
					m[up] = latin[i]
				}
			}
			i++
		}
	}
	add("aceopxyijshbdqwlkmtvgf", "асеорхуіјѕһЬԁԛԝӏкмтѵɡғ")
	add("aovpyuikntxe", "αονρυυικητχε")
	add("abehikmnoptxyzcs", "ΑΒΕΗΙΚΜΝΟΡΤΧΥΖϹՏ")
	add("abcehkmoptxyi", "АВСЕНКМОРТХУІ")
	add("oshnupqgfl", "օѕհոսքգցֆӏ")
	return m
}()
