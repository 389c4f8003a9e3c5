package scan

import (
	"encoding/base64"
	"encoding/hex"
	"math/bits"
	"strings"
)

const (
	minCoded  = 24 // characters of base64 or hex
	minBinary = 64 // digits of binary
	maxNested = 2  // nested codings
)

// encoded decodes base64, hex and binary digits in a field and scans the result.
func (s *scanner) encoded(f *field) { s.decodeStretches(f.text, f, 0, 0, 0) }

// decodeStretches looks for coded stretches in text. At depth 0 text is the field's, else
// it was decoded from [start, end) of the field.
func (s *scanner) decodeStretches(text string, f *field, depth, start, end int) {
	for i := 0; i < len(text); {
		n := codedLength(text[i:])
		if c := text[i]; (c == '.' || c == '-') && depth == 0 && (i == 0 || text[i-1] == ' ' || text[i-1] == '>' || text[i-1] == '\n') {
			plain, m := morseAt(text[i:])
			if len(plain) >= minMorse {
				s.raise(hit{flag: "inj.encoded", weight: 2}, f, i, i+m)
				s.decode(plain)
				s.matchDerived(plain, f, i, i+m)
				n = max(n, m)
			}
			// A long run without a message is not read again from its middle.
			n = max(n, m-maxMorseSign)
		}
		if n == 0 {
			i++
			continue
		}
		if n >= minCoded {
			if plain, ok := decodeAny(text[i : i+n]); ok {
				a, b := start, end
				if depth == 0 {
					a, b = i, i+n
				}
				s.codedText(plain, f, depth, a, b)
			}
		}
		i += n
	}
}

// codedText scans the decoded text of a stretch of a field.
func (s *scanner) codedText(plain string, f *field, depth, start, end int) {
	if s.matchDerived(plain, f, start, end) {
		s.raise(hit{flag: "inj.encoded", weight: 3}, f, start, end)
		s.decode(plain)
	} else if isProse(plain) {
		// A value that is coded as a whole is more likely data.
		weight := 3
		if start == 0 && end == len(f.text) {
			weight = 2
		}
		s.raise(hit{flag: "inj.encoded", weight: weight}, f, start, end)
		s.decode(plain)
	}
	if depth+1 < maxNested {
		s.decodeStretches(plain, f, depth+1, start, end)
	}
}

// codedLength returns the length of the stretch at the start of s that could be coded.
// Groups of binary digits may be separated by blanks.
func codedLength(s string) int {
	n := 0
	for n < len(s) && isCoded(s[n]) {
		n++
	}
	if n == 8 && isBinary(s[:8]) {
		for n+9 <= len(s) && s[n] == ' ' && isBinary(s[n+1:n+9]) {
			n += 9
		}
	}
	if n == 2 && isHex(s[:2]) {
		for n+3 <= len(s) && s[n] == ' ' && isHex(s[n+1:n+3]) {
			n += 3
		}
	}
	for n < len(s) && n > 0 && s[n] == '=' {
		n++
	}
	return n
}

func isCoded(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '+' || c == '/' || c == '-' || c == '_'
}

func isBinary(s string) bool { return strings.Trim(s, "01") == "" }

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdefABCDEF") == "" }

// decodeAny decodes s in the first coding that gives text.
func decodeAny(s string) (string, bool) {
	dense := strings.ReplaceAll(s, " ", "")
	switch {
	case isBinary(dense):
		return binaryText(dense)
	case isHex(dense) && len(dense)%2 == 0:
		if b, err := hex.DecodeString(dense); err == nil && isText(b) {
			return string(b), true
		}
	}
	s = strings.TrimRight(s, "=")
	s = strings.NewReplacer("-", "+", "_", "/").Replace(s)
	if b, err := base64.RawStdEncoding.DecodeString(s[:len(s)-trailing(len(s))]); err == nil && isText(b) {
		return string(b), true
	}
	return "", false
}

// trailing returns how many of n base64 characters are no complete group.
func trailing(n int) int {
	if n%4 == 1 {
		return 1
	}
	return 0
}

func binaryText(digits string) (string, bool) {
	b := make([]byte, 0, len(digits)/8)
	for i := 0; i+8 <= len(digits); i += 8 {
		var c byte
		for _, d := range digits[i : i+8] {
			c = c<<1 | byte(d-'0')
		}
		b = append(b, c)
	}
	return string(b), len(b) >= 8 && isText(b)
}

// isText reports whether b reads as text: printable nearly throughout.
func isText(b []byte) bool {
	if len(b) < 8 {
		return false
	}
	letters := 0
	for _, c := range b {
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z' || c == ' ' || c >= 0x80:
			letters++
		case c < 0x20 && c != '\n' && c != '\t' && c != '\r' || c == 0x7f:
			return false
		}
	}
	return letters*10 >= len(b)*6 && strings.ToValidUTF8(string(b), "") == string(b)
}

// isProse reports whether s looks like a sentence: mostly words of letters.
func isProse(s string) bool {
	words, odd := 0, 0
	for w := range strings.FieldsSeq(s) {
		switch {
		case strings.ContainsAny(w, "{}=<>;_\"") || len(w) > 16:
			odd++
		case len(w) >= 2:
			words++
		}
	}
	return words >= 4 && words > 3*odd
}

// morse maps groups of dots and dashes to letters.
var morse = map[string]byte{
	".-": 'a', "-...": 'b', "-.-.": 'c', "-..": 'd', ".": 'e', "..-.": 'f', "--.": 'g',
	"....": 'h', "..": 'i', ".---": 'j', "-.-": 'k', ".-..": 'l', "--": 'm', "-.": 'n',
	"---": 'o', ".--.": 'p', "--.-": 'q', ".-.": 'r', "...": 's', "-": 't', "..-": 'u',
	"...-": 'v', ".--": 'w', "-..-": 'x', "-.--": 'y', "--..": 'z',
}

// minMorse is the least number of letters in Morse code that is scanned.
const minMorse = 6

// maxMorseSign bounds the dots and dashes of one letter.
const maxMorseSign = 5

// morseAt reads Morse code at the start of s: groups with one blank between
// them, a slash between words.
func morseAt(s string) (text string, n int) {
	var b []byte
	var kinds uint32
	for n < len(s) {
		end := n
		for end < len(s) && (s[end] == '.' || s[end] == '-') && end-n < maxMorseSign {
			end++
		}
		c, ok := morse[s[n:end]]
		switch {
		case end == n && s[n] == '/':
			c, end = ' ', n+1
		case !ok:
			return morseText(b, kinds), n
		default:
			kinds |= 1 << (c - 'a')
		}
		b = append(b, c)
		if n = end; n < len(s) && s[n] == ' ' {
			n++
			continue
		}
		break
	}
	return morseText(b, kinds), n
}

// morseText returns the decoded text, or "" if it has fewer than three different letters,
// like dots and rules in ordinary text.
func morseText(b []byte, kinds uint32) string {
	if bits.OnesCount32(kinds) < 3 {
		return ""
	}
	return string(b)
}
