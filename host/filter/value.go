package filter

import (
	"strings"

	"eventdeck/host/event"
	"eventdeck/host/internal/jsontext"
	"eventdeck/host/trust"
)

// value matches any value in the payload, at any path, and the ids of the event and its
// batch. Unlike other fields it matches whole values only.
func (n *part) value(r *event.Record) bool {
	if n.whole(r.EventID.Raw()) || r.Labels != nil && !r.Labels.Batch.IsZero() && n.whole(r.Labels.Batch.Raw()) {
		return true
	}
	data := jsontext.View(r.Data)
	// Most payloads do not contain the text, which a search shows without parsing.
	if n.re == nil && strings.IndexByte(data, '\\') < 0 && !n.word.in(data) {
		return false
	}
	start := jsontext.SkipSpace(data, 0)
	return start < len(data) && n.anyValue(data, start, jsontext.ValueEnd(data, start), 0)
}

// whole reports whether the whole text matches the pattern.
func (n *part) whole(text string) bool {
	if n.re != nil {
		return n.in(text)
	}
	return n.word.equals(text)
}

// anyValue reports whether a value within data[at:end] matches.
func (n *part) anyValue(data string, at, end, depth int) bool {
	if depth > nestingMax || at >= end {
		return false
	}
	if data[at] != '{' && data[at] != '[' {
		text := jsontext.Inside(strings.TrimSpace(data[at:end]))
		if data[at] == '"' && strings.Contains(text, `\`) {
			text = string(jsontext.AppendUnquoted(nil, text))
		}
		return n.whole(text)
	}
	for m := jsontext.Enter(data, at); m.Next(); {
		if n.anyValue(data, m.Value, m.End, depth+1) {
			return true
		}
	}
	return false
}

// ValueTerm returns the term that matches every record with the value, whatever its member
// is called.
func ValueTerm(value trust.Text) string {
	return string(appendValue([]byte(fieldNames[fieldValue]+":"), value.Raw()))
}

// PathTerm returns the term that matches every record with the value at the path.
func PathTerm(path string, value trust.Text) string {
	return string(appendValue([]byte(path+"="), value.Raw()))
}

// FieldTerm returns the term that matches every record with exactly this text in a field
// such as server or type. It is empty for an unknown field.
func FieldTerm(field string, value trust.Text) string {
	for _, name := range fieldNames[:fieldSince] {
		if name == field {
			return string(appendValue([]byte(name+":="), value.Raw()))
		}
	}
	return ""
}

// TermAt returns the term for the value that begins at an offset of a payload, and the
// value's text. The term matches the value under any name, or at its path for numbers and
// the like, which many members share. ok is false if no value begins there.
func TermAt(data []byte, offset int) (term string, text trust.Text, ok bool) {
	s := string(data)
	at := jsontext.SkipSpace(s, 0)
	if offset < 0 || at >= len(s) {
		return "", trust.Text{}, false
	}
	path, end, ok := pathTo(s, at, jsontext.ValueEnd(s, at), offset, nil)
	if !ok {
		return "", trust.Text{}, false
	}
	value := strings.TrimSpace(s[offset:end])
	text = trust.Untrusted(jsontext.Inside(value))
	if strings.HasPrefix(value, `"`) {
		text = trust.Untrusted(string(jsontext.AppendUnquoted(nil, jsontext.Inside(value))))
		return ValueTerm(text), text, true
	}
	if len(path) == 0 {
		return ValueTerm(text), text, true
	}
	return PathTerm(string(appendPath(nil, path)), text), text, true
}

// pathTo returns the names on the path to the scalar at an offset, and its end. It leaves
// out array indexes, since a path matches every element.
func pathTo(s string, at, end, offset int, path []segment) (_ []segment, to int, ok bool) {
	switch {
	case at == offset && s[at] != '{' && s[at] != '[':
		return path, end, true
	case len(path) > nestingMax || s[at] != '{' && s[at] != '[':
		return nil, 0, false
	}
	for m := jsontext.Enter(s, at); m.Next(); {
		if offset < m.Value || offset >= m.End {
			continue
		}
		inner := path
		if m.Object {
			inner = append(path[:len(path):len(path)], segment{string(jsontext.AppendUnquoted(nil, m.Key)), -1})
		}
		return pathTo(s, m.Value, m.End, offset, inner)
	}
	return nil, 0, false
}

// With returns a filter that matches what both text and term match; with not, what text
// matches and term does not. It replaces the opposite of the term, as nothing matches both.
func With(text, term string, not bool) string {
	opposite := "!" + term
	if not {
		term, opposite = opposite, term
	}
	switch text = without(strings.TrimSpace(text), opposite); {
	case text == "":
		return term
	case hasTerm(text, term):
		return text
	case alternatives(text):
		return "(" + text + ") " + term
	}
	return text + " " + term
}

// without removes a term that a filter requires. It keeps those within alternatives and
// parentheses.
func without(text, term string) string {
	if alternatives(text) {
		return text
	}
	var parts []string
	depth, last, kept := 0, 0, 0
	eachTerm(text, func(from, to int) {
		depth += strings.Count(text[last:from], "(") - strings.Count(text[last:from], ")")
		begin := from
		for begin > last && text[begin-1] == '!' {
			begin--
		}
		if depth == 0 && text[begin:to] == term {
			parts, kept = append(parts, strings.TrimSpace(text[kept:begin])), to
		}
		last = to
	})
	return strings.TrimSpace(strings.Join(append(parts, strings.TrimSpace(text[kept:])), " "))
}

// alternatives reports whether a filter is an "or" at its top level.
func alternatives(text string) bool {
	p := parser{lexer: lexer{text: text}}
	root, err := p.parse()
	_, or := root.(oneOf)
	return err == nil && or
}

// hasTerm reports whether a filter has a term, spelled exactly so.
func hasTerm(text, term string) bool {
	found := false
	eachTerm(text, func(from, to int) {
		begin := from
		if begin > 0 && text[begin-1] == '!' {
			begin--
		}
		found = found || text[begin:to] == term
	})
	return found
}
