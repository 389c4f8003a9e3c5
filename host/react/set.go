package react

import (
	"fmt"
	"iter"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/filter"
)

// Set is rules made ready to be held against records. It is immutable: any number of
// goroutines may use it.
type Set struct {
	File   *File
	byName map[string]*Matcher
	bySrc  map[source][]*Matcher
}

// source is what rules are found by. A record that no rule listens to costs this lookup.
type source struct {
	server, typ string
	kind        event.Kind
}

// Matcher is one rule made ready.
type Matcher struct {
	Rule   *Rule
	filter *filter.Filter
	key    []*filter.Path
	once   []*filter.Path
}

// Compile makes the rules of a file ready. Relative times in their filters count from now.
// Those of a file that was read without a mistake always compile.
// Errors: [*filter.Error], with the place of the rule.
func Compile(f File, now time.Time) (*Set, error) {
	s := &Set{File: &f, byName: map[string]*Matcher{}, bySrc: map[source][]*Matcher{}}
	for i := range f.Rules {
		m, err := compile(&f.Rules[i], now)
		if err != nil {
			return nil, fmt.Errorf("%s: rule %q: %w", f.Rules[i].Where, f.Rules[i].Name, err)
		}
		src := source{m.Rule.On.Server, m.Rule.On.Type, m.Rule.On.Kind}
		if src.kind == "" {
			src.kind = event.KindEvent
		}
		s.byName[m.Rule.Name] = m
		s.bySrc[src] = append(s.bySrc[src], m)
	}
	return s, nil
}

func compile(r *Rule, now time.Time) (*Matcher, error) {
	when, err := filter.Parse(r.When, now)
	if err != nil {
		return nil, err
	}
	m := &Matcher{Rule: r, filter: when}
	if m.key, err = paths(r.Key); err != nil {
		return nil, err
	}
	m.once, err = paths(r.Once.By)
	return m, err
}

func paths(texts []string) (out []*filter.Path, err error) {
	for _, text := range texts {
		p, err := filter.ParsePath(text)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// Rule returns the rule of a name, or nil.
func (s *Set) Rule(name string) *Matcher { return s.byName[name] }

// Listening returns the rules that listen to records of this server, type and kind, in the
// order of the file. It must not be changed.
func (s *Set) Listening(r *event.Record) []*Matcher {
	return s.bySrc[source{r.Server, r.Type.Raw(), r.Kind}]
}

// Matching goes through the rules that take a record, in the order of the file.
func (s *Set) Matching(r *event.Record) iter.Seq[*Matcher] {
	return func(yield func(*Matcher) bool) {
		for _, m := range s.Listening(r) {
			if m.Match(r) && !yield(m) {
				return
			}
		}
	}
}

// Match reports whether the filter of the rule takes a record of its source.
func (m *Matcher) Match(r *event.Record) bool { return m.filter.Match(r) }

// Key returns the group of a record.
func (m *Matcher) Key(r *event.Record) Key { return group(m.key, r) }

// Once returns the value by which an act of the rule is not repeated. ok is false for a
// rule that repeats.
func (m *Matcher) Once(r *event.Record) (value Key, ok bool) {
	if len(m.once) == 0 {
		return "", false
	}
	return group(m.once, r), true
}
