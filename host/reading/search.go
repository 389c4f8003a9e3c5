package reading

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// judgement is how bad a part of a payload is, and where that stands.
type judgement struct {
	level    Level
	before   Level // the level without regard to a state of being over
	status   Status
	word     int32 // the sender's word of severity, or else of its state
	statusAt int32
	priority bool // the level is the priority that the server gives the event
}

// vote keeps the best of several answers.
type vote struct {
	score int
	at    int32
	word
}

func (v *vote) take(score int, at int32, w word) {
	if score > v.score {
		*v = vote{score, at, w}
	}
}

// judge reads severity and state from the values of a node. A state of being over beats the severity
// that it had; the severity beats an outcome; the names of kinds, and errors, come last.
func (r *reader) judge(root int32) (j judgement) {
	var severity, unknown, outcome, status, weak vote
	for i := range r.scalars(root, isSkipped|isOut|isOld) {
		n := &r.nodes[i]
		w := &n.name
		away := 10 * int(n.steps)
		if n.flags&isAside != 0 {
			away += 20
		}
		if w.sev > 0 && (w.sev != 92 || w.before == 0 || w.others&(grade|label) != 0) {
			if level := r.words.severityOf(n.val); level != None && n.val[0] != '#' {
				severity.take(int(w.sev)+100-away, i, word{severity: level})
			} else if w.sev >= 70 {
				unknown.take(int(w.sev)+100-away, i, word{})
			}
		}
		means, score, to := word{level: Error}, 0, &weak
		switch {
		case w.yes != None && (n.kind == 't' || n.kind == 'f' || strings.EqualFold(n.val, "true") || strings.EqualFold(n.val, "false")):
			switch yes := n.val[0]|0x20 == 't'; {
			case yes && w.yes == Warning:
				means.state = Triggered
				fallthrough
			case yes:
				means.level = w.yes
			case w.yes != Good:
				continue
			}
			score = 90
		case n.kind == 0 && w.any&exit != 0:
			if score = 60; n.val == "0" {
				means.level = Good
			}
		case n.kind == 0:
			if w.is&fail != 0 && w.before == 0 && n.val != "0" {
				score = 30
			}
		case w.status|w.kind > 0:
			means, score, to = r.stateAt(i, &outcome, &weak)
		}
		if n.kind == '"' && w.any&fail != 0 && w.sev == 0 && (w.text > 0 || w.is&fail != 0) && len(n.val) > 5 {
			weak.take(40-away, i, word{level: Error})
		}
		if score > 0 && means.level != None {
			to.take(score-away, i, means)
		} else if means.is&state != 0 && to == &outcome {
			to.take(score-away-15, i, means) // open, and a milestone of it is closed
		}
		if score > 0 && means.state != NoStatus {
			status.take(score-away, i, means)
		}
	}
	if outcome.level == None && (outcome.at == 0 || weak.level == Error) {
		outcome = weak
	}
	j.word, j.statusAt, j.status = severity.at, status.at, status.word.state
	worst := max(outcome.level, weak.level)
	switch {
	case severity.at > 0 && (severity.severity > Info || worst < Error || r.nodes[severity.at].name.sev > 84):
		j.level = severity.severity
	case severity.at > 0:
		j.level, j.word = worst, outcome.at
	case outcome.level != None:
		j.level = outcome.level
	case outcome.is&done != 0 && !r.money:
		j.level = Good
	case j.status == Triggered && r.isAlarm():
		j.level = Warning
	case j.status == Acknowledged:
		j.level = Info
	}
	for _, at := range [...]int32{unknown.at, outcome.at} {
		if j.word == 0 {
			j.word = at
		}
	}
	if j.before = j.level; j.status == Resolved {
		j.level = Good
	}
	return j
}

// stateAt returns what a text says that names a state or a kind, and its weight.
func (r *reader) stateAt(i int32, outcome, weak *vote) (means word, score int, to *vote) {
	n := &r.nodes[i]
	kind := n.name.status == 0
	if means = r.words.stateOf(n.val, kind, n.name.any&alarming != 0); !kind {
		if score = int(n.name.status) + 100; n.name.before > 0 && n.name.others&(grade|label) == 0 {
			score -= 16
		}
		return means, score, outcome
	}
	if exact := r.words[strings.ToLower(n.val)]; exact.is&kinds != 0 {
		return word{level: exact.severity}, int(n.name.kind), weak
	}
	if means.state == Triggered && !r.isAlarm() {
		means.level = None // a kind such as alert says nothing of its state
	}
	return means, int(n.name.kind), weak
}

// nature is what a text is like.
type nature uint8

const (
	noText  nature = iota // empty, a number, a time, an address, a hash
	oneWord               // or a name without blanks
	twoWords
	sentence
)

