package demo

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// disclaimer is how the first answer of the stand-in begins.
const disclaimer = "This is a scripted stand-in and no model."

// answer says what the stand-in answers: it calls the tools that read, as soon as what they
// need was named; then those that change something; then it tells what it saw. Each tool is
// called once.
func (q question) answer() modelAnswer {
	known := words(strings.Join(q.outside(), "\n"))
	if q.Format.Type == "json_object" {
		return modelAnswer{text: q.choose(known)}
	}
	text := ""
	if !slices.ContainsFunc(q.roles(), func(role string) bool { return role == "assistant" }) {
		text = disclaimer + "\n"
	}
	for _, reads := range []bool{true, false} {
		if calls := q.callsOf(reads, known); len(calls) > 0 {
			var names []string
			for _, c := range calls {
				names = append(names, c.name)
			}
			return modelAnswer{text: text + "It calls " + strings.Join(names, " and ") + ".", calls: calls}
		}
	}
	return modelAnswer{text: text + q.finding(known)}
}

func (q question) roles() (all []string) {
	for _, m := range q.Messages {
		all = append(all, m.Role)
	}
	return all
}

// outside returns what others wrote: envelopes and results of tools.
func (q question) outside() (all []string) {
	for _, m := range q.Messages {
		if m.Role == "user" || m.Role == "tool" {
			all = append(all, m.Content)
		}
	}
	return all
}

// called returns the tools that were called before.
func (q question) called() map[string]bool {
	all := map[string]bool{}
	for _, m := range q.Messages {
		for _, c := range m.Calls {
			all[c.Function.Name] = true
		}
	}
	return all
}

// readers are how the names of tools begin that change nothing.
var readers = []string{"get", "list", "search", "find", "read", "show", "log", "count", "describe", "status"}

// own returns the name of a tool without its server.
func (o offered) own() string {
	_, name, found := strings.Cut(o.Name, "__")
	if !found {
		return o.Name
	}
	return name
}

func (o offered) reads() bool {
	first := strings.FieldsFunc(o.own(), func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	return len(first) > 0 && slices.Contains(readers, first[0])
}

// callsOf returns the calls that can be made of the tools that read, or of the others, and
// were not made before.
func (q question) callsOf(reads bool, known []string) (calls []toolCall) {
	called := q.called()
	for _, t := range q.Tools {
		if t.Function.reads() != reads || called[t.Function.Name] {
			continue
		}
		if args, ok := t.Function.fill(known); ok {
			calls = append(calls, toolCall{t.Function.Name, args})
		}
	}
	return calls
}

// fill gives the parameters that a tool needs, and others where what is known fits. ok is
// false when one that it needs is not known.
func (o offered) fill(known []string) (args map[string]any, ok bool) {
	args = map[string]any{}
	for name, p := range o.Parameters.Properties {
		value, found := p.value(known)
		needed := slices.Contains(o.Parameters.Required, name)
		switch {
		case found || needed && value != nil:
			args[name] = value
		case needed:
			return nil, false
		}
	}
	return args, true
}

// value returns what is known for a parameter, or what could be given all the same: nil if
// nothing.
func (p property) value(known []string) (value any, found bool) {
	switch {
	case len(p.Enum) > 0:
		for _, one := range p.Enum {
			if slices.Contains(known, one) {
				return one, true
			}
		}
		return p.Enum[0], false
	case p.Pattern != "":
		if word := fitting(p.Pattern, known); word != "" {
			return word, true
		}
		return nil, false
	case p.Type == "string":
		return "the script says so", false
	case p.Type == "boolean":
		return false, false
	case p.Type == "integer" || p.Type == "number":
		if p.Minimum != nil {
			return *p.Minimum, false
		}
		return 1, false
	}
	return nil, false
}

// fitting returns the first word that a pattern takes.
func fitting(pattern string, known []string) string {
	re, err := regexp.Compile(`^(?:` + pattern + `)$`)
	if err != nil {
		return ""
	}
	for _, word := range known {
		if re.MatchString(word) {
			return word
		}
	}
	return ""
}

// lazy compiles an expression when it is used first: most starts of the program need none.
func lazy(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

var word = lazy(`[A-Za-z0-9][A-Za-z0-9_.:@/-]*[A-Za-z0-9]`)

// words returns the words of a text in their order, each once, names of events and deploys
// among them.
func words(text string) (all []string) {
	seen := map[string]bool{}
	for _, w := range word().FindAllString(text, -1) {
		if !seen[w] {
			seen[w] = true
			all = append(all, w)
		}
	}
	return all
}

// finding tells what was seen and done.
func (q question) finding(known []string) string {
	incident, deploy := fitting(`INC-[0-9]+`, known), fitting(`d-[0-9]+`, known)
	var b strings.Builder
	switch {
	case incident != "" && deploy != "":
		fmt.Fprintf(&b, "%s began after deploy %s: the likely cause.", incident, deploy)
	case incident != "":
		fmt.Fprintf(&b, "The event is about %s; no deploy was named with it.", incident)
	default:
		b.WriteString("The event names no incident.")
	}
	for _, t := range q.Tools {
		if t.Function.reads() || !q.called()[t.Function.Name] {
			continue
		}
		fmt.Fprintf(&b, " %s was asked for.", t.Function.own())
	}
	return b.String()
}

var actLine = lazy(`(?m)^Act "([a-z0-9-]+)" with (.*)\.$`)

// choose answers with one of the acts that the instruction names: the first whose arguments
// are all known, else the first that can be given some.
func (q question) choose(known []string) string {
	best := ""
	for _, m := range q.Messages {
		if m.Role != "system" {
			continue
		}
		for _, act := range actLine().FindAllStringSubmatch(m.Content, -1) {
			args, possible, found := actArgs(act[2], known)
			if !possible {
				continue
			}
			raw, err := json.Marshal(map[string]any{"act": act[1], "args": args})
			if err != nil {
				panic("demo: a choice of our own cannot be spelled: " + err.Error())
			}
			if found {
				return string(raw)
			}
			if best == "" {
				best = string(raw)
			}
		}
	}
	if best == "" {
		return disclaimer + " It sees no act that it could choose."
	}
	return best
}

var actArg = lazy(`^"([^"]+)": (?:one of (\[.*\])|a number from (\S+) to \S+|(true) or false|a text that matches (.*))$`)

// actArgs reads the arguments of an act as the instruction tells them.
func actArgs(text string, known []string) (args map[string]any, possible, found bool) {
	args, found = map[string]any{}, true
	if text == "no arguments" {
		return args, true, true
	}
	for _, part := range strings.Split(text, "; ") {
		m := actArg().FindStringSubmatch(part)
		if m == nil {
			return nil, false, false
		}
		p := property{Pattern: m[5]}
		switch {
		case m[2] != "":
			if json.Unmarshal([]byte(m[2]), &p.Enum) != nil {
				return nil, false, false
			}
		case m[3] != "":
			args[m[1]] = json.Number(m[3])
			continue
		case m[4] != "":
			args[m[1]] = true
			continue
		}
		value, ok := p.value(known)
		if value == nil {
			return nil, false, false
		}
		args[m[1]], found = value, found && ok
	}
	return args, true, found
}
