// Package config reads the configuration of MCP servers: the mcpServers JSON that MCP clients
// share, addresses on the command line, and headers.
//
// Its input is written by the operator. It starts no process and opens no connection.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"eventdeck/host/event"
)

// Errors of this package.
var (
	// ErrFile: the configuration file cannot be read or is invalid. The text has the file's name
	// and, for its content, line and column.
	ErrFile = errors.New("configuration file")
	// ErrUnknown: no server of that name is configured, and it is no address.
	ErrUnknown = errors.New("unknown server")
	// ErrVariable: a value names an environment variable that is not set.
	ErrVariable = errors.New("environment variable not set")
	// ErrAddress: an address given on the command line cannot be used.
	ErrAddress = errors.New("server address")
	// ErrHeader: a header given on the command line is not "K: V".
	ErrHeader = errors.New("header")
)

// Env looks up an environment variable, as [os.LookupEnv] does.
type Env func(name string) (value string, ok bool)

// File is a configuration file: its servers in order. Environment variables are expanded when a
// server is requested, so that a variable that is missing for one server does not affect the
// others.
type File struct {
	Path    string // as it was given; "" if there is none
	servers []entry
	env     Env
}

type entry struct {
	name  string
	where string // file:line:column of the name

	command string
	args    []string
	env     []Pair
	inherit []string // variables of this process that a server's process gets too
	dir     string
	url     string
	headers []Pair

	transport string // a hint, "" if there is none
	caFile    string
	oauth     oauth
	unsigned  bool // unsigned deliveries are allowed
	serverKey bool // deliveries must be signed with a key of the server too

	off     bool     // switched off: only used where it is named
	ignored []string // members of other clients, which have no effect here
	fault   error    // the description cannot be used
}

// Load reads the file at path. A missing file is an error only if the operator named it; otherwise
// it is a configuration without servers.
//
// Errors: [ErrFile].
func Load(path string, named bool, env Env) (*File, error) {
	raw, err := readOwn(path, named)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		return &File{Path: path, env: env}, nil
	case err != nil:
		return nil, err
	}
	return Parse(path, raw, env)
}

// Names returns the names of the servers in the order of the file.
func (f *File) Names() []string {
	names := make([]string, len(f.servers))
	for i, e := range f.servers {
		names[i] = e.name
	}
	return names
}

// Remarks says which servers are switched off, and which members of the others have no effect here
// because they are other clients'.
func (f *File) Remarks() []string {
	var lines []string
	for _, e := range f.servers {
		switch {
		case e.fault != nil:
		case e.off:
			lines = append(lines, fmt.Sprintf("%s: server %q is switched off in the file; a command that names it uses it all the same", e.where, e.name))
		case len(e.ignored) > 0:
			lines = append(lines, fmt.Sprintf("%s: server %q: other clients' members without effect here: %s", e.where, e.name, strings.Join(e.ignored, ", ")))
		}
	}
	return lines
}

// All returns every server that is not switched off. An unusable one has a Fault, [ErrVariable] or
// [ErrFile].
func (f *File) All() []event.Server {
	servers := make([]event.Server, 0, len(f.servers))
	for _, e := range f.servers {
		if e.off && e.fault == nil {
			continue
		}
		s, err := e.server(f.env)
		if err != nil {
			s = event.Server{Name: e.name, Fault: err}
		}
		servers = append(servers, s)
	}
	return servers
}

// Find returns the server for arg: a configured name, an http, https, ws or wss address, or stdio:
// and a command line.
//
// Errors: [ErrUnknown], [ErrAddress], [ErrVariable], [ErrFile].
func (f *File) Find(arg string) (event.Server, error) {
	i := slices.IndexFunc(f.servers, func(e entry) bool { return e.name == arg })
	if i >= 0 {
		return f.servers[i].server(f.env)
	}
	if IsAddress(arg) {
		return parseAddress(arg)
	}
	return event.Server{}, f.unknown(arg)
}

func (f *File) unknown(arg string) error {
	if len(f.servers) == 0 {
		return fmt.Errorf("%w %q: none is configured in %s; give an http(s) or ws(s) URL or stdio:COMMAND instead", ErrUnknown, arg, cmp.Or(f.Path, "a file, as no home directory is known"))
	}
	if near := Nearest(arg, f.Names()); near != "" {
		return fmt.Errorf("%w %q: did you mean %q?", ErrUnknown, arg, near)
	}
	return fmt.Errorf("%w %q: `eventdeck servers` lists the configured ones, an http(s) or ws(s) URL or stdio:COMMAND works too", ErrUnknown, arg)
}

// server returns the server of an entry, with its variables expanded.
func (e entry) server(env Env) (event.Server, error) {
	if e.fault != nil {
		return event.Server{}, e.fault
	}
	x := expander{env: env}
	s := event.Server{
		Name:    e.name,
		Command: x.expand(e.command),
		Dir:     x.expand(e.dir),
		URL:     x.expand(e.url),
		Env:     x.secrets(e.env),
		Inherit: e.inherit,
		Headers: x.secrets(e.headers),
		CAFile:  x.expand(e.caFile),

		AllowUnsigned:    e.unsigned,
		RequireServerKey: e.serverKey,
	}
	var err error
	if s.OAuth, err = e.oauth.expand(&x); err != nil && x.missing == "" {
		return event.Server{}, fmt.Errorf("%w: %s: server %q: %w", ErrFile, e.where, e.name, err)
	}
	for _, a := range e.args {
		s.Args = append(s.Args, x.expand(a))
	}
	if x.missing != "" {
		return event.Server{}, fmt.Errorf("%w: %s: server %q needs ${%s}; set it, or take it out of the file", ErrVariable, e.where, e.name, x.missing)
	}
	if s.URL != "" {
		err := checkURL(s.URL)
		if err == nil {
			s.URL, s.Transport, err = applyHint(s.URL, e.transport)
		}
		if err != nil {
			return event.Server{}, fmt.Errorf("%w: %s: server %q: %w", ErrFile, e.where, e.name, err)
		}
	}
	for name, value := range s.Env {
		if !isVariable(name, value) {
			return event.Server{}, fmt.Errorf("%w: %s: server %q: %q is no environment variable: its name must not be empty or hold =, and nothing in it NUL", ErrFile, e.where, e.name, name)
		}
	}
	for name, value := range s.Headers {
		if err := checkHeader(name, value.Reveal()); err != nil {
			return event.Server{}, fmt.Errorf("%w: %s: server %q: %w", ErrFile, e.where, e.name, err)
		}
	}
	return s, nil
}
