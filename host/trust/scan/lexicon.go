package scan

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// lexicon returns the dictionary of the rules. It is built once and never
// changes.
var lexicon = sync.OnceValue(func() *dictionary {
	d, err := buildDictionary(vocabularyText, rulesText)
	if err != nil {
		panic(err) // both texts are embedded
	}
	return d
})

// dictionary gives the meanings of words.
type dictionary struct {
	exact    map[string]concept
	prefixes map[string]concept // words with any ending
	unspaced map[string]concept // words of scripts without blanks
	longest  int                // of unspaced, in bytes
	firsts   map[rune]bool      // first letters of unspaced
	bloom    [1 << 16 / 64]uint64
	rules    []rule
	byHead   [64][]int // rules by the bit of their first word
}

func buildDictionary(vocabulary, rules string) (*dictionary, error) {
	d := &dictionary{
		exact: map[string]concept{}, prefixes: map[string]concept{}, unspaced: map[string]concept{}, firsts: map[rune]bool{},
	}
	m := newMeanings()
	if err := readVocabulary(vocabulary, m, d.enter); err != nil {
		return nil, fmt.Errorf("vocabulary: %w", err)
	}
	var err error
	if d.rules, err = readRules(rules, m); err != nil {
		return nil, fmt.Errorf("rules: %w", err)
	}
	for i, r := range d.rules {
		for b := range 64 {
			if r.steps[0].any&(1<<b) != 0 {
				d.byHead[b] = append(d.byHead[b], i)
			}
		}
	}
	return d, nil
}

// enter adds a word of the vocabulary. Error: the word has any ending and is too short.
func (d *dictionary) enter(w string, meaning concept) error {
	if meaning == ciphered {
		d.encipher(w)
		return nil
	}
	w = string(fold(w).text)
	first, _ := utf8.DecodeRuneInString(w)
	switch {
	case w == "":
	case isUnspaced(first):
		d.unspaced[w] |= meaning
		d.firsts[first] = true
		d.longest = max(d.longest, len(w))
	case strings.HasSuffix(w, "*"):
		w = strings.TrimSuffix(w, "*")
		if len(w) < prefixHead {
			return fmt.Errorf("%q: a word with any ending has at least %d bytes", w, prefixHead)
		}
		d.prefixes[w] |= meaning
		d.note(w[:prefixHead])
	default:
		d.learn(w, meaning)
	}
	return nil
}

// encipher adds a word of ASCII letters in simple ciphers: with its letters shifted, or
// reversed.
func (d *dictionary) encipher(w string) {
	for shift := byte(1); shift < 26; shift++ {
		d.learn(shifted(w, shift), ciphered)
	}
	back := []byte(w)
	slices.Reverse(back)
	d.learn(string(back), ciphered)
}

// isUnspaced reports whether r belongs to a script without blanks between words, or with
// attached endings, such as Korean.
func isUnspaced(r rune) bool {
	return 0x0e00 <= r && r <= 0x0e7f || 0x3040 <= r && r <= 0x30ff ||
		0x3400 <= r && r <= 0x9fff || 0xac00 <= r && r <= 0xd7a3
}

// shifted moves each letter of w along the alphabet.
func shifted(w string, by byte) string {
	b := []byte(w)
	for i := range b {
		b[i] = 'a' + (b[i]-'a'+by)%26
	}
	return string(b)
}

func (d *dictionary) learn(w string, m concept) {
	d.exact[w] |= m
	d.note(w)
}

// prefixHead is the length of the shortest word with any ending, in bytes.
const prefixHead = 8

// note makes maybe accept words with the head of w.
func (d *dictionary) note(w string) {
	h := head([]byte(w))
	d.bloom[h>>6] |= 1 << (h & 63)
}

// head is a hash of the length, the first four letters and the last one of a
// word, without the case of ASCII letters.
func head(w []byte) uint32 {
	var x uint32
	if len(w) >= 4 {
		x = binary.LittleEndian.Uint32(w)
	} else {
		for _, c := range w {
			x = x<<8 | uint32(c)
		}
	}
	x |= 0x20202020
	if len(w) > 0 {
		x ^= uint32(w[len(w)-1]|0x20) << 13
	}
	return (x*0x9e3779b1 + uint32(len(w))*0x85ebca6b) >> 16
}

// maybe reports whether an ASCII word could be in the dictionary.
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

// leet returns the meanings of the word of letters and digits around raw[start:end], with
// its digits read as look-alike letters.
func (d *dictionary) leet(raw []byte, start, end int) concept {
	var buf [20]byte
	for digitAt(raw, start-1) {
		start--
	}
	if start > 0 && byteClass[raw[start-1]] == classLetter {
		return 0 // already examined from its first letter
	}
	for end < len(raw) && end-start <= len(buf) && (digitAt(raw, end) || byteClass[raw[end]] == classLetter) {
		end++
	}
	if end-start > len(buf) {
		return 0
	}
	w := buf[:copy(buf[:], raw[start:end])]
	for i, c := range w {
		w[i] = unleet(c)
	}
	if !d.maybe(w) {
		return 0
	}
	return d.lookup(w)
}

// unleet returns the letter that a digit looks like.
func unleet[T byte | rune](c T) T {
	switch c {
	case '0':
		return 'o'
	case '1':
		return 'i'
	case '3':
		return 'e'
	case '4':
		return 'a'
	case '5':
		return 's'
	case '7':
		return 't'
	}
	return c
}

// find returns the meanings of a folded word.
func (d *dictionary) find(w []byte) concept {
	var m concept
	if d.maybe(w) {
		m = d.exact[string(w)]
	}
	if w[0] >= 0x80 && len(w) >= prefixHead && d.maybe(w[:prefixHead]) {
		for n := prefixHead; n <= len(w) && n <= 32; n++ {
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
		if n < len(b) && b[n]&0xc0 == 0x80 {
			continue // within a letter
		}
		if m, ok := d.unspaced[string(b[:n])]; ok {
			return m, n
		}
	}
	return 0, 0
}

// possible reports whether words with these meanings together could match a rule.
func (d *dictionary) possible(seen concept) bool {
	for i := range d.rules {
		if d.rules[i].possible(seen) {
			return true
		}
	}
	return false
}
