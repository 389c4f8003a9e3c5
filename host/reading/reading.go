// Package reading turns one event into what an operator wants to know of it: a headline, how bad
// it is, whether it is over, when it happened, and the ids by which to follow it.
//
// A reading is a claim of the sender: nothing checks it. For each field the first source with an
// answer wins: the operator's [Map]; what the server says of the event beside its payload; the
// shapes of known senders (shapes.txt); and a search for names and words in a dozen languages
// (words.txt). A sender or a language is added there, without code, with a case in
// testdata/payloads.jsonl.
//
// The package is pure and bounded: it looks at the first 64 KiB and 2,000 values of a payload.
package reading

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/internal/jsontext"
	"eventdeck/host/trust"
)

// Level is how bad an event is, by the word of its sender.
type Level uint8

// The levels, the worst last.
const (
	None  Level = iota // the sender does not say
	Good               // it is over, or went well
	Debug              // for developers
	Info
	Warning
	Error
	Critical
	Levels // how many there are
)

var levelNames = []string{"", "good", "debug", "info", "warning", "error", "critical"}

// String returns the word for it; "" for [None].
func (l Level) String() string { return levelNames[min(l, Critical)] }

// levelNamed returns the level with a name, else [None].
func levelNamed(name string) Level { return Level(max(0, slices.Index(levelNames, name))) }

// Status is whether what an event tells of is over, by the word of its sender.
type Status uint8

// The states of an alert or incident.
const (
	NoStatus Status = iota
	Triggered
	Acknowledged
	Resolved
)

var statusNames = []string{"", "triggered", "acknowledged", "resolved"}

// String returns the word for it; "" for [NoStatus].
func (s Status) String() string { return statusNames[min(s, Resolved)] }

// statusNamed returns the status with a name, else [NoStatus].
func statusNamed(name string) Status { return Status(max(0, slices.Index(statusNames, name))) }

// Field is a text of a reading and where it stands.
type Field struct {
	Path  trust.Text // in the syntax of filters, such as .alert.title; zero: not in the payload
	Value trust.Text
}

// Reading is what an event says. Absent fields are zero.
type Reading struct {
	Headline Field // one line: what happened to what
	Level    Level
	Severity Field // the sender's own word for the level
	Status   Status
	StatusAt trust.Text // the path of the status
	Time     time.Time  // when it happened, UTC
	TimeAt   trust.Text // the path of the time
	IDs      []Field    // what to follow the matter by, the best first, at most 9
	Link     Field      // the address a person would open
}

// Map says where in a payload the fields of a reading stand, by paths as filters write them, the
// best first; `[]` is the worst element of an array. Words are values with their meaning: a level,
// or triggered, acknowledged or resolved.
type Map struct {
	Headline []string          `json:"headline,omitempty"`
	Level    []string          `json:"level,omitempty"`
	Status   []string          `json:"status,omitempty"`
	IDs      []string          `json:"ids,omitempty"`
	Time     []string          `json:"time,omitempty"`
	Link     []string          `json:"link,omitempty"`
	Words    map[string]string `json:"words,omitempty"`
}

// Read reads an event. Of several maps the first that gives an answer wins. The reading does not
// refer to the bytes of the record.
func Read(r *event.Record, maps ...*Map) Reading {
	var near [nearNodes]node
	p := start(near[:0], r, maps, knownShapes())
	return p.read()
}

// Rate returns the level of an event, as [Read] does, and nothing else.
func Rate(r *event.Record, maps ...*Map) Level {
	level, _, _ := Judge(r, maps...)
	return level
}

// Judge returns level and status of an event and the sender's word for the level, as [Read] does. The
// word may refer to the bytes of the record.
func Judge(r *event.Record, maps ...*Map) (Level, Status, trust.Text) {
	var near [nearNodes]node
	p := start(near[:0], r, maps, knownShapes())
	j := p.verdict()
	if j.priority {
		return j.level, j.status, r.Priority()
	}
	return j.level, j.status, trust.Untrusted(p.nodes[j.word].text())
}

// LevelOf returns the level that a word of severity names, in any letter case.
func LevelOf(word string) Level { return words().severityOf(word) }

// IsSeverity reports whether a member of that name holds a severity.
func IsSeverity(name string) bool { return words()[name].sev >= 70 }

