package filter

import "strings"

// implySteps bounds the work on nested alternatives.
const implySteps = 10_000

// implies reports whether every record that a takes is certain to be taken by b.
func implies(a, b node) bool {
	left := implySteps
	return follows(a, b, &left)
}

func follows(a, b node, left *int) bool {
	if *left--; *left < 0 {
		return false
	}
	if b, ok := b.(allOf); ok {
		return every(b, func(part node) bool { return follows(a, part, left) })
	}
	if a, ok := a.(oneOf); ok {
		return every(a, func(part node) bool { return follows(part, b, left) })
	}
	if a, ok := a.(allOf); ok && some(a, func(part node) bool { return follows(part, b, left) }) {
		return true
	}
	if b, ok := b.(oneOf); ok {
		return some(b, func(part node) bool { return follows(a, part, left) })
	}
	switch a := a.(type) {
	case invert:
		b, ok := b.(invert)
		return ok && follows(b.of, a.of, left)
	case *anywhere:
		b, ok := b.(*anywhere)
		return ok && a.within(&b.pattern, strings.Contains)
	case *part:
		return a.narrows(b)
	case *moment:
		b, ok := b.(*moment)
		return ok && a.until == b.until && (a.at.Equal(b.at) || a.at.Before(b.at) == a.until)
	case *member:
		return a.narrows(b)
	}
	return false
}

func every[T ~[]node](parts T, ok func(node) bool) bool {
	return !some(parts, func(part node) bool { return !ok(part) })
}

func some[T ~[]node](parts T, ok func(node) bool) bool {
	for _, part := range parts {
		if ok(part) {
			return true
		}
	}
	return false
}

// within reports whether a text with this pattern has that of b too. has tells
// whether a longer word has a shorter one.
func (p *pattern) within(b *pattern, has func(long, short string) bool) bool {
	if p.re != nil || b.re != nil {
		return p.re != nil && b.re != nil && p.re.String() == b.re.String()
	}
	if b.exact {
		return p.exact && p.word.lower == b.word.lower
	}
	return has(p.word.lower, b.word.lower)
}

func (n *part) narrows(other node) bool {
	b, ok := other.(*part)
	if !ok || n.field != b.field {
		return false
	}
	switch {
	case b.anything():
		return true
	case n.anything():
		return false
	case b.anyFlag():
		return true
	case n.anyFlag():
		return false
	}
	switch n.field {
	case fieldServer, fieldType, fieldSub, fieldID:
		return n.within(&b.pattern, strings.Contains)
	}
	return n.within(&b.pattern, strings.HasPrefix)
}

func (n *member) narrows(other node) bool {
	b, ok := other.(*member)
	if !ok || string(appendPath(nil, n.path)) != string(appendPath(nil, b.path)) {
		return false
	}
	switch {
	case b.op == opExists:
		return true
	case n.op == opContains && b.op == opContains:
		return n.want.within(&b.want, strings.Contains)
	}
	return n.op == b.op && n.want.within(&b.want, func(long, short string) bool { return long == short })
}
