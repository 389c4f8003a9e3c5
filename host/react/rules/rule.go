package rules

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/filter"
	"eventdeck/host/internal/jsonfile"
	"eventdeck/host/react"
)

// rule parses one rule and fills in the defaults.
func (p *parser) rule(m member) react.Rule {
	r := react.Rule{Name: m.Key, Where: p.Where(m.At), Wait: defaultWait, Age: defaultAge, Mode: react.ModeAsk, Lines: map[string]string{}}
	p.name(m, "a rule")
	what := fmt.Sprintf("rule %q", m.Key)
	members, ok := p.object(m, what, "on", "when", "key", "wait", "once", "age", "mode", "window", "limits", "do")
	if !ok {
		return r
	}
	for _, m := range members {
		r.Lines[m.Key] = p.Where(m.At)
	}
	// Members that others are checked against come first.
	each := func(name string, read func(member)) bool {
		m, ok := jsonfile.Find(members, name)
		if ok {
			read(m)
		}
		return ok
	}
	if !each("on", func(m member) { p.on(m, &r) }) {
		p.wrong(m.At, `"on": {"server": "NAME", "type": "TYPE"}`, "%s does not say what it listens to", what)
	}
	if !each("do", func(m member) { p.do(m, &r.Do, r.On.Server, anyAct) }) {
		p.wrong(m.At, `"do": {"note": "TEXT"}, or another act`, "%s does not say what it does", what)
	}
	each("when", func(m member) { p.when(m, &r) })
	each("key", func(m member) { r.Key = p.paths(m, &r) })
	each("wait", func(m member) { p.duration(m, &r.Wait, 0, maxWait) })
	each("once", func(m member) { p.once(m, &r) })
	each("age", func(m member) { p.duration(m, &r.Age, time.Second, maxAge) })
	each("mode", func(m member) { choice(p, m, &r.Mode, react.ModeShadow, react.ModeAsk, react.ModeAuto) })
	each("window", func(m member) { p.window(m, &r) })
	r.Limits = p.capped(defaultRule(r.Do))
	each("limits", func(m member) { p.readLimits(m, what, &r.Limits, p.limits, r.Lines) })
	return r
}

// capped lowers defaults to the limits of all rules.
func (p *parser) capped(l react.Limits) react.Limits {
	all := p.limits
	if l.Runs.Above(all.Runs) {
		l.Runs = all.Runs
	}
	l.Running, l.Queue, l.Tokens = min(l.Running, all.Running), min(l.Queue, all.Queue), min(l.Tokens, all.Tokens)
	l.Spend, l.Time = min(l.Spend, all.Spend), min(l.Time, all.Time)
	return l
}

// name refuses invalid names of rules, models and acts.
func (p *parser) name(m member, of string) {
	if !isName(m.Key) {
		p.wrong(m.At, "a name of a-z, 0-9 and -, at most 40 long", "the name of %s is %s", of, short([]byte(quoted(m.Key))))
	}
}

