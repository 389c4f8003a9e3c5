package filter

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"eventdeck/host/event"
	"eventdeck/host/internal/jsontext"
	"eventdeck/host/trust"
)

// segment is a step of a path: the name of a member, or the index of an element.
type segment struct {
	name  string
	index int // -1: a name
}

type operator uint8

const (
	opExists operator = iota
	opEqual
	opContains
	opLess
	opLessEqual
	opMore
	opMoreEqual
)

var operators = [...]string{opExists: "", opEqual: "=", opContains: "~", opLess: "<", opLessEqual: "<=", opMore: ">", opMoreEqual: ">="}

// nestingMax bounds the nested arrays that a path goes through.
const nestingMax = 64

// metaName begins the paths into what the server says of an event beside its data.
const metaName = "meta"

// member matches a value in the payload, or in the event's _meta.
type member struct {
	meta    bool
	path    []segment
	op      operator
	want    pattern
	number  bool // want is a number
	scratch *scratch
}

func (n *member) match(r *event.Record) bool {
	data := jsontext.View(r.Data)
	if n.meta {
		data = jsontext.View(r.Meta)
	}
	start := jsontext.SkipSpace(data, 0)
	if start >= len(data) {
		return false
	}
	return anyAt(data, start, len(data), n.path, n.op == opExists, 0, n.test)
}

// name returns the path as it is written.
func (n *member) name() string {
	if n.meta {
		return string(appendPath([]byte(metaName), n.path))
	}
	return string(appendPath(nil, n.path))
}

// anyAt reports whether is returns true for one of the values at the end of the path. The
// path begins at the value data[at:end]. With lists an array at its end is one value,
// otherwise its elements are.
func anyAt(data string, at, end int, path []segment, lists bool, depth int, is func(value string) bool) bool {
	if depth > nestingMax || at >= end {
		return false
	}
	switch {
	case len(path) == 0 && (lists || data[at] != '['):
		return is(data[at:end])
	case data[at] == '[':
		for i, m := 0, jsontext.Enter(data, at); m.Next(); i++ {
			if len(path) == 0 || path[0].index < 0 {
				if anyAt(data, m.Value, m.End, path, lists, depth+1, is) {
					return true
				}
			} else if i == path[0].index {
				return anyAt(data, m.Value, m.End, path[1:], lists, depth+1, is)
			}
		}
	case data[at] == '{' && path[0].index < 0:
		for m := jsontext.Enter(data, at); m.Next(); {
			if sameKey(m.Key, path[0].name) {
				return anyAt(data, m.Value, m.End, path[1:], lists, depth+1, is)
			}
		}
	}
	return false
}

