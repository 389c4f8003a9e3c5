package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"eventdeck/host/internal/jsonfile"
)

// Found is a server in the configuration of another MCP client.
type Found struct {
	Draft            // under the name that it would get here
	Client  string   // the program's name
	Path    string   // its file
	There   string   // the server's name in that file
	Have    bool     // the server is configured here already
	Off     bool     // it is disabled there
	Also    []string // other files with the same server
	Notes   []string // what the operator should know before using it
	Problem string   // why it cannot be imported, "" if it can
}

// Usable reports whether the server can be added here.
func (f Found) Usable() bool { return f.Problem == "" && !f.Have }

// maxForeign bounds the file of another client, in bytes.
const maxForeign = 64 << 20

// Discover reads the files of the known MCP clients, as far as they exist, and returns their
// servers. present is the directory whose project files are read, "" for none. Nothing is started,
// connected to or written.
//
// A server whose name is taken gets another name; one that is configured here already, or was found
// before, is marked as such. errs has the files that cannot be read; the others are read all the
// same.
//
// Errors in errs: [ErrFile].
func Discover(p Paths, present string, have []Draft) (found []Found, errs []error) {
	seen := map[string]bool{}
	for _, c := range clients {
		for _, at := range c.files {
			dir := p.dir(at.base, present)
			path := filepath.Join(dir, filepath.FromSlash(at.path))
			if dir == "" || seen[path+c.under[0]] {
				continue
			}
			seen[path+c.under[0]] = true
			servers, err := c.read(path)
			if err != nil {
				errs = append(errs, err)
			}
			for _, s := range servers {
				found = collect(found, c.found(s, path, p, dir), have)
			}
		}
	}
	return found, errs
}

// DiscoverFile is [Discover] for one file of any client: JSON, TOML or YAML by its name, with the
// servers where any known client has them.
func DiscoverFile(p Paths, path string, have []Draft) (found []Found, errs []error) {
	extension := strings.ToLower(filepath.Ext(path))
	isTOML, isYAML := extension == ".toml", extension == ".yaml" || extension == ".yml"
	if _, err := os.Stat(path); err != nil {
		return nil, []error{fmt.Errorf("%w: %w", ErrFile, err)}
	}
	var tried [][]string
	for _, c := range clients {
		if c.toml != isTOML || c.yaml != isYAML || slices.ContainsFunc(tried, func(under []string) bool { return slices.Equal(under, c.under) }) {
			continue
		}
		tried = append(tried, c.under)
		servers, err := c.read(path)
		if err != nil {
			return nil, []error{err}
		}
		c.name = filepath.Base(path)
		for _, s := range servers {
			if f := c.found(s, path, p, filepath.Dir(path)); f.Command != "" || f.URL != "" || c.under[0] != "mcp" {
				found = collect(found, f, have)
			}
		}
	}
	if len(found) == 0 {
		errs = append(errs, fmt.Errorf("%w: %s: there are no MCP servers in it", ErrFile, path))
	}
	return found, errs
}

// collect adds a server to the found ones, or adds its file to a server that was found before.
func collect(all []Found, f Found, have []Draft) []Found {
	for i := range all {
		if o := &all[i]; f.Problem == "" && o.same(f.Draft) {
			o.Also = append(o.Also, f.Path)
			if o.Off && !f.Off { // one client switched it off, another uses it
				o.Off, o.Notes = false, f.Notes
			}
			return all
		}
	}
	taken := func(name string) bool {
		return slices.ContainsFunc(have, func(d Draft) bool { return d.Name == name }) ||
			slices.ContainsFunc(all, func(o Found) bool { return o.Name == name && o.Usable() })
	}
	f.Have = slices.ContainsFunc(have, f.same)
	for n, name := 2, f.There+"-"+short(f.Client); f.Usable() && taken(f.Name); n++ {
		f.Name = name
		name = fmt.Sprintf("%s-%s-%d", f.There, short(f.Client), n)
	}
	return append(all, f)
}

func short(client string) string {
	return strings.ReplaceAll(strings.ToLower(client), " ", "-")
}

