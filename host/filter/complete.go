package filter

import (
	"slices"
	"strings"
	"unicode/utf8"

	"eventdeck/host/event"
)

// Candidate is a completion of a filter.
type Candidate struct {
	From, To int    // the range of bytes that it replaces
	Text     string // the replacement; safe to print
	Help     string // what it means, "" for a value
}

// candidatesMax bounds the candidates of [Complete].
const candidatesMax = 50

// Complete returns completions of the term at the cursor, an offset in bytes: the names of
// fields, and the values and paths in seen, which may be nil. Candidates that begin with
// the typed text come before those that only contain it.
func Complete(text string, cursor int, seen *Seen) []Candidate {
	cursor = max(0, min(cursor, len(text)))
	if !utf8.ValidString(text) {
		return nil
	}
	for cursor < len(text) && !utf8.RuneStart(text[cursor]) { // move to the end of the character
		cursor++
	}
	from, to := termAt(text, cursor)
	typed := text[from:cursor]
	c := completion{from: from, to: to}
	switch {
	case strings.HasPrefix(typed, `"`) || strings.HasPrefix(typed, "/"):
	case strings.HasPrefix(typed, "."), strings.HasPrefix(typed, metaName+"."):
		c.path(typed, seen)
	default:
		l := lexer{text: typed}
		if name := l.fieldName(); name != "" {
			c.field(name, typed[len(name)+1:], seen)
		} else {
			c.names(typed)
		}
	}
	return c.found[:min(len(c.found), candidatesMax)]
}

// termAt returns the bounds of the term that the cursor is in or after; between terms it is
// empty.
func termAt(text string, cursor int) (from, to int) {
	l := lexer{text: text}
	for {
		l.while(func(r rune) bool { return !isBareRune(r) || r == '!' })
		start := l.at
		if start > cursor || l.done() && start < cursor {
			return cursor, cursor
		}
		l.skipTerm()
		if cursor <= l.at {
			return start, l.at
		}
	}
}

// skipTerm skips to the end of a term, complete or not.
func (l *lexer) skipTerm() {
	if l.peek() == '/' {
		for l.at++; !l.done() && l.text[l.at] != '/'; l.at++ {
			if l.text[l.at] == '\\' && l.at+1 < len(l.text) {
				l.at++
			}
		}
		l.at = min(l.at+1, len(l.text))
	}
	for !l.done() && !l.atEnd() {
		if l.peek() == '"' {
			if _, err := l.phrase(); err != nil {
				l.at = len(l.text)
			}
			continue
		}
		_, n := utf8.DecodeRuneInString(l.text[l.at:])
		l.at += n
	}
}

// completion collects candidates for one term.
type completion struct {
	from, to int
	found    []Candidate
}

func (c *completion) add(text, help string) {
	c.found = append(c.found, Candidate{c.from, c.to, text, help})
}

// names adds the names of fields.
func (c *completion) names(typed string) {
	for f, name := range fieldNames {
		if strings.HasPrefix(name, strings.ToLower(typed)) {
			c.add(name+":", fieldHelp[f])
		}
	}
	if typed == "" {
		c.add(".", "a value of the payload, as in .severity=P1")
	}
	if strings.HasPrefix(metaName, strings.ToLower(typed)) {
		c.add(metaName+".", "a value that the server sent beside the payload, as in meta.region=eu")
	}
}

func (c *completion) field(name, typed string, seen *Seen) {
	f := field(slices.Index(fieldNames[:], strings.ToLower(name)))
	if f >= fields {
		return
	}
	begin := fieldNames[f] + ":"
	values := seen.values(f)
	slices.Sort(values)
	switch f {
	case fieldMode:
		values = []string{string(event.ModePoll), string(event.ModePush), string(event.ModeWebhook)}
	case fieldKind:
		values = []string{string(event.KindEvent), string(event.KindGap), string(event.KindState), string(event.KindRejected)}
	case fieldStatus:
		values = statuses()
	case fieldFlag:
		values = append([]string{anyFlag}, values...)
	case fieldSince, fieldUntil:
		values = []string{"10m", "1h", "1d"}
	}
	if exact, ok := strings.CutPrefix(typed, "="); ok {
		begin, typed = begin+"=", exact
	}
	c.values(begin, typed, values)
}

// values adds the values that begin with the typed text, then those that contain it.
func (c *completion) values(begin, typed string, values []string) {
	w := newWord(strings.TrimPrefix(typed, `"`))
	for _, first := range []bool{true, false} {
		for _, v := range values {
			if w.in(v) && w.starts(v) == first {
				c.add(string(appendValue([]byte(begin), v)), "")
			}
		}
	}
}

func (c *completion) path(typed string, seen *Seen) {
	p := parser{lexer: lexer{text: typed}}
	n := member{meta: typed[0] != '.'}
	if n.meta {
		p.at = len(metaName)
	}
	var err error
	if n.path, err = p.path(); err == nil && !p.done() {
		name := n.name()
		start := p.at
		if op, _ := p.operator(); op != opExists {
			values := seen.at(name)
			slices.Sort(values)
			c.values(name+typed[start:p.at], typed[p.at:], values)
		}
		return
	}
	paths := seen.allPaths()
	slices.Sort(paths)
	w := newWord(typed)
	for _, name := range paths {
		if w.starts(name) {
			c.add(name, "")
		}
	}
	for _, name := range paths {
		if part := newWord(typed[1:]); !w.starts(name) && typed != "." && part.in(name) {
			c.add(name, "")
		}
	}
}
