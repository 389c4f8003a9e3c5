package filter

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/internal/jsontext"
	"eventdeck/host/reading"
	"eventdeck/host/trust"
)

// node is a part of a filter.
type node interface {
	match(r *event.Record) bool
	// append appends the node in a form that parses to the same node.
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

// pattern is a word or a regular expression that texts are compared with.
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

// begins is in for names that may be abbreviated to a prefix.
func (p *pattern) begins(s string) bool {
	if p.re == nil && !p.exact {
		return p.word.starts(s)
	}
	return p.in(s)
}

// anything reports whether every text matches the pattern.
func (p *pattern) anything() bool { return p.re == nil && !p.exact && p.word.lower == "" }

// anywhere matches a text in what a row shows and in the payload.
type anywhere struct {
	pattern
	scratch *scratch
}

func (n *anywhere) match(r *event.Record) bool {
	return anyText(r, func(s string) bool { return n.in(s) }) || n.scratch.decoded(payload(r), &n.pattern)
}

// anyText reports whether one of the texts that a row shows, or the payload as received,
// satisfies is.
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

// payload returns the server's text: the data of an event, all of a refused payload.
func payload(r *event.Record) string {
	if len(r.Data) > 0 {
		return jsontext.View(r.Data)
	}
	return jsontext.View(r.Raw)
}

// scratch is a pool of buffers in which escapes are decoded.
type scratch struct{ pool sync.Pool }

// scratchMax bounds a buffer in the pool, in bytes.
const scratchMax = 64 << 10

// decoded reports whether the pattern is found in a JSON text after its escapes are
// decoded. Without escapes it returns false.
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
	fieldTag
	fieldSev
	fieldStatus
	fieldSince
	fieldUntil
	fields
)

// The names of the fields, in order, and their descriptions.
var fieldNames = [fields]string{"server", "type", "sub", "id", "value", "mode", "kind", "flag", "tag", "sev", "status", "since", "until"}

var fieldHelp = [fields]string{
	"part of the server's name", "part of the event's name, or of the type that was subscribed to", "part of the subscription's id",
	"part of the event's id", "a whole value anywhere in the payload", "poll, push or webhook", "event, gap, state or rejected",
	"start of a flag's name, or any", "part of a tag that the server gives the event", "start of the severity: the sender's word or the level that it means", "triggered, acknowledged or resolved",
	"received since then: 10m, 14:05 or a date", "received until then: 10m, 14:05 or a date",
}

// anyFlag matches every flag.
const anyFlag = "any"

// part matches a text in a field.
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
		return n.in(r.Type.Raw()) || r.Labels != nil && n.in(r.Name().Raw())
	case fieldTag:
		return slices.ContainsFunc(r.Tags(), func(tag trust.Text) bool { return n.in(tag.Raw()) })
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
	if n.field == fieldStatus {
		_, status, _ := reading.Judge(r)
		return status != reading.NoStatus && n.begins(status.String())
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

// flagSigns are the signs with which a flag is shown: its name may have one as a prefix.
const flagSigns = "!~."

func (n *part) anyFlag() bool {
	return n.field == fieldFlag && n.re == nil && !n.exact && n.word.lower == anyFlag
}

// severity matches the sender's word for the severity of an event, or the level that it means.
func (n *part) severity(r *event.Record) bool {
	level, _, word := reading.Judge(r)
	return !word.IsZero() && n.begins(word.Raw()) || level != reading.None && n.begins(level.String())
}

// moment matches when a record was received.
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
