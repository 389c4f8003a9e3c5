package rules

import (
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode"

	"eventdeck/host/internal/jsonfile"
	"eventdeck/host/react"
)

// acts parses the acts that a model may choose.
func (p *parser) acts(m member, server string) (out []react.Act) {
	list, ok := p.object(m, `"acts"`, anyMember)
	if !ok {
		return nil
	}
	if len(list) == 0 || len(list) > maxActs {
		p.wrong(m.Start, fmt.Sprintf("1 to %d acts", maxActs), "there are %d acts", len(list))
		return nil
	}
	for _, m := range list {
		out = append(out, p.act(m, server))
	}
	return out
}

func (p *parser) act(m member, server string) react.Act {
	a := react.Act{Name: m.Key, Mode: react.ModeAsk}
	p.name(m, "an act")
	members, ok := p.object(m, fmt.Sprintf("act %q", m.Key), "mode", "args", "do")
	if !ok {
		return a
	}
	for _, m := range members {
		switch m.Key {
		case "mode":
			choice(p, m, &a.Mode, react.ModeAsk, react.ModeAuto)
		case "args":
			a.Args = p.args(m)
		case "do":
			p.do(m, &a.Do, server, plainActs)
		}
	}
	if _, ok := jsonfile.Find(members, "do"); !ok {
		p.wrong(m.Start, `"do": {"note": "TEXT"}, or a command or a webhook`, "act %q does not say what it does", m.Key)
	}
	return a
}

const argShape = `{"enum": ["a", "b"]}, {"number": {"min": 1, "max": 5}}, {"bool": true} or {"pattern": "INC-[0-9]+"}`

func (p *parser) args(m member) (out []react.Arg) {
	for _, m := range p.entries(m, maxArgs, "arguments") {
		out = append(out, p.arg(m))
	}
	return out
}

// arg parses one argument. A model cannot pass free text: the value is one of a list, a number, a
// boolean, or an id.
func (p *parser) arg(m member) react.Arg {
	a := react.Arg{Name: m.Key}
	if strings.TrimSpace(m.Key) == "" || len(m.Key) > maxValue {
		p.wrong(m.At, fmt.Sprintf("a name of at most %d bytes", maxValue), "an argument has %d bytes of name", len(m.Key))
	}
	members, ok := p.object(m, fmt.Sprintf("argument %q", m.Key), "enum", "number", "bool", "pattern")
	if !ok {
		return a
	}
	if len(members) != 1 {
		p.wrong(m.Start, "one of "+argShape, "argument %q says %d times what it may be", m.Key, len(members))
		return a
	}
	switch m := members[0]; m.Key {
	case "enum":
		a.Enum = p.values(m)
	case "number":
		a.Number = p.bounds(m)
	case "bool":
		if p.truth(m, &a.Bool); !a.Bool {
			p.wrong(m.Start, "true", `"bool" is %s`, short(p.Value(m)))
		}
	case "pattern":
		a.Pattern = p.pattern(m)
	}
	return a
}

func (p *parser) values(m member) []string {
	items, ok := p.list(m, `values such as ["a", "b"]`)
	if !ok {
		return nil
	}
	if len(items) == 0 || len(items) > maxValues {
		p.wrong(m.Start, fmt.Sprintf("1 to %d values", maxValues), "%q has %d values", m.Key, len(items))
	}
	for _, i := range items {
		if len(i.text) > maxValue {
			p.wrong(i.at, fmt.Sprintf("at most %d bytes", maxValue), "a value has %d bytes", len(i.text))
		}
	}
	return texts(items)
}

func (p *parser) bounds(m member) *react.Range {
	r := &react.Range{}
	members, ok := p.object(m, `"number"`, "min", "max")
	for _, m := range members {
		to := &r.Min
		if m.Key == "max" {
			to = &r.Max
		}
		p.value(m, to, "a number")
	}
	if ok && (len(members) < 2 || r.Min > r.Max) {
		p.wrong(m.Start, `{"min": 1, "max": 5}`, `"number" has no bounds with something between them`)
	}
	return r
}

// pattern parses the pattern of an id. A pattern that matches blanks or characters outside of
// ASCII would allow free text of a model.
func (p *parser) pattern(m member) string {
	const shape = `a pattern (RE2) of an id, such as "INC-[0-9]+"`
	text, ok := p.text(m, shape)
	if !ok {
		return ""
	}
	re, err := syntax.Parse(text, syntax.Perl)
	switch {
	case err != nil || len(text) > maxValue:
		p.wrong(m.Start, shape, `"pattern" is no pattern of at most %d bytes`, maxValue)
	case !takesIDsOnly(re):
		p.wrong(m.Start, `letters, digits and marks by name, such as "[A-Za-z0-9_-]+"`, `"pattern" takes blanks or characters outside of ASCII`)
	}
	return text
}

// takesIDsOnly reports whether a pattern matches only visible ASCII without blanks.
func takesIDsOnly(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return false
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if !visible(re.Rune[i]) || !visible(re.Rune[i+1]) {
				return false
			}
		}
	case syntax.OpLiteral:
		for _, c := range re.Rune {
			if !visible(c) {
				return false
			}
			for f := unicode.SimpleFold(c); re.Flags&syntax.FoldCase != 0 && f != c; f = unicode.SimpleFold(f) {
				if !visible(f) {
					return false
				}
			}
		}
	}
	for _, sub := range re.Sub {
		if !takesIDsOnly(sub) {
			return false
		}
	}
	return true
}

func visible(c rune) bool { return c > ' ' && c <= '~' }
