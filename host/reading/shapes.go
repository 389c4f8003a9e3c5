package reading

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"eventdeck/host/trust"
)

//go:embed shapes.txt
var shapesText string

// shape is how the payloads of a sender look.
type shape struct {
	name   string
	is     []condition // what makes a payload this shape
	open   []string    // the objects in it that may be payloads of another shape
	json   []string    // the texts in it that are JSON
	base64 []string    // the texts in it that are JSON in base64
	fields Map
}

// condition is a path that must be there, with one of the values, or any if there are none.
type condition struct {
	path   string
	values []string
}

// shapes are the known shapes, by the first member of their first condition; slots says cheaply that
// there are none for a name.
type shapes struct {
	by    map[string][]*shape
	slots [256]bool
}

func slot(key string) byte { return key[0] ^ key[len(key)-1]<<2 ^ byte(len(key))<<5 }

// of returns the shapes that a member may begin.
func (s *shapes) of(key string) []*shape {
	if key == "" || !s.slots[slot(key)] {
		return nil
	}
	return s.by[key]
}

// match is a shape that a part of the payload has.
type match struct {
	shape *shape
	root  int32
}

// knownShapes returns the shapes, which nothing changes.
var knownShapes = sync.OnceValue(func() *shapes {
	all := &shapes{by: map[string][]*shape{}}
	var s *shape
	for line := range strings.Lines(shapesText) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || f[0][0] == '#':
		case line[0] != ' ':
			s = &shape{name: f[0]}
		default:
			if s.add(f[0], f[1:]); f[0] == "is" {
				key, _, _ := nextStep(s.is[0].path)
				all.by[key], all.slots[slot(key)] = append(all.by[key], s), true
			}
		}
	}
	return all
})

// add adds a line of a block.
func (s *shape) add(field string, list []string) {
	m := &s.fields
	at := map[string]*[]string{"headline": &m.Headline, "level": &m.Level, "status": &m.Status, "ids": &m.IDs, "time": &m.Time, "link": &m.Link, "open": &s.open, "json": &s.json, "base64": &s.base64}[field]
	switch {
	case at != nil:
		*at = append(*at, list...)
	case field == "is":
		for _, c := range list {
			path, values, ok := strings.Cut(c, "=")
			c := condition{path: path}
			if ok {
				c.values = strings.Split(values, "|")
			}
			s.is = append(s.is, c)
		}
	case field == "words":
		if m.Words == nil {
			m.Words = map[string]string{}
		}
		for _, w := range list {
			at := strings.LastIndexByte(w, '=')
			m.Words[w[:at]], m.Words[strings.ReplaceAll(w[:at], "_", " ")] = w[at+1:], w[at+1:]
		}
	default:
		panic(fmt.Sprintf("shapes.txt: %s: unknown line %q", s.name, field))
	}
}

// nextStep splits the first step off a path: a name, or "" for an element with its index, -1 for
// the worst one.
func nextStep(path string) (key string, index int, rest string) {
	path = strings.TrimPrefix(path, ".")
	if strings.HasPrefix(path, "[") {
		inside, rest, _ := strings.Cut(path[1:], "]")
		if index, err := strconv.Atoi(inside); err == nil {
			return "", index, rest
		}
		return "", -1, rest
	}
	if strings.HasPrefix(path, `"`) {
		key, rest, _ = strings.Cut(path[1:], `"`)
		return key, 0, rest
	}
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		return path, 0, ""
	}
	return path[:end], 0, path[end:]
}

// find returns the scalar at a path below a node, or 0.
func (r *reader) find(at int32, path string) int32 {
	if at = r.look(at, path); at < 0 || r.nodes[at].holds() {
		return 0
	}
	return at
}

// look returns the node at a path below a node, or -1.
func (r *reader) look(at int32, path string) int32 {
	for path != "" && at >= 0 {
		key, index, rest := nextStep(path)
		next := int32(-1)
		for i := range r.children(at) {
			if key != "" && r.nodes[i].key == key || key == "" && (index == 0 || index < 0 && r.nodes[i].flags&isSkipped == 0) {
				next = i
				break
			}
			index--
		}
		at, path = next, rest
	}
	return at
}

// matches reports whether the part of the payload at a node has the shape.
func (s *shape) matches(r *reader, root int32) bool {
	for _, c := range s.is {
		if at := r.look(root, c.path); at < 0 || len(c.values) > 0 && !slices.Contains(c.values, r.nodes[at].val) {
			return false
		}
	}
	return true
}

// recognize finds the shapes of the payload and of what it wraps, three deep at most.
func (r *reader) recognize() {
	for r.matches < len(r.matched) {
		var best *shape // with the most conditions
		for i := range r.children(r.root) {
			for _, s := range r.shapes.of(r.nodes[i].key) {
				if (best == nil || len(s.is) > len(best.is)) && s.matches(r, r.root) {
					best = s
				}
			}
		}
		if best == nil {
			return
		}
		r.matched[r.matches] = match{best, r.root}
		r.matches++
		for i, path := range slices.Concat(best.json, best.base64) {
			if at := r.find(r.root, path); at > 0 && r.nodes[at].kind == '"' {
				r.splice(at, i >= len(best.json))
			}
		}
		next := int32(-1)
		for _, path := range best.open {
			if at := r.look(r.root, path); at >= 0 && r.nodes[at].holds() && next < 0 {
				next = at
			}
		}
		if next < 0 {
			return
		}
		r.root = next
	}
}

// splice puts the values of a text that is JSON in the place of the text.
func (r *reader) splice(at int32, in64 bool) {
	inner := strings.TrimSpace(r.nodes[at].text())
	if in64 {
		raw, err := base64.StdEncoding.DecodeString(inner)
		if err != nil {
			return
		}
		inner = strings.TrimSpace(string(raw))
	}
	if !strings.HasPrefix(inner, "{") && !strings.HasPrefix(inner, "[") {
		return
	}
	sub := scan(nil, inner)
	sub[0].key, sub[0].parent, sub[0].end = r.nodes[at].key, r.nodes[at].parent, sub[0].end+at
	grown := int32(len(sub) - 1)
	r.nodes = slices.Concat(r.nodes[:at], sub, r.nodes[at+1:])
	for i := range r.nodes {
		n := &r.nodes[i]
		switch j := int32(i); {
		case j < at && n.end > at, j > at+grown:
			if n.end += grown; n.parent > at {
				n.parent += grown
			}
		case j > at:
			n.end, n.parent = n.end+at, n.parent+at
		}
	}
}

// moment reads a time: as [trust.Text.Time] does, or a number of seconds, milliseconds,
// microseconds or nanoseconds since 1970.
func moment(s string) (time.Time, bool) {
	if strings.Trim(s, ".0123456789") == "" {
		n, _ := strconv.ParseFloat(s, 64)
		for ; n > 1e11; n /= 1000 {
		}
		if n < 1e8 {
			return time.Time{}, false
		}
		return time.UnixMilli(int64(n * 1000)).UTC(), true
	}
	return trust.Untrusted(s).Time()
}
