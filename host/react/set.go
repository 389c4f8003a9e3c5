package react

import (
	"fmt"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/filter"
)

// Set is the compiled rules of a file. It is immutable: any number of goroutines may use it.
type Set struct {
	File   *File
	byName map[string]*Matcher
	bySrc  map[source]*listeners
}

// source is the key by which rules are found. A record that no rule listens to costs only this
// lookup.
type source struct {
	server, typ string
	kind        event.Kind
}

// listeners are the rules of a source, in the order of the file.
type listeners struct {
	all   []*Matcher
	index *filter.Index[*Matcher]
}

// Matcher is one compiled rule.
type Matcher struct {
	Rule   *Rule
	filter *filter.Filter
	key    []*filter.Path
	once   []*filter.Path
}

// Compile compiles the rules of a file, which cannot fail for a file without mistakes. Relative
// times in filters count from now.
// Errors: [*filter.Error], with the place of the rule.
func Compile(f File, now time.Time) (*Set, error) {
	s := &Set{File: &f, byName: map[string]*Matcher{}, bySrc: map[source]*listeners{}}
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
		l := s.bySrc[src]
		if l == nil {
			l = &listeners{}
			s.bySrc[src] = l
		}
		l.all = append(l.all, m)
	}
	for _, l := range s.bySrc {
		l.index = filter.NewIndex(l.all, func(m *Matcher) *filter.Filter { return m.filter })
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

// Rule returns the rule with a name, or nil.
func (s *Set) Rule(name string) *Matcher { return s.byName[name] }

// Listening returns the rules that listen to the server, type and kind of a record, in the order
// of the file. The slice must not be changed.
func (s *Set) Listening(r *event.Record) []*Matcher {
	if l := s.listeners(r); l != nil {
		return l.all
	}
	return nil
}

// Candidates appends to out the rules that listen to a record and whose filters may match it,
// in the order of the file; no other rule matches. [Matcher.Match] decides for each of them.
// Rules that demand a value that the record does not have cost no time.
func (s *Set) Candidates(r *event.Record, out []*Matcher) []*Matcher {
	if l := s.listeners(r); l != nil {
		return l.index.Candidates(r, out)
	}
	return out
}

func (s *Set) listeners(r *event.Record) *listeners {
	return s.bySrc[source{r.Server, r.Type.Raw(), r.Kind}]
}

// Match reports whether the filter of the rule matches a record of its source.
func (m *Matcher) Match(r *event.Record) bool { return m.filter.Match(r) }

// Key returns the group of a record.
func (m *Matcher) Key(r *event.Record) Key { return group(m.key, r) }

// Once returns the value of a record for which the act of the rule is not repeated. ok is false
// for a rule without [Rule.Once].
func (m *Matcher) Once(r *event.Record) (value Key, ok bool) {
	if len(m.once) == 0 {
		return "", false
	}
	return group(m.once, r), true
}
