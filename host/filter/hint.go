package filter

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"eventdeck/host/event"
	"eventdeck/host/reading"
)

// Hint says how a filter is interpreted if it likely means something else.
type Hint struct {
	Says  string // how it is interpreted
	Meant string // the whole filter as it was likely meant; "" if unknown
}

// HintOf looks for valid terms that do not mean what they seem to mean: a comparison
// without the dot of a path, operators in words, severities that do not exist. ok is false
// if there are none. seen, which may be nil, has the severities that payloads use.
func HintOf(text string, seen *Seen) (hint Hint, ok bool) {
	h := hinter{text: text, seen: seen}
	eachTerm(text, h.term)
	if len(h.says) == 0 {
		return Hint{}, false
	}
	h.meant.WriteString(text[h.done:])
	meant := strings.Join(strings.Fields(h.meant.String()), " ")
	says := strings.Join(h.says, "; ")
	if meant == strings.Join(strings.Fields(text), " ") {
		meant = ""
	}
	return Hint{Says: says, Meant: meant}, true
}

// String returns the interpretation, and the filter that was likely meant.
func (h Hint) String() string {
	if h.Meant == "" {
		return h.Says
	}
	return h.Says + "; did you mean: " + h.Meant
}

// hinter rewrites a filter term by term.
type hinter struct {
	text  string
	seen  *Seen
	says  []string
	meant strings.Builder
	done  int // length of the text that is in meant
}

// comparison matches what looks like a comparison of a name with a value.
var comparison = regexp.MustCompile(`^([A-Za-z_][\w.-]*)(==|!=|>=|<=|=|>|<|~)(.+)$`)

// memberComparison matches a path, a sign and a value.
var memberComparison = regexp.MustCompile(`^((?:` + metaName + `)?\.[^=!<>~]+)(==|>=|<=|>|<)(.+)$`)

func (h *hinter) term(from, to int) {
	term := h.text[from:to]
	switch term {
	case "AND", "&&", "OR", "NOT":
		h.operator(term, from, to)
		return
	}
	if p := memberComparison.FindStringSubmatch(term); p != nil {
		h.member(p[1], p[2], p[3], from, to)
		return
	}
	if p := comparison.FindStringSubmatch(term); p != nil && !strings.HasPrefix(term, metaName+".") {
		h.compared(p[1], p[2], p[3], from, to)
		return
	}
	if name, value, ok := strings.Cut(term, ":"); ok {
		h.named(strings.ToLower(name), value, from, to)
	}
}

// replace rewrites the text from from to to.
func (h *hinter) replace(from, to int, with, says string, args ...any) {
	h.meant.WriteString(h.text[h.done:from])
	h.meant.WriteString(with)
	h.done = to
	h.says = append(h.says, fmt.Sprintf(says, args...))
}

func (h *hinter) operator(word string, from, to int) {
	switch word {
	case "OR":
		h.replace(from, to, "|", "OR is searched as a word; or is written |")
	case "NOT":
		for to < len(h.text) && h.text[to] == ' ' {
			to++
		}
		h.replace(from, to, "!", "NOT is searched as a word; not is written !")
	default:
		h.replace(from, to, "", "%s is searched as a word; a space means and", word)
	}
}

// compared handles a term such as severity=critical, which is parsed as a word.
func (h *hinter) compared(name, sign, value string, from, to int) {
	meant := "." + name + strings.Replace(sign, "==", "=", 1) + value
	known := strings.ToLower(name)
	if reading.IsSeverity(known) {
		known = fieldNames[fieldSev]
	}
	if slices.Contains(fieldNames[:], known) {
		meant = known + ":" + value
		switch {
		case sign == "!=":
			meant = "!" + meant
		case known == fieldNames[fieldSev] && strings.ContainsAny(sign, "<>") && reading.LevelOf(value) != reading.None:
			meant = known + ":" + sign + value
		}
	}
	h.replace(from, to, meant, "%q is searched as text", name+sign+value)
}

// member handles a term such as .rate>x: a doubled sign becomes part of the value, and a
// value that is not a number is compared alphabetically.
func (h *hinter) member(path, sign, value string, from, to int) {
	if sign == "==" {
		h.replace(from, to, path+"="+value, "== looks for the value %q; equal is written =", "="+value)
		return
	}
	if c := strings.Trim(value, `"`); c == "" || '0' <= c[0] && c[0] <= '9' || c[0] == '-' {
		return
	}
	if seen := h.seen.at(path); len(seen) > 0 && !slices.ContainsFunc(seen, number) {
		return
	}
	h.replace(from, to, h.text[from:to], "%s compares texts by the alphabet here; to compare numbers it needs one, as in %s%s5", sign, path, sign)
}