// Headline returns the headline of an event, as [Read] does, and nothing else.
func Headline(r *event.Record, maps ...*Map) trust.Text {
	var near [nearNodes]node
	p := start(near[:0], r, maps, knownShapes())
	var list [maxIDs]candidate
	var room [2 * headlineBytes]byte
	b, _ := p.headline(room[:0], p.findIDs(list[:0]))
	return trust.Untrusted(string(b))
}

// reader reads one payload.
type reader struct {
	words    table
	shapes   *shapes
	record   *event.Record
	nodes    []node
	maps     []*Map
	matched  [4]match // the shapes of the payload, the outermost first
	matches  int
	root     int32 // what the innermost wrapper holds
	alarming bool  // an alert or incident is named
	money    bool  // it is about money: what is completed is no success of a job
}

// start reads the values of a payload. Nodes has room for usual ones.
func start(nodes []node, r *event.Record, maps []*Map, known *shapes) reader {
	p := reader{words: words(), shapes: known, record: r, maps: maps}
	if p.nodes = scan(nodes, jsontext.View(r.Data)); len(p.nodes) == 0 || !p.nodes[0].holds() {
		p.nodes = append(p.nodes[:0], node{parent: -1, end: 1, kind: '{'}) // nothing is named
	}
	p.recognize()
	p.enrich()
	p.focus()
	return p
}

// isAlarm reports whether an alert or incident is named, by the payload or the event's name.
func (r *reader) isAlarm() bool {
	for c := valueWords(r.record.Name().Raw()); !r.alarming && c.next(r.words); {
		r.alarming = c.word.is&alarming != 0
	}
	return r.alarming
}

// verdict decides level and status.
func (r *reader) verdict() judgement {
	j := r.judge(r.root)
	if r.root > 0 && (j.level == None || j.status == NoStatus) {
		outer := r.judge(0)
		if j.level == None && (j.status == NoStatus || outer.status == j.status) {
			j.level, j.before, j.word = outer.level, outer.before, outer.word
		}
		if j.status == NoStatus {
			j.status, j.statusAt = outer.status, outer.statusAt
		}
	}
	for _, m := range r.matched[:r.matches] { // the innermost has the last word
		r.apply(&m.shape.fields, m.root, &j, false)
	}
	if j.level == None && j.status == NoStatus && len(r.nodes) > 1 {
		name := r.record.Name().Raw()
		if w := r.words.stateOf(name[strings.LastIndexByte(name, '.')+1:], true, r.alarming); w.level == Error || w.state == Resolved {
			j.level, j.status = w.level, w.state
		}
	}
	if l := r.words.severityOf(r.record.Priority().Raw()); l != None && (j.level == None || r.nodes[j.word].name.sev == 0) && j.status != Resolved {
		j.level, j.priority = l, true
	}
	for i := range r.maps {
		r.apply(r.maps[len(r.maps)-1-i], 0, &j, true)
	}
	return j
}

// apply lets a map decide level and status. By a shape, what is resolved is good; an operator has
// the last word.
func (r *reader) apply(m *Map, root int32, j *judgement, last bool) {
	for _, path := range m.Status {
		if at := r.find(root, path); at > 0 {
			if status, _ := r.mean(m, at); status != NoStatus {
				j.status, j.statusAt, j.level = status, at, j.before
				break
			}
		}
	}
	for _, path := range m.Level {
		at := r.find(root, path)
		if _, level := r.mean(m, at); path == "-" || at > 0 && level != None {
			j.level, j.word, j.priority = level, at, false
			if path == "-" || last {
				return
			}
			break
		}
	}
	if j.status == Resolved {
		j.level = Good
	}
}

// mean returns what a value means by the words of a map, or else by those that are known.
func (r *reader) mean(m *Map, at int32) (Status, Level) {
	text := r.nodes[at].text()
	whole, _, _ := strings.Cut(text, ".")
	if means := cmp.Or(m.Words[text], m.Words[whole]); means != "" {
		return statusNamed(means), levelNamed(means)
	}
	state := r.words.stateOf(text, false, true)
	return state.state, cmp.Or(r.words.severityOf(text), state.level)
}

