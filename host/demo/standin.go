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

// answer returns the stand-in's answer: it calls the tools that read once their arguments are
// known, then those that change something, and then it reports. It calls each tool once.
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

// outside returns the texts of others: envelopes and results of tools.
func (q question) outside() (all []string) {
	for _, m := range q.Messages {
		if m.Role == "user" || m.Role == "tool" {
			all = append(all, m.Content)
		}
	}
	return all
}

// called returns the tools that were called already.
func (q question) called() map[string]bool {
	all := map[string]bool{}
	for _, m := range q.Messages {
		for _, c := range m.Calls {
			all[c.Function.Name] = true
		}
	}
	return all
}

// readers are the first words in the names of tools that change nothing.
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

// callsOf returns the possible calls of tools that read, or of the others, that were not called
// yet.
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

// fill returns values for the required parameters of a tool, and for others with a known value. ok
// is false if a required one has none.
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

// value returns the known value of a parameter (found), or a guess, or nil.
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

// fitting returns the first word that matches a pattern.
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

// lazy compiles an expression at its first use: most runs of the program need none.
func lazy(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

var word = lazy(`[A-Za-z0-9][A-Za-z0-9_.:@/-]*[A-Za-z0-9]`)

// words returns the words of a text in their order, each once, including names of incidents and
// deploys.
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

// finding reports what was seen and done.
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

// choose answers with one of the acts in the instruction: the first whose arguments are all known,
// else the first for which they can be guessed.
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

// actArgs reads the arguments of an act in the instruction.
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