func sameKey(key, name string) bool {
	return key == name || strings.Contains(key, `\`) && string(jsontext.AppendUnquoted(nil, key)) == name
}

// test compares a value with the wanted one.
func (n *member) test(value string) bool {
	if n.op == opExists {
		return true
	}
	return n.holds(textOf(value), value[0])
}

// textOf returns the text by which a value is compared: a string without its quotes and
// escapes, anything else as it is spelled.
func textOf(value string) string {
	text := jsontext.Inside(value)
	if strings.Contains(text, `\`) {
		return string(jsontext.AppendUnquoted(nil, text))
	}
	return text
}

// holds compares the text of a value with the wanted one; begins is the value's first byte.
func (n *member) holds(text string, begins byte) bool {
	isText, isNumber := begins == '"', begins == '-' || '0' <= begins && begins <= '9'
	switch n.op {
	case opEqual:
		return n.want.in(text) || n.number && isNumber && number(text) && compareNumbers(text, n.want.word.text) == 0
	case opContains:
		return n.want.in(text)
	}
	var order int
	switch {
	case !isText && !isNumber:
		return false
	case !n.number && isText:
		order = compareFolded(text, n.want.word.lower)
	case n.number && number(text):
		order = compareNumbers(text, n.want.word.text)
	default:
		return false
	}
	return n.op.orders(order)
}

// number reports whether a text is a JSON number, leading zeros allowed.
func number(s string) bool {
	i := 0
	digits := func() bool {
		start := i
		for i < len(s) && '0' <= s[i] && s[i] <= '9' {
			i++
		}
		return i > start
	}
	if i < len(s) && s[i] == '-' {
		i++
	}
	if !digits() {
		return false
	}
	if i < len(s) && s[i] == '.' {
		if i++; !digits() {
			return false
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		if i++; i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if !digits() {
			return false
		}
	}
	return i == len(s)
}

// compareNumbers compares two numbers: whole ones exactly, others as floats.
func compareNumbers(a, b string) int {
	aNegative, aDigits, aWhole := whole(a)
	bNegative, bDigits, bWhole := whole(b)
	if !aWhole || !bWhole {
		// A number beyond a float's range is infinite.
		x, _ := strconv.ParseFloat(a, 64)
		y, _ := strconv.ParseFloat(b, 64)
		return cmp.Compare(x, y)
	}
	if aNegative != bNegative {
		if aNegative {
			return -1
		}
		return 1
	}
	order := cmp.Or(cmp.Compare(len(aDigits), len(bDigits)), strings.Compare(aDigits, bDigits))
	if aNegative {
		return -order
	}
	return order
}

// whole splits an integer into sign and digits. Zero is not negative.
func whole(s string) (negative bool, digits string, ok bool) {
	digits, negative = strings.CutPrefix(s, "-")
	digits = strings.TrimLeft(digits, "0")
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false, "", false
		}
	}
	return negative && digits != "", digits, true
}

// compareFolded compares a text with a lower-case one, ignoring the case of ASCII letters,
// the rest by bytes.
func compareFolded(s, lower string) int {
	for i := range min(len(s), len(lower)) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return cmp.Compare(c, lower[i])
		}
	}
	return cmp.Compare(len(s), len(lower))
}

// Path is a path into payloads, as in a filter: .user.name, .items[0].id.
type Path struct{ path []segment }

// ParsePath reads a path.
//
// Error: *[Error].
func ParsePath(text string) (*Path, error) {
	p := parser{lexer: lexer{text: text}}
	if !strings.HasPrefix(text, ".") {
		return nil, p.fail("a path begins with a dot, as in .severity")
	}
	path, err := p.path()
	if err == nil && !p.done() {
		err = p.fail("the path ends here; put a name with other signs in quotes, as in .\"odd name\"")
	}
	if err != nil {
		return nil, err
	}
	return &Path{path}, nil
}

// PathAt converts a JSON pointer (RFC 6901) to a path. Each part becomes the name of a
// member, also a number, which in a pointer may be an index too.
func PathAt(pointer string) string {
	var path []segment
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		path = append(path, segment{strings.NewReplacer("~1", "/", "~0", "~").Replace(part), -1})
	}
	return string(appendPath(nil, path))
}

// String returns the path in the syntax of [ParsePath].
func (p *Path) String() string { return string(appendPath(nil, p.path)) }

// Text returns the first value at the path in a payload: a string without its quotes and
// escapes, anything else as it is spelled. ok is false if there is none.
func (p *Path) Text(data []byte) (text trust.Text, ok bool) {
	raw, ok := p.JSON(data)
	if !ok {
		return text, false
	}
	value := jsontext.View(raw)
	if value[0] == '"' {
		return trust.Untrusted(string(jsontext.AppendUnquoted(nil, jsontext.Inside(value)))), true
	}
	return trust.Untrusted(strings.Clone(value)), true
}

// JSON returns the first value at the path in a payload, as a part of data, which must not
// be changed. ok is false if there is none.
func (p *Path) JSON(data []byte) (value []byte, ok bool) {
	s := jsontext.View(data)
	start := jsontext.SkipSpace(s, 0)
	if start >= len(s) {
		return nil, false
	}
	at, end, ok := first(s, start, len(s), p.path, 0)
	if !ok {
		return nil, false
	}
	return bytes.TrimSpace(data[at:end]), true
}

// first returns the bounds of the first value at the end of the path.
func first(data string, at, end int, path []segment, depth int) (int, int, bool) {
	switch {
	case depth > nestingMax || at >= end:
		return 0, 0, false
	case len(path) == 0:
		return at, end, true
	case data[at] == '[':
		for i, m := 0, jsontext.Enter(data, at); m.Next(); i++ {
			if path[0].index >= 0 && i != path[0].index {
				continue
			}
			rest := path
			if path[0].index >= 0 {
				rest = path[1:]
			}
			if from, to, ok := first(data, m.Value, m.End, rest, depth+1); ok {
				return from, to, true
			}
		}
	case data[at] == '{' && path[0].index < 0:
		for m := jsontext.Enter(data, at); m.Next(); {
			if sameKey(m.Key, path[0].name) {
				return first(data, m.Value, m.End, path[1:], depth+1)
			}
		}
	}
	return 0, 0, false
}
