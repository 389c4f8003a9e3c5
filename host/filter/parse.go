package filter

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"eventdeck/host/reading"
)

// Bounds of a filter.
const (
	maxText  = 4 << 10 // bytes
	maxDepth = 50      // nested parentheses and exclamation marks
	maxIndex = 1_000_000
)

// ignoreCase is the prefix of every regular expression.
const ignoreCase = "(?i)"

// parser reads a filter by recursive descent.
type parser struct {
	lexer
	now     time.Time
	depth   int
	scratch scratch
}

func (p *parser) parse() (node, error) {
	switch {
	case len(p.text) > maxText:
		return nil, &Error{maxText, fmt.Sprintf("the filter is too long; it may have %d bytes", maxText)}
	case !utf8.ValidString(p.text):
		return nil, &Error{0, "the filter has bytes that are no characters; type it again"}
	}
	p.blanks()
	if p.done() {
		return nil, nil
	}
	n, err := p.or()
	if err == nil && !p.done() {
		err = p.fail("there is a ) without its (; take it away, or put it in quotes to search for it")
	}
	return n, err
}

// or reads alternatives up to a closing parenthesis or the end.
func (p *parser) or() (node, error) {
	var parts oneOf
	for {
		n, err := p.and()
		if err != nil {
			return nil, err
		}
		parts = appendFlat(parts, n)
		if !p.take('|') {
			break
		}
		p.blanks()
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return parts, nil
}

// appendFlat adds a node to a list, or its parts if it is such a list itself.
func appendFlat[L interface {
	~[]node
	node
}](parts L, n node) L {
	if inner, ok := n.(L); ok {
		return append(parts, inner...)
	}
	return append(parts, n)
}

func (p *parser) and() (node, error) {
	var parts allOf
	for {
		p.blanks()
		if p.done() || p.peek() == '|' || p.peek() == ')' {
			break
		}
		n, err := p.unary()
		if err != nil {
			return nil, err
		}
		parts = appendFlat(parts, n)
	}
	switch len(parts) {
	case 0:
		return nil, p.fail("a term is missing here; give a word, or put | ( ) in quotes to search for them")
	case 1:
		return parts[0], nil
	}
	return parts, nil
}

func (p *parser) unary() (node, error) {
	start := p.at
	if p.peek() != '!' && p.peek() != '(' {
		return p.term()
	}
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail("parentheses or exclamation marks are nested too deep")
	}
	defer func() { p.depth-- }()
	if p.take('!') {
		p.blanks()
		if p.done() || p.peek() == '|' || p.peek() == ')' {
			return nil, p.fail("! needs a term after it, as in !test")
		}
		n, err := p.unary()
		if err != nil {
			return nil, err
		}
		return invert{n}, nil
	}
	p.take('(')
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	if !p.take(')') {
		return nil, &Error{start, "this ( is not closed; add )"}
	}
	return n, nil
}

func (p *parser) term() (node, error) {
	switch p.peek() {
	case '"':
		text, err := p.phrase()
		return &anywhere{pattern: pattern{word: newWord(text)}, scratch: &p.scratch}, err
	case '/':
		re, err := p.expression()
		return &anywhere{pattern: pattern{re: re}, scratch: &p.scratch}, err
	case '.':
		return p.member()
	}
	if strings.HasPrefix(p.text[p.at:], metaName+".") {
		return p.member()
	}
	if name := p.fieldName(); name != "" {
		return p.field(name)
	}
	return &anywhere{pattern: pattern{word: newWord(p.bare())}, scratch: &p.scratch}, nil
}

