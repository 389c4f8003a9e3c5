// Package scan finds in payloads what an operator should know about: control of the
// terminal, characters that hide or deceive, misleading links, and text that addresses an
// AI. It informs; it never blocks or edits.
//
// The words and rules for text that addresses an AI are in vocabulary.txt and rules.txt.
package scan

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"eventdeck/host/internal/jsontext"
	"eventdeck/host/trust"
)

// Flag is the name of a finding, such as "uni.bidi".
type Flag string

// Span is the place of a finding in a payload.
type Span struct {
	Path   trust.Text `json:"path"`   // JSON pointer of the string or member
	Flag   Flag       `json:"flag"`   // the finding
	Reason string     `json:"reason"` // the flag in words; ours, never from the payload
	Start  int        `json:"start"`  // byte offsets in the decoded string;
	End    int        `json:"end"`    // equal when the place is a key or a whole value

	at int // offset of the string in the payload
}

// Places returns the places of the spans, for the views of package trust.
func (r Report) Places() []trust.Place {
	places := make([]trust.Place, len(r.Spans))
	for i, s := range r.Spans {
		places[i] = trust.Place{At: s.at, Start: s.Start, End: s.End}
	}
	return places
}

// Report has the findings of [Scan] in a payload. A payload without flags is not known to
// be harmless.
type Report struct {
	Flags   []Flag       // sorted, each once
	Badge   bool         // the event as a whole addresses an AI
	Spans   []Span       // in the order of the text, at most [MaxSpans]
	Decoded []trust.Text // hidden or encoded text, decoded
}

// Has reports whether the report has the flag.
func (r Report) Has(f Flag) bool {
	_, found := slices.BinarySearch(r.Flags, f)
	return found
}

// MaxSpans bounds the spans of one report; flags are not bounded by it.
const MaxSpans = 200

// maxDecoded bounds the texts in [Report.Decoded].
const maxDecoded = 20

// Bounds from which the layout of a payload is flagged.
const (
	flagDepth    = 64        // levels
	flagChildren = 1000      // children of one object or array
	flagLong     = 4096      // characters without a blank
	flagBytes    = 256 << 10 // bytes
)

// Scan scans a payload, a JSON object for [strict.ParseObject]: for control of the
// terminal, characters that hide or deceive, keys and numbers that parsers read
// differently, misleading links, and text that addresses an AI. A refused text is scanned
// as plain text and has the flag of the refusal.
//
// It is safe for concurrent use and fast on ordinary payloads: rules run only
// when a first pass over the bytes gives a reason.
func Scan(raw []byte) Report {
	p := prefilter(raw)
	s := scanner{raw: raw, collect: p.slow()}
	if err := jsontext.Walk(raw, jsontext.Limits{}, &s); err != nil {
		return scanRefused(raw, err)
	}
	return s.finish(p)
}

// finish scans what the walk over a payload has collected.
func (s *scanner) finish(p passes) Report {
	if len(s.raw) > flagBytes {
		s.flag("json.size")
	}
	if s.collect {
		s.fields(p)
	}
	return s.report()
}

// scanRefused returns the report of a refused text.
func scanRefused(raw []byte, err error) Report {
	s := scanner{raw: raw}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateKey):
		s.flag("json.dup-key")
	case errors.Is(err, jsontext.ErrDepth):
		s.flag("json.depth")
	case errors.Is(err, jsontext.ErrTrailing):
		s.flag("json.trailing")
	case errors.Is(err, jsontext.ErrSize):
		s.flag("json.size")
	case errors.Is(err, jsontext.ErrBOM):
		s.flag("json.bom")
		s.flag("json.syntax")
	default:
		s.flag("json.syntax")
	}
	text := string(raw[:min(len(raw), jsontext.DefaultBytes)])
	s.found = append(s.found, field{text: text})
	s.fields(passes{special: true, words: true, urls: true, runs: true})
	return s.report()
}

// field is one string of a payload: a value, or a key.
type field struct {
	at     int    // offset of its opening quote in the payload
	text   string // decoded
	key    bool
	folded folded
}

// scanner collects the findings of one payload. It is a [jsontext.Visitor].
type scanner struct {
	raw     []byte
	collect bool // keep the strings
	found   []field

	strings  stringEnds
	closing  linkEnds
	children []int  // of the open containers
	near     [8]int // initial room for children
	protoAt  int    // depth of an open "constructor" member, 0 for none

	flags   []Flag
	spans   []Span
	decoded []trust.Text
	score   map[Flag]int
}

func (s *scanner) flag(f Flag) {
	if !slices.Contains(s.flags, f) {
		s.flags = append(s.flags, f)
	}
}

// span raises f at [start, end) of a field.
func (s *scanner) span(f Flag, fl *field, start, end int) {
	s.spanWith(f, reasons[f], fl, start, end)
}

func (s *scanner) spanWith(f Flag, reason string, fl *field, start, end int) {
	s.flag(f)
	if len(s.spans) >= MaxSpans {
		return
	}
	if fl.key {
		start, end = 0, 0
	}
	s.spans = append(s.spans, Span{Flag: f, Reason: reason, Start: start, End: end, at: fl.at})
}