// isName reports whether a text is a valid name of a rule, a model or an act.
func isName(s string) bool {
	return s != "" && len(s) <= 40 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

func (p *parser) on(m member, r *react.Rule) {
	const shapeTypes = `the name of an event type, or the beginning of one such as "incident.*", or a list of them`
	var types []item
	r.On.Kind = event.KindEvent
	members, ok := p.object(m, `"on"`, "server", "type", "kind")
	if !ok {
		return
	}
	for _, m := range members {
		switch m.Key {
		case "server":
			if r.On.Server, ok = p.text(m, "the name of a server"); ok {
				p.server(m.Start, r.On.Server)
			}
		case "type":
			types = p.oneOrMore(m, "types", shapeTypes, maxTypes)
			r.On.Types = texts(types)
		case "kind":
			choice(p, m, &r.On.Kind, event.KindEvent, event.KindGap)
		}
	}
	p.needs(m, members, `"on"`, "server", `"server": "NAME"`)
	p.needs(m, members, `"on"`, "type", `"type": "NAME"`)
	for _, t := range types {
		p.eventType(t, r.On.Server)
	}
}

// server refuses unknown names of servers. An address needs no name.
func (p *parser) server(at int, name string) {
	if p.known.Servers == nil || slices.Contains(p.known.Servers, name) || strings.Contains(name, "://") || strings.HasPrefix(name, "stdio:") {
		return
	}
	write := nearest(name, p.known.Servers)
	if write == "" {
		write = "a server of servers.json; there is none yet"
	}
	p.wrong(at, write, "there is no server %s", short([]byte(quoted(name))))
}

// types returns the types that a server lists.
func (p *parser) types(server string) []event.Type {
	if p.known.Types == nil {
		return nil
	}
	return p.known.Types(server)
}

// eventType refuses a type that a server does not list, unless its events have names of their own.
func (p *parser) eventType(t item, server string) {
	list := p.types(server)
	names := make([]string, len(list))
	for i, listed := range list {
		if names[i] = listed.Name.Raw(); listed.Dialect != "" || event.NameMatches(t.text, names[i]) {
			return
		}
	}
	if len(list) > 0 {
		p.wrong(t.at, nearest(t.text, names), "server %q has no type %s", server, short([]byte(quoted(t.text))))
	}
}

func (p *parser) when(m member, r *react.Rule) {
	text, ok := p.text(m, "a filter such as \".severity=P1\"")
	if !ok {
		return
	}
	f, err := filter.Parse(text, p.now)
	var wrong *filter.Error
	if errors.As(err, &wrong) {
		at := m.Start
		if !strings.Contains(string(p.Value(m)), `\`) {
			at += 1 + min(wrong.At, len(text))
		}
		p.wrong(at, "", "%s", wrong.Says)
		return
	}
	r.When = text
	if f.Timed() {
		p.wrong(m.Start, `"age" for how old an event may be`, "since: and until: would stand still in a rule")
	}
	for _, path := range f.Paths() {
		p.path(m.Start, path, r)
	}
	for _, d := range f.Demands() {
		p.demand(m.Start, d, r)
	}
}

// oneOrMore parses a text or a list of 1 to most of them; none if that is a mistake.
func (p *parser) oneOrMore(m member, what, shape string, most int) []item {
	if raw := p.Value(m); len(raw) > 0 && raw[0] == '"' {
		text, ok := p.text(m, shape)
		if !ok {
			return nil
		}
		return []item{{at: m.Start, text: text}}
	}
	items, ok := p.list(m, shape)
	if ok && (len(items) == 0 || len(items) > most) {
		p.wrong(m.Start, fmt.Sprintf("1 to %d %s", most, what), "%q has %d %s", m.Key, len(items), what)
		return nil
	}
	return items
}

// paths parses one path or a list of them.
func (p *parser) paths(m member, r *react.Rule) []string {
	const shape = `a path such as ".service", or a list of them`
	items := p.oneOrMore(m, "paths", shape, maxPaths)
	for _, i := range items {
		path, err := filter.ParsePath(i.text)
		var wrong *filter.Error
		switch {
		case errors.As(err, &wrong):
			p.wrong(i.at, shape, "%q: %s", m.Key, wrong.Says)
		case r.On.Kind == event.KindEvent:
			p.path(i.at, path, r)
		}
	}
	return texts(items)
}

func (p *parser) once(m member, r *react.Rule) {
	members, ok := p.object(m, `"once"`, "by", "for")
	if !ok {
		return
	}
	for _, m := range members {
		if m.Key == "by" {
			r.Once.By = p.paths(m, r)
		} else {
			p.duration(m, &r.Once.For, time.Second, maxOnce)
		}
	}
	p.needs(m, members, `"once"`, "by", `"by": ".id"`)
	p.needs(m, members, `"once"`, "for", `"for": "6h"`)
}

func (p *parser) window(m member, r *react.Rule) {
	const shape = `{"count": 5, "within": "1m"}, {"rate": 100, "per": "1m"} or {"absent": "5m"}`
	members, ok := p.object(m, `"window"`, "count", "within", "rate", "per", "absent")
	if !ok {
		return
	}
	w := &r.Window
	var names []string
	for _, m := range members {
		names = append(names, m.Key)
		switch m.Key {
		case "count":
			p.number(m, &w.Count, 1, maxCount)
		case "rate":
			p.number(m, &w.Rate, 1, maxCount)
		case "within":
			p.duration(m, &w.Within, time.Second, maxWindow)
		case "per":
			p.duration(m, &w.Per, time.Second, maxWindow)
		case "absent":
			p.duration(m, &w.Absent, time.Second, maxWindow)
		}
	}
	switch set := strings.Join(names, " "); set {
	case "count within", "within count", "rate per", "per rate", "absent":
	default:
		p.wrong(m.Start, shape, `"window" has %s`, cmp.Or(strings.ReplaceAll(set, " ", " and "), "nothing"))
	}
	if w.Absent > 0 && r.On.Kind == event.KindGap {
		p.wrong(m.Start, `a window of events`, "the absence of gaps says nothing")
	}
}