// read reads all fields.
func (r *reader) read() (out Reading) {
	var room [512]byte
	b := room[:0]
	ends := make([]int, 1, 12+2*maxIDs) // of the parts of the text that all fields share
	put := func(at int32, text string) {
		b = r.appendPath(b, at)
		ends = append(ends, len(b), len(b)+len(text))
		b = append(b, text...)
	}
	var list [maxIDs]candidate
	ids := r.findIDs(list[:0])
	b, at := r.headline(b, ids)
	ends = append(ends, len(b))
	put(at, "")
	j := r.verdict()
	timeAt, when := r.time()
	link := r.link()
	put(j.word, r.nodes[j.word].text())
	put(j.statusAt, "")
	put(timeAt, "")
	put(link, r.nodes[link].text())
	for _, c := range ids {
		put(c.at, r.nodes[c.at].text())
	}
	all := string(b)
	of := func(i int) trust.Text { return trust.Untrusted(all[ends[i]:ends[i+1]]) }
	out = Reading{Headline: Field{of(1), of(0)}, Level: j.level, Severity: Field{of(3), of(4)}, Status: j.status, StatusAt: of(5), Time: when, TimeAt: of(7), Link: Field{of(9), of(10)}}
	if j.priority {
		out.Severity = Field{Value: r.record.Priority()}
	}
	if len(ids) > 0 {
		out.IDs = make([]Field, len(ids))
		for i := range ids {
			out.IDs[i] = Field{of(11 + 2*i), of(12 + 2*i)}
		}
	}
	return out
}

// sources iterates over the maps and the shapes, the most important first, with the node at which
// their paths begin.
func (r *reader) sources() iter.Seq2[*Map, int32] {
	return func(yield func(*Map, int32) bool) {
		for _, m := range r.maps {
			if !yield(m, 0) {
				return
			}
		}
		for i := r.matches - 1; i >= 0; i-- {
			if !yield(&r.matched[i].shape.fields, r.matched[i].root) {
				return
			}
		}
	}
}

// headline appends the headline and returns the node that says most of it, or 0.
func (r *reader) headline(b []byte, ids []candidate) (line []byte, at int32) {
	start := len(b)
	for m, root := range r.sources() {
		for _, paths := range m.Headline {
			for one := range strings.SplitSeq(paths, "+") {
				i := r.find(root, one)
				if i == 0 || r.nodes[i].kind == 'n' || strings.TrimSpace(r.nodes[i].val) == "" {
					b = b[:start]
					break
				}
				if at = i; len(b) > start {
					b = append(b, ' ')
				}
				b = appendLine(b, r.nodes[i].text())
			}
			if len(b) > start {
				return b, at
			}
		}
	}
	if b, at = r.appendHeadline(b, r.root, ids); at == 0 && r.root > 0 {
		if b, at = r.appendHeadline(b[:start], 0, ids); at == 0 {
			b = r.appendList(b[:start], r.root)
		}
	}
	return b, at
}

// findIDs adds the ids, the best first.
func (r *reader) findIDs(into []candidate) []candidate {
	for m, root := range r.sources() {
		for i, path := range m.IDs {
			if at := r.find(root, path); at > 0 && r.nodes[at].kind != 'n' && r.nodes[at].val != "" {
				into = r.insert(into, candidate{at, 10_000 - i})
			}
		}
	}
	if into = r.ids(into, r.root); len(into) == 0 && r.root > 0 {
		into = r.ids(into, 0)
	}
	return into
}

// time returns when the event happened.
func (r *reader) time() (at int32, when time.Time) {
	at = r.best(func(m *Map) []string { return m.Time }, func(n *name) int { return int(n.time) }, func(s string) bool {
		t, ok := moment(s)
		if ok {
			when = t
		}
		return ok
	})
	return at, when
}

// link returns the address that a person would open.
func (r *reader) link() int32 {
	return r.best(func(m *Map) []string { return m.Link }, func(n *name) int { return int(n.link) }, func(s string) bool { return strings.HasPrefix(s, "http") })
}

// best returns the first value at a path of the sources that is right, or else the right one whose
// name has the highest rank.
func (r *reader) best(paths func(*Map) []string, rank func(*name) int, right func(string) bool) (at int32) {
	for m, root := range r.sources() {
		for _, path := range paths(m) {
			if at := r.find(root, path); at > 0 && right(r.nodes[at].val) {
				return at
			}
		}
	}
	top := 0
	for i := range r.scalars(0, isSkipped|isOut|isOld|isAside) {
		n := &r.nodes[i]
		if score := rank(&n.name) - 5*int(n.steps); rank(&n.name) > 0 && score > top && right(n.val) {
			at, top = i, score
		}
	}
	return at
}
