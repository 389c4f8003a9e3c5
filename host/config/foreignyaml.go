package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxYAML bounds the YAML file of another client, in bytes: the parsed tree is many times larger.
const maxYAML = 1 << 20

// Errors of YAML files. The errors of the parser repeat values, which may be secrets.
var (
	errShape = errors.New("it is YAML, but no mapping of names to values; correct it there")
	errList  = errors.New("it must be a mapping of names to servers, or a list of servers with names; correct it there")
)

// yamlServer is a server in "extensions" of Goose or in the list "mcpServers" of Continue: the
// union of their members.
type yamlServer struct {
	Name string `yaml:"name"`
	Type string `yaml:"type"`
	Uses string `yaml:"uses"` // Continue: the name of a block in another place

	Command string   `yaml:"command"`
	Cmd     string   `yaml:"cmd"`
	Args    []string `yaml:"args"`
	Dir     string   `yaml:"cwd"`

	// Strings keep values as they are spelled in the file.
	Env     map[string]string `yaml:"env"`
	Envs    map[string]string `yaml:"envs"`
	EnvKeys []string          `yaml:"env_keys"` // Goose: their values are in its keyring

	URL     string            `yaml:"url"`
	URI     string            `yaml:"uri"`
	Headers map[string]string `yaml:"headers"`
	Request struct {
		Headers map[string]string `yaml:"headers"`
	} `yaml:"requestOptions"`

	APIKey  string `yaml:"apiKey"`
	Enabled *bool  `yaml:"enabled"`
}

// builtIn are the types of extensions that are parts of Goose and no servers.
var builtIn = map[string]bool{"builtin": true, "platform": true, "frontend": true, "inline_python": true}

// fromYAML returns the servers below a member of a YAML file, in its order. Comments, anchors and
// merged mappings are supported; an invalid server has a problem and does not affect the others.
func fromYAML(raw []byte, under string) ([]foreign, error) {
	var file yaml.Node
	if err := yaml.Unmarshal(bytes.TrimPrefix(raw, []byte("\ufeff")), &file); err != nil {
		return nil, yamlError(err)
	}
	if len(file.Content) == 0 {
		return nil, nil
	}
	top := resolve(file.Content[0])
	switch {
	case isNull(top):
		return nil, nil
	case top.Kind != yaml.MappingNode:
		return nil, errShape
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		if key := top.Content[i]; key.Value == under {
			servers, err := yamlServers(resolve(top.Content[i+1]))
			if err != nil {
				err = fmt.Errorf("line %d: %q: %w", key.Line, under, err)
			}
			return servers, err
		}
	}
	return nil, nil
}

func yamlServers(list *yaml.Node) (servers []foreign, err error) {
	add := func(name string, described *yaml.Node) {
		var y yamlServer
		switch {
		case described.Decode(&y) != nil:
			servers = append(servers, foreign{name: cmp.Or(name, y.Name), problem: "its description is not written as expected"})
		case !builtIn[y.Type]:
			servers = append(servers, y.foreign(cmp.Or(name, y.Name, y.Uses)))
		}
	}
	switch {
	case isNull(list):
	case list.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(list.Content); i += 2 {
			if key := list.Content[i]; key.Tag != "!!merge" {
				add(key.Value, list.Content[i+1])
			}
		}
	case list.Kind == yaml.SequenceNode:
		for _, described := range list.Content {
			add("", described)
		}
	default:
		return nil, errList
	}
	return servers, nil
}

// resolve returns the node that an alias refers to.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// foreign converts the server to the form of JSON files.
func (y yamlServer) foreign(name string) foreign {
	f := foreign{
		name: name, Type: y.Type, Args: y.Args, Dir: y.Dir, Enabled: y.Enabled, APIKey: y.APIKey,
		URL: cmp.Or(y.URL, y.URI), Headers: joined(y.Headers, y.Request.Headers),
	}
	if command := cmp.Or(y.Command, y.Cmd); command != "" {
		f.Command, _ = json.Marshal(command) // a string always can be
		f.Env, f.Keyring = joined(y.Env, y.Envs), y.EnvKeys
	}
	if y.Uses != "" && f.Command == nil && f.URL == "" {
		f.problem = "its description is not in this file, but in a block that it names"
	}
	return f
}

func joined(maps ...map[string]string) map[string]any {
	all := map[string]any{}
	for _, m := range maps {
		for name, value := range m {
			all[name] = value
		}
	}
	return all
}

// yamlError returns an error of one line without values of the file.
func yamlError(err error) error {
	var wrong *yaml.TypeError
	if errors.As(err, &wrong) {
		return errShape
	}
	text, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "yaml: "), "\n")
	return fmt.Errorf("no YAML: %s; correct it there", text)
}
