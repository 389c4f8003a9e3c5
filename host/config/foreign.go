package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// found converts a server of another client.
func (c client) found(s foreign, path string, p Paths, dir string) Found {
	f := Found{Client: c.name, Path: path, There: s.name, Off: s.Disabled || s.Enabled != nil && !*s.Enabled, Problem: s.problem}
	f.Name = strings.TrimSpace(s.name)
	v := &foreignValues{home: p.Home, dir: dir, shell: c.shell}
	s.command(&f, v)
	for _, u := range []string{s.HTTPURL, s.ServerURL, s.URL} {
		if f.URL == "" {
			f.URL = v.text(u)
		}
	}
	for _, hint := range []string{s.Transport, s.Type} {
		if known := transports()[strings.ToLower(hint)]; f.URL != "" && f.Transport == "" && known != hintStdio {
			f.Transport = known
		}
	}
	f.Dir = v.text(s.Dir)
	for _, name := range s.unread {
		v.note("its %q is not read: write what it stands for into the file here", name)
	}
	f.oauth = s.signIn(v)
	f.Inherit = names(s.Inherit)
	f.Env = slices.Concat(f.Env, v.pairs(s.Env), v.pairs(s.Environment))
	for _, name := range s.Keyring {
		if _, ok := s.Env[name]; !ok {
			v.note("%s is in the keyring of %s; here it is a variable", name, c.name)
			f.Env = append(f.Env, newPair(name, "${"+name+"}"))
		}
	}
	f.Headers = append(v.pairs(s.Headers), v.pairs(s.Static)...)
	for _, name := range slices.Sorted(maps.Keys(s.FromEnv)) {
		f.Headers = append(f.Headers, newPair(name, "${"+s.FromEnv[name]+"}"))
	}
	if s.BearerFrom != "" {
		f.Headers = append(f.Headers, newPair("Authorization", "Bearer ${"+s.BearerFrom+"}"))
	}
	if s.APIKey != "" {
		f.Headers = append(f.Headers, newPair("Authorization", "Bearer "+v.text(s.APIKey)))
	}
	if f.Command != "" && f.URL != "" {
		f.Command, f.Args, f.Env, f.Inherit = "", nil, nil, nil // clients that have both use the address
	}
	f.Notes = v.notes
	if f.Off {
		f.Notes = append(f.Notes, "switched off there")
	}
	if err := f.Check(); err != nil && f.Problem == "" {
		_, f.Problem, _ = strings.Cut(err.Error(), ": ")
	}
	return f
}

// command reads the forms of a command: a string with args, a list of words, an object with path
// and args.
func (s foreign) command(f *Found, v *foreignValues) {
	var words []string
	var object struct {
		Path string         `json:"path"`
		Args []string       `json:"args"`
		Env  map[string]any `json:"env"`
	}
	switch {
	case len(s.Command) == 0 || string(s.Command) == "null":
		return
	case json.Unmarshal(s.Command, &f.Command) == nil:
		words = append([]string{f.Command}, s.Args...)
	case json.Unmarshal(s.Command, &words) == nil && len(words) > 0:
		words = append(words, s.Args...)
	case json.Unmarshal(s.Command, &object) == nil && object.Path != "":
		words = append([]string{object.Path}, object.Args...)
		f.Env = v.pairs(object.Env)
	default:
		f.Problem = "its command is not written as expected"
		return
	}
	f.Command, f.Args = v.text(words[0]), nil
	for _, w := range words[1:] {
		f.Args = append(f.Args, v.text(w))
	}
}

// names returns the names in a list of names, or of objects with a name.
func names(value any) (all []string) {
	list, _ := value.([]any)
	for _, one := range list {
		if object, ok := one.(map[string]any); ok {
			one = object["name"]
		}
		if name, ok := one.(string); ok {
			all = append(all, name)
		}
	}
	return all
}