// foreign is a server as another client writes it: the union of their members.
type foreign struct {
	name string

	Command     json.RawMessage `json:"command"` // a string, a list of words, or an object
	Args        []string        `json:"args"`
	Env         map[string]any  `json:"env"`
	Environment map[string]any  `json:"environment"`
	Dir         string          `json:"cwd"`

	Type      string `json:"type"`
	Transport string `json:"transport"`
	URL       string `json:"url"`
	HTTPURL   string `json:"httpUrl"`
	ServerURL string `json:"serverUrl"`

	Headers    map[string]any    `json:"headers"`
	Static     map[string]any    `json:"http_headers"`
	FromEnv    map[string]string `json:"env_http_headers"`
	BearerFrom string            `json:"bearer_token_env_var"`

	APIKey string          `json:"apiKey"`
	OAuth  json.RawMessage `json:"oauth"` // an object; false or true at some clients
	Auth   json.RawMessage `json:"auth"`
	Scopes any             `json:"scopes"`

	Inherit any `json:"env_vars"` // names, or objects with a name

	Disabled bool  `json:"disabled"`
	Enabled  *bool `json:"enabled"`

	Keyring []string `json:"-"` // variables whose values the client keeps in its keyring

	unread  []string // members that may matter and are not read
	problem string
}

// foreignMembers are the members of [foreign].
var foreignMembers = []string{
	"command", "args", "env", "environment", "cwd", "type", "transport", "url", "httpUrl", "serverUrl", "headers", "http_headers",
	"env_http_headers", "bearer_token_env_var", "apiKey", "oauth", "auth", "scopes", "env_vars", "disabled", "enabled",
}

// read returns the servers of one file, none if it does not exist.
func (c client) read(path string) ([]foreign, error) {
	most := maxForeign
	switch {
	case c.yaml:
		most = maxYAML
	case c.toml:
		most = maxTOML
	}
	raw, err := jsonfile.Read(path, most, false)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	case c.yaml:
		servers, err := fromYAML(raw, c.under[0])
		if err != nil {
			err = fmt.Errorf("%w: %s: %w", ErrFile, path, err)
		}
		return servers, err
	case c.toml:
		if raw, err = fromTOML(raw); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrFile, path, err)
		}
	}
	p := newParser(path, raw)
	if len(bytes.TrimSpace(p.Plain)) == 0 {
		return nil, nil
	}
	if err := p.Syntax(`{"mcpServers": {}}`); err != nil {
		return nil, err
	}
	servers, err := p.below(0, len(p.Plain), c.under)
	if err != nil || c.name != "Claude Code" {
		return servers, err
	}
	return c.projects(p, servers)
}

// projects adds the servers that Claude Code has for single projects.
func (c client) projects(p *parser, servers []foreign) ([]foreign, error) {
	top, err := p.Object(0, len(p.Plain), "the file")
	if err != nil {
		return servers, err
	}
	list, ok := jsonfile.Find(top, "projects")
	if !ok {
		return servers, nil
	}
	folders, err := p.Object(list.Start, list.End, `"projects"`)
	for _, f := range folders {
		more, e := p.below(f.Start, f.End, c.under)
		servers, err = append(servers, more...), errors.Join(err, e)
	}
	return servers, err
}

// below returns the servers under a path of members.
func (p *parser) below(start, end int, names []string) ([]foreign, error) {
	what := "the file"
	for _, name := range names {
		list, err := p.Object(start, end, what)
		if err != nil {
			return nil, err
		}
		m, ok := jsonfile.Find(list, name)
		if !ok || string(p.Plain[m.Start:m.End]) == "null" {
			return nil, nil
		}
		start, end, what = m.Start, m.End, fmt.Sprintf("%q", name)
	}
	list, err := p.Object(start, end, what)
	var servers []foreign
	for _, m := range list {
		f := foreign{name: m.Key}
		if json.Unmarshal(p.Plain[m.Start:m.End], &f) != nil {
			f = foreign{name: m.Key, problem: "its description is not written as expected"}
		} else if members, err := p.Object(m.Start, m.End, "server"); err == nil {
			for _, member := range members {
				if !slices.Contains(foreignMembers, member.Key) && !slices.Contains(membersOfOthers, member.Key) {
					f.unread = append(f.unread, member.Key)
				}
			}
		}
		servers = append(servers, f)
	}
	return servers, err
}
