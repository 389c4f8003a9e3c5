package rules

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"eventdeck/host/filter"
	"eventdeck/host/internal/jsonfile"
	"eventdeck/host/react"
)

func (p *parser) task(m member, to *react.Do, server string) {
	to.Task = &react.Task{}
	outer, _ := p.object(m, `"do" with a model`, modelMembers...)
	inner, members, ok := p.inner(outer, "model", "use", "task", "fields", "tools", "flows")
	if ok {
		p.asked(inner, members, to.Task, server, "use", "task")
	}
}

// inner parses an object that is a member of another one.
func (p *parser) inner(outer []member, name string, known ...string) (m member, members []member, ok bool) {
	if m, ok = jsonfile.Find(outer, name); ok {
		members, ok = p.object(m, strconv.Quote(name), known...)
	}
	return m, members, ok
}

func (p *parser) choose(m member, to *react.Do, server string) {
	to.Choice = &react.Choice{}
	outer, _ := p.object(m, `"do" with a choice`, chooseMembers...)
	inner, members, ok := p.inner(outer, "choose", "use", "task", "fields", "acts")
	if !ok {
		return
	}
	var t react.Task
	p.asked(inner, members, &t, server, "use", "task", "acts")
	to.Choice.Model, to.Choice.Task, to.Choice.Fields = t.Model, t.Task, t.Fields
	if m, ok := jsonfile.Find(members, "acts"); ok {
		to.Choice.Acts = p.acts(m, server)
	}
}

func (p *parser) agent(m member, to *react.Do, server string) {
	a := &react.Agent{}
	to.Agent = a
	members, ok := p.object(m, `"do" with an agent`, agentMembers...)
	if !ok {
		return
	}
	for _, m := range members {
		if m.Key == "session" {
			var session string
			choice(p, m, &session, "new", "keep")
			a.Keep = session == "keep"
			continue
		}
		p.program(m, &a.Command)
	}
	var t react.Task
	p.asked(m, members, &t, server, "task")
	a.Task, a.Fields, a.Tools, a.Flows = t.Task, t.Fields, t.Tools, t.Flows
	if a.Confine == nil && !a.Trusted {
		p.wrong(m.Start, `"confine": {"read": ["/srv/app"], "write": [], "net": true}, or "trusted": true`, "the agent is not confined")
	}
}

// asked parses the members about the question to a model or an agent. Some are required.
func (p *parser) asked(of member, members []member, t *react.Task, server string, needed ...string) {
	for _, m := range members {
		switch m.Key {
		case "use":
			t.Model = p.use(m)
		case "task":
			if t.Task, _ = p.text(m, "what the model is to do"); len(t.Task) > maxTask {
				p.wrong(m.Start, fmt.Sprintf("at most %d bytes", maxTask), `"task" has %d bytes`, len(t.Task))
			}
		case "fields":
			t.Fields = p.fields(m)
		case "tools":
			t.Tools = p.tools(m)
		}
	}
	if m, ok := jsonfile.Find(members, "flows"); ok { // between the servers of the tools
		t.Flows = p.flows(m, t.Tools, server)
	}
	ways := map[string]string{"use": `"use": "NAME" of a model`, "task": `"task": "TEXT"`, "acts": `"acts": {"NAME": {"do": {"note": "TEXT"}}}`}
	for _, name := range needed {
		if _, ok := jsonfile.Find(members, name); !ok {
			p.wrong(of.Start, ways[name], "%q is missing", name)
		}
	}
}

// fields parses paths. The dot before the name of a top-level member may be missing.
func (p *parser) fields(m member) (out []string) {
	const shape = `paths such as ["incidentId", ".user.name"]`
	items, ok := p.list(m, shape)
	if !ok {
		return nil
	}
	if len(items) == 0 || len(items) > maxFields {
		p.wrong(m.Start, fmt.Sprintf("1 to %d paths, or leave it out", maxFields), "%q has %d paths", m.Key, len(items))
		return nil
	}
	for _, i := range items {
		text := i.text
		if !strings.HasPrefix(text, ".") {
			text = "." + text
		}
		if _, err := filter.ParsePath(text); err != nil {
			p.wrong(i.at, shape, "%q is no path", i.text)
		}
		out = append(out, text)
	}
	return out
}

// tools parses the tools that a model may call.
func (p *parser) tools(m member) (out []react.Tool) {
	for _, m := range p.entries(m, maxTools, "tools") {
		if t, ok := p.tool(m); ok {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b react.Tool) int {
		return cmp.Or(strings.Compare(a.Server, b.Server), strings.Compare(a.Name, b.Name))
	})
	return out
}

