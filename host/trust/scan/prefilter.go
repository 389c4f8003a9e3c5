package scan

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"unicode/utf8"
)

// passes has the slower passes that a payload needs.
type passes struct {
	special bool // it may have special characters
	words   bool // its words could match a rule
	urls    bool // it has a link to examine
	runs    bool // it has a stretch that could be coded text
}

func (p passes) slow() bool { return p.special || p.words || p.urls || p.runs }

// Classes of bytes at which the prefilter stops.
const (
	classOther = iota
	classLetter
	classDigit // also + / = - of base64
	classEscape
	classSpecial
	classColon
	classOpen // ( of a Markdown link, after ]
)

var byteClass = func() (t [256]uint8) {
	for i := range t {
		switch c := byte(i); {
		case c >= 0x80 || c == 0x7f:
			t[i] = classSpecial
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_':
			t[i] = classLetter
		case '0' <= c && c <= '9', c == '+', c == '/', c == '=', c == '-':
			t[i] = classDigit
		}
	}
	t['\\'], t[':'], t['('] = classEscape, classColon, classOpen
	return t
}()

// prefilter reads the bytes of a payload once and returns the passes that could find
// something. It misses nothing that they would find in the strings of valid JSON.
func prefilter(raw []byte) passes {
	var p passes
	lex := lexicon()
	var seen concept
	run, binary, single := 0, 0, 0
	for i := 0; i < len(raw); {
		c := raw[i]
		switch byteClass[c] {
		case classLetter:
			start := i
			for i < len(raw) && byteClass[raw[i]] == classLetter {
				i++
			}
			run += i - start
			isKey := i+1 < len(raw) && raw[i] == '"' && raw[i+1] == ':'
			if !isKey && lex.maybe(raw[start:i]) {
				m := lex.lookup(raw[start:i])
				if m&tagWords != 0 && inBrackets(raw, start) {
					m |= angled
				}
				seen |= m
			}
			if !isKey && (digitAt(raw, i) || digitAt(raw, start-1)) {
				seen |= lex.leet(raw, start, i)
			}
			if i-start == 1 && !digitAt(raw, start-1) && !digitAt(raw, i) {
				single++
			} else if i-start > 2 {
				single = 0
			}
			if single >= spelledLetters {
				p.words = true
			}
			binary = 0
		case classDigit:
			run++
			if binary++; c != '0' && c != '1' {
				binary = 0
			}
			i++
		default:
			if run >= minCoded && couldBeText(raw[i-run:i]) {
				p.runs = true
			}
			run = 0
			if c != ' ' {
				binary = 0
			}
			if (c == '.' || c == '-') && i+2 < len(raw) && raw[i+1] == ' ' && (raw[i+2] == '.' || raw[i+2] == '-') {
				p.runs = true // Morse code has one, too
			}
			switch byteClass[c] {
			case classSpecial:
				p.special = true
			case classEscape:
				i++
				if i < len(raw) && (raw[i] == 'u' || raw[i] == 'b' || raw[i] == 'f' ||
					raw[i] == 'r' && !bytes.HasPrefix(raw[i+1:], []byte(`\n`))) {
					p.special = true
				}
			case classColon:
				if !plainLink(raw, i) {
					p.urls = true
				}
			case classOpen:
				if i > 0 && raw[i-1] == ']' {
					p.urls = true
				}
			}
			i++
		}
		if binary >= minBinary {
			p.runs = true
		}
	}
	p.words = p.words || lex.possible(seen)
	return p
}

// tagWords are meanings that matter in brackets.
const tagWords = roleTag | callTag | power | system

func digitAt(raw []byte, i int) bool {
	return i >= 0 && i < len(raw) && '0' <= raw[i] && raw[i] <= '9'
}

// couldBeText reports whether a coded stretch starts with printable characters.
func couldBeText(run []byte) bool {
	var in [minCoded]byte
	var out [minCoded]byte
	for len(run) >= minCoded {
		for i, c := range run[:minCoded] {
			switch c {
			case '-':
				c = '+'
			case '_':
				c = '/'
			}
			in[i] = c
		}
		if n, err := base64.StdEncoding.Decode(out[:], in[:]); err == nil && printable(out[:n]) {
			return true
		}
		if n, err := hex.Decode(out[:], in[:]); err == nil && printable(out[:n]) {
			return true
		}
		// Text may start after a path or a name.
		i := bytes.IndexAny(run, "/=_")
		if i < 0 {
			return false
		}
		run = run[i+1:]
	}
	return false
}

// printable reports whether b could be the start of a sentence in UTF-8, or of
// more coded text.
func printable(b []byte) bool {
	blank, coded := false, true
	for i := 0; i < len(b); {
		c := b[i]
		blank = blank || c == ' ' || c >= 0x80
		coded = coded && isCoded(c)
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
			return false
		}
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i > len(b)-utf8.UTFMax && !utf8.FullRune(b[i:])
		}
		i += n
	}
	return blank || coded
}

// inBrackets reports whether a word at i may be the name of a tag.
func inBrackets(raw []byte, i int) bool {
	if i == 0 {
		return false
	}
	switch raw[i-1] {
	case '<', '|', '[':
		return true
	case '/':
		return i > 1 && (raw[i-2] == '<' || raw[i-2] == '[')
	}
	return false
}

// plainLink reports whether the colon at i is not part of a link, or is part of one to an
// ordinary host over HTTP.
func plainLink(raw []byte, i int) bool {
	word := i
	for word > 0 && byteClass[raw[word-1]] == classLetter {
		word--
	}
	if i == word || i+1 >= len(raw) {
		return true
	}
	scheme := raw[word:i]
	if !bytes.HasPrefix(raw[i+1:], []byte("//")) {
		return !activeScheme(scheme)
	}
	if !bytes.EqualFold(scheme, []byte("http")) && !bytes.EqualFold(scheme, []byte("https")) {
		return !activeScheme(scheme)
	}
	host := raw[i+3:]
	for j, c := range host {
		switch {
		case c == '@' || c >= 0x80 || c == '\\':
			return false
		case c == 'x' && bytes.HasPrefix(host[j:], []byte("xn--")):
			return false
		case c == '/' || c == '"' || c == ' ' || c == '?' || c == '#' || c == '<' || c == ')' || c == '{':
			return true
		}
	}
	return true
}
