package reading

import (
	"iter"
	"strconv"
	"strings"
	"unicode"

	"eventdeck/host/internal/jsontext"
)

// Bounds of what is looked at.
const (
	maxBytes   = 64 << 10
	maxMembers = 2000
	nearNodes  = 32 // many payloads have no more
)

// node is a value of a payload. Nodes are in the order of the text, so that what an object or array
// holds follows it; node 0 is the payload, and as the number of a scalar it means none.
type node struct {
	key, val string // as in the text, without quotes; val is "" for objects and arrays
	parent   int32  // -1 of the payload
	end      int32  // the number after its last descendant
	kind     byte   // the first byte of its text, 0 for numbers
	steps    uint8  // steps from the matter: see the words of the role wrap
	flags    flag
	thing    uint8 // what an id in it is of
	name     name  // what the words of its key say
}

// Flags of nodes.
const (
	isOut     flag = 1 << (iota + lastFlag) // of people and places, or typed by a person
	isAside                                 // beside the matter
	isOld                                   // what was before
	isSkipped                               // another element of its array is read
	isPair                                  // its key is the text of another node
)

// holds reports whether a node is an object or an array.
func (n *node) holds() bool { return n.kind == '{' || n.kind == '[' }

// text returns a scalar as text.
func (n *node) text() string { return unescaped(n.val) }

// scan appends the values of a JSON text, as far as they are within the bounds.
func scan(nodes []node, text string) []node {
	text = text[:min(len(text), maxBytes)]
	top, key := int32(-1), ""
	for i := jsontext.SkipSpace(text, 0); i < len(text) && len(nodes) < maxMembers; i = jsontext.SkipSpace(text, i) {
		n := node{key: key, parent: top, kind: text[i]}
		switch c := text[i]; c {
		case ',', ':':
			i++
			continue
		case '}', ']':
			if i++; top < 0 {
				return nodes
			}
			if nodes[top].end, top = int32(len(nodes)), nodes[top].parent; top < 0 {
				return nodes // what follows is not JSON
			}
			continue
		case '{', '[':
			i++
		case '"':
			end, closed := jsontext.StringEnd(text, i)
			if n.val = text[i+1:]; closed {
				n.val = text[i+1 : end-1]
			}
			i = jsontext.SkipSpace(text, end)
			if top >= 0 && nodes[top].kind == '{' && i < len(text) && text[i] == ':' {
				key = n.val
				continue
			}
		default:
			end := max(jsontext.ValueEnd(text, i), i+1)
			n.val = text[i:end]
			if i = end; c == '-' || isDigit(c) {
				n.kind = 0
			}
		}
		n.end = int32(len(nodes) + 1)
		if nodes, key = append(nodes, n), ""; n.holds() {
			top = n.end - 1
		}
		if top < 0 {
			break
		}
	}
	for ; top >= 0; top = nodes[top].parent {
		nodes[top].end = int32(len(nodes))
	}
	return nodes
}

// children iterates over the members of an object or the elements of an array.
func (r *reader) children(of int32) iter.Seq[int32] {
	return func(yield func(int32) bool) { // no pointers, so that the nodes stay on the stack
		for i := of + 1; i < r.nodes[of].end && yield(i); i = r.nodes[i].end {
		}
	}
}

// scalars iterates over the scalars below a node that are not null and have none of the flags.
func (r *reader) scalars(root int32, not flag) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for i := root; i < r.nodes[root].end; i++ {
			n := &r.nodes[i]
			switch {
			case n.flags&not != 0:
				i = n.end - 1
			case n.holds() || n.kind == 'n' || i == 0:
			case !yield(i):
				return
			}
		}
	}
}

// appendPath appends the path of a node, as the filter language writes it.
func (r *reader) appendPath(b []byte, i int32) []byte {
	n := &r.nodes[i]
	if n.parent < 0 {
		return b
	}
	b = r.appendPath(b, n.parent)
	if r.nodes[n.parent].kind == '[' {
		at := int64(0)
		for j := range r.children(n.parent) {
			if j == i {
				break
			}
			at++
		}
		return append(strconv.AppendInt(append(b, '['), at, 10), ']')
	}
	if b = append(b, '.'); n.key != "" && strings.TrimFunc(n.key, isNameRune) == "" {
		return append(b, n.key...)
	}
	return append(append(append(b, '"'), strings.ReplaceAll(n.key, `"`, `\"`)...), '"')
}