// field reads a term that begins with a name and a colon.
func (p *parser) field(name string) (node, error) {
	start := p.at
	for f, known := range fieldNames {
		if !strings.EqualFold(name, known) {
			continue
		}
		p.at += len(name) + 1
		if c := p.peek(); field(f) == fieldSev && (c == '<' || c == '>') {
			return p.ranked()
		}
		if f := field(f); f != fieldSince && f != fieldUntil {
			want, err := p.value()
			return &part{pattern: want, field: f, scratch: &p.scratch}, err
		}
		return p.moment(field(f) == fieldUntil)
	}
	word := p.bare()
	if reading.IsSeverity(strings.ToLower(name)) {
		return nil, &Error{start, fmt.Sprintf("there is no field %q; for what the payload calls its severity write sev%s; to search for the text write %q", name, word[len(name):], word)}
	}
	return nil, &Error{start, fmt.Sprintf("there is no field %q; there are %s; to search for the text write %q", name, strings.Join(fieldNames[:], ", "), word)}
}

// value reads the pattern of a field.
func (p *parser) value() (pattern, error) {
	var want pattern
	var err error
	if want.exact = p.take('='); !want.exact && p.peek() == '/' {
		want.re, err = p.expression()
		return want, err
	}
	text, err := p.literal()
	want.word = newWord(text)
	return want, err
}

func (p *parser) moment(until bool) (node, error) {
	start := p.at
	text, err := p.literal()
	if err != nil {
		return nil, err
	}
	at, ok := Moment(text, p.now)
	if !ok {
		return nil, &Error{start, fmt.Sprintf("%q is no time; write 10m, 2h, 3d, 14:05, 2026-07-28 or 2026-07-28T14:05", text)}
	}
	return &moment{until: until, at: at, text: text}, nil
}

// member reads a path with an operator and a value.
func (p *parser) member() (node, error) {
	n := &member{scratch: &p.scratch, meta: p.peek() != '.'}
	if n.meta {
		p.at += len(metaName)
	}
	var err error
	if n.path, err = p.path(); err != nil {
		return nil, err
	}
	op, negative := p.operator()
	n.op = op
	if op == opExists {
		if !p.done() && !p.atEnd() {
			return nil, p.fail("after a path comes =, !=, >, >=, <, <= or ~; put a name with other signs in quotes, as in .\"odd name\"")
		}
		return n, nil
	}
	if p.done() || p.atEnd() {
		return nil, p.fail("a value is missing here; write \"\" for the empty text")
	}
	if (op == opContains || op == opEqual) && p.peek() == '/' {
		n.want.re, err = p.expression()
	} else {
		var text string
		text, err = p.literal()
		n.want = pattern{word: newWord(text), exact: op != opContains}
		n.number = number(text)
	}
	if negative {
		return invert{n}, err
	}
	return n, err
}

// path reads the steps of a path.
func (p *parser) path() ([]segment, error) {
	var path []segment
	for !p.done() {
		switch {
		case p.take('.'):
			if !p.done() && p.peek() == '"' {
				name, err := p.phrase()
				if err != nil {
					return nil, err
				}
				path = append(path, segment{name, -1})
				continue
			}
			name := p.while(isNameRune)
			if name == "" {
				return nil, p.fail("the name of a member of the payload is missing after the dot, as in .severity")
			}
			path = append(path, segment{name, -1})
		case p.take('['):
			digits := p.while(func(r rune) bool { return '0' <= r && r <= '9' })
			index, err := strconv.Atoi(digits)
			if err != nil || index > maxIndex || !p.take(']') {
				return nil, p.fail("an element of an array is written [0]; without it every element is looked at")
			}
			path = append(path, segment{"", index})
		default:
			return path, nil
		}
	}
	return path, nil
}

// operator reads the operator between a path and a value; != is = and negative.
func (p *parser) operator() (op operator, negative bool) {
	rest := p.text[p.at:]
	for _, c := range []struct {
		sign     string
		op       operator
		negative bool
	}{
		{"!=", opEqual, true}, {">=", opMoreEqual, false}, {"<=", opLessEqual, false}, {"=", opEqual, false},
		{">", opMore, false}, {"<", opLess, false}, {"~", opContains, false},
	} {
		if strings.HasPrefix(rest, c.sign) {
			p.at += len(c.sign)
			return c.op, c.negative
		}
	}
	return opExists, false
}