// natureOf says what a text is like, by its beginning.
func natureOf(s string) nature {
	s = strings.TrimSpace(s[:min(len(s), 96)])
	letters, digits, words, wide, inWord, blank := 0, 0, 0, 0, false, false
	for _, c := range s {
		switch {
		case unicode.IsLetter(c):
			if letters++; c >= 0x2e80 {
				wide++
			}
			if !inWord {
				words, inWord = words+1, true
			}
		case '0' <= c && c <= '9':
			digits++
		case unicode.IsSpace(c):
			inWord, blank = false, true
		}
	}
	words += wide / 3
	switch {
	case letters == 0 || s[0] == '{' || strings.HasPrefix(s, "[{"):
		return noText
	case blank && digits > letters && words < 3:
		return noText
	case blank || wide > 2:
		return min(nature(min(words, 3)), sentence)
	case strings.Contains(s, "://"), strings.Contains(s, "@") && strings.Contains(s, "."), digits >= letters && digits > 5, len(s) > 40 && digits > 4, len(s) > 18 && s[4] == '-' && s[7] == '-':
		return noText
	}
	return oneWord
}

// choice is what a headline may be made of.
type choice struct {
	text, named, kind, state, place int32
	score, nameScore, placeScore    int
}

// choose looks for the parts of a headline.
func (r *reader) choose(root int32) (c choice) {
	better := func(at *int32, i int32, rank func(*name) uint8) {
		n, o := &r.nodes[i], &r.nodes[*at]
		if *at == 0 || n.steps < o.steps || n.steps == o.steps && rank(&n.name) > rank(&o.name) {
			*at = i
		}
	}
	for i := range r.scalars(root, isSkipped|isOld) {
		n := &r.nodes[i]
		w := &n.name
		is := noText
		if n.kind == '"' {
			is = natureOf(n.text())
		}
		if is == noText {
			continue
		}
		away := 8 * int(n.steps)
		if n.flags&isAside != 0 {
			away += 40
		}
		score := 18 - away
		switch {
		case n.flags&isOut != 0:
			if w.name > 0 && 100-away > c.placeScore {
				c.place, c.placeScore = i, 100-away
			}
			continue
		case w.text > 0:
			score = int(w.text) - away
		case w.status|w.kind > 0:
			if is == sentence {
				if score = max(20, int(w.name)) - away; strings.EqualFold(n.key, "event") {
					score += 30 // structured loggers
				}
				break
			}
			if w.status > 0 && !strings.EqualFold(n.val, "true") && !strings.EqualFold(n.val, "false") {
				better(&c.state, i, func(n *name) uint8 { return n.status })
			} else if is == oneWord && !strings.Contains(n.val, "/") {
				better(&c.kind, i, func(n *name) uint8 { return n.kind })
			}
			continue
		case w.name > 0:
			score = int(w.name) - away
		case is < sentence || w.sev|w.time|w.link|w.word.id > 0 || w.any&(unused|nothing|out) != 0:
			continue
		}
		if is <= twoWords {
			if r.words.known(n.val) {
				if w.text < 96 {
					continue
				}
				score -= 60
			}
			if title := is == oneWord && w.text == 100; title || w.name > 0 && w.text == 0 {
				named := score
				if w.of > 90 {
					named += 10
				}
				if named > c.nameScore {
					c.named, c.nameScore = i, named
				}
			}
			if is == oneWord && w.text == 0 {
				continue
			}
		}
		if score += [...]int{oneWord: -30, twoWords: 15, sentence: 25}[is]; len(n.val) > 200 && w.text <= 66 {
			score -= 60 // prose, not a line
		}
		if score > c.score {
			c.text, c.score = i, score
		}
	}
	return c
}

// headlineBytes bounds a headline.
const headlineBytes = 300

// appendLine appends a text as one line of at most headlineBytes.
func appendLine(b []byte, s string) []byte {
	start := len(b)
	for word := range strings.FieldsSeq(s) {
		if len(b) > start {
			b = append(b, ' ')
		}
		if b = append(b, word...); len(b)-start > headlineBytes {
			end := start + headlineBytes - len("…")
			for !utf8.RuneStart(b[end]) {
				end--
			}
			return append(b[:end], "…"...)
		}
	}
	return b
}

// appendHeadline appends a line that says what happened to what, and returns the node that says most
// of it, 0 for a list of members.
func (r *reader) appendHeadline(b []byte, root int32, ids []candidate) ([]byte, int32) {
	c := r.choose(root)
	start := len(b)
	join := func(sep string, at ...int32) {
		for _, i := range at {
			if text := r.nodes[i].text(); i > 0 && !strings.Contains(string(b[start:]), text) {
				if len(b) > start {
					b = append(b, sep...)
				}
				b = appendLine(b, text)
			}
		}
	}
	told := c.state
	if told == 0 {
		told = c.kind
	}
	switch {
	case c.text > 0 && (c.score > 50 || c.named == 0 || c.named == c.text):
		n, named := &r.nodes[c.text], &r.nodes[c.named]
		text := n.text()
		if c.nameScore >= 40 && c.named != c.text && (named.name.text > 0 || n.name.any&why != 0 || n.name.text <= 84 && n.name.text > 66) && len(named.val) <= 40 && named.steps <= n.steps+1 && !strings.Contains(strings.ToLower(text), strings.ToLower(named.val)) {
			join("", c.named)
		}
		if join(": ", c.text); natureOf(text) == oneWord {
			join(": ", c.state)
		}
		return b, c.text
	case c.named > 0 && (told > 0 || natureOf(r.nodes[c.named].text()) > oneWord):
		join(": ", c.named, told)
		return b, c.named
	case c.kind > 0 && len(ids) > 0:
		join(" ", c.kind, c.state, ids[0].at)
		return b, c.kind
	case c.place > 0 && told > 0:
		join(" ", c.kind, c.state, c.place)
		return b, c.place
	}
	if b = r.appendList(b, root); len(b) == start && c.place > 0 {
		b = appendLine(append(appendLine(b, r.record.Name().Raw()), ' '), r.nodes[c.place].text())
	}
	return b, 0
}

