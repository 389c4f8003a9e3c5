package rules

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"eventdeck/host/config"
	"eventdeck/host/internal/jsonfile"
	"eventdeck/host/react"
)

// member is one member of an object in the file.
type member = jsonfile.Member

// parser parses a file and collects every mistake.
type parser struct {
	*jsonfile.Text
	known    Known
	now      time.Time // for filters
	mistakes []placed
	limits   react.Limits  // of all rules
	named    []react.Model // models of the file
}

// placed is a mistake with its offset.
type placed struct {
	at int
	Mistake
}

// inOrder returns the mistakes in the order of the file.
func (p *parser) inOrder() []Mistake {
	slices.SortStableFunc(p.mistakes, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	out := make([]Mistake, len(p.mistakes))
	for i, m := range p.mistakes {
		out[i] = m.Mistake
	}
	return out
}

// wrong adds a mistake. write says what to write instead.
func (p *parser) wrong(at int, write, what string, args ...any) {
	if len(p.mistakes) >= maxMistakes {
		return // computing places takes time
	}
	p.mistakes = append(p.mistakes, placed{at, Mistake{Where: p.Where(at), What: fmt.Sprintf(what, args...), Write: write}})
}

// took adds an error of the text itself, which has a place already.
func (p *parser) took(err error, write string) {
	var wrong *jsonfile.Error
	if errors.As(err, &wrong) {
		p.wrong(wrong.At, write, "%s", wrong.Err)
	}
}

const emptyFile = `{"rules": {}}`

// file parses the whole file.
func (p *parser) file() react.File {
	f := react.File{Path: p.Path, Limits: defaultAll(), Lines: map[string]string{}}
	if at := invalid(p.Plain); at >= 0 {
		p.wrong(at, "the file in UTF-8", "this is no UTF-8")
		return f
	}
	if err := p.Syntax(emptyFile); err != nil {
		p.took(err, "")
		return f
	}
	top, ok := p.object(p.Top(), "the file", "models", "rules", "limits")
	if !ok {
		return f
	}
	if m, ok := jsonfile.Find(top, "models"); ok {
		f.Models = p.models(m)
	}
	if m, ok := jsonfile.Find(top, "limits"); ok {
		p.readLimits(m, "the file", &f.Limits, bounds, f.Lines)
	}
	p.limits, p.named = f.Limits, f.Models
	if m, ok := jsonfile.Find(top, "rules"); ok {
		f.Rules = p.rules(m)
	}
	return f
}

// invalid returns the offset of the first byte that is not UTF-8, or -1.
func invalid(text []byte) int {
	for at := 0; at < len(text); {
		r, n := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
	return -1
}

func (p *parser) rules(m member) []react.Rule {
	rules := []react.Rule{}
	for _, m := range p.entries(m, maxRules, "rules") {
		rules = append(rules, p.rule(m))
	}
	return rules
}

// anyMember lets an object have members of any name.
const anyMember = "*"

// object returns the members of an object, and refuses unknown and duplicate ones. ok is false
// for other values.
func (p *parser) object(m member, what string, names ...string) (_ []member, ok bool) {
	all, err := p.Object(m.Start, m.End, what)
	if err != nil {
		p.took(err, "{ … }")
		return nil, false
	}
	members := all[:0:0]
	first := map[string]int{}
	for _, m := range all {
		if at, twice := first[m.Key]; twice {
			line, _ := p.Position(at)
			p.wrong(m.At, "it once", "%s has %q twice, first on line %d", what, m.Key, line)
			continue
		}
		first[m.Key] = m.At
		if names[0] != anyMember && !slices.Contains(names, m.Key) {
			p.wrong(m.At, nearest(m.Key, names), "%s has no member %q", what, m.Key)
			continue
		}
		members = append(members, m)
	}
	return members, true
}

// entries returns the members of an object whose names the operator chooses, at most most. It
// returns none for other values, or if there are more.
func (p *parser) entries(m member, most int, what string) []member {
	list, _ := p.object(m, quoted(m.Key), anyMember)
	if len(list) > most {
		p.wrong(list[most].At, fmt.Sprintf("at most %d %s", most, what), "there are %d %s", len(list), what)
		return nil
	}
	return list
}

// nearest returns the name that was probably meant, otherwise all names.
func nearest(word string, names []string) string {
	if near := config.Nearest(word, names); near != "" {
		return quoted(near)
	}
	if len(names) > 20 {
		names = names[:20]
	}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = quoted(n)
	}
	return strings.Join(out, " or ")
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }

// value decodes a value with encoding/json. shape is what to write instead.
func (p *parser) value(m member, to any, shape string) bool {
	raw := p.Value(m)
	if string(raw) == "null" || json.Unmarshal(raw, to) != nil {
		p.wrong(m.Start, shape, "%q is %s", m.Key, short(raw))
		return false
	}
	return true
}

// short returns a value as a mistake shows it.
func short(raw []byte) string {
	const most = 40
	text := strings.Join(strings.Fields(string(raw)), " ")
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most]) + "…"
	}
	return strings.ToValidUTF8(text, "")
}

