package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"eventdeck/host/internal/jsonfile"
)

// Parse reads the text of a configuration. Members beside "mcpServers" are ignored: they belong to
// other clients of the same file. Comments and a comma after the last member are allowed. A mistake
// in one server is the fault of that server alone.
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
		f.servers = append(f.servers, p.server(m))
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
		if first, twice := jsonfile.Find(members[:i], m.Key); twice {
			line, _ := p.Position(first.At)
			return p.Errorf(m.At, kind+" is there twice, first on line %d; %s one of them", m.Key, line, remedy)
		}
	}
	return nil
}

// server reads one server; a mistake in it is its fault.
func (p *parser) server(m jsonfile.Member) entry {
	e := entry{name: m.Key, where: p.Where(m.At)}
	e.fault = p.describe(&e, m)
	return e
}

// describe reads the description of a server.
func (p *parser) describe(e *entry, m jsonfile.Member) error {
	fields, err := p.Object(m.Start, m.End, fmt.Sprintf("server %q", m.Key))
	if err != nil {
		return err
	}
	if err := p.unique(fields, fmt.Sprintf("server %q: ", m.Key)+"%q", "remove"); err != nil {
		return err
	}
	read := map[string]func(jsonfile.Member) error{
		"oauth":     func(f jsonfile.Member) error { return p.oauth(e, f) },
		"transport": func(f jsonfile.Member) error { return p.transport(e, f) },
		"type":      func(f jsonfile.Member) error { return p.transport(e, f) },
		"env":       func(f jsonfile.Member) (err error) { e.env, err = p.pairs(*e, f); return err },
		"headers":   func(f jsonfile.Member) (err error) { e.headers, err = p.pairs(*e, f); return err },
		"enabled": func(f jsonfile.Member) error {
			on := true
			err := p.value(*e, f, &on)
			e.off = e.off || !on
			return err
		},
	}
	for name, to := range map[string]any{
		"command": &e.command, "args": &e.args, "cwd": &e.dir, "inherit": &e.inherit, "url": &e.url, "disabled": &e.off,
		"allowUnsigned": &e.unsigned, "requireServerKey": &e.serverKey, "caFile": &e.caFile,
	} {
		read[name] = func(f jsonfile.Member) error { return p.value(*e, f, to) }
	}
	for _, f := range fields {
		if r := read[f.Key]; r != nil {
			err = r(f)
		} else if slices.Contains(membersOfOthers, f.Key) {
			e.ignored = append(e.ignored, f.Key)
		} else {
			err = p.unknown(*e, f, slices.Sorted(maps.Keys(read)))
		}
		if err != nil {
			return err
		}
	}
	switch {
	case e.command == "" && e.url == "":
		return p.Errorf(m.At, `server %q needs a "command" or a "url"`, e.name)
	case e.command != "" && e.url != "":
		return p.Errorf(m.At, `server %q has both a "command" and a "url"; remove one`, e.name)
	case e.url != "" && e.transport == hintStdio:
		return p.Errorf(m.At, `server %q has a "url", but its transport is stdio; give a "command" or another transport`, e.name)
	}
	return nil
}

// membersOfOthers are members that other MCP clients write and that have no effect here: they
// choose among tools, ask before calls, or are for their own screens. They change nothing about how
// a server is reached.
var membersOfOthers = []string{
	"alwaysAllow", "autoApprove", "autoStart", "categories", "dev", "description", "disabledTools", "disabled_tools", "displayName",
	"enabledTools", "enabled_tools", "excludeTools", "gallery", "icon", "iconUrl", "id", "includeTools",
	"initTimeout", "instructions", "name", "notes", "provider", "required", "sandbox", "sandboxEnabled", "scope", "source",
	"startup_timeout_ms", "startup_timeout_sec", "timeout", "title", "tool_timeout_sec", "tools", "trust", "version", "watchPaths",
}

// membersElsewhere are members of other MCP clients that do change how a server is reached, and
// what is written here instead.
var membersElsewhere = map[string]string{
	"httpUrl": `"url"`, "serverUrl": `"url" with "transport"`, "uri": `"url"`, "endpoint": `"url"`,
	"environment": `"env"`, "env_vars": `"inherit"`, "envs": `"env"`, "http_headers": `"headers"`, "requestInit": `"headers"`,
	"env_http_headers": `"headers" with ${NAME}`, "bearer_token_env_var": `"headers" with ${NAME}`, "apiKey": `"headers" with ${NAME}`,
	"headersHelper": `"headers" with ${NAME}`, "envFile": `"env" or "inherit"`, "auth": `"oauth"`, "scopes": `"oauth": {"scopes": …}`,
}

// unknown refuses a member that is not known: it may be a misspelt security option.
func (p *parser) unknown(e entry, f jsonfile.Member, names []string) error {
	if instead := membersElsewhere[f.Key]; instead != "" {
		return p.Errorf(f.At, "server %q: %q is another client's; write %s", e.name, f.Key, instead)
	}
	if near := meant(f.Key, names); near != "" {
		return p.Errorf(f.At, "server %q: there is no member %q; did you mean %q?", e.name, f.Key, near)
	}
	return p.Errorf(f.At, "server %q: there is no member %q; there are %s", e.name, f.Key, strings.Join(names, ", "))
}

// meant returns the name that differs from word only in letter case, or the nearest one.
func meant(word string, names []string) string {
	for _, name := range names {
		if strings.EqualFold(word, name) {
			return name
		}
	}
	return Nearest(word, names)
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
