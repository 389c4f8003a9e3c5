package filter

import (
	"regexp"
	"strings"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/internal/jsontext"
	"eventdeck/host/severity"
)

// node is a part of a filter.
type node interface {
	match(r *event.Record) bool
	// append writes the node so that it parses to itself.
	append(b []byte) []byte
}

type (
	allOf  []node // two or more, none of them allOf
	oneOf  []node // two or more, none of them oneOf
	invert struct{ of node }
)

func (n allOf) match(r *event.Record) bool {
	for _, part := range n {
		if !part.match(r) {
			return false
		}
	}
	return true
}

func (n oneOf) match(r *event.Record) bool {
	for _, part := range n {
		if part.match(r) {
			return true
		}
	}
	return false
}

func (n invert) match(r *event.Record) bool { return !n.of.match(r) }

// pattern is what a text is held against: a word, or a regular expression.
type pattern struct {
	word  word
	re    *regexp.Regexp // instead of the word
	exact bool           // the word is the whole text
}

// in reports whether the pattern is found in s.
func (p *pattern) in(s string) bool {
	switch {
	case p.re != nil:
		return p.re.MatchString(s)
	case p.exact:
		return p.word.equals(s)
	}
	return p.word.in(s)
}

// begins is in for the names of which one types the start.
func (p *pattern) begins(s string) bool {
	if p.re == nil && !p.exact {
		return p.word.starts(s)
	}
	return p.in(s)
}

// anything reports whether every text has the pattern.
func (p *pattern) anything() bool { return p.re == nil && !p.exact && p.word.lower == "" }

// anywhere asks for a text in what a row shows and in the payload.
type anywhere struct {
	pattern
	scratch *scratch
}

func (n *anywhere) match(r *event.Record) bool {
	return anyText(r, func(s string) bool { return n.in(s) }) || n.scratch.decoded(payload(r), &n.pattern)
}

// anyText reports whether one of the texts that a row shows, or the payload as it
// came, is what is looked for.
func anyText(r *event.Record, is func(string) bool) bool {
	if is(r.Server) || is(r.Type.Raw()) || is(payload(r)) || is(r.EventID.Raw()) || is(string(r.Kind)) || is(string(r.Mode)) {
		return true
	}
	for _, s := range r.Flags {
		if is(s) {
			return true
		}
	}
	if !r.Reason.IsZero() && is(r.Reason.Raw()) {
		return true
	}
	if s := r.State; s != nil && (is(string(s.State)) || is(s.Evidence) || is(s.Error.Raw())) {
		return true
	}
	if l := r.Labels; l != nil {
		if is(l.Name.Raw()) || is(l.Priority.Raw()) || is(l.Batch.Raw()) {
			return true
		}
		for _, tag := range l.Tags {
			if is(tag.Raw()) {
				return true
			}
		}
	}
	return r.Gap != nil && is(string(r.Gap.Cause))
}

// payload returns what a server wrote: the data of an event, all of a refused
// payload.
func payload(r *event.Record) string {
	if len(r.Data) > 0 {
		return jsontext.View(r.Data)
	}
	return jsontext.View(r.Raw)
}

// scratch lends buffers in which escapes are decoded.
type scratch struct{ pool sync.Pool }

// scratchMax bounds a buffer that is kept.
const scratchMax = 64 << 10

// decoded reports whether the pattern is found in a JSON text once its escapes
// are decoded. Without escapes it is false: there is nothing to decode.
func (s *scratch) decoded(text string, p *pattern) bool {
	if strings.IndexByte(text, '\\') < 0 {
		return false
	}
	buf, ok := s.pool.Get().(*[]byte)
	if !ok {
		buf = new([]byte)
	}
	*buf = jsontext.AppendUnquoted((*buf)[:0], text)
	found := p.in(jsontext.View(*buf))
	if cap(*buf) <= scratchMax {
		s.pool.Put(buf)
	}
	return found
}

// field is a named part of a record.
type field uint8

const (
	fieldServer field = iota
	fieldType
	fieldSub
	fieldID
	fieldValue
	fieldMode
	fieldKind
	fieldFlag
	fieldSev
	fieldSince
	fieldUntil
	fields
)

// The names of the fields, in their order, and what help says about each.
var fieldNames = [fields]string{"server", "type", "sub", "id", "value", "mode", "kind", "flag", "sev", "since", "until"}

var fieldHelp = [fields]string{
	"part of the server's name", "part of the event type", "part of the subscription's id",
	"part of the event's id", "a whole value anywhere in the payload", "poll, push or webhook", "event, gap, state or rejected",
	"start of a flag's name, or any", "start of the payload's severity, priority or level",
	"received since then: 10m, 14:05 or a date", "received until then: 10m, 14:05 or a date",
}

// anyFlag takes every flag.
const anyFlag = "any"

// part asks for a text in a field.
type part struct {
	pattern
	field   field
	scratch *scratch
}

func (n *part) match(r *event.Record) bool {
	if n.anything() {
		return true
	}
	switch n.field {
	case fieldServer:
		return n.in(r.Server)
	case fieldType:
		return n.in(r.Type.Raw())
	case fieldSub:
		return n.in(string(r.Sub))
	case fieldID:
		return n.in(r.EventID.Raw())
	case fieldValue:
		return n.value(r)
	case fieldMode:
		return n.begins(string(r.Mode))
	case fieldKind:
		return n.begins(string(r.Kind))
	case fieldFlag:
		return n.flag(r.Flags)
	}
	return n.severity(r)
}

func (n *part) flag(flags []string) bool {
	if n.anyFlag() {
		return len(flags) > 0
	}
	signed := n.word.lower != "" && strings.ContainsRune(flagSigns, rune(n.word.lower[0]))
	for _, f := range flags {
		if n.begins(f) || signed && n.begins(n.word.lower[:1]+f) {
			return true
		}
	}
	return false
}

// flagSigns are the signs that a flag is shown with: they may stand before its name.
const flagSigns = "!~."

func (n *part) anyFlag() bool {
	return n.field == fieldFlag && n.re == nil && !n.exact && n.word.lower == anyFlag
}

// severity holds what the payload calls its severity, or else the priority that
// the server gave the event.
func (n *part) severity(r *event.Record) bool {
	text, ok := severity.MemberText(jsontext.View(r.Data))
	if !ok {
		return r.Labels != nil && !r.Labels.Priority.IsZero() && n.begins(r.Labels.Priority.Raw())
	}
	if !strings.Contains(text, `\`) {
		return n.begins(text)
	}
	return n.begins(string(jsontext.AppendUnquoted(nil, text)))
}

// moment asks when a record was received.
type moment struct {
	until bool
	at    time.Time
	text  string // as typed
}

func (n *moment) match(r *event.Record) bool {
	if n.until {
		return !r.ReceivedAt.After(n.at)
	}
	return !r.ReceivedAt.Before(n.at)
}