func (p *parser) tool(m member) (t react.Tool, ok bool) {
	const classes = `"read", or "write" for what may change something`
	if t.Server, t.Name, ok = cutTool(m.Key); !ok || len(t.Name) > maxValue {
		p.wrong(m.At, `"SERVER/TOOL"`, "%s is no tool of a server", short([]byte(quoted(m.Key))))
		return t, false
	}
	p.server(m.At, t.Server)
	if raw := p.Value(m); len(raw) == 0 || raw[0] != '{' {
		p.class(m, &t.Class, classes)
		return t, true
	}
	members, ok := p.object(m, fmt.Sprintf("tool %q", m.Key), "class", "fix", "drop")
	for _, m := range members {
		switch m.Key {
		case "class":
			p.class(m, &t.Class, classes)
		case "fix":
			t.Fix = p.fixed(m)
		case "drop":
			items, _ := p.list(m, `names of parameters such as ["force"]`)
			t.Drop = texts(items)
		}
	}
	if _, has := jsonfile.Find(members, "class"); ok && !has {
		p.wrong(m.Start, `"class": `+classes, "tool %q has no class", m.Key)
	}
	drop, _ := jsonfile.Find(members, "drop")
	for _, name := range t.Drop {
		if _, twice := t.Fix[name]; twice {
			p.wrong(drop.Start, "one of them", "%s is both fixed and dropped", short([]byte(quoted(name))))
		}
	}
	if len(t.Drop) > maxArgs || len(t.Fix) > maxArgs {
		p.wrong(m.Start, fmt.Sprintf("at most %d", maxArgs), "tool %q has too many parameters", m.Key)
	}
	return t, true
}

// cutTool splits SERVER/TOOL. Names of tools may contain slashes; a server only if it is an
// address.
func cutTool(text string) (server, tool string, ok bool) {
	at := strings.IndexByte(text, '/')
	if strings.Contains(text, "://") || strings.HasPrefix(text, "stdio:") {
		at = strings.LastIndexByte(text, '/')
	}
	if at < 1 || at == len(text)-1 {
		return "", "", false
	}
	return text[:at], text[at+1:], true
}

func (p *parser) class(m member, to *react.ToolClass, shape string) {
	var s string
	if !p.value(m, &s, shape) {
		return
	}
	if *to = react.ToolClass(s); *to != react.ToolRead && *to != react.ToolWrite {
		p.wrong(m.Start, shape+"; leave out what must not be called", "%q is %q", m.Key, s)
	}
}

func (p *parser) fixed(m member) map[string]json.RawMessage {
	members, ok := p.object(m, `"fix"`, anyMember)
	if !ok || len(members) == 0 {
		return nil
	}
	out := map[string]json.RawMessage{}
	for _, m := range members {
		var b bytes.Buffer
		if err := json.Compact(&b, p.Value(m)); err != nil || b.Len() > maxText {
			p.wrong(m.Start, fmt.Sprintf("a value of at most %d bytes", maxText), "%q has %d bytes", m.Key, b.Len())
		}
		out[m.Key] = b.Bytes()
	}
	return out
}

// flows parses between which servers content may go in arguments. A flow without effect is a
// mistake: it may be meant for another server.
func (p *parser) flows(m member, tools []react.Tool, server string) (out []react.Flow) {
	const shape = `["FROM>TO"], two servers`
	items, ok := p.list(m, shape)
	if !ok {
		return nil
	}
	froms, tos := []string{server}, []string(nil)
	for _, t := range tools {
		froms = append(froms, t.Server)
		if t.Class == react.ToolRead {
			tos = append(tos, t.Server)
		}
	}
	for _, i := range items {
		from, to, ok := strings.Cut(i.text, ">")
		switch {
		case !ok || from == "" || to == "" || from == to:
			p.wrong(i.at, shape, "%q is %s", m.Key, short([]byte(quoted(i.text))))
		case !slices.Contains(froms, from):
			p.wrong(i.at, nearest(from, froms), "nothing comes from %s", short([]byte(quoted(from))))
		case !slices.Contains(tos, to):
			p.wrong(i.at, "a server with a tool of class read; calls of others ask always", "there is no tool of class read of %s", short([]byte(quoted(to))))
		default:
			out = append(out, react.Flow{From: from, To: to})
		}
	}
	return out
}
