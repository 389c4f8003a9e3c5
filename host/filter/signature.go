package filter

import (
	"strings"
	"unicode/utf8"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// SignatureBits is the length of a [Signature]: a payload of 600 bytes sets a
// third of them.
const (
	SignatureBits = 1 << signatureLog
	signatureLog  = 10
)

// Signature tells which short runs of bytes the texts of a record have in them,
// in lower case: pairs and triples, each of which sets one bit. A record whose
// signature lacks a bit of a word does not have the word; one that has them all
// may have it. The zero Signature is that of no text.
type Signature [SignatureBits / 64]uint64

// Add sets the bits of everything in a record that a filter looks for words in.
func (s *Signature) Add(r *event.Record) {
	s.text(string(r.Sub))
	anyText(r, func(text string) bool {
		s.text(text)
		return false
	})
	if text := payload(r); strings.IndexByte(text, '\\') >= 0 {
		s.text(string(trust.AppendUnquoted(nil, text)))
	}
}

func (s *Signature) text(text string) {
	var run uint32 // the last three bytes
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			s.folded(lowered(text))
			return
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		run = run<<8 | uint32(c)
		s.set(i, run)
	}
}

func (s *Signature) folded(text string) {
	var run uint32
	for i := range len(text) {
		run = run<<8 | uint32(text[i])
		s.set(i, run)
	}
}

// set sets the bits of the pair and the triple that end at the i-th byte.
func (s *Signature) set(i int, run uint32) {
	if i > 0 {
		bit := pairBit(run)
		s[bit>>6] |= 1 << (bit & 63)
	}
	if i > 1 {
		bit := tripleBit(run)
		s[bit>>6] |= 1 << (bit & 63)
	}
}

func pairBit(run uint32) uint32   { return (run & 0xffff) * 0x9e3779b1 >> (32 - signatureLog) }
func tripleBit(run uint32) uint32 { return (run&0xffffff | 1<<24) * 0x85ebca6b >> (32 - signatureLog) }

// Bits returns the bits that the signature of every record has that has the word
// in it, as [Filter.Needs] spells words.
func Bits(word string) []int {
	var s Signature
	s.folded(word)
	var bits []int
	for bit := range SignatureBits {
		if s[bit>>6]&(1<<(bit&63)) != 0 {
			bits = append(bits, bit)
		}
	}
	return bits
}

// Lower spells a text as [Filter.Needs] spells words.
func Lower(text string) string { return lowered(text) }

// Needs returns what a record must have in its texts for the filter to take it:
// of each element at least one of the words, which are in lower case. Without
// elements nothing is known.
func (f *Filter) Needs() [][]string {
	if f.Everything() {
		return nil
	}
	return needs(f.root)
}

func needs(n node) [][]string {
	switch n := n.(type) {
	case allOf:
		var all [][]string
		for _, part := range n {
			all = append(all, needs(part)...)
		}
		return all
	case oneOf:
		var any []string
		for _, part := range n {
			best := sharpest(needs(part))
			if best == nil {
				return nil
			}
			any = append(any, best...)
		}
		return [][]string{any}
	case *anywhere:
		return n.needs()
	case *part:
		if !n.anyFlag() {
			return n.needs()
		}
	case *member:
		return n.needs()
	}
	return nil
}

// sharpest returns the element that few records are likely to meet.
func sharpest(all [][]string) []string {
	var best []string
	length := 0
	for _, any := range all {
		shortest := len(any[0])
		for _, word := range any {
			shortest = min(shortest, len(word))
		}
		if shortest > length {
			best, length = any, shortest
		}
	}
	return best
}

func (p *pattern) needs() [][]string {
	if p.re != nil || len(p.word.lower) < 2 {
		return nil
	}
	return [][]string{{p.word.lower}}
}

func (n *member) needs() [][]string {
	var all [][]string
	for _, s := range n.path {
		if name := lowered(s.name); len(name) > 1 {
			all = append(all, []string{name})
		}
	}
	if n.op == opContains || n.op == opEqual && !n.number {
		all = append(all, n.want.needs()...)
	}
	return all
}