// place raises f at the member whose key or value starts at offset at.
func (s *scanner) place(f Flag, at int) {
	s.flag(f)
	if len(s.spans) < MaxSpans {
		s.spans = append(s.spans, Span{Flag: f, Reason: reasons[f], at: at})
	}
}

func (s *scanner) decode(text string) {
	if len(s.decoded) < maxDecoded && !slices.Contains(s.decoded, trust.Untrusted(text)) {
		s.decoded = append(s.decoded, trust.Untrusted(text))
	}
}

func (s *scanner) Open(depth, at int) {
	if depth == flagDepth {
		s.place("json.depth", at)
	}
	s.child()
	if s.children == nil {
		s.children = s.near[:0]
	}
	s.children = append(s.children, 0)
}

// child counts a child of the innermost container.
func (s *scanner) child() {
	if n := len(s.children); n > 0 {
		if s.children[n-1]++; s.children[n-1] == flagChildren+1 {
			s.flag("json.wide")
		}
	}
}

func (s *scanner) Key(depth, start, end int, escaped bool) {
	if end-start >= len("__proto__") || escaped {
		k := s.raw[start:end]
		if escaped {
			k = []byte(jsontext.Unquote(k))
		}
		switch {
		case string(k) == "__proto__", string(k) == "prototype" && s.protoAt > 0 && depth == s.protoAt+1:
			s.place("json.proto-key", start-1)
		case string(k) == "constructor":
			s.protoAt = depth
		}
	}
	if s.collect {
		s.found = append(s.found, field{at: start - 1, text: jsontext.Key(s.raw[start:end], escaped), key: true})
	}
}

func (s *scanner) SameFold(start, end int) { s.place("json.case-key", start-1) }

func (s *scanner) Value(depth int, kind jsontext.Kind, start, end int, escaped bool) {
	switch kind {
	case jsontext.Object, jsontext.Array:
		s.children = s.children[:len(s.children)-1]
		if s.protoAt == depth {
			s.protoAt = 0
		}
		return
	case jsontext.String:
		if s.collect && end-start > 2 {
			text := ""
			if inside := s.raw[start+1 : end-1]; escaped {
				text = jsontext.Unquote(inside)
			} else {
				text = string(inside)
			}
			s.found = append(s.found, field{at: start, text: text})
		}
		if end-start > flagLong && longest(s.raw[start:end]) > flagLong {
			s.place("layout.long", start)
		}
	case jsontext.Number:
		if end-start >= 16 || hasExponent(s.raw[start:end]) {
			if !survives(string(s.raw[start:end])) {
				s.place("json.number", start)
			}
		}
	}
	s.child()
}

// longest returns the length of the longest stretch without a blank.
func longest(b []byte) int {
	best, n := 0, 0
	for i, c := range b {
		if n++; c == ' ' || c == '\\' && i+1 < len(b) && (b[i+1] == 'n' || b[i+1] == 't') {
			n = 0
		}
		best = max(best, n)
	}
	return best
}

func hasExponent(b []byte) bool {
	for _, c := range b {
		if c|0x20 == 'e' {
			return true
		}
	}
	return false
}

// survives reports whether a number keeps its value as a float64.
func survives(s string) bool {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return false
	}
	digits, exp := decimal(s)
	if digits == "" {
		return true
	}
	short, shortExp := decimal(strconv.FormatFloat(f, 'e', -1, 64))
	if digits == short && exp == shortExp {
		return true
	}
	if strings.ContainsAny(s, ".eE") {
		return false
	}
	exact, exactExp := decimal(strconv.FormatFloat(f, 'f', 0, 64))
	return digits == exact && exp == exactExp
}

// decimal returns the significant digits of a number and the exponent of the
// last of them, so that equal numbers give equal results.
func decimal(s string) (digits string, exp int) {
	s = strings.TrimPrefix(s, "-")
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		exp, _ = strconv.Atoi(s[i+1:])
		s = s[:i]
	}
	if i := strings.IndexByte(s, '.'); i >= 0 {
		exp -= len(s) - i - 1
		s = s[:i] + s[i+1:]
	}
	s = strings.TrimLeft(s, "0")
	trimmed := strings.TrimRight(s, "0")
	return trimmed, exp + len(s) - len(trimmed)
}

// fields scans the collected strings.
func (s *scanner) fields(p passes) {
	if p.special {
		for i := range s.found {
			s.special(&s.found[i])
		}
		s.foldedKeys()
	}
	for i := range s.found {
		f := &s.found[i]
		f.folded = fold(f.text)
		if f.key {
			continue
		}
		if p.urls || f.folded.changed {
			s.urls(f)
		}
		if p.runs || f.folded.changed {
			s.encoded(f)
		}
	}
	s.match(s.found)
}

// report returns the sorted findings.
func (s *scanner) report() Report {
	slices.Sort(s.flags)
	slices.SortStableFunc(s.spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Flag, b.Flag))
	})
	s.spans = slices.Compact(s.spans)
	resolvePaths(s.raw, s.spans)
	return Report{Flags: s.flags, Badge: s.badge(), Spans: s.spans, Decoded: s.decoded}
}
