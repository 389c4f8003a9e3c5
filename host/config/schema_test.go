package config

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// compiled returns a schema of an operator's file.
func compiled(t *testing.T, name string) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(Schema(name), &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The schema and the parser accept and refuse the same servers.
func TestSchemaAgreesWithTheParser(t *testing.T) {
	schema := compiled(t, "servers")
	check := func(server string) {
		t.Helper()
		text := []byte(`{"mcpServers": {"s": ` + server + `}}`)
		f, err := Parse("f.json", text, nil)
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			t.Fatal(err)
		}
		told, fault := schema.Validate(value), f.servers[0].fault
		if (told == nil) != (fault == nil) {
			t.Errorf("%s: the schema says %v, the parser %v", server, told, fault)
		}
	}
	for _, member := range []string{
		`"url": "https://h"`, `"url": 1`, `"command": "x"`, `"command": ["x"]`, `"args": ["a"]`, `"args": "a"`, `"env": {"A": "b"}`, `"env": {"A": 1}`, `"env": null`,
		`"headers": {}`, `"headers": []`, `"cwd": "/"`, `"inherit": ["A"]`, `"inherit": "A"`, `"transport": "sse"`, `"transport": "pigeon"`, `"type": "stdio"`, `"type": "local"`,
		`"caFile": "x"`, `"allowUnsigned": true`, `"allowUnsigned": 1`, `"requireServerKey": false`, `"requireServerkey": true`, `"disabled": true`, `"enabled": 0`,
		`"oauth": {"clientId": "x"}`, `"oauth": {"clientID": "x"}`, `"oauth": {"scope": "a"}`, `"oauth": {"scopes": ["a"]}`, `"oauth": {"callbackPort": 0}`, `"oauth": {"grant": "x"}`,
		`"oauth": {"issuer": "https://i", "clientMetadataUrl": "https://m", "clientSecret": "s"}`, `"httpUrl": "https://h"`, `"envFile": "x"`, `"quantum": 1`,
	} {
		switch {
		case strings.HasPrefix(member, `"url"`) || strings.HasPrefix(member, `"command"`):
			check("{" + member + "}")
		default:
			check(`{"command": "x", ` + member + "}")
		}
	}
	for _, name := range membersOfOthers {
		check(`{"command": "x", "` + name + `": 1}`)
	}
}

func TestSchemaNamesTheMembersOfOthers(t *testing.T) {
	names := regexp.MustCompile(`"\^\((.*)\)\$"`).FindSubmatch(Schema("servers"))
	if names == nil || !slices.Equal(strings.Split(string(names[1]), "|"), slices.Sorted(slices.Values(membersOfOthers))) {
		t.Errorf("the schema has %s", names)
	}
}

func TestSchemasAreValid(t *testing.T) {
	for _, name := range SchemaNames {
		compiled(t, name)
	}
	if Schema("nothing") != nil || Schema("../schema") != nil {
		t.Error("a schema of nothing")
	}
}
