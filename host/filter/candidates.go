package filter

import (
	"slices"
	"strings"
	"sync"

	"eventdeck/host/event"
	"eventdeck/host/internal/jsontext"
	"eventdeck/host/reading"
	"eventdeck/host/trust"
)

// Bounds of the values in a [Seen].
const (
	seenNames   = 256 // values of a field, and paths
	seenValues  = 24  // values of a path
	seenBytes   = 64  // a value, or a path
	seenMembers = 200 // members read of one payload
	seenDepth   = 6   // steps of a path
)

// Seen collects, within bounds, the values of records as candidates for [Complete]. The
// zero Seen is empty; all methods may be called from any goroutine.
type Seen struct {
	mu    sync.Mutex
	named [fields][]string
	paths []string            // in the syntax of filters, in order of appearance
	texts map[string][]string // by path
}

// Know adds a value of a field that no record needs to have: the name of a connected
// server, a type that it lists. It ignores unknown fields, and values that cannot be shown
// as they are.
func (s *Seen) Know(field string, value trust.Text) {
	if f := slices.Index(fieldNames[:], field); f >= 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		remember(&s.named[f], value.Raw(), seenNames)
	}
}

// Add adds the values of a record. It does not keep r.
func (s *Seen) Add(r *event.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	remember(&s.named[fieldServer], r.Server, seenNames)
	remember(&s.named[fieldType], r.Type.Raw(), seenNames)
	remember(&s.named[fieldType], r.Family().Raw(), seenNames)
	remember(&s.named[fieldSub], string(r.Sub), seenNames)
	for _, f := range r.Flags {
		remember(&s.named[fieldFlag], f, seenNames)
	}
	for _, tag := range r.Tags() {
		remember(&s.named[fieldTag], tag.Raw(), seenNames)
	}
	data := jsontext.View(r.Data)
	if _, _, word := reading.Judge(r); !word.IsZero() {
		remember(&s.named[fieldSev], word.Raw(), seenNames)
	}
	left := seenMembers
	s.walk(data, jsontext.SkipSpace(data, 0), "", nil, &left)
	meta := jsontext.View(r.Meta)
	s.walk(meta, jsontext.SkipSpace(meta, 0), metaName, nil, &left)
}

// walk adds the members of the value at data[at:]; root is written before their paths.
func (s *Seen) walk(data string, at int, root string, path []segment, left *int) {
	if at >= len(data) || len(path) >= seenDepth || data[at] != '{' && data[at] != '[' {
		return
	}
	for m := jsontext.Enter(data, at); *left > 0 && m.Next(); {
		*left--
		inner := path
		if m.Object {
			inner = append(path[:len(path):len(path)], segment{m.Key, -1})
		}
		switch data[m.Value] {
		case '{', '[':
			s.walk(data, m.Value, root, inner, left)
		default:
			if len(inner) > 0 {
				s.text(root, inner, jsontext.Inside(data[m.Value:m.End]))
			}
		}
	}
}

func (s *Seen) text(root string, path []segment, text string) {
	name := string(appendPath([]byte(root), path))
	if !remember(&s.paths, name, seenNames) {
		return
	}
	if s.texts == nil {
		s.texts = map[string][]string{}
	}
	values := s.texts[name]
	remember(&values, text, seenValues)
	s.texts[name] = values
}

// remember adds a copy of value to values if there is room. It leaves out values that
// cannot be shown or typed as they are. It reports whether values has the value.
func remember(values *[]string, value string, most int) bool {
	if slices.Contains(*values, value) {
		return true
	}
	if value == "" || len(value) > seenBytes || len(*values) >= most || strings.Contains(value, `\`) ||
		trust.Line(trust.Untrusted(value)).Plain() != value {
		return false
	}
	*values = append(*values, strings.Clone(value))
	return true
}

// values returns the values of a field.
func (s *Seen) values(f field) []string {
	return s.list(func() []string { return s.named[f] })
}

// at returns the values at a path.
func (s *Seen) at(path string) []string {
	return s.list(func() []string { return s.texts[path] })
}

// allPaths returns all paths.
func (s *Seen) allPaths() []string {
	return s.list(func() []string { return s.paths })
}

// list returns a copy of the list that which returns under the lock.
func (s *Seen) list(which func() []string) []string {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(which())
}
