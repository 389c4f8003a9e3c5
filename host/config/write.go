package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"eventdeck/host/internal/jsonfile"
)

// ErrTaken: a server of that name is configured already.
var ErrTaken = errors.New("name taken")

// schemaFile is the schema beside a new configuration, for editors.
const schemaFile = "servers.schema.json"

// Add adds servers to the file at path, and makes the file if it does not exist. The rest of the
// file stays: other members, comments, the layout. The file is replaced as a whole or not at all,
// and afterwards only its owner can read it, because headers and variables may be secrets.
//
// Errors: [ErrDraft], [ErrTaken], [ErrFile].
func Add(path string, drafts ...Draft) error {
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		target = path
	} else if err != nil {
		return fmt.Errorf("%w: %w", ErrFile, err)
	}
	raw, err := readOwn(target, false)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text := bytes.TrimPrefix(raw, []byte("\ufeff"))
	empty := len(bytes.TrimSpace(text)) == 0
	if empty {
		text = []byte("{\n  \"$schema\": \"./" + schemaFile + "\",\n  \"mcpServers\": {}\n}\n")
	}
	for _, d := range drafts {
		if text, err = insert(path, text, d); err != nil {
			return err
		}
	}
	if err := jsonfile.Replace(target, raw, text, 0o600, ErrFile); err != nil || !empty {
		return err
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(target), schemaFile), Schema("servers"), 0o600); err != nil {
		return fmt.Errorf("%w: the servers are added, but not their schema: %w", ErrFile, err)
	}
	return nil
}

// insert returns the text of a configuration with an added server.
func insert(path string, raw []byte, d Draft) ([]byte, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	p := newParser(path, raw)
	if err := p.Syntax(`{"mcpServers": {}}`); err != nil {
		return nil, err
	}
	top, err := p.Object(0, len(p.Plain), "the file")
	if err != nil {
		return nil, err
	}
	list, ok := jsonfile.Find(top, "mcpServers")
	if !ok {
		value := []byte("{\n    " + string(spell(d.Name)) + ": ")
		value = append(d.appendJSON(value, "    "), "\n  }"...)
		return verified(path, p.Insert(p.Top(), top, "mcpServers", value, "  "), d)
	}
	servers, err := p.Object(list.Start, list.End, `"mcpServers"`)
	if err != nil {
		return nil, err
	}
	if _, taken := jsonfile.Find(servers, d.Name); taken {
		return nil, fmt.Errorf("%w: %s has a server %q already; choose another name", ErrTaken, path, d.Name)
	}
	indent := p.Indent(list.At) + "  "
	if len(servers) > 0 {
		if own := p.Indent(servers[len(servers)-1].At); own != "" {
			indent = own
		}
	}
	return verified(path, p.Insert(list, servers, d.Name, d.appendJSON(nil, indent), indent), d)
}

// verified checks that the new text is read as intended.
func verified(path string, text []byte, d Draft) ([]byte, error) {
	f, err := Parse(path, text, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %q cannot be added without changing what stands there; add it by hand", err, d.Name)
	}
	for _, have := range f.Drafts() {
		if have.Name == d.Name && have.same(d) {
			return text, nil
		}
	}
	return nil, fmt.Errorf("%w: %s: %q cannot be added without changing what stands there; add it by hand", ErrFile, path, d.Name)
}

// Drafts returns the servers with variables not expanded.
func (f *File) Drafts() []Draft {
	drafts := make([]Draft, 0, len(f.servers))
	for _, e := range f.servers {
		drafts = append(drafts, Draft{
			Name: e.name, Command: e.command, Args: e.args, Dir: e.dir, URL: e.url,
			Env: e.env, Inherit: e.inherit, Headers: e.headers,
			Transport: e.transport, CAFile: e.caFile, oauth: e.oauth,
		})
	}
	return drafts
}