// isNameRune reports whether a character stands in a path without quotes.
func isNameRune(c rune) bool {
	return c == '_' || c == '-' || unicode.IsLetter(c) || unicode.IsDigit(c)
}

// enrich gives each node what the words of its name and the objects around it say.
func (r *reader) enrich() {
	r.nodes[0].thing = 66
	for i := 1; i < len(r.nodes); i++ {
		n := &r.nodes[i]
		p := &r.nodes[n.parent]
		is := flag(0)
		switch {
		case p.kind == '[':
			n.name = p.name
		case n.flags&isPair == 0:
			n.name = r.words.name(n.key)
			is = n.name.is
		}
		if up := &p.name; p.kind == '{' && (is&label != 0 && (n.name.before == 0 || n.name.others&label != 0) && (up.sev|up.status > 0 || up.text > 0 && n.name.text|n.name.name == 0) || up.text > 0 && len(n.key) == 2 && n.name.word == (word{})) {
			n.name = *up // {"severity":{"name":"high"}}, {"title":{"en":"…"}}
		}
		n.steps, n.flags = p.steps, n.flags|p.flags&(isOut|isAside|isOld)
		if n.name.any&old != 0 {
			n.flags |= isOld
		}
		r.money = r.money || n.name.any&money != 0
		if n.name.any&alarming != 0 && n.flags&(isOut|isAside) == 0 {
			r.alarming = true
		}
		if n.thing = n.name.of; p.kind == '[' {
			if n.thing = p.thing; n.kind == '{' {
				r.pair(int32(i))
			}
		}
		if !n.holds() || p.kind == '[' {
			continue
		}
		switch {
		case is&wrap != 0:
			if n.thing == 0 {
				n.thing = max(p.thing, 71)
			}
		case is&out != 0:
			n.flags |= isOut
		default:
			if n.steps++; is&aside != 0 {
				n.flags |= isAside
			}
			if n.thing == 0 {
				n.thing = 50
			}
		}
		if is&nothing != 0 {
			n.thing = 0
		}
		if n.name.any&stale != 0 {
			n.flags |= isAside
		}
	}
}

// pair makes a member of an object {"name":…,"value":…} in an array: the name becomes the key of
// the value.
func (r *reader) pair(o int32) {
	key, value := int32(0), int32(0)
	for i := range r.children(o) {
		switch c := &r.nodes[i]; c.key {
		case "key", "name", "title", "field", "label", "Name", "Key":
			if c.kind == '"' && key == 0 {
				key = i
			}
		case "value", "Value", "val":
			value = i
		}
	}
	if key == 0 || value == 0 || r.nodes[o].end > o+7 {
		return
	}
	r.nodes[key].flags |= isSkipped
	r.nodes[r.nodes[o].parent].flags |= isPair
	for at := value; at < min(r.nodes[value].end, value+2); at++ { // also {"stringValue":…}
		r.nodes[at].name, r.nodes[at].flags = r.words.name(r.nodes[key].val), r.nodes[at].flags|isPair
	}
}

// focus leaves of each array of objects the element that is worst and not over.
func (r *reader) focus() {
	for i := int32(0); i < int32(len(r.nodes)); i++ {
		n := &r.nodes[i]
		if n.flags&isSkipped != 0 {
			i = n.end - 1
			continue
		}
		if n.kind != '[' || n.flags&(isPair|isOut) != 0 || i+1 == n.end || r.nodes[i+1].kind != '{' || r.nodes[i+1].end == n.end {
			continue
		}
		best, worst := i+1, -1
		for e := range r.children(i) {
			j := r.judge(e)
			score := 2 * int(j.level)
			if j.status == Triggered {
				score++
			}
			if score > worst {
				best, worst = e, score
			}
		}
		for e := range r.children(i) {
			if e != best {
				r.nodes[e].flags |= isSkipped
			}
		}
	}
}
