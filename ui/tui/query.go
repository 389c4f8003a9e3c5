package tui

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"eventdeck/host/event"
)

// query says which records a stream shows: those of a node that contain every
// word and have a flag for every flag term, without regard to case.
type query struct {
	node  node
	text  string   // as typed
	words []string // lower case
	flags []string // starts of names of flags; flagAny takes every flag
}

const (
	flagTerm = "flag:" // begins a term about flags
	flagAny  = "any"
)

func newQuery(n node, text string) query {
	q := query{node: n, text: text}
	for _, w := range strings.Fields(strings.ToLower(text)) {
		if name, ok := strings.CutPrefix(w, flagTerm); ok {
			q.flags = append(q.flags, name)
		} else {
			q.words = append(q.words, w)
		}
	}
	return q
}

// matches tells whether the stream shows the record.
func (q *query) matches(r *event.Record) bool {
	if !q.node.holds(r) {
		return false
	}
	for _, f := range q.flags {
		if !flagged(r, f) {
			return false
		}
	}
	for _, w := range q.words {
		if !contains(r, w) {
			return false
		}
	}
	return true
}

// flagged tells whether a record has a flag whose name starts so.
func flagged(r *event.Record, start string) bool {
	for _, f := range r.Flags {
		if start == flagAny || strings.HasPrefix(f, start) {
			return true
		}
	}
	return start == ""
}

func contains(r *event.Record, word string) bool {
	for _, s := range []string{r.Server, r.Type.Raw(), r.EventID.Raw(), r.Reason.Raw(), string(r.Kind), string(r.Mode)} {
		if foldContains([]byte(s), word) {
			return true
		}
	}
	if r.State != nil && (foldContains([]byte(r.State.State), word) || foldContains([]byte(r.State.Evidence), word)) {
		return true
	}
	if r.Gap != nil && foldContains([]byte(r.Gap.Cause), word) {
		return true
	}
	return foldContains(r.Data, word)
}

// foldContains is a search without regard to case. word is in lower case. It
// allocates only where the text beyond ASCII matters.
func foldContains(b []byte, word string) bool {
	if len(word) == 0 {
		return true
	}
	if !ascii(word) {
		return bytes.Contains(bytes.ToLower(b), []byte(word))
	}
	first := word[0]
	upper := first
	if 'a' <= first && first <= 'z' {
		upper -= 'a' - 'A'
	}
	for i := 0; i+len(word) <= len(b); i++ {
		if b[i] != first && b[i] != upper {
			continue
		}
		if equalFold(b[i:i+len(word)], word) {
			return true
		}
	}
	return false
}

func equalFold(b []byte, lower string) bool {
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