// signIn reads how a client signs in, and notes what of it has no counterpart here.
func (s foreign) signIn(v *foreignValues) oauth {
	var o oauth
	o.scopes = words(s.Scopes)
	for _, raw := range []json.RawMessage{s.OAuth, s.Auth} {
		var members map[string]any
		if len(raw) == 0 || json.Unmarshal(raw, &members) != nil {
			if word := string(raw); word != "" && word != "null" && word != "true" && word != "false" {
				v.note("how it signs in is not written as expected; it is left out")
			}
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			text, _ := members[name].(string)
			switch strings.ToLower(strings.ReplaceAll(name, "_", "")) {
			case "clientid":
				o.clientID = v.text(text)
			case "clientsecret":
				o.clientSecret = v.text(text)
			case "issuer":
				o.issuer = v.text(text)
			case "scope", "scopes", "oauthscopes":
				o.scopes = words(members[name])
			case "callbackport":
				port, _ := members[name].(float64)
				o.port = int(port)
			case "enabled", "type", "redirecturi":
			default:
				v.note("%q of its sign-in is not read", name)
			}
		}
	}
	if o.clientSecret != "" && o.issuer == "" {
		v.note(`its client secret is sent only to the "issuer" that "oauth" names here: add it`)
	}
	return o
}

// words returns a list of strings, or the words of one.
func words(value any) []string {
	if text, ok := value.(string); ok {
		return strings.Fields(text)
	}
	return names(value)
}

// foreignValues translates values of other clients, and notes what the operator should know.
type foreignValues struct {
	home, dir string
	shell     bool // the client replaces $(COMMAND) by what the command prints
	notes     []string
}

func (v *foreignValues) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(v.notes, text) {
		v.notes = append(v.notes, text)
	}
}

// Variables as other clients write them.
var (
	editorVariable = regexp.MustCompile(`\$\{([a-zA-Z]+)(?::([^}]*))?\}`)
	braceVariable  = regexp.MustCompile(`\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)
	fileVariable   = regexp.MustCompile(`\{file:([^}]*)\}`)
	commandOutput  = regexp.MustCompile(`\$\(([^)]*)\)`)
	secretVariable = regexp.MustCompile(`\$\{\{\s*(?:secrets|inputs)\.([^}\s]+)\s*\}\}`)
	shellVariable  = regexp.MustCompile(`\$([A-Z_][A-Z0-9_]*)\b`)
	noName         = regexp.MustCompile(`[^A-Z0-9]+`)
)

// text translates the variables in a value to ${NAME}.
func (v *foreignValues) text(s string) string {
	s = secretVariable.ReplaceAllStringFunc(s, func(whole string) string {
		return v.asked(secretVariable.FindStringSubmatch(whole)[1])
	})
	s = editorVariable.ReplaceAllStringFunc(s, func(whole string) string {
		m := editorVariable.FindStringSubmatch(whole)
		switch {
		case m[1] == "env":
			return "${" + m[2] + "}"
		case m[1] == "input":
			return v.asked(m[2])
		case m[2] != "": // ${file:…}, ${command:…} and the like
			return v.read(m[2])
		case m[1] == "userHome" && v.home != "":
			return v.home
		case m[1] == "workspaceFolder" && v.dir != "" && v.dir != v.home:
			return v.dir
		case m[1] == "workspaceFolder":
			v.note("%s is not known here", whole)
		}
		return whole
	})
	s = braceVariable.ReplaceAllString(s, "$${$1}")
	s = fileVariable.ReplaceAllStringFunc(s, func(whole string) string { return v.read(fileVariable.FindStringSubmatch(whole)[1]) })
	if v.shell {
		s = commandOutput.ReplaceAllStringFunc(s, func(whole string) string { return v.read(commandOutput.FindStringSubmatch(whole)[1]) })
	}
	return shellVariable.ReplaceAllString(s, "$${$1}")
}

// asked returns the variable for a value that the other client stores or asks for.
func (v *foreignValues) asked(what string) string { return v.variable("asks for", what) }

// read returns the variable for a value that the other client reads from a file or a command.
func (v *foreignValues) read(what string) string { return v.variable("reads", what) }

func (v *foreignValues) variable(verb, what string) string {
	name := strings.Trim(noName.ReplaceAllString(strings.ToUpper(what), "_"), "_")
	if name == "" || name[0] <= '9' {
		name = "VALUE_" + name
	}
	v.note("%s %q there; here it is the variable %s", verb, what, name)
	return "${" + name + "}"
}

// pairs translates variables or headers, in the order of their names.
func (v *foreignValues) pairs(m map[string]any) []Pair {
	var out []Pair
	for _, name := range slices.Sorted(maps.Keys(m)) {
		switch value := m[name].(type) {
		case string:
			out = append(out, newPair(name, v.text(value)))
		case float64, bool:
			out = append(out, newPair(name, fmt.Sprint(value)))
		case nil:
		default:
			v.note("%s has a value that is no text; it is left out", name)
		}
	}
	return out
}
