package redact

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"eventdeck/host/internal/jsontext"
	"eventdeck/host/trust"
)

// maxDepth bounds the nesting of JSON within strings of JSON.
const maxDepth = 4

// rules are what a masker looks for.
type rules struct {
	shapes *shapes
	values *values // nil: none
	places map[string][]string
}

// mask masks a text that may be JSON, that may be cut off anywhere, and whose strings may
// contain JSON. A text without secrets is returned as it is.
func (r *rules) mask(text string, depth int, cut bool) string {
	if !r.suspects(text, cut) {
		return text
	}
	m := masker{text: text, depth: depth, rules: r, cut: cut}
	for m.at < len(text) {
		m.step()
	}
	m.plain(len(text))
	out := m.out.String()
	if masked := r.shapes.text(out); masked != out && !json.Valid([]byte(out)) {
		out = masked // it is not JSON: its quotes mean nothing
	}
	return r.values.replace(out, cut) // values that span quotes
}

// suspects reports whether every part of the text must be examined.
func (r *rules) suspects(text string, cut bool) bool {
	if r.shapes.suspects(text) {
		return true
	}
	if r.values.empty() && len(r.places) == 0 {
		return false
	}
	if strings.IndexByte(text, '\\') >= 0 || r.values.in(text, cut) {
		return true
	}
	for name := range r.places {
		if strings.Contains(text, name) {
			return true
		}
	}
	return false
}

// is reports whether a scalar is masked as a whole. A short value that is cut off counts by
// its beginning.
func (r *rules) is(member, text string, cut bool) bool {
	if text == "" {
		return false
	}
	for _, place := range r.places[member] {
		if place == text || cut && strings.HasPrefix(place, text) {
			return true
		}
	}
	return r.values.has(text)
}

// inside masks values and patterns within a text without escapes.
func (r *rules) inside(text string, cut bool) string {
	return r.values.replace(r.shapes.text(text), cut)
}

// masker goes through a text from one JSON string to the next.
type masker struct {
	text  string
	depth int
	rules *rules
	cut   bool // the text is cut off
	out   strings.Builder
	at    int // everything before it is examined
	done  int // everything before it is written

	open   []bracket
	secret bool   // the next value is a secret, or contains one
	member string // the name of the member to which the next value belongs
}

// bracket is an object or array that is not yet closed.
type bracket struct {
	secret bool   // its value is a secret
	member string // the member whose value it is
}

// step examines the next character outside of strings, or a whole string.
func (m *masker) step() {
	switch m.text[m.at] {
	case '"':
		m.literal()
		return
	case '{', '[':
		m.open = append(m.open, bracket{m.secret, m.member})
	case '}', ']':
		if n := len(m.open); n > 0 {
			m.member, m.open = m.open[n-1].member, m.open[:n-1]
		}
		m.secret = m.within()
	case ',':
		m.secret = m.within() && m.secret
	default:
		if bare(m.text[m.at]) {
			m.word()
			return
		}
	}
	m.at++
}

// bare reports whether a character may be part of a number, or of true and false.
func bare(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '+' || c == '.'
}

// word handles a value without quotes: a number or boolean may be masked.
func (m *masker) word() {
	begin := m.at
	for m.at < len(m.text) && bare(m.text[m.at]) {
		m.at++
	}
	word, stands := m.text[begin:m.at], ""
	switch {
	case m.secret && m.rules.shapes.number != "" && (word[0] == '-' || word[0] >= '0' && word[0] <= '9'):
		stands = m.rules.shapes.number
	case !m.rules.is(m.member, word, m.cut && m.at == len(m.text)):
		return
	case len(m.open) > 0: // JSON stays JSON
		stands = `"` + Shown + `"`
	default:
		stands = Shown
	}
	m.plain(begin)
	m.out.WriteString(stands)
	m.done = m.at
}

// within reports whether the current object or array is a secret.
func (m *masker) within() bool {
	n := len(m.open)
	return n > 0 && m.open[n-1].secret
}

// literal handles a string: a name of a member, or a value, which is masked if it is or
// contains a secret.
func (m *masker) literal() {
	begin := m.at
	end, closed := jsontext.StringEnd(m.text, begin)
	m.at = end
	content := m.text[begin+1 : end]
	if closed {
		content = content[:len(content)-1]
	}
	clear := unescape(content)
	unclosed := m.cut && !closed
	masked := clear
	switch {
	case closed && strings.HasPrefix(strings.TrimLeft(m.text[end:], " \t\r\n"), ":"):
		m.name(clear)
		if m.rules.shapes.names {
			masked = m.rules.inside(clear, false)
		}
	case m.secret:
		masked = m.rules.shapes.value(clear)
	case m.rules.is(m.member, clear, unclosed):
		masked = Shown
	case m.depth > 0:
		masked = m.rules.mask(clear, m.depth-1, unclosed)
	default:
		masked = m.rules.inside(clear, unclosed)
	}
	m.plain(begin)
	m.done = end
	if masked == clear {
		m.out.WriteString(m.text[begin:end])
		return
	}
	m.out.WriteByte('"')
	quoted := trust.AppendJSONString(nil, masked)[1:]
	if !closed {
		quoted = quoted[:len(quoted)-1]
	}
	m.out.Write(quoted)
}

// name records the name of the current member.
func (m *masker) name(name string) {
	m.member = name
	plain, within := plainName(name), m.rules.shapes.within
	m.secret = m.rules.shapes.member(plain) || m.within() && (within == nil || within[plain])
}

// plain masks and writes the text up to an offset, which contains no string.
func (m *masker) plain(to int) {
	m.out.WriteString(m.rules.inside(m.text[m.done:to], false))
	m.done = to
}

// unescape decodes the inside of a JSON string. It drops an escape that is cut off, and the
// backslash of an invalid one.
func unescape(content string) string {
	if !strings.ContainsRune(content, '\\') {
		return content
	}
	out := make([]byte, 0, len(content))
	for i := 0; i < len(content); {
		rest := content[i:]
		switch {
		case rest[0] != '\\':
			out = append(out, rest[0])
			i++
		case len(rest) < 2, rest[1] == 'u' && len(rest) < 6:
			return string(out)
		case rest[1] >= utf8.RuneSelf:
			i++ // drop the backslash only
		default:
			r, size := jsontext.EscapedRune(rest)
			out = jsontext.AppendRune(out, r)
			i += size
		}
	}
	return string(out)
}
