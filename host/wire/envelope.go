package wire

import (
	"bytes"
	"encoding/json"
)

// readEnvelope reads the members of a JSON-RPC message without encoding/json, which
// reads every byte of an event twice. It takes what servers write: a valid object
// whose member names are exact and stand once, nothing behind it. ok is false for
// everything else, also where encoding/json would find sense in it.
//
// The results are parts of raw.
func readEnvelope(raw []byte) (r rawMessage, ok bool) {
	s := skimmer{raw: raw}
	if !s.token('{') {
		return r, false
	}
	seen := 0
	for first := true; !s.token('}'); first = false {
		if !first && !s.token(',') {
			return r, false
		}
		name, ok := s.plainString()
		if !ok || !s.token(':') {
			return r, false
		}
		s.blank()
		start := s.at
		if !s.value() {
			return r, false
		}
		value := raw[start:s.at:s.at]
		bit := 0
		switch string(name) {
		case "id":
			r.ID, bit = value, 1
		case "params":
			r.Params, bit = value, 2
		case "result":
			r.Result, bit = value, 4
		case "error":
			r.Error, bit = value, 8
		case "method":
			text := skimmer{raw: value}
			method, plain := text.plainString()
			if !plain {
				return r, false
			}
			r.Method, bit = methodName(method), 16
		default:
			if !ordinary(name) {
				return r, false // encoding/json may take it for one of the above
			}
		}
		if seen&bit != 0 {
			return r, false
		}
		seen |= bit
	}
	s.blank()
	return r, s.at == len(raw)
}

// ordinary reports whether a name is none of an envelope in other letters.
func ordinary(name []byte) bool {
	for _, known := range [...]string{"id", "params", "result", "error", "method"} {
		if bytes.EqualFold(name, []byte(known)) {
			return false
		}
	}
	return true
}

// methodName returns the name of a method. That which nearly every message has is
// not allocated again.
func methodName(name []byte) string {
	if string(name) == NoteEvent {
		return NoteEvent
	}
	return string(name)
}

// skimDepth bounds what is nested: beyond it encoding/json reads, which has a bound
// of its own.
const skimDepth = 64

// skimmer walks over JSON text. Its methods return false where the text is wrong,
// or unusual.
type skimmer struct {
	raw []byte
	at  int
}

func (s *skimmer) blank() {
	for s.at < len(s.raw) {
		switch s.raw[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

// token passes over c, and blanks before it, if it is next.
func (s *skimmer) token(c byte) bool {
	s.blank()
	if s.at >= len(s.raw) || s.raw[s.at] != c {
		return false
	}
	s.at++
	return true
}

// plainString reads a string of ASCII letters without escapes.
func (s *skimmer) plainString() ([]byte, bool) {
	if !s.token('"') {
		return nil, false
	}
	for start := s.at; s.at < len(s.raw); s.at++ {
		switch c := s.raw[s.at]; {
		case c == '"':
			s.at++
			return s.raw[start : s.at-1], true
		case c < ' ' || c == '\\' || c >= 0x80:
			return nil, false
		}
	}
	return nil, false
}

// value passes over the value that begins here.
func (s *skimmer) value() bool {
	var closing [skimDepth]byte
	depth := 0
	for {
		// A value begins here.
		s.blank()
		if s.at >= len(s.raw) {
			return false
		}
		opened := false
		switch c := s.raw[s.at]; c {
		case '{', '[':
			if depth == skimDepth {
				return false
			}
			s.at++
			closing[depth] = c + 2 // the closing bracket in ASCII
			depth++
			opened = true
		case '"':
			if !s.str() {
				return false
			}
		default:
			if !s.scalar(c) {
				return false
			}
		}
		// Its container goes on.
		for depth > 0 {
			if s.token(closing[depth-1]) {
				depth--
				opened = false
				continue
			}
			if !opened && !s.token(',') {
				return false
			}
			if closing[depth-1] == '}' && !(s.token('"') && s.back().str() && s.token(':')) {
				return false
			}
			break
		}
		if depth == 0 {
			return true
		}
	}
}

// back goes back to the quote that token passed over.
func (s *skimmer) back() *skimmer {
	s.at--
	return s
}

// inString tells which bytes a string goes on with.
var inString = func() (t [256]bool) {
	for c := 0x20; c < 0x100; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// str passes over the string whose opening quote is here.
func (s *skimmer) str() bool {
	raw := s.raw
	for i := s.at + 1; i < len(raw); i++ {
		c := raw[i]
		if inString[c] {
			continue
		}
		if c == '"' {
			s.at = i + 1
			return true
		}
		if c != '\\' || i+1 >= len(raw) {
			return false
		}
		i++
		switch raw[i] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		case 'u':
			if i+4 >= len(raw) || !hex(raw[i+1:i+5]) {
				return false
			}
			i += 4
		default:
			return false
		}
	}
	return false
}

func hex(b []byte) bool {
	for _, c := range b {
		if !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f') {
			return false
		}
	}
	return true
}

// scalar passes over a number or a literal that begins with c. What is behind it
// is looked at by the caller.
func (s *skimmer) scalar(c byte) bool {
	start := s.at
	for s.at < len(s.raw) && !delimiter(s.raw[s.at]) {
		s.at++
	}
	switch text := s.raw[start:s.at]; c {
	case 't':
		return string(text) == "true"
	case 'f':
		return string(text) == "false"
	case 'n':
		return string(text) == "null"
	default:
		return len(text) > 0 && (digits(text) || json.Valid(text))
	}
}

func delimiter(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', ',', ':', '}', ']', '{', '[', '"':
		return true
	}
	return false
}

// digits reports whether text is an ordinary whole number.
func digits(text []byte) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return text[0] != '0' || len(text) == 1
}

// readMembers reads the members of an object as encoding/json reads them into a map,
// with values that are parts of raw. ok is false for what is unusual, as in
// readEnvelope.
func readMembers(raw []byte) (m members, ok bool) {
	s := skimmer{raw: raw}
	if !s.token('{') {
		return nil, false
	}
	m = members{}
	for first := true; !s.token('}'); first = false {
		if !first && !s.token(',') {
			return nil, false
		}
		name, ok := s.plainString()
		if !ok || !s.token(':') {
			return nil, false
		}
		s.blank()
		start := s.at
		if !s.value() {
			return nil, false
		}
		m[string(name)] = raw[start:s.at:s.at]
	}
	s.blank()
	return m, s.at == len(raw)
}

// readList reads the values of an array; they are parts of raw. ok is as in
// readEnvelope.
func readList(raw []byte) (list []json.RawMessage, ok bool) {
	s := skimmer{raw: raw}
	if !s.token('[') {
		return nil, false
	}
	list = []json.RawMessage{}
	for first := true; !s.token(']'); first = false {
		if !first && !s.token(',') {
			return nil, false
		}
		s.blank()
		start := s.at
		if !s.value() {
			return nil, false
		}
		list = append(list, raw[start:s.at:s.at])
	}
	s.blank()
	return list, s.at == len(raw)
}
