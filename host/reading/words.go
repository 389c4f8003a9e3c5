package reading

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/internal/jsontext"
)

//go:embed words.txt
var wordsText string

// flag has what a word says beside its ranks: see words.txt.
type flag uint32

// Flags of words, in the order of flagNames.
const (
	why flag = 1 << iota
	label
	grade
	wrap
	out
	aside
	old
	stale
	nothing
	unused
	fail
	alarming
	exit
	money
	ends
	kinds
	tail
	done
	negation
	state    // a word of a state
	lastFlag = iota
)

var flagNames = strings.Fields("why label grade wrap out aside old stale nothing none fail alarming exit money ends kinds tail done negation")

// word has what a word says: its rank in each role as a word of a member's name, 0 for none, and
// its meaning as a word of a value.
type word struct {
	text, name, sev, status, kind, id, thing, time, link uint8

	yes      Level // what true means
	severity Level // where a severity is named
	level    Level // where a state is named
	state    Status
	is       flag
}

// table has the known words.
type table map[string]word

// words returns the table, which nothing changes.
var words = sync.OnceValue(func() table {
	t := table{}
	for line := range strings.Lines(wordsText) {
		if role, list, ok := strings.Cut(line, ":"); ok && role[0] != '#' {
			for _, w := range strings.Fields(list) {
				t.add(strings.Fields(role+" - -"), w)
			}
		}
	}
	return t
})

// add adds a word in a role.
func (t table) add(role []string, text string) {
	w := t[text]
	switch role[0] {
	case "severity":
		w.severity = levelNamed(role[1])
	case "state":
		w.is, w.state, w.level = w.is|state, statusNamed(role[1]), levelNamed(role[2])
	case "true":
		w.yes = levelNamed(role[1])
	default:
		if i := slices.Index(flagNames, role[0]); i >= 0 {
			w.is |= 1 << i
			break
		}
		rank, _ := strconv.Atoi(role[1])
		at := map[string]*uint8{"text": &w.text, "name": &w.name, "sev": &w.sev, "status": &w.status, "kind": &w.kind, "id": &w.id, "thing": &w.thing, "time": &w.time, "link": &w.link}[role[0]]
		*at = max(*at, uint8(rank))
	}
	t[text] = w
}

// name is what the words of a member's name say.
type name struct {
	word         // its last word
	any    flag  // flags of all words
	others flag  // flags of the other words
	of     uint8 // what its words are of, at best
	first  uint8 // the rank as an id of the first word of several
	before uint8 // the number of other words
	known  bool  // they are all known
}

// name reads the name of a member: in camel case, with separators, or without either.
func (t table) name(key string) (n name) {
	if w, ok := t[key]; ok {
		return name{word: w, any: w.is, of: w.thing, known: true}
	}
	var list [6]word
	var buf [64]byte
	count := 0
	for key != "" && count < len(list) {
		var b []byte
		if b, key = nextWord(buf[:0], key); len(b) == 0 || isDigit(b[0]) || len(b) == 2 && b[0] == 'v' && isDigit(b[1]) {
			continue
		}
		w, ok := t[string(b)]
		if !ok {
			var head word
			if head, w = t.split(b); head != (word{}) && count+1 < len(list) {
				list[count] = head
				count++
			}
		}
		list[count] = w
		count++
	}
	if count == 0 {
		return n
	}
	last, kept := count-1, count-1
	for kept > 0 && list[kept].is&label != 0 {
		kept--
	}
	if w := list[kept]; w.sev|w.status > 0 || w.kind > 0 && list[last].text == 0 {
		last = kept // alertTypeFriendlyName is a type
	}
	n.word, n.before, n.known = list[last], uint8(count-1), true
	for i, w := range list[:count] {
		n.any |= w.is
		n.of = max(n.of, w.thing)
		if i != last {
			n.others |= w.is
			n.known = n.known && w != (word{})
		}
	}
	if last > 0 {
		n.first = list[0].id
	}
	return n
}

// split reads a word that is not known as two: alertname.
func (t table) split(b []byte) (head, tail word) {
	for i := 2; i < len(b)-1; i++ {
		tail, ok := t[string(b[i:])]
		if !ok || !utf8.RuneStart(b[i]) {
			continue
		}
		if head, ok = t[string(b[:i])]; !ok && b[i-1] == 's' {
			head, ok = t[string(b[:i-1])] // Störungsnummer
		}
		if ok || len(b)-i >= 4 && tail.yes == None && (i > 2 && tail.thing == 0 || b[i] >= utf8.RuneSelf) {
			return head, tail
		}
	}
	return head, tail
}

