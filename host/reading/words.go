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
	ends
	kinds
	tail
	done
	state    // a word of a state
	lastFlag = iota
)

var flagNames = strings.Fields("why label grade wrap out aside old stale nothing none fail alarming exit ends kinds tail done")

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
		if ok || len(b)-i >= 4 && (tail.thing == 0 || b[i] >= utf8.RuneSelf) {
			return head, tail
		}
	}
	return head, tail
}

// nextWord appends the first word of s in lower case.
func nextWord(b []byte, s string) (word []byte, rest string) {
	var last rune
	for i := 0; i < len(s) && len(b) < cap(b)-utf8.UTFMax; {
		c, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case !unicode.IsLetter(c) && !unicode.IsMark(c) && !unicode.IsDigit(c):
			if len(b) > 0 {
				return b, s[i+size:]
			}
		case len(b) > 0 && unicode.IsUpper(c):
			next, _ := utf8.DecodeRuneInString(s[i+size:])
			plural := next == 's' && i+size+1 == len(s) // IDs
			if unicode.IsLower(last) || unicode.IsLower(next) && !plural {
				return b, s[i:]
			}
			fallthrough
		default:
			b = utf8.AppendRune(b, unicode.ToLower(c))
		}
		last = c
		i += size
		if i == len(s) {
			return b, ""
		}
		rest = s[i:]
	}
	return b, rest
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// wordBytes bounds a value that is read as words of severity or state.
const wordBytes = 64

// severityOf returns the level of a text that names a severity: also of "1 - High" or "SEV-2".
func (t table) severityOf(s string) (level Level) {
	t.each(s, func(_ []byte, w word) bool {
		level = w.severity
		return level == None
	})
	return level
}

// stateOf returns the word that says most of a text that names a state: "ALERT_STATE_EVENT_END".
// Of a kind, as in "incident.resolved", only the last word counts. Zero: none is known.
func (t table) stateOf(s string, kind, alarm bool) (best word) {
	negated, strong := false, false
	t.each(s, func(text []byte, w word) bool {
		alarm = alarm || w.is&alarming != 0
		switch {
		case string(text) == "not" || string(text) == "no" || string(text) == "never":
			negated = true
			return true
		case w.is&ends != 0 && alarm:
			w = word{is: state, state: Resolved, level: Good}
		case w.is&state == 0:
			if kind && w.is&tail == 0 && (len(text) > 2 || text[0] != 'v') {
				best, strong = word{}, false
			}
			return true
		}
		if negated && w.level == Good {
			w.state, w.level = Triggered, Error
		}
		if negated = false; w.level != None || !strong {
			best, strong = w, w.level != None
		}
		return true
	})
	return best
}

// known reports whether all words of a text are of severity or state.
func (t table) known(s string) bool {
	yes := len(s) <= wordBytes
	t.each(s, func(_ []byte, w word) bool {
		yes = yes && (w.is&state != 0 || w.severity != None)
		return yes
	})
	return yes
}

// each calls f for the words of a text, if it is short, until f returns false. P 1, SEV-1 and
// priority 1 are one word.
func (t table) each(s string, f func(text []byte, w word) bool) {
	if len(s) > wordBytes {
		return
	}
	var buf [wordBytes + utf8.UTFMax]byte
	if strings.IndexByte(s, '\\') >= 0 {
		s = ansi.Strip(unescaped(s))
	}
	scale := ""
	for n := 0; s != "" && n < 6; n++ {
		var b []byte
		b, s = nextWord(buf[:0], s)
		w := t[string(b)]
		if len(b) == 1 && isDigit(b[0]) && scale != "" {
			w = t[scale+string(b)]
		}
		switch scale = ""; string(b) {
		case "sev", "severity":
			scale = "sev"
		case "p", "priority", "prio":
			scale = "p"
		}
		if len(b) > 0 && !f(b, w) {
			return
		}
	}
}

func unescaped(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	return string(jsontext.AppendUnquoted(nil, s))
}