// appendList appends the names and values of members.
func (r *reader) appendList(b []byte, root int32) []byte {
	start := len(b)
	for i := range r.scalars(root, isSkipped|isOut|isOld) {
		n := &r.nodes[i]
		if n.val == "" {
			continue
		}
		if len(b) > start+160 {
			break
		}
		if len(b) > start {
			b = append(b, ", "...)
		}
		if n.key != "" {
			b = append(append(b, n.key...), ' ')
		}
		b = appendLine(b, n.text())
	}
	return b
}

// candidate is a value that an event may be followed by.
type candidate struct {
	at    int32
	score int
}

// maxIDs bounds the ids of a reading.
const maxIDs = 9

// ids adds the best ids below a node, the best first.
func (r *reader) ids(into []candidate, root int32) []candidate {
	for i := range r.scalars(root, isSkipped|isOut|isOld) {
		n := &r.nodes[i]
		if (n.kind == '"' || n.kind == 0) && n.name.word.id|n.name.first|n.name.word.thing > 0 && idLike(n) {
			into = r.insert(into, candidate{i, r.idScore(n)})
		}
	}
	return into
}

// insert keeps the best candidates with different values.
func (r *reader) insert(into []candidate, c candidate) []candidate {
	if c.score <= 0 {
		return into
	}
	same := slices.IndexFunc(into, func(o candidate) bool { return r.nodes[o.at].val == r.nodes[c.at].val })
	if same >= 0 && into[same].score >= c.score {
		return into
	}
	if same >= 0 {
		into = slices.Delete(into, same, same+1)
	} else if len(into) == maxIDs {
		if into[maxIDs-1].score >= c.score {
			return into
		}
		into = into[:maxIDs-1]
	}
	at := slices.IndexFunc(into, func(o candidate) bool { return o.score < c.score })
	if at < 0 {
		at = len(into)
	}
	return slices.Insert(into, at, c)
}

// idLike reports whether a value can be an id. That of a thing itself, as in "incident": "INC 7", has
// a digit or no blank, or names a device.
func idLike(n *node) bool {
	blanks := strings.Count(n.val, " ")
	switch {
	case n.val == "0" || n.val == "true" || n.val == "false" || len(n.val) > 200 || blanks > 4 || strings.HasPrefix(n.val, "http"):
		return false
	case blanks > 0 && n.name.word.id == 0 && (n.name.text > 0 || n.name.word.thing > 72 && !strings.ContainsAny(n.val, "0123456789")):
		return false
	}
	return strings.ContainsFunc(n.val, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) })
}

// idScore says how good an id is by its name and the objects around it; 0: none.
func (r *reader) idScore(n *node) int {
	w, around := &n.name, int(r.nodes[n.parent].thing)
	of, rank := around, int(w.word.id)
	switch {
	case rank == 0 && w.first > 0: // idShort
		rank, of = int(w.first), max(int(w.of), around-4)
	case rank > 0 && w.before == 0:
		if w.word.thing > 60 {
			of = int(w.word.thing)
		}
	case rank > 0 && w.of > 0:
		of = int(w.of)
	case rank > 0:
		if of -= 4; !w.known {
			of = max(58, of)
		}
		if w.any&nothing != 0 {
			return 0
		}
	default:
		if n.kind == 0 && (w.word.thing < 72 || w.is&unused != 0) || w.link > 0 || w.is&nothing != 0 || w.kind|w.status|w.text > 0 && r.words.known(n.val) {
			return 0
		}
		of, rank = int(w.word.thing)-3, 8
	}
	if rank == 7 { // a name
		if of -= 20; of < 40 && w.before > 0 {
			return 0
		} else if of < 40 {
			of = 1
		}
	} else if strings.HasPrefix(n.val, "arn:") {
		of += 45
	} else if !strings.ContainsAny(n.val, "0123456789") {
		of -= 12
	}
	if n.flags&isAside != 0 {
		of -= 40
	}
	if w.others&nothing != 0 {
		of -= 40 // buildTypeId
	}
	p := &r.nodes[n.parent]
	if p.kind == '[' {
		of -= 10
	} else if p.parent >= 0 && r.nodes[p.parent].kind == '[' && of < 92 {
		of -= 6
	}
	return max(of-5*int(n.steps), 1)*10 + rank
}