// nextWord appends the first word of s in lower case.
func nextWord(b []byte, s string) (word []byte, rest string) {
	var last rune
	for i := 0; i < len(s); {
		c, size, upper := rune(s[i]), 1, false
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(s[i:])
		}
		switch {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c >= utf8.RuneSelf && unicode.In(c, unicode.Ll, unicode.Lo, unicode.M):
		case 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf && unicode.IsUpper(c):
			next, _ := utf8.DecodeRuneInString(s[i+size:])
			plural := next == 's' && i+size+1 == len(s) // IDs
			if len(b) > 0 && (unicode.IsLower(last) || unicode.IsLower(next) && !plural) {
				return b, s[i:]
			}
			upper = true
		case len(b) > 0:
			return b, s[i+size:]
		default:
			i += size
			continue
		}
		if len(b)+utf8.UTFMax > cap(b) {
			return b, s[i:]
		}
		if last = c; upper {
			c = unicode.ToLower(c)
		}
		b = utf8.AppendRune(b, c)
		i += size
	}
	return b, ""
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// wordBytes bounds a value that is read as words of severity or state.
const wordBytes = 64

// severityOf returns the level of a text that names a severity: also of "1 - High" or "SEV-2".
func (t table) severityOf(s string) (level Level) {
	for c := valueWords(s); level == None && c.next(t); {
		level = c.word.severity
	}
	return level
}

// stateOf returns the word that says most of a text that names a state: "ALERT_STATE_EVENT_END".
// Of a kind, as in "incident.resolved", only the last word counts. Zero: none is known.
func (t table) stateOf(s string, kind, alarm bool) (best word) {
	negated, strong := false, false
	for c := valueWords(s); c.next(t); {
		w := c.word
		alarm = alarm || w.is&alarming != 0
		switch {
		case w.is&negation != 0:
			negated = true
			continue
		case w.is&ends != 0 && alarm:
			w = word{is: state, state: Resolved, level: Good}
		case w.is&state == 0:
			if kind && w.is&tail == 0 && (c.size > 2 || c.buf[0] != 'v') {
				best, strong = word{}, false
			}
			continue
		}
		if negated && w.level == Good {
			w.state, w.level = Triggered, Error
		}
		if negated = false; w.level != None || !strong {
			best, strong = w, w.level != None
		}
	}
	return best
}

// known reports whether all words of a text are of severity or state.
func (t table) known(s string) bool {
	c := valueWords(s)
	for c.next(t) {
		if c.word.is&state == 0 && c.word.severity == None {
			return false
		}
	}
	return len(s) <= wordBytes && c.left == ""
}

// cursor iterates over the words of a value. P 1, SEV-1 and priority 1 are one word.
type cursor struct {
	left  string
	buf   [wordBytes + utf8.UTFMax]byte
	size  int // of the word in buf
	word  word
	scale string // what the last word makes of a digit after it
	count int
}

// valueWords begins with a text. One that is long has no words.
func valueWords(s string) cursor {
	if len(s) > wordBytes {
		return cursor{}
	}
	if strings.IndexByte(s, '\\') >= 0 {
		s = ansi.Strip(unescaped(s))
	}
	return cursor{left: s}
}

// next advances to the next word, at most the sixth.
func (c *cursor) next(t table) bool {
	for c.size = 0; c.size == 0 && c.left != "" && c.count < 6; {
		var b []byte
		b, c.left = nextWord(c.buf[:0], c.left)
		c.size = len(b)
	}
	text := c.buf[:c.size]
	if c.count++; c.size == 1 && isDigit(text[0]) && c.scale != "" {
		c.word, c.scale = t[c.scale+string(text)], ""
		return true
	}
	switch c.word, c.scale = t[string(text)], ""; string(text) {
	case "sev", "severity":
		c.scale = "sev"
	case "p", "priority", "prio":
		c.scale = "p"
	}
	return c.size > 0
}

func unescaped(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	return string(jsontext.AppendUnquoted(nil, s))
}
