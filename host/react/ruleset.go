package react

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/filter"
)

// Set is the compiled rules of a file. It is immutable: any number of goroutines may use it.
type Set struct {
	File   *File
	byName map[string]*Matcher
	bySrc  map[source]*listeners
	// patterns: there are rules with patterns.
	patterns bool
}

// source is the key by which rules are found. A record that no rule listens to costs only a few
// lookups.
type source struct {
	server, typ string // typ is empty for rules with patterns, which are tried one by one
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
	place  int // in the file
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
		m.place = i
		s.byName[m.Rule.Name] = m
		on := m.Rule.On
		for _, src := range on.sources() {
			l := s.bySrc[src]
			if l == nil {
				l = &listeners{}
				s.bySrc[src] = l
			}
			l.all = append(l.all, m)
			s.patterns = s.patterns || src.typ == ""
		}
	}
	for _, l := range s.bySrc {
		l.index = filter.NewIndex(l.all, func(m *Matcher) *filter.Filter { return m.filter })
	}
	return s, nil
}

// sources returns the keys of a rule: one for each type, or a single one if there is a pattern.
func (s Source) sources() (all []source) {
	kind := cmp.Or(s.Kind, event.KindEvent)
	for _, typ := range s.Types {
		if strings.Contains(typ, "*") {
			return []source{{s.Server, "", kind}}
		}
		all = append(all, source{s.Server, typ, kind})
	}
	return all
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

// Hears reports whether a rule listens to the server and type of a record, of any kind.
func (s *Set) Hears(r *event.Record) bool {
	return slices.ContainsFunc(s.File.Rules, func(rule Rule) bool { return rule.On.Covers(r) })
}

// Listening returns the rules that listen to the server, type and kind of a record, in the order
// of the file.
func (s *Set) Listening(r *event.Record) (all []*Matcher) {
	for i := range s.File.Rules {
		if rule := &s.File.Rules[i]; rule.On.Takes(r) {
			all = append(all, s.byName[rule.Name])
		}
	}
	return all
}

// Candidates appends to out the rules that listen to a record and whose filters may match it,
// in the order of the file; no other rule matches. [Matcher.Match] decides for each of them.
// Rules that demand a value that the record does not have cost no time.
func (s *Set) Candidates(r *event.Record, out []*Matcher) []*Matcher {
	first, from := len(out), 0
	name, typ := r.Name().Raw(), r.Type.Raw()
	for i, key := range [...]string{typ, name, ""} {
		if i == 1 && name == typ || i == 2 && !s.patterns {
			continue
		}
		l := s.bySrc[source{r.Server, key, r.Kind}]
		if l == nil {
			continue
		}
		from++
		start := len(out)
		out = l.index.Candidates(r, out)
		if key == "" {
			out = out[:start+len(slices.DeleteFunc(out[start:], func(m *Matcher) bool { return !m.Rule.On.Takes(r) }))]
		}
	}
	if from < 2 {
		return out
	}
	found := out[first:]
	slices.SortFunc(found, func(a, b *Matcher) int { return cmp.Compare(a.place, b.place) })
	return out[:first+len(slices.Compact(found))]
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
