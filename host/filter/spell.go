package filter

import (
	"strconv"
	"strings"
)

func (n allOf) append(b []byte) []byte {
	for i, p := range n {
		if i > 0 {
			b = append(b, ' ')
		}
		b = appendInner(b, p)
	}
	return b
}

func (n oneOf) append(b []byte) []byte {
	for i, p := range n {
		if i > 0 {
			b = append(b, " | "...)
		}
		b = p.append(b)
	}
	return b
}

func (n invert) append(b []byte) []byte {
	if m, ok := n.of.(*member); ok && m.op == opEqual {
		return m.spell(b, "!=")
	}
	b = append(b, '!')
	if _, ok := n.of.(allOf); ok {
		return append(n.of.append(append(b, '(')), ')')
	}
	return appendInner(b, n.of)
}

// appendInner writes a part of an "and".
func appendInner(b []byte, n node) []byte {
	if _, ok := n.(oneOf); ok {
		return append(n.append(append(b, '(')), ')')
	}
	return n.append(b)
}

func (p *pattern) append(b []byte) []byte {
	if p.re != nil {
		return appendRegexp(b, strings.TrimPrefix(p.re.String(), ignoreCase))
	}
	if p.exact {
		b = append(b, '=')
	}
	return appendValue(b, p.word.text)
}

func (n *anywhere) append(b []byte) []byte { return n.pattern.append(b) }

func (n *part) append(b []byte) []byte {
	b = append(append(b, fieldNames[n.field]...), ':')
	if n.anything() {
		return b
	}
	return n.pattern.append(b)
}

func (n *moment) append(b []byte) []byte {
	f := fieldSince
	if n.until {
		f = fieldUntil
	}
	return appendValue(append(append(b, fieldNames[f]...), ':'), n.text)
}

func (n *member) append(b []byte) []byte { return n.spell(b, operators[n.op]) }

func (n *member) spell(b []byte, op string) []byte {
	b = append(append(b, n.name()...), op...)
	switch {
	case n.op == opExists:
		return b
	case n.want.re != nil:
		return n.want.append(b)
	}
	return appendValue(b, n.want.word.text)
}

func appendPath(b []byte, path []segment) []byte {
	for _, s := range path {
		switch {
		case s.index >= 0:
			b = append(b, '[')
			b = append(strconv.AppendInt(b, int64(s.index), 10), ']')
		case strings.TrimFunc(s.name, isNameRune) == "" && s.name != "":
			b = append(append(b, '.'), s.name...)
		default:
			b = appendPhrase(append(b, '.'), s.name)
		}
	}
	return b
}

// appendValue writes a text without quotes if it parses to the same text.
func appendValue(b []byte, text string) []byte {
	if text != "" && strings.TrimFunc(text, isPlainRune) == "" {
		return append(b, text...)
	}
	return appendPhrase(b, text)
}

func appendPhrase(b []byte, text string) []byte {
	b = append(b, '"')
	for i := range len(text) {
		if text[i] == '"' || text[i] == '\\' {
			b = append(b, '\\')
		}
		b = append(b, text[i])
	}
	return append(b, '"')
}

// appendRegexp writes an expression between slashes.
func appendRegexp(b []byte, source string) []byte {
	b = append(b, '/')
	for i := 0; i < len(source); i++ {
		switch {
		case source[i] == '\\' && i+1 < len(source):
			b = append(b, source[i])
			i++
		case source[i] == '/':
			b = append(b, '\\')
		}
		b = append(b, source[i])
	}
	return append(b, '/')
}
