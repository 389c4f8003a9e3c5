package config

import (
	"encoding/json"
	"fmt"
	"strings"

	"eventdeck/host/internal/jsonfile"
)

// Parse reads the text of a configuration. Unknown members are ignored: they belong to other
// clients of the same file. Comments and a comma after the last member are allowed.
//
// Errors: [ErrFile], with path, line and column.
func Parse(path string, raw []byte, env Env) (*File, error) {
	p := newParser(path, raw)
	if err := p.Syntax(`{"mcpServers": {}}`); err != nil {
		return nil, err
	}
	f := &File{Path: path, env: env}
	top, err := p.Object(0, len(p.Plain), "the file")
	if err != nil {
		return nil, err
	}
	list, ok := jsonfile.Find(top, "mcpServers")
	if !ok {
		if len(top) == 0 {
			return f, nil
		}
		return nil, p.Errorf(top[0].At, `there is no "mcpServers" member: put the servers into {"mcpServers": {…}}`)
	}
	servers, err := p.Object(list.Start, list.End, `"mcpServers"`)
	if err != nil {
		return nil, err
	}
	if err := p.unique(servers, "server %q", "rename"); err != nil {
		return nil, err
	}
	for _, m := range servers {
		if strings.TrimSpace(m.Key) == "" {
			return nil, p.Errorf(m.At, "a server has an empty name")
		}
		if err := checkName(m.Key); err != nil {
			return nil, p.Errorf(m.At, "%w", err)
		}
		e, err := p.server(m)
		if err != nil {
			return nil, err
		}
		f.servers = append(f.servers, e)
	}
	return f, nil
}

// parser reads the servers of a file.
type parser struct{ *jsonfile.Text }

func newParser(path string, raw []byte) *parser { return &parser{jsonfile.New(path, raw, ErrFile)} }

// unique refuses two members with one name. kind describes a member, with %q for the name; remedy
// is the verb for what to do with one of the two.
func (p *parser) unique(members []jsonfile.Member, kind, remedy string) error {
	for i, m := range members {
		if err := p.isFirst(members[:i], m, kind, remedy); err != nil {
			return err
		}
	}
	return nil
}

// isFirst refuses a member whose name is among those before it.
func (p *parser) isFirst(before []jsonfile.Member, m jsonfile.Member, kind, remedy string) error {
	first, twice := jsonfile.Find(before, m.Key)
	if !twice {
		return nil
	}
	line, _ := p.Position(first.At)
	return p.Errorf(m.At, kind+" is there twice, first on line %d; %s one of them", m.Key, line, remedy)
}

// server reads one server.
func (p *parser) server(m jsonfile.Member) (entry, error) {
	e := entry{name: m.Key, where: p.Where(m.At)}
	fields, err := p.Object(m.Start, m.End, fmt.Sprintf("server %q", m.Key))
	if err != nil {
		return entry{}, err
	}
	plain := map[string]any{
		"command": &e.command, "args": &e.args, "cwd": &e.dir, "url": &e.url,
		"allowUnsigned": &e.unsigned, "requireServerKey": &e.serverKey, "caFile": &e.caFile,
	}
	for _, f := range fields {
		if to := plain[f.Key]; to != nil {
			err = p.value(e, f, to)
		}
		switch f.Key {
		case "oauth":
			err = p.oauth(&e, f)
		case "transport", "type":
			err = p.transport(&e, f)
		case "env":
			e.env, err = p.pairs(e, f)
		case "headers":
			e.headers, err = p.pairs(e, f)
		}
		if err != nil {
			return entry{}, err
		}
	}
	switch {
	case e.command == "" && e.url == "":
		return entry{}, p.Errorf(m.At, `server %q needs a "command" or a "url"`, e.name)
	case e.command != "" && e.url != "":
		return entry{}, p.Errorf(m.At, `server %q has both a "command" and a "url"; remove one`, e.name)
	case e.url != "" && e.transport == hintStdio:
		return entry{}, p.Errorf(m.At, `server %q has a "url", but its transport is stdio; give a "command" or another transport`, e.name)
	}
	return e, nil
}

// transport reads the hints that clients use. An unknown "type" is ignored: it may be another
// client's.
func (p *parser) transport(e *entry, f jsonfile.Member) error {
	var hint string
	if err := p.value(*e, f, &hint); err != nil {
		return err
	}
	known, ok := transports()[strings.ToLower(hint)]
	switch {
	case ok:
		e.transport = known
	case f.Key == "transport":
		return p.Errorf(f.Start, `server %q: "transport" is %q; use http, sse, ws, h2c or stdio`, e.name, hint)
	}
	return nil
}

// value reads a string, a list of strings, a boolean or an integer.
func (p *parser) value(e entry, f jsonfile.Member, to any) error {
	if json.Unmarshal(p.Plain[f.Start:f.End], to) == nil {
		return nil
	}
	shape := "a string"
	switch to.(type) {
	case *[]string:
		shape = "a list of strings"
	case *bool:
		shape = "true or false"
	case *int:
		shape = "a number"
	}
	return p.Errorf(f.Start, "server %q: %q must be %s", e.name, f.Key, shape)
}

// pairs reads an object of strings; null is an empty one.
func (p *parser) pairs(e entry, f jsonfile.Member) ([]Pair, error) {
	if string(p.Plain[f.Start:f.End]) == "null" {
		return nil, nil
	}
	members, err := p.Object(f.Start, f.End, fmt.Sprintf("server %q: %q", e.name, f.Key))
	if err != nil {
		return nil, err
	}
	pairs := make([]Pair, 0, len(members))
	for _, m := range members {
		var v string
		if err := p.value(e, m, &v); err != nil {
			return nil, err
		}
		pairs = append(pairs, newPair(m.Key, v))
	}
	return pairs, nil
}