// expression reads a regular expression between slashes.
func (p *parser) expression() (*regexp.Regexp, error) {
	start := p.at
	p.at++
	var b strings.Builder
	for ; ; p.at++ {
		if p.done() {
			return nil, &Error{start, "this regular expression is not closed; add /, or put the text in quotes to search for it"}
		}
		c := p.text[p.at]
		if c == '/' {
			break
		}
		if c == '\\' && p.at+1 < len(p.text) {
			if p.at++; p.text[p.at] != '/' {
				b.WriteByte(c)
			}
			c = p.text[p.at]
		}
		b.WriteByte(c)
	}
	p.at++
	re, err := regexp.Compile(ignoreCase + b.String())
	if err != nil {
		return nil, &Error{start, strings.TrimPrefix(err.Error(), "error parsing regexp: ") + "; correct the regular expression"}
	}
	return re, nil
}

// lexer reads the text of a filter.
type lexer struct {
	text string
	at   int
}

func (l *lexer) done() bool { return l.at >= len(l.text) }

// peek returns the next byte, 0 at the end.
func (l *lexer) peek() byte {
	if l.done() {
		return 0
	}
	return l.text[l.at]
}

func (l *lexer) take(c byte) bool {
	if l.done() || l.text[l.at] != c {
		return false
	}
	l.at++
	return true
}

func (l *lexer) fail(says string) error { return &Error{l.at, says} }

func (l *lexer) while(in func(rune) bool) string {
	rest := l.text[l.at:]
	if i := strings.IndexFunc(rest, func(r rune) bool { return !in(r) }); i >= 0 {
		rest = rest[:i]
	}
	l.at += len(rest)
	return rest
}

func (l *lexer) blanks() { l.while(unicode.IsSpace) }

// atEnd reports whether a term ends here.
func (l *lexer) atEnd() bool {
	r, _ := utf8.DecodeRuneInString(l.text[l.at:])
	return !isBareRune(r)
}

func isBareRune(r rune) bool { return !unicode.IsSpace(r) && !strings.ContainsRune("|()", r) }

// isPlainRune reports whether r may be anywhere in a text without quotes.
func isPlainRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_'
}

// isNameRune reports whether r may be in a path's name without quotes.
func isNameRune(r rune) bool {
	return isBareRune(r) && !strings.ContainsRune(`.[]=!<>~"/`, r)
}

// bare reads a text without quotes.
func (l *lexer) bare() string { return l.while(isBareRune) }

// literal reads a text with or without quotes.
func (l *lexer) literal() (string, error) {
	if l.peek() == '"' {
		return l.phrase()
	}
	return l.bare(), nil
}

// phrase reads a text in quotes. A backslash escapes a quote or a backslash.
func (l *lexer) phrase() (string, error) {
	start := l.at
	l.at++
	var b strings.Builder
	for ; !l.done(); l.at++ {
		switch c := l.text[l.at]; {
		case c == '"':
			l.at++
			return b.String(), nil
		case c == '\\' && l.at+1 < len(l.text) && (l.text[l.at+1] == '"' || l.text[l.at+1] == '\\'):
			l.at++
			b.WriteByte(l.text[l.at])
		default:
			b.WriteByte(c)
		}
	}
	return "", &Error{start, `this quote is not closed; add "`}
}

// fieldName returns the name before a colon at the current position. An address like
// https://… has none.
func (l *lexer) fieldName() string {
	rest := l.text[l.at:]
	n := 0
	for n < len(rest) && ('a' <= rest[n]|0x20 && rest[n]|0x20 <= 'z') {
		n++
	}
	if n == 0 || n == len(rest) || rest[n] != ':' || strings.HasPrefix(rest[n:], "://") {
		return ""
	}
	return rest[:n]
}
