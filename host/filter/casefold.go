package filter

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// byFrequency lists the bytes common in payloads, the most common first. A search looks for
// the rarest byte of a word.
const byFrequency = `"e:taoinsr,0-1ldcu2mphgf5374689.bv_ywk/{}[]xT+jZqz=`

// word is a text to search for, ignoring case.
type word struct {
	text  string // as typed
	lower string
	bytes bool  // only its ASCII letters have two cases: it is compared byte by byte
	rare  int   // offset of the rarest byte of lower
	lo    byte  // the rarest byte, in lower
	up    byte  // in upper case
	hint  *word // of other words: the longest part that is compared byte by byte
}

func newWord(text string) word {
	w := word{text: text, lower: lowered(text)}
	longest := ""
	for _, run := range strings.FieldsFunc(w.lower, twoCases) {
		if len(run) > len(longest) {
			longest = run
		}
	}
	w.bytes = longest == w.lower
	if !w.bytes {
		if longest != "" {
			hint := newWord(longest)
			w.hint = &hint
		}
		return w
	}
	best := -1
	for i := range len(w.lower) {
		c := w.lower[i]
		rank := strings.IndexByte(byFrequency, c)
		if rank < 0 {
			rank = len(byFrequency)
		}
		if rank > best {
			best, w.rare = rank, i
		}
	}
	if len(w.lower) > 0 {
		w.lo = w.lower[w.rare]
		w.up = w.lo
		if 'a' <= w.lo && w.lo <= 'z' {
			w.up -= 'a' - 'A'
		}
	}
	return w
}

// twoCases reports whether r is a non-ASCII letter with more than one case.
func twoCases(r rune) bool { return r >= utf8.RuneSelf && unicode.SimpleFold(r) != r }

func lowered(s string) string { return strings.Map(lowerRune, s) }

// lowerRune folds one code point. Non-ASCII letters stay non-ASCII, so that a word of ASCII
// letters can be searched for byte by byte.
func lowerRune(r rune) rune {
	switch {
	case 'A' <= r && r <= 'Z':
		return r + 'a' - 'A'
	case r < utf8.RuneSelf:
		return r
	}
	if l := unicode.ToLower(r); l >= utf8.RuneSelf {
		return l
	}
	return r
}

// in reports whether s contains the word.
func (w *word) in(s string) bool {
	n := len(w.lower)
	switch {
	case n == 0:
		return true
	case !w.bytes:
		return (w.hint == nil || w.hint.in(s)) && w.inUnicode(s)
	case n > len(s):
		return false
	}
	// The rare byte of a word at offset i is at places[i].
	places := s[w.rare : len(s)-(n-1-w.rare)]
	if w.up == w.lo {
		for i := 0; ; i++ {
			step := strings.IndexByte(places[i:], w.lo)
			if step < 0 {
				return false
			}
			if i += step; equalASCII(s[i:i+n], w.lower) {
				return true
			}
		}
	}
	lo, up := next(places, 0, w.lo), next(places, 0, w.up)
	for {
		i := min(lo, up)
		if i == len(places) {
			return false
		}
		if equalASCII(s[i:i+n], w.lower) {
			return true
		}
		if i == lo {
			lo = next(places, i+1, w.lo)
		} else {
			up = next(places, i+1, w.up)
		}
	}
}

// next returns the offset of c in s from i on, len(s) if there is none.
func next(s string, i int, c byte) int {
	if step := strings.IndexByte(s[i:], c); step >= 0 {
		return i + step
	}
	return len(s)
}

// equalASCII compares s with a lower-case text of the same length, ignoring the case of
// ASCII letters.
func equalASCII(s, lower string) bool {
	for i := range len(s) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

func (w *word) inUnicode(s string) bool {
	for i := 0; i < len(s); {
		if _, ok := w.startOf(s[i:]); ok {
			return true
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		i += n
	}
	return false
}

// starts reports whether s starts with the word.
func (w *word) starts(s string) bool {
	_, ok := w.startOf(s)
	return ok
}

// equals reports whether s is the word.
func (w *word) equals(s string) bool {
	n, ok := w.startOf(s)
	return ok && n == len(s)
}

// startOf reports whether s starts with the word, and returns the length of the match in s.
func (w *word) startOf(s string) (n int, ok bool) {
	if w.bytes {
		n := len(w.lower)
		return n, n <= len(s) && equalASCII(s[:n], w.lower)
	}
	for _, want := range w.lower {
		got, size := utf8.DecodeRuneInString(s[n:])
		if got == utf8.RuneError && size < 2 || lowerRune(got) != want {
			return 0, false
		}
		n += size
	}
	return n, true
}
