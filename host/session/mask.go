package session

import (
	"encoding/json"
	"regexp"
	"strings"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// The members whose strings are secrets, in lower case and without underscores:
// peers spell them in more than one way.
var secretNames = map[string]bool{
	"secret": true, "webhooksecret": true, "clientsecret": true,
	"resumetoken": true, "accesstoken": true, "refreshtoken": true, "idtoken": true,
}

// The secret of SEP-1803 is an object with a value or a key.
var secretParts = map[string]bool{"value": true, "key": true}

// secretText is what is a secret wherever it stands (Standard Webhooks).
var secretText = regexp.MustCompile(`wh(?:sec|sk)_[A-Za-z0-9+/=%_-]+`)

// One of these stands in every text that holds a secret; the last where it is
// spelled with escapes. Nearly all frames hold none, and to find that out must
// cost next to nothing.
var secretSigns = []string{"whsec_", "whsk_", "ecret", "oken", `\u00`}

// maskDepth bounds JSON within strings within JSON.
const maskDepth = 4

// maskFrame returns the frame with every secret in it masked: webhook secrets
// wherever they stand, and the members that hold one in whatever form and spelling,
// also where JSON is the text of a string. The frame may be cut off anywhere, and
// need not be JSON.
//
// So is what is hidden beside, nil for nothing; cut says that the frame is not whole.
func maskFrame(frame []byte, hidden *hiddenSet, cut bool) trust.Text {
	return trust.Untrusted(maskText(string(frame), maskDepth, hidden, cut))
}

// maskText masks a text that may be JSON. What holds no secret is returned as it is.
func maskText(text string, depth int, hidden *hiddenSet, cut bool) string {
	suspect := hidden.suspects(text, cut)
	for _, sign := range secretSigns {
		suspect = suspect || strings.Contains(text, sign)
	}
	if !suspect {
		return text
	}
	m := masker{text: text, depth: depth, hidden: hidden, cut: cut}
	for m.at < len(text) {
		m.step()
	}
	m.plain(len(text))
	return hidden.replace(m.out.String(), cut) // what stands across quotes
}

// masker goes through a text from one JSON string to the next.
type masker struct {
	text   string
	depth  int
	hidden *hiddenSet
	cut    bool // the text ends before its end
	out    strings.Builder
	at     int // what is before is looked at
	done   int // what is before is written

	open   []bracket
	secret bool   // the next value is one, or holds one
	member string // the name of the member to which the next value belongs
}

// bracket is an object or array that is not yet closed.
type bracket struct {
	secret bool   // it belongs to a secret
	member string // to whose value it belongs
}

// step looks at the next character that is not in a string, or at a whole string.
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
		if m.hidden != nil && bare(m.text[m.at]) {
			m.word()
			return
		}
	}
	m.at++
}

// bare reports whether a character may stand in a number, or in true and false.
func bare(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '+' || c == '.'
}

// word takes what stands without quotes: a number or boolean may be hidden.
func (m *masker) word() {
	begin := m.at
	for m.at < len(m.text) && bare(m.text[m.at]) {
		m.at++
	}
	if !m.hidden.is(m.member, m.text[begin:m.at], m.cut && m.at == len(m.text)) {
		return
	}
	m.plain(begin)
	if len(m.open) > 0 { // what was JSON still is
		m.out.WriteString(`"` + hiddenShown + `"`)
	} else {
		m.out.WriteString(hiddenShown)
	}
	m.done = m.at
}

// within reports whether the present object or array belongs to a secret.
func (m *masker) within() bool {
	n := len(m.open)
	return n > 0 && m.open[n-1].secret
}

// literal takes a string: a name says what its value is, a value is masked if it
// is a secret or holds one.
func (m *masker) literal() {
	begin := m.at
	end, closed := endOfString(m.text, begin)
	m.at = end
	content := m.text[begin+1 : end]
	if closed {
		content = content[:len(content)-1]
	}
	clear := unescape(content)
	var masked string
	switch {
	case closed && strings.HasPrefix(strings.TrimLeft(m.text[end:], " \t\r\n"), ":"):
		m.name(clear)
		masked = m.hidden.replace(maskSecretText(clear), false)
	case m.secret:
		masked = event.NewSecret(clear).String()
	case m.hidden.is(m.member, clear, m.cut && !closed):
		masked = hiddenShown
	case m.depth > 0:
		masked = maskText(clear, m.depth-1, m.hidden, m.cut && !closed)
	default:
		masked = m.hidden.replace(maskSecretText(clear), m.cut && !closed)
	}
	if masked == clear {
		return
	}
	m.plain(begin)
	m.out.WriteByte('"')
	quoted := trust.AppendJSONString(nil, masked)[1:]
	if !closed {
		quoted = quoted[:len(quoted)-1]
	}
	m.out.Write(quoted)
	m.done = end
}

// name takes note of a member's name.
func (m *masker) name(name string) {
	m.member = name
	plain := strings.ToLower(strings.ReplaceAll(name, "_", ""))
	m.secret = secretNames[plain] || m.within() && secretParts[plain]
}

// plain writes what was not written yet up to the given place.
func (m *masker) plain(to int) {
	m.out.WriteString(m.hidden.replace(maskSecretText(m.text[m.done:to]), false))
	m.done = to
}

func maskSecretText(text string) string {
	return secretText.ReplaceAllStringFunc(text, func(s string) string { return event.NewSecret(s).String() })
}

// endOfString returns the place behind the string that begins at a quote, and
// whether it ends before the text does.
func endOfString(text string, begin int) (end int, closed bool) {
	for i := begin + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1, true
		}
	}
	return len(text), false
}

// unescape returns what the inside of a JSON string says. An escape that is cut off
// is left out; what is no escape says itself.
func unescape(content string) string {
	if !strings.ContainsRune(content, '\\') {
		return content
	}
	var out strings.Builder
	for len(content) > 0 {
		at := strings.IndexByte(content, '\\')
		if at < 0 {
			break
		}
		out.WriteString(content[:at])
		content = content[at:]
		text, size, whole := escape(content)
		if !whole {
			return out.String()
		}
		out.WriteString(text)
		content = content[size:]
	}
	out.WriteString(content)
	return out.String()
}

// surrogates are the two escapes that make one character.
var surrogates = regexp.MustCompile(`^\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`)

// escape reads the escape with which the inside of a JSON string begins, or the two
// that make one character. It is whole unless it is cut off.
func escape(content string) (text string, size int, whole bool) {
	if len(content) < 2 {
		return "", 0, false
	}
	if content[1] != 'u' {
		if i := strings.IndexByte("bfnrt", content[1]); i >= 0 {
			return "\b\f\n\r\t"[i : i+1], 2, true
		}
		return content[1:2], 2, true
	}
	if len(content) < 6 {
		return "", 0, false
	}
	size = 6
	if surrogates.MatchString(content) {
		size = 12
	}
	if json.Unmarshal([]byte(`"`+content[:size]+`"`), &text) == nil {
		return text, size, true
	}
	return content[1:2], 2, true
}
