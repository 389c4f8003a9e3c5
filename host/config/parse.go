package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Parse reads the text of a configuration. Unknown members are left alone: they
// belong to other clients of the same file. Comments and a comma behind the last
// member are passed over.
//
// Errors: [ErrFile], with path, line and column.
func Parse(path string, raw []byte, env Env) (*File, error) {
	p := newParser(path, raw)
	if err := p.syntax(`{"mcpServers": {}}`); err != nil {
		return nil, err
	}
	f := &File{Path: path, env: env}
	top, err := p.object(0, len(p.raw), "the file")
	if err != nil {
		return nil, err
	}
	list, ok := find(top, "mcpServers")
	if !ok {
		if len(top) == 0 {
			return f, nil
		}
		return nil, p.errorf(top[0].at, `there is no "mcpServers" member: put the servers into {"mcpServers": {…}}`)
	}
	servers, err := p.object(list.start, list.end, `"mcpServers"`)
	if err != nil {
		return nil, err
	}
	for i, m := range servers {
		if strings.TrimSpace(m.key) == "" {
			return nil, p.errorf(m.at, "a server has an empty name")
		}
		if err := checkName(m.key); err != nil {
			return nil, p.errorf(m.at, "%w", err)
		}
		if first, ok := find(servers[:i], m.key); ok {
			line, _ := p.position(first.at)
			return nil, p.errorf(m.at, "server %q is there twice, first on line %d; rename one of them", m.key, line)
		}
		e, err := p.server(m)
		if err != nil {
			return nil, err
		}
		f.servers = append(f.servers, e)
	}
	return f, nil
}

// parser finds its way through a valid JSON text by offsets, so that every
// complaint can name a place.
type parser struct {
	path string
	raw  []byte
}

// newParser leaves out the byte order mark with which some editors begin a file.
func newParser(path string, raw []byte) parser {
	return parser{path: path, raw: plain(bytes.TrimPrefix(raw, []byte("\ufeff")), false)}
}

// member is one member of an object, with offsets into the text.
type member struct {
	key        string
	at         int // of the key
	start, end int // of the value
}

func find(members []member, key string) (member, bool) {
	for _, m := range members {
		if m.key == key {
			return m, true
		}
	}
	return member{}, false
}

// syntax refuses what is no JSON; least is what an empty file should hold.
func (p *parser) syntax(least string) error {
	if len(bytes.TrimSpace(p.raw)) == 0 {
		return p.errorf(0, "the file is empty; it should hold %s", least)
	}
	var v json.RawMessage
	err := json.Unmarshal(p.raw, &v)
	if err == nil {
		return nil
	}
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return p.errorf(0, "%w", err)
	}
	// The offset counts the byte that was wrong; at the end of the text there is
	// none.
	at := int(syntax.Offset)
	if at > 0 && !strings.Contains(syntax.Error(), "unexpected end") {
		at--
	}
	return p.errorf(at, "%w", err)
}

// position returns line and column of an offset, both from 1; columns count
// characters.
func (p *parser) position(at int) (line, column int) {
	before := p.raw[:min(max(at, 0), len(p.raw))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

func (p *parser) where(at int) string {
	line, column := p.position(at)
	return fmt.Sprintf("%s:%d:%d", p.path, line, column)
}

func (p *parser) errorf(at int, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %w", ErrFile, p.where(at), fmt.Errorf(format, args...))
}

// object returns the members of the object between two offsets.
func (p *parser) object(start, end int, what string) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(p.raw[start:end]))
	first := p.skip(start)
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, p.errorf(first, "%s must be an object", what)
	}
	var members []member
	for dec.More() {
		at := p.skip(start + int(dec.InputOffset()))
		tok, err := dec.Token()
		if err != nil {
			return nil, p.errorf(at, "%w", err)
		}
		key, _ := tok.(string)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, p.errorf(at, "%w", err)
		}
		stop := start + int(dec.InputOffset())
		members = append(members, member{key: key, at: at, start: stop - len(value), end: stop})
	}
	return members, nil
}

// skip returns the offset of the next token from at on.
func (p *parser) skip(at int) int {
	for at < len(p.raw) && strings.IndexByte(" \t\r\n,:", p.raw[at]) >= 0 {
		at++
	}
	return at
}

// server reads one server.
func (p *parser) server(m member) (entry, error) {
	e := entry{name: m.key, where: p.where(m.at)}
	fields, err := p.object(m.start, m.end, fmt.Sprintf("server %q", m.key))
	if err != nil {
		return entry{}, err
	}
	for _, f := range fields {
		switch f.key {
		case "command":
			err = p.value(e, f, &e.command, "a string")
		case "args":
			err = p.value(e, f, &e.args, "a list of strings")
		case "cwd":
			err = p.value(e, f, &e.dir, "a string")
		case "url":
			err = p.value(e, f, &e.url, "a string")
		case "allowUnsigned":
			err = p.value(e, f, &e.unsigned, "true or false")
		case "requireServerKey":
			err = p.value(e, f, &e.serverKey, "true or false")
		case "caFile":
			err = p.value(e, f, &e.caFile, "a string")
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
		return entry{}, p.errorf(m.at, `server %q needs a "command" or a "url"`, e.name)
	case e.command != "" && e.url != "":
		return entry{}, p.errorf(m.at, `server %q has both a "command" and a "url"; remove one`, e.name)
	case e.url != "" && e.transport == hintStdio:
		return entry{}, p.errorf(m.at, `server %q has a "url", but its transport is stdio; give a "command" or another transport`, e.name)
	}
	return e, nil
}

// transport reads the hints that clients use. A "type" of another client's
// making is left alone; it may mean something else there.
func (p *parser) transport(e *entry, f member) error {
	var hint string
	if err := p.value(*e, f, &hint, "a string"); err != nil {
		return err
	}
	known, ok := transports()[strings.ToLower(hint)]
	switch {
	case ok:
		e.transport = known
	case f.key == "transport":
		return p.errorf(f.start, `server %q: "transport" is %q; use http, sse, ws, h2c or stdio`, e.name, hint)
	}
	return nil
}

func (p *parser) value(e entry, f member, to any, shape string) error {
	if err := json.Unmarshal(p.raw[f.start:f.end], to); err != nil {
		return p.errorf(f.start, "server %q: %q must be %s", e.name, f.key, shape)
	}
	return nil
}

// pairs reads an object of strings; null is an empty one.
func (p *parser) pairs(e entry, f member) ([]pair, error) {
	if string(p.raw[f.start:f.end]) == "null" {
		return nil, nil
	}
	members, err := p.object(f.start, f.end, fmt.Sprintf("server %q: %q", e.name, f.key))
	if err != nil {
		return nil, err
	}
	pairs := make([]pair, 0, len(members))
	for _, m := range members {
		var v string
		if err := p.value(e, m, &v, "a string"); err != nil {
			return nil, err
		}
		pairs = append(pairs, pair{m.key, v})
	}
	return pairs, nil
}
