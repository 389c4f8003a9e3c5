// Package jsontext reads JSON as bytes: a strict walk over a text, and lossless decoding of
// strings. Every reader of JSON below host uses it, so that no two of them read a text
// differently.
//
// Invalid bytes are kept as they are, and a lone surrogate in the three bytes that UTF-8
// would use for it.
package jsontext

import (
	"bytes"
	"fmt"
)

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds of values.
const (
	String Kind = iota
	Number
	Literal // true, false or null
	Array
	Object
)

// Visitor is called by [Walk] in the order of the text. depth counts the containers around
// the item: 1 for a member of the top-level object.
type Visitor interface {
	// Key is called for each key; start and end bound it without its quotes.
	Key(depth int, start, end int, escaped bool)
	// Open is called at the bracket that starts an object or an array.
	Open(depth int, at int)
	// Value is called at the end of each value but the top-level one. For a
	// string start and end include the quotes.
	Value(depth int, kind Kind, start, end int, escaped bool)
	// SameFold is called when a key differs from an earlier one of its object
	// in the case of ASCII letters only; the offsets are those of key.
	SameFold(start, end int)
}

// Character classes of JSON text.
const (
	jsonPlain  = iota // allowed in a string
	jsonQuote         // ends a string
	jsonEscape        // starts an escape
	jsonBad           // not allowed in a string
)

var stringClass = func() (t [256]uint8) {
	for i := range 0x20 {
		t[i] = jsonBad
	}
	t['"'], t['\\'] = jsonQuote, jsonEscape
	return t
}()

// seenKey is a key of an object that is still open.
type seenKey struct {
	hash       uint64 // of the key without the case of ASCII letters
	start, end int
	escaped    bool
}

// frame is an open container.
type frame struct {
	object bool
	start  int // offset of its bracket
	keys   int // index of its first key in jsonWalker.seen
	many   int // one more than its index in jsonWalker.many, once it has many keys
}

// manyNames has the keys of an object with many.
type manyNames struct {
	exact map[string]bool
	fold  map[uint64]bool // their hashes
}

// manyKeys is the number of keys from which they are kept in maps.
const manyKeys = 24

// Most texts are no deeper than nearFrames, and have no more than nearKeys keys in their
// open objects.
const (
	nearFrames = 8
	nearKeys   = 24
)

// jsonWalker reads a JSON text once, without recursion. It has room for usual texts in
// itself, and no pointer to the text, so that it stays on the stack.
type jsonWalker struct {
	depth, keys int
	frames      [nearFrames]frame
	seen        [nearKeys]seenKey
	farFrames   []frame
	farSeen     []seenKey
	many        []manyNames
}

// top returns the innermost container.
func (w *jsonWalker) top() *frame {
	if w.depth <= nearFrames {
		return &w.frames[w.depth-1]
	}
	return &w.farFrames[w.depth-1-nearFrames]
}

func (w *jsonWalker) push(f frame) {
	if w.depth < nearFrames {
		w.frames[w.depth] = f
	} else {
		w.farFrames = append(w.farFrames[:w.depth-nearFrames], f)
	}
	w.depth++
}

// key returns a key of the open objects.
func (w *jsonWalker) key(i int) seenKey {
	if i < nearKeys {
		return w.seen[i]
	}
	return w.farSeen[i-nearKeys]
}

func (w *jsonWalker) addKey(k seenKey) {
	if w.keys < nearKeys {
		w.seen[w.keys] = k
	} else {
		w.farSeen = append(w.farSeen[:w.keys-nearKeys], k)
	}
	w.keys++
}

// jsonText is the text of a walk, with its limits and visitor.
type jsonText struct {
	raw []byte
	lim Limits
	v   Visitor
}

