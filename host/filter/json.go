package filter

import (
	"strings"
)

// A payload is read in place. Strict parsing has accepted it before; what makes
// no sense all the same reads as if it ended there.

// members goes through the members of an object or the elements of an array.
type members struct {
	text   string
	at     int
	object bool

	key        string // without its quotes, escapes as they are
	value, end int    // bounds of the value
}

// enter begins at the bracket at text[at].
func enter(text string, at int) members {
	return members{text: text, at: at + 1, object: text[at] == '{'}
}

// next goes to the next one.
func (m *members) next() bool {
	s := m.text
	i := skipSpace(s, m.at)
	if i < len(s) && s[i] == ',' {
		i = skipSpace(s, i+1)
	}
	if m.object {
		if i >= len(s) || s[i] != '"' {
			return false
		}
		end := stringEnd(s, i)
		m.key = s[i+1 : max(i+1, end-1)]
		if i = skipSpace(s, end); i >= len(s) || s[i] != ':' {
			return false
		}
		i = skipSpace(s, i+1)
	}
	if i >= len(s) || s[i] == ']' || s[i] == '}' {
		return false
	}
	m.value, m.end = i, valueEnd(s, i)
	m.at = m.end
	return m.end > i
}

func skipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}

// stringEnd returns where the string ends whose opening quote is at i.
func stringEnd(s string, i int) int {
	for j := i + 1; ; {
		step := strings.IndexByte(s[j:], '"')
		if step < 0 {
			return len(s)
		}
		j += step + 1
		back := j - 2
		for back > i && s[back] == '\\' {
			back--
		}
		if (j-2-back)%2 == 0 {
			return j
		}
	}
}

// valueEnd returns where the value that begins at i ends.
func valueEnd(s string, i int) int {
	depth := 0
	for i < len(s) {
		switch s[i] {
		case '"':
			i = stringEnd(s, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
			i++
			continue
		case ':':
			i++
			continue
		default:
			for i++; i < len(s) && !endsScalar(s[i]); i++ {
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

func endsScalar(c byte) bool {
	switch c {
	case '"', '{', '}', '[', ']', ',', ':', ' ', '\n', '\t', '\r':
		return true
	}
	return false
}

// inside returns the text of a string without its quotes, of another scalar as
// it stands.
func inside(value string) string {
	if len(value) >= 2 && value[0] == '"' {
		return value[1 : len(value)-1]
	}
	return value
}

// severities are the members that say how bad something is, the best first.
var severities = [...]string{"severity", "sev", "priority", "level", "urgency"}

// severity returns the text of the best such member of a payload or of an object
// in it, escapes as they are.
func severity(data string) (string, bool) {
	start := skipSpace(data, 0)
	if start >= len(data) || data[start] != '{' {
		return "", false
	}
	text, best := bestSeverity(data, start)
	for m := enter(data, start); best == len(severities) && m.next(); {
		if data[m.value] == '{' {
			text, best = bestSeverity(data, m.value)
		}
	}
	return text, best < len(severities)
}

func bestSeverity(data string, at int) (text string, best int) {
	best = len(severities)
	for m := enter(data, at); m.next(); {
		c := data[m.value]
		if c == '{' || c == '[' || c == 'n' {
			continue
		}
		for rank, name := range severities[:best] {
			if m.key == name {
				text, best = inside(data[m.value:m.end]), rank
				break
			}
		}
	}
	return text, best
}