// text parses a non-empty string.
func (p *parser) text(m member, shape string) (s string, ok bool) {
	if !p.value(m, &s, shape) {
		return "", false
	}
	if strings.TrimSpace(s) == "" {
		p.wrong(m.Start, shape, "%q is empty", m.Key)
		return "", false
	}
	return s, true
}

// choice parses one of several words.
func choice[T ~string](p *parser, m member, to *T, words ...T) {
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = string(w)
	}
	s, ok := p.text(m, nearest("", names))
	if !ok {
		return
	}
	if !slices.Contains(names, s) {
		p.wrong(m.Start, nearest(s, names), "%q is %q", m.Key, s)
		return
	}
	*to = T(s)
}

// item is an element of a list, with its place.
type item struct {
	at   int
	text string
}

// list parses a list of strings.
func (p *parser) list(m member, shape string) (items []item, ok bool) {
	elements, err := p.Array(m)
	if err != nil {
		p.wrong(m.Start, shape, "%q is %s", m.Key, short(p.Value(m)))
		return nil, false
	}
	for _, e := range elements {
		e.Key = m.Key
		s, ok := p.text(e, shape)
		if !ok {
			return nil, false
		}
		items = append(items, item{e.Start, s})
	}
	return items, true
}

// texts returns the texts of items.
func texts(items []item) []string {
	var out []string
	for _, i := range items {
		out = append(out, i.text)
	}
	return out
}

// duration parses a duration within bounds.
func (p *parser) duration(m member, to *time.Duration, least, most time.Duration) {
	shape := fmt.Sprintf("a duration from %q to %q", react.FormatDuration(least), react.FormatDuration(most))
	bounded(p, m, to, shape, react.ParseDuration, func(d time.Duration) bool { return least <= d && d <= most })
}

// bounded parses a string that encodes a value within bounds.
func bounded[T any](p *parser, m member, to *T, shape string, parse func(string) (T, error), fits func(T) bool) {
	s, ok := p.text(m, shape)
	if !ok {
		return
	}
	value, err := parse(s)
	if err != nil || !fits(value) {
		p.wrong(m.Start, shape, "%q is %q", m.Key, s)
		return
	}
	*to = value
}

// needs refuses an object without a required member; write shows how to write it.
func (p *parser) needs(m member, members []member, what, name, write string) {
	if _, ok := jsonfile.Find(members, name); !ok {
		p.wrong(m.Start, write, "%s has no %q", what, name)
	}
}

// number parses an integer within bounds.
func (p *parser) number(m member, to *int, least, most int) {
	n, shape := 0, fmt.Sprintf("a whole number from %d to %d", least, most)
	if !p.value(m, &n, shape) {
		return
	}
	if n < least || n > most {
		p.wrong(m.Start, shape, "%q is %d", m.Key, n)
		return
	}
	*to = n
}

func (p *parser) truth(m member, to *bool) { p.value(m, to, "true or false") }
