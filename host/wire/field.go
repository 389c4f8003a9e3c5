package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"eventdeck/host/trust"
)

// Cursor is a cursor member of a message: absent (the zero value), null, or a string.
// SEP-3415, cursor rules; field notes 9.
type Cursor struct {
	Present bool
	Null    bool
	Number  bool // it was a number; Text has its digits
	Text    trust.Text
}

// UnmarshalJSON reads a string or null, and keeps a number as it is spelled: without its
// position the next request would start from now and lose the events between. Anything else
// counts as absent.
func (c *Cursor) UnmarshalJSON(raw []byte) error {
	*c = Cursor{}
	if string(raw) == "null" {
		*c = Cursor{Present: true, Null: true}
		return nil
	}
	var s trust.Text
	if json.Unmarshal(raw, &s) == nil {
		*c = Cursor{Present: true, Text: s}
		return nil
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		*c = Cursor{Present: true, Number: true, Text: trust.Untrusted(n.String())}
	}
	return nil
}

// HasText reports whether the cursor is a position.
func (c Cursor) HasText() bool { return c.Present && !c.Null }

// sentCursor encodes a position or null: requests always carry a cursor (field notes 5).
type sentCursor struct {
	text   trust.Text
	valid  bool
	number bool
}

func (c sentCursor) MarshalJSON() ([]byte, error) {
	if !c.valid {
		return []byte("null"), nil
	}
	if c.number {
		return []byte(c.text.Raw()), nil // encoding/json refuses it if it is not a number
	}
	return appendOpaque(nil, c.text.Raw()), nil
}

// appendOpaque appends s as a JSON string that decodes to s, byte for byte. Lone surrogates
// are escaped; invalid bytes stay as they are, since no escape stands for them. So do the
// bytes of a high surrogate before a low one, since the two escapes would decode to one
// character.
func appendOpaque(b []byte, s string) []byte {
	b = append(b, '"')
	for s != "" {
		n := 0 // up to the first byte that is neither UTF-8 nor of a surrogate
		for n < len(s) {
			r, size := utf8.DecodeRuneInString(s[n:])
			if r == utf8.RuneError && size == 1 {
				if !surrogateAt(s[n:]) || s[n+1] < 0xb0 && surrogateAt(s[n+3:]) && s[n+4] >= 0xb0 {
					break
				}
				size = 3
			}
			n += size
		}
		if n == 0 {
			b, s = append(b, s[0]), s[1:]
			continue
		}
		quoted := trust.AppendJSONString(nil, s[:n])
		b, s = append(b, quoted[1:len(quoted)-1]...), s[n:]
	}
	return append(b, '"')
}

// surrogateAt reports whether s begins with the three bytes in which package trust
// keeps a lone surrogate.
func surrogateAt(s string) bool {
	return len(s) >= 3 && s[0] == 0xed && s[1] >= 0xa0 && s[1] <= 0xbf && s[2] >= 0x80 && s[2] <= 0xbf
}

// members is an object whose members are decoded one by one, so that a malformed one
// affects only itself. The values may be parts of the decoded text.
type members map[string]json.RawMessage

func decodeMembers(what string, raw json.RawMessage) (members, error) {
	m, ok := readMembers(raw)
	if ok {
		return m, nil
	}
	m = nil
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fmt.Errorf("%w: %s is not an object", ErrMalformed, what)
	}
	if m == nil {
		return nil, fmt.Errorf("%w: %s is null", ErrMalformed, what)
	}
	return m, nil
}

func (m members) text(key string) trust.Text {
	var s trust.Text
	if json.Unmarshal(m[key], &s) != nil {
		return trust.Text{}
	}
	return s
}

// bool reads true, also spelled as a string; anything else is false.
func (m members) bool(key string) bool {
	text := strings.Trim(string(m[key]), `" `)
	return text == "true"
}

func (m members) cursor(key string) Cursor {
	var c Cursor
	if raw, ok := m[key]; ok {
		_ = c.UnmarshalJSON(raw) // reads anything
	}
	return c
}

func (m members) list(key string) []json.RawMessage {
	if l, ok := readList(m[key]); ok {
		return l
	}
	var l []json.RawMessage
	if json.Unmarshal(m[key], &l) != nil {
		return nil
	}
	return l
}

// duration reads a number of units, also one spelled as a string. ok is false
// when it is absent, null, or no number. Values beyond a year count as a year.
func (m members) duration(key string, unit time.Duration) (d time.Duration, ok bool) {
	text := strings.Trim(string(m[key]), `" `)
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(f) {
		return 0, false
	}
	const year = 365 * 24 * time.Hour
	f *= float64(unit)
	switch {
	case f > float64(year):
		return year, true
	case f < -float64(year):
		return -year, true
	}
	return time.Duration(f), true
}

// time reads an ISO 8601 time. given is true if the member is there and not null.
func (m members) time(key string) (t time.Time, given bool) {
	raw, ok := m[key]
	if !ok || string(raw) == "null" {
		return time.Time{}, false
	}
	t, _ = m.text(key).Time()
	return t, true
}

// milliseconds is a duration that is sent as a whole number of milliseconds.
type milliseconds time.Duration

func (d milliseconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, time.Duration(d).Milliseconds(), 10), nil
}
