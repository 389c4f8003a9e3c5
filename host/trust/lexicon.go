package trust

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// lexicon returns the dictionary of the rules. It is built once and never
// changes.
var lexicon = sync.OnceValue(buildDictionary)

// dictionary gives the meanings of words.
type dictionary struct {
	exact    map[string]concept
	prefixes map[string]concept // words with any ending
	unspaced map[string]concept // words of scripts without blanks
	longest  int                // of these, bytes
	firsts   map[rune]bool      // their first letters
	minimum  int                // shortest prefix, bytes
	bloom    [1 << 16 / 64]uint64
	rules    []rule
	byHead   [64][]int // rules by the bit of their first step
}

func buildDictionary() *dictionary {
	d := &dictionary{
		exact: map[string]concept{}, prefixes: map[string]concept{}, unspaced: map[string]concept{},
		firsts: map[rune]bool{}, minimum: 100, rules: rules(),
	}
	for _, v := range vocabulary {
		for w := range strings.FieldsSeq(v.words) {
			w = string(fold(w).text)
			first, _ := utf8.DecodeRuneInString(w)
			switch {
			case w == "":
			case isUnspaced(first):
				d.unspaced[w] |= v.meaning
				d.firsts[first] = true
				d.longest = max(d.longest, len(w))
			case strings.HasSuffix(w, "*"):
				w = strings.TrimSuffix(w, "*")
				d.prefixes[w] |= v.meaning
				d.minimum = min(d.minimum, len(w))
			default:
				d.exact[w] |= v.meaning
				d.note(w)
			}
		}
	}
	for i, r := range d.rules {
		for b := range 64 {
			if r.steps[0].any&(1<<b) != 0 {
				d.byHead[b] = append(d.byHead[b], i)
			}
		}
	}
	return d
}

// isUnspaced tells whether r belongs to a script that puts no blanks between
// words, or glues endings to them as Korean does.
func isUnspaced(r rune) bool {
	return 0x0e00 <= r && r <= 0x0e7f || 0x3040 <= r && r <= 0x30ff ||
		0x3400 <= r && r <= 0x9fff || 0xac00 <= r && r <= 0xd7a3
}

func (d *dictionary) note(w string) {
	h := head([]byte(w))
	d.bloom[h>>6] |= 1 << (h & 63)
}

// head is a hash of the length class and the first letters of a word, without
// the case of ASCII letters.
func head(w []byte) uint32 {
	h := uint32(len(w)) * 0x9e3779b1
	for i := 0; i < len(w) && i < 5; i++ {
		h = (h ^ uint32(w[i]|0x20)) * 16777619
	}
	return h >> 16
}

// maybe tells whether an ASCII word could be in the dictionary.
func (d *dictionary) maybe(w []byte) bool {
	h := head(w)
	return d.bloom[h>>6]&(1<<(h&63)) != 0
}

// lookup returns the meanings of an ASCII word in any case.
func (d *dictionary) lookup(w []byte) concept {
	var buf [32]byte
	if len(w) > len(buf) {
		return 0
	}
	for i, c := range w {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		buf[i] = c
	}
	return d.exact[string(buf[:len(w)])]
}

// find returns the meanings of a folded word.
func (d *dictionary) find(w []byte) concept {
	m := d.exact[string(w)]
	if w[0] >= 0x80 {
		for n := d.minimum; n <= len(w) && n <= 32; n++ {
			m |= d.prefixes[string(w[:n])]
		}
	}
	return m
}

// glued returns the longest word of a script without blanks at the start of b.
func (d *dictionary) glued(b []byte, first rune) (m concept, n int) {
	if !d.firsts[first] {
		return 0, 0
	}
	for n = min(d.longest, len(b)); n > 0; n-- {
		if m, ok := d.unspaced[string(b[:n])]; ok {
			return m, n
		}
	}
	return 0, 0
}

// possible tells whether words with these meanings together could match a rule.
func (d *dictionary) possible(seen concept) bool {
	for i := range d.rules {
		if d.rules[i].possible(seen) {
			return true
		}
	}
	return false
}