// severityWords are the usual words for severities, and the prefixes of numbered ones.
var severityWords = []string{
	"critical", "fatal", "emergency", "alert", "error", "err", "major", "minor", "warning", "warn", "notice", "info", "informational",
	"debug", "trace", "ok", "none", "high", "medium", "moderate", "low", "normal", "urgent", "blocker", "p0", "p1", "p2", "p3", "p4", "p5",
	"sev0", "sev1", "sev2", "sev3", "sev4", "sev5", "s0", "s1", "s2", "s3", "s4",
}

// named handles a term with a field whose values are known.
func (h *hinter) named(name, value string, from, to int) {
	var known []string
	switch name {
	case fieldNames[fieldSev]:
		known = append(h.seen.values(fieldSev), severityWords...)
	case fieldNames[fieldStatus]:
		known = statuses()
	case fieldNames[fieldMode]:
		known = []string{string(event.ModePoll), string(event.ModePush), string(event.ModeWebhook)}
	case fieldNames[fieldKind]:
		known = []string{string(event.KindEvent), string(event.KindGap), string(event.KindState), string(event.KindRejected)}
	case fieldNames[fieldServer], fieldNames[fieldType]:
		h.listed(name, value, from, to)
		return
	default:
		if reading.IsSeverity(name) { // a word that payloads use
			h.replace(from, to, fieldNames[fieldSev]+":"+value, "there is no field %q", name)
		}
		return
	}
	if name == fieldNames[fieldSev] && strings.IndexAny(value, "<>") == 0 {
		return // it compares
	}
	typed := strings.Trim(strings.TrimPrefix(value, "="), `"`)
	w := newWord(typed)
	if typed == "" || strings.HasPrefix(typed, "/") || slices.ContainsFunc(known, w.starts) || number(typed) {
		return
	}
	h.unknown(name, typed, nearest(w.lower, known), from, to)
}

// unknown handles a value that no record has.
func (h *hinter) unknown(name, typed, near string, from, to int) {
	if near == "" {
		h.replace(from, to, h.text[from:to], "no %s %q is known, so nothing matches", valueWords[name], typed)
		return
	}
	h.replace(from, to, name+":"+string(appendValue(nil, near)), "no %s %q is known", valueWords[name], typed)
}

// namedMax bounds the names that are listed if none is similar.
const namedMax = 5

// listed handles the name of a server or type. Known names are those configured or seen;
// without any there is no hint.
func (h *hinter) listed(name, value string, from, to int) {
	known := h.seen.values(field(slices.Index(fieldNames[:], name)))
	typed := strings.Trim(strings.TrimPrefix(value, "="), `"`)
	if len(known) == 0 || typed == "" || strings.HasPrefix(typed, "/") {
		return
	}
	w := newWord(typed)
	if slices.ContainsFunc(known, w.in) {
		return
	}
	near := nearest(w.lower, known)
	if near == "" {
		slices.Sort(known)
		h.replace(from, to, h.text[from:to], "no %s %q is known; there are %s", valueWords[name], typed, strings.Join(known[:min(len(known), namedMax)], ", "))
		return
	}
	h.unknown(name, typed, near, from, to)
}

var valueWords = map[string]string{"server": "server", "type": "event type", "sev": "severity", "mode": "mode", "kind": "kind of record"}

// nearest returns the word with the longest common prefix with the typed one, "" if none
// has two letters in common.
func nearest(typed string, words []string) string {
	best, most := "", 1
	for _, w := range words {
		n := 0
		for n < min(len(typed), len(w)) && typed[n] == strings.ToLower(w)[n] {
			n++
		}
		if n > most {
			best, most = w, n
		}
	}
	return best
}

// eachTerm calls fn with the bounds of every term of a text, which may be invalid.
func eachTerm(text string, fn func(from, to int)) {
	l := lexer{text: text}
	for !l.done() {
		l.while(func(r rune) bool { return !isBareRune(r) || r == '!' })
		if from := l.at; !l.done() {
			l.skipTerm()
			fn(from, l.at)
		}
	}
}
