package jsonfile

import (
	"bytes"
	"slices"

	"eventdeck/host/trust"
)

// Top returns the top-level object of the file.
func (t *Text) Top() Member { return Member{Start: t.skip(0), End: len(t.Plain)} }

// Insert returns the text with a member added after the others of an object. A comment
// after the last of them stays with it. value is indented by indent.
func (t *Text) Insert(object Member, have []Member, name string, value []byte, indent string) []byte {
	raw, start, end := t.bytes, object.Start, object.End
	member := append(append([]byte("\n"+indent), trust.AppendJSONString(nil, name)...), ": "...)
	member = append(member, value...)
	if len(have) == 0 {
		at := start + bytes.IndexByte(t.Plain[start:end], '{') + 1
		if len(bytes.TrimSpace(t.Plain[at:])) > 0 && !bytes.HasPrefix(bytes.TrimLeft(raw[at:], " \t"), []byte("\n")) {
			member = append(member, "\n"+t.Indent(start)...)
		}
		return slices.Concat(t.mark, raw[:at], member, raw[at:])
	}
	last := have[len(have)-1].End
	flat := plain(raw, true)
	brace := last + bytes.IndexByte(flat[last:], '}')
	at := brace
	if eol := bytes.IndexByte(flat[last:brace], '\n'); eol >= 0 {
		at = last + eol
	} else {
		member = append(member, "\n"+t.Indent(start)...)
	}
	if comma := trailingComma(raw, last, brace); comma >= 0 {
		at = max(at, comma+1)
		return slices.Concat(t.mark, raw[:at], member, []byte(","), raw[at:])
	}
	return slices.Concat(t.mark, raw[:last], []byte(","), raw[last:at], member, raw[at:])
}

// trailingComma returns the offset of a comma between two offsets, outside of comments, or
// -1.
func trailingComma(raw []byte, from, to int) int {
	for i := from; i < to; i++ {
		switch {
		case raw[i] == '/' && i+1 < to:
			i = commentEnd(raw, i) - 1
		case raw[i] == ',':
			return i
		}
	}
	return -1
}

// Indent returns the blanks at the start of the line of an offset.
func (t *Text) Indent(at int) string {
	line := t.Plain[bytes.LastIndexByte(t.Plain[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// Cut returns the text without one of the members of an object and its comma.
func (t *Text) Cut(object Member, members []Member, i int) []byte {
	raw := t.bytes
	m, brace := members[i], object.End-1
	start, next, last := object.Start+1, brace, i == len(members)-1
	if i > 0 {
		start = members[i-1].End
	}
	if !last {
		next = members[i+1].At
	}
	from, to := m.At, m.End
	comma := trailingComma(raw, to, next)
	switch {
	case comma >= 0 && isBlanks(raw[to:comma]):
		to, comma = comma+1, -1
	case comma < 0 && i > 0:
		comma = trailingComma(raw, start, from)
	}
	from, to = room(raw, from, to, last)
	// The rest between the neighbours.
	left := slices.Concat(raw[start:from], raw[to:next])
	switch {
	case comma >= to:
		left = slices.Delete(left, comma-to+from-start, comma-to+from-start+1)
	case comma >= 0:
		left = slices.Delete(left, comma-start, comma-start+1)
	}
	if last {
		left = closed(left, i == 0, bytes.IndexByte(raw[object.Start:start], '\n') < 0)
	}
	return slices.Concat(t.mark, raw[:start], left, raw[next:])
}

// closed returns the rest before the closing brace without the last member: nothing in an
// empty object, and no line break in an object on one line.
func closed(left []byte, empty, oneLine bool) []byte {
	eol := bytes.LastIndexByte(left, '\n')
	switch {
	case empty && isBlanks(left):
		return nil
	case !empty && oneLine && bytes.Count(left, []byte("\n")) == 1 && isBlanks(left[eol:]) && !bytes.Contains(left, []byte("//")):
		return left[:eol]
	}
	return left
}

// room widens a cut by the blanks around it: to the whole line, or on one side.
func room(raw []byte, from, to int, last bool) (int, int) {
	left, right := from, to
	for isSpace(raw[left-1]) {
		left--
	}
	for isSpace(raw[right]) {
		right++
	}
	begins := raw[left-1] == '\n'
	ends := bytes.HasPrefix(raw[right:], []byte("\n")) || bytes.HasPrefix(raw[right:], []byte("\r\n"))
	switch {
	case begins && ends:
		left--
		if raw[left-1] == '\r' && raw[right] == '\r' {
			left--
		}
		return left, right
	case begins, !last && !ends:
		return from, right
	}
	return left, to
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

func isBlanks(text []byte) bool { return len(bytes.Trim(text, " \t\r\n")) == 0 }

// isBlank reports whether c is white space between members.
func isBlank(c byte) bool { return isSpace(c) || c == '\n' || c == '\r' }