// Walk reads raw, an object, strictly and reports it to v, up to the first error. Duplicate
// keys are refused at every level; invalid UTF-8 and lone surrogates inside strings are
// accepted.
//
// Errors: [ErrSyntax], [ErrBOM], [ErrNotObject], [ErrTrailing], [ErrDuplicateKey],
// [ErrDepth], [ErrSize].
func Walk(raw []byte, lim Limits, v Visitor) error {
	lim = lim.WithDefaults()
	if len(raw) > lim.Bytes {
		return fmt.Errorf("%w: %d bytes, at most %d are taken", ErrSize, len(raw), lim.Bytes)
	}
	var w jsonWalker
	t := jsonText{raw, lim, v}
	i := SkipSpace(raw, 0)
	if i >= len(raw) || raw[i] != '{' {
		if _, _, _, err := scalar(raw, i); i < len(raw) && (raw[i] == '[' || err == nil) {
			return ErrNotObject
		}
		return syntaxError(raw, i, "an object")
	}
	i, err := w.run(t, i)
	if err != nil {
		return err
	}
	if i = SkipSpace(raw, i); i < len(raw) {
		return fmt.Errorf("%w, at byte %d", ErrTrailing, i)
	}
	return nil
}

// run reads the value that starts at i with a bracket, to its end.
func (w *jsonWalker) run(t jsonText, i int) (int, error) {
	raw := t.raw
	for {
		// A value starts at i.
		if i < len(raw) && (raw[i] == '{' || raw[i] == '[') {
			if w.depth == t.lim.Depth {
				return i, fmt.Errorf("%w: more than %d levels", ErrDepth, t.lim.Depth)
			}
			bracket := raw[i]
			object := bracket == '{'
			t.v.Open(w.depth, i)
			w.push(frame{object: object, start: i, keys: w.keys})
			i = SkipSpace(raw, i+1)
			if i < len(raw) && raw[i] == closingOf(bracket) {
				var done bool
				if i, done = w.close(t, i); done {
					return i, nil
				}
			} else if object {
				var err error
				if i, err = w.readKey(t, i); err != nil {
					return i, err
				}
				continue
			} else {
				continue
			}
		} else {
			end, kind, escaped, err := scalar(raw, i)
			if err != nil {
				return i, err
			}
			t.v.Value(w.depth, kind, i, end, escaped)
			i = end
		}
		// A value ended before i: continue in its container.
		for {
			i = SkipSpace(raw, i)
			top := w.top()
			if i < len(raw) && raw[i] == ',' {
				i = SkipSpace(raw, i+1)
				if top.object {
					var err error
					if i, err = w.readKey(t, i); err != nil {
						return i, err
					}
				}
				break
			}
			if i >= len(raw) || raw[i] != closingOf(raw[top.start]) {
				return i, syntaxError(raw, i, "a comma or a closing bracket")
			}
			var done bool
			if i, done = w.close(t, i); done {
				return i, nil
			}
		}
	}
}

// close ends the innermost container with the bracket at i.
func (w *jsonWalker) close(t jsonText, i int) (next int, done bool) {
	top := *w.top()
	if top.many > 0 {
		w.many = w.many[:top.many-1]
	}
	w.depth--
	w.keys = top.keys
	if w.depth == 0 {
		return i + 1, true
	}
	kind := Array
	if top.object {
		kind = Object
	}
	t.v.Value(w.depth, kind, top.start, i+1, false)
	return i + 1, false
}

// readKey reads the key that starts at i and its colon, and returns where the
// value starts.
func (w *jsonWalker) readKey(t jsonText, i int) (int, error) {
	raw := t.raw
	if i >= len(raw) || raw[i] != '"' {
		return i, syntaxError(raw, i, "a key")
	}
	end, escaped, err := str(raw, i)
	if err != nil {
		return i, err
	}
	k := seenKey{start: i + 1, end: end - 1, escaped: escaped}
	if err := w.remember(t, k); err != nil {
		return i, err
	}
	t.v.Key(w.depth, k.start, k.end, escaped)
	i = SkipSpace(raw, end)
	if i >= len(raw) || raw[i] != ':' {
		return i, syntaxError(raw, i, "a colon")
	}
	return SkipSpace(raw, i+1), nil
}

