package config

import (
	"strings"

	"eventdeck/host/event"
)

// expander expands environment variables in values and remembers the first missing one.
type expander struct {
	env     Env
	missing string
}

// expand replaces ${NAME} and ${NAME:-default}. Everything else, a lone $ too, stays as it is: it
// may be meant for the started program.
func (x *expander) expand(s string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "${")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		inside, after, closed := strings.Cut(rest, "}")
		name, fallback, hasFallback := strings.Cut(inside, ":-")
		if !closed || !isName(name) {
			b.WriteString("${")
			s = rest
			continue
		}
		value, ok := x.lookup(name)
		switch {
		case hasFallback && value == "":
			value = fallback
		case !ok && x.missing == "":
			x.missing = name
		}
		b.WriteString(value)
		s = after
	}
}

func (x *expander) lookup(name string) (string, bool) {
	if x.env == nil {
		return "", false
	}
	return x.env(name)
}

func (x *expander) secrets(pairs []Pair) map[string]event.Secret {
	if len(pairs) == 0 {
		return nil
	}
	m := make(map[string]event.Secret, len(pairs))
	for _, p := range pairs {
		m[p.Name] = event.NewSecret(x.expand(p.Value.Reveal()))
	}
	return m
}

func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
