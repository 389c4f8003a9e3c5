package scan

import (
	"strconv"
	"strings"

	"eventdeck/host/internal/jsontext"
	"eventdeck/host/trust"
)

// resolvePaths sets the path of spans, which are in the order of the text.
func resolvePaths(raw []byte, spans []Span) {
	if len(spans) == 0 {
		return
	}
	p := pathFinder{raw: raw, spans: spans}
	// A refused text has paths up to the refusal.
	_ = jsontext.Walk(raw, jsontext.Limits{}, &p)
}

// pathFinder is a [jsontext.Visitor] that tracks the current path.
type pathFinder struct {
	raw   []byte
	spans []Span // those without a path yet
	stack []step
}

// step is an open container and its current member or element.
type step struct {
	object bool
	key    string
	index  int
}

// reach sets the path of the spans at offset at.
func (p *pathFinder) reach(at int) {
	for len(p.spans) > 0 && p.spans[0].at <= at {
		if p.spans[0].at == at {
			p.spans[0].Path = p.pointer()
		}
		p.spans = p.spans[1:]
	}
}

// pointer returns the current path as a JSON pointer (RFC 6901).
func (p *pathFinder) pointer() trust.Text {
	var b strings.Builder
	for _, s := range p.stack {
		b.WriteByte('/')
		if s.object {
			b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(s.key))
		} else {
			b.WriteString(strconv.Itoa(s.index))
		}
	}
	return trust.Untrusted(b.String())
}

func (p *pathFinder) Open(_, at int) {
	if p.element(); len(p.stack) > 0 {
		p.reach(at)
	}
	p.stack = append(p.stack, step{object: p.raw[at] == '{', index: -1})
}

// element goes to the next element of an array.
func (p *pathFinder) element() {
	if n := len(p.stack); n > 0 && !p.stack[n-1].object {
		p.stack[n-1].index++
	}
}

func (p *pathFinder) Key(_, start, end int, escaped bool) {
	p.stack[len(p.stack)-1].key = jsontext.Key(p.raw[start:end], escaped)
	p.reach(start - 1)
}

func (p *pathFinder) Value(_ int, kind jsontext.Kind, start, _ int, _ bool) {
	if kind == jsontext.Object || kind == jsontext.Array {
		p.stack = p.stack[:len(p.stack)-1]
		return
	}
	p.element()
	p.reach(start)
}

func (p *pathFinder) SameFold(int, int) {}