// remember adds k to the keys of the innermost object and refuses a duplicate.
func (w *jsonWalker) remember(t jsonText, k seenKey) error {
	text := t.keyBytes(k)
	k.hash = foldHash(text)
	top := w.top()
	if top.many == 0 && w.keys-top.keys >= manyKeys {
		names := manyNames{map[string]bool{}, map[uint64]bool{}}
		for i := top.keys; i < w.keys; i++ {
			o := w.key(i)
			names.exact[string(t.keyBytes(o))] = true
			names.fold[o.hash] = true
		}
		w.many = append(w.many, names)
		top.many = len(w.many)
	}
	if top.many > 0 {
		names := w.many[top.many-1]
		if names.exact[string(text)] {
			return &DuplicateError{string(text)}
		}
		if names.fold[k.hash] {
			t.v.SameFold(k.start, k.end)
		}
		names.exact[string(text)] = true
		names.fold[k.hash] = true
		return nil
	}
	for i := top.keys; i < w.keys; i++ {
		o := w.key(i)
		if o.hash != k.hash {
			continue
		}
		if bytes.Equal(t.keyBytes(o), text) {
			return &DuplicateError{string(text)}
		}
		t.v.SameFold(k.start, k.end)
	}
	w.addKey(k)
	return nil
}

func (t jsonText) keyBytes(k seenKey) []byte {
	if !k.escaped {
		return t.raw[k.start:k.end]
	}
	return []byte(Unquote(t.raw[k.start:k.end]))
}

// foldHash is FNV-1a over b, ignoring the case of ASCII letters.
func foldHash(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// scalar reads the string, number or literal that starts at i.
func scalar(raw []byte, i int) (end int, kind Kind, escaped bool, err error) {
	if i >= len(raw) {
		return i, 0, false, syntaxError(raw, i, "a value")
	}
	switch c := raw[i]; {
	case c == '"':
		end, escaped, err = str(raw, i)
		return end, String, escaped, err
	case c == '-' || '0' <= c && c <= '9':
		if end = scanNumber(raw, i); end > 0 {
			return end, Number, false, nil
		}
		return i, 0, false, syntaxError(raw, i, "a number")
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if len(raw)-i >= len(word) && string(raw[i:i+len(word)]) == word {
			return i + len(word), Literal, false, nil
		}
	}
	return i, 0, false, syntaxError(raw, i, "a value")
}

// str reads the string whose opening quote is at i.
func str(raw []byte, i int) (end int, escaped bool, err error) {
	for j := i + 1; j < len(raw); j++ {
		switch stringClass[raw[j]] {
		case jsonPlain:
		case jsonQuote:
			return j + 1, escaped, nil
		case jsonBad:
			return i, false, syntaxError(raw, j, "an escaped control character")
		case jsonEscape:
			escaped = true
			n := escapeLen(raw[j:])
			if n == 0 {
				return i, false, syntaxError(raw, j, "an escape")
			}
			j += n - 1
		}
	}
	return i, false, syntaxError(raw, len(raw), "a closing quote")
}

// escapeLen returns the length of the escape at the start of b, 0 if it is invalid.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b[2:]); ok {
			return 6
		}
	}
	return 0
}

// scanNumber returns the end of the number that starts at i, 0 if it is invalid.
func scanNumber(b []byte, i int) int {
	digits := func() bool {
		start := i
		for i < len(b) && '0' <= b[i] && b[i] <= '9' {
			i++
		}
		return i > start
	}
	if b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if !digits() {
		return 0
	}
	if i < len(b) && b[i] == '.' {
		i++
		if !digits() {
			return 0
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !digits() {
			return 0
		}
	}
	return i
}

// Key decodes a key without its quotes. It does not allocate for the names that nearly
// every event has.
func Key(b []byte, escaped bool) string {
	if escaped {
		return Unquote(b)
	}
	switch string(b) {
	case "eventId":
		return "eventId"
	case "name":
		return "name"
	case "timestamp":
		return "timestamp"
	case "data":
		return "data"
	case "cursor":
		return "cursor"
	case "type":
		return "type"
	case "_meta":
		return "_meta"
	case "id":
		return "id"
	}
	return string(b)
}
