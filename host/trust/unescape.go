package trust

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// OfError returns the words of an error as one line: joined errors are separated by semicolons.
func OfError(err error) Text {
	return Unescaped(strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; "))
}

// Unescaped returns the text that s shows. s is already safe, like the text of an error
// with a [Text] in it, and would otherwise be escaped twice. [Line] of the result is s; if
// there is no such text, the result is s itself.
func Unescaped(s string) Text {
	if !strings.Contains(s, `\`) {
		return Untrusted(s)
	}
	t := Untrusted(unescape(s))
	if Line(t).Plain() != s {
		return Untrusted(s)
	}
	return t
}

// unescape decodes the tokens of [Line], and halves backslashes that it doubled.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			i++
			continue
		}
		run := 1
		for i+run < len(s) && s[i+run] == '\\' {
			run++
		}
		i += run
		if i == len(s) || strings.IndexByte("xuU", s[i]) < 0 {
			b.WriteString(s[i-run : i])
			continue
		}
		b.WriteString(s[i-run : i-run+run/2])
		if run%2 == 1 {
			i += readToken(&b, s[i:])
		}
	}
	return b.String()
}

// readToken decodes the token after a backslash and returns its length.
func readToken(b *strings.Builder, s string) int {
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[0]]
	if len(s) > digits {
		if n, err := strconv.ParseUint(s[1:1+digits], 16, 32); err == nil && n <= utf8.MaxRune {
			if s[0] == 'x' {
				b.WriteByte(byte(n))
			} else {
				b.WriteRune(rune(n))
			}
			return 1 + digits
		}
	}
	b.WriteByte('\\') // no token
	return 0
}
