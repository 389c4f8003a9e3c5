package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/http/httpguts"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// ErrDraft: the description of a server cannot be used; the text says why.
var ErrDraft = errors.New("server")

// Draft is a server as it is written in the file, with variables not expanded.
type Draft struct {
	Name string

	// Either a process …
	Command string
	Args    []string
	Env     []Pair
	Inherit []string // variables of this process that the server's gets too
	Dir     string

	// … or an address.
	URL       string
	Headers   []Pair
	Transport string // a hint: http, sse, ws or h2c; "": it is detected
	CAFile    string // certificates that are trusted beside the system's
	oauth     oauth
}

// Pair is an environment variable or a header.
type Pair struct {
	Name  string
	Value event.Secret // may hold ${NAME}
}

func newPair(name, value string) Pair { return Pair{name, event.NewSecret(value)} }

// Check reports whether the draft can be saved. Variables need not be set yet.
//
// Errors: [ErrDraft].
func (d Draft) Check() error {
	switch {
	case d.Name == "":
		return fmt.Errorf("%w: it needs a name", ErrDraft)
	case d.Name != strings.TrimSpace(d.Name) || strings.IndexFunc(d.Name, func(r rune) bool { return !unicode.IsGraphic(r) }) >= 0:
		return fmt.Errorf("%w: the name %q has blanks at an end or characters that cannot be seen", ErrDraft, d.Name)
	case checkName(d.Name) != nil:
		return fmt.Errorf("%w: %w", ErrDraft, checkName(d.Name))
	case IsAddress(d.Name):
		return fmt.Errorf("%w: %q is an address; a name is a word for it", ErrDraft, d.Name)
	case d.Command == "" && d.URL == "":
		return fmt.Errorf("%w %q: give it a URL or a command", ErrDraft, d.Name)
	case d.Command != "" && d.URL != "":
		return fmt.Errorf("%w %q: it has both a URL and a command", ErrDraft, d.Name)
	}
	if d.URL != "" && !strings.Contains(d.URL, "${") {
		if err := checkURL(d.URL); err != nil {
			return fmt.Errorf("%w %q: %w", ErrDraft, d.Name, err)
		}
	}
	if _, ok := transports()[d.Transport]; !ok && d.Transport != "" {
		return fmt.Errorf("%w %q: there is no transport %q; use http, sse, ws or h2c, or leave it out", ErrDraft, d.Name, d.Transport)
	}
	for _, h := range d.Headers {
		if !httpguts.ValidHeaderFieldName(h.Name) || !httpguts.ValidHeaderFieldValue(h.Value.Reveal()) {
			return fmt.Errorf("%w %q: %q is no header, or its value holds characters that no header may have", ErrDraft, d.Name, h.Name)
		}
	}
	for _, e := range d.Env {
		if !isVariable(e.Name, e.Value) {
			return fmt.Errorf("%w %q: %q is no environment variable", ErrDraft, d.Name, e.Name)
		}
	}
	return nil
}

// isVariable reports whether this is a valid environment variable.
func isVariable(name string, value event.Secret) bool {
	return name != "" && !strings.ContainsAny(name, "=\x00") && !strings.Contains(value.Reveal(), "\x00")
}

// Server returns the server that the draft describes, with its variables expanded.
//
// Errors: [ErrDraft], [ErrVariable], [ErrFile].
func (d Draft) Server(env Env) (event.Server, error) {
	if err := d.Check(); err != nil {
		return event.Server{}, err
	}
	e := entry{
		name: d.Name, where: "here", command: d.Command, args: d.Args, dir: d.Dir, url: d.URL,
		env: d.Env, inherit: d.Inherit, headers: d.Headers, transport: d.Transport, caFile: d.CAFile, oauth: d.oauth,
	}
	return e.server(env)
}

// What returns what the draft connects to or runs, for the operator: the address, or the command
// with its arguments. It is without secrets: those of the address and the arguments are masked, and
// values of headers and variables are left out.
func (d Draft) What() string {
	if d.URL != "" {
		return event.PublicAddress(d.URL)
	}
	if d.Command == "" {
		return ""
	}
	words := event.PublicWords(append([]string{d.Command}, d.Args...))
	for i, w := range words {
		words[i] = quote(w)
	}
	return strings.Join(words, " ")
}

func quote(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n\r'\"\\") {
		return word
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(word) + `"`
}

// same reports whether two drafts reach the same server in the same way, with the same credentials:
// two accounts at one address are two servers.
func (d Draft) same(o Draft) bool {
	return d.URL == o.URL && d.Command == o.Command && slices.Equal(d.Args, o.Args) && d.Dir == o.Dir &&
		d.Transport == o.Transport && reflect.DeepEqual(d.oauth, o.oauth) && d.CAFile == o.CAFile && sameNames(d.Inherit, o.Inherit) &&
		maps.Equal(values(d.Env), values(o.Env)) && maps.Equal(values(d.Headers), values(o.Headers))
}

func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func values(pairs []Pair) map[string]string {
	m := make(map[string]string, len(pairs))
	for _, p := range pairs {
		m[p.Name] = p.Value.Reveal()
	}
	return m
}

// appendJSON appends the draft as indented JSON.
func (d Draft) appendJSON(b []byte, prefix string) []byte {
	inner := prefix + "  "
	first := true
	member := func(name string, value []byte) {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(append(append(b, '\n'), inner...), '"')
		b = append(append(b, name...), `": `...)
		b = append(b, value...)
	}
	text := func(name, s string) {
		if s != "" {
			member(name, spell(s))
		}
	}
	object := func(name string, list []Pair) {
		if len(list) == 0 {
			return
		}
		v := []byte{'{'}
		for i, p := range list {
			if i > 0 {
				v = append(v, ',')
			}
			v = append(append(append(v, '\n'), inner...), "  "...)
			v = append(append(append(v, spell(p.Name)...), ": "...), spell(p.Value.Reveal())...)
		}
		member(name, append(append(append(v, '\n'), inner...), '}'))
	}
	b = append(b, '{')
	text("url", d.URL)
	text("transport", d.Transport)
	text("caFile", d.CAFile)
	object("headers", d.Headers)
	if o := d.oauth.members(); len(o) > 0 {
		member("oauth", append(append([]byte{'{'}, bytes.Join(o, []byte(", "))...), '}'))
	}
	text("command", d.Command)
	list := func(name string, words []string) {
		if len(words) == 0 {
			return
		}
		v := []byte{'['}
		for i, w := range words {
			if i > 0 {
				v = append(v, ", "...)
			}
			v = append(v, spell(w)...)
		}
		member(name, append(v, ']'))
	}
	list("args", d.Args)
	object("env", d.Env)
	list("inherit", d.Inherit)
	text("cwd", d.Dir)
	return append(append(append(b, '\n'), prefix...), '}')
}

func spell(s string) json.RawMessage { return trust.AppendJSONString(nil, s) }
