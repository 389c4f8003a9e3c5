package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"eventdeck/host/event"
)

// endless checks that every function ends on a schema with circular references, and that
// nothing is checked against it.
func endless(t *testing.T, schema, value string) {
	t.Helper()
	typ := event.Type{InputSchema: json.RawMessage(schema), PayloadSchema: json.RawMessage(schema)}
	if err := ValidateArguments(typ, []byte(value)); err != nil {
		t.Errorf("%s: %v", schema, err)
	}
	if found := CheckArguments(typ, []byte(value)); len(found) > 0 {
		t.Errorf("%s: %v", schema, found)
	}
	if c := ComparePayload(typ, []byte(value)); c.Schema {
		t.Errorf("%s: is compared: %v", schema, c)
	}
	Fields(typ)
	Skeleton(typ)
}

// A validator follows circular references until the stack is full, which ends the whole
// program. It decodes member names in any letter case, and members that occur twice.
func TestCircularReferencesEnd(t *testing.T) {
	for _, schema := range []string{
		`{"$ref":"#"}`, `{"$Ref":"#"}`, `{"$REF":"#"}`, `{"\u0024rEf":"#"}`,
		`{"properties":{"a":{"$ref":"#/properties/a"}}}`, `{"PROPERTIES":{"a":{"$Ref":"#/properties/a"}}}`,
		`{"properties":{"a":{"$ref":"#/%70roperties/a"}}}`,
		`{"anyOf":[{"$ref":"#"}]}`, `{"AnyOf":[{"$Ref":"#"}]}`, `{"anyOf":[{"$ref":"#/anyOf/+0"}]}`,
		`{"allOf":[{"$dynamicRef":"#"}]}`, `{"allof":[{"$DynamicRef":"#"}]}`,
		`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"not":{"$ref":"#/$defs/a"}}},"$ref":"#/$defs/a"}`,
		`{"$Defs":{"a":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`,
		`{"definitions":{"a":{"if":{"$ref":"#/definitions/a"}}},"oneOf":[{"$ref":"#/definitions/a"}]}`,
		`{"properties":{"a":{"$ref":"#/properties/b"}},"properties":{"b":{"$ref":"#/properties/a"}}}`,
		`{"not":{"$ref":"#/not"},"not":{"title":"twice"}}`,
		`{"dependentSchemas":{"a":{"$ref":"#"}}}`, `{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":{"$ref":"#"}}}`,
		`{"$id":"https://x.example/s","properties":{"a":{"$id":"https://x.example/a","not":{"$ref":"#"}}}}`,
		`{"$id":"https://x.example/s","anyOf":[{"$ref":"https://x.example/s"}]}`,
		`{"$ref":"http://127.0.0.1/schema"}`,
		`{"type":`,
		`{"$anchor":"here","anyOf":[{"$ref":"#here"}]}`,
	} {
		endless(t, schema, `{"a":1}`)
	}
}

// A part that is checked alone keeps the meaning of its references: "#" is the root of the
// schema that it stands in, not the part.
func TestReferencesOfPartsKeepTheirRoot(t *testing.T) {
	for _, schema := range []string{
		`{"properties":{"a":{"anyOf":[{"$ref":"#"}]}}}`,
		`{"properties":{"a":{"properties":{"a":{"$ref":"#/properties/a"}}}}}`,
	} {
		endless(t, schema, `{"a":{"a":1}}`)
	}
	const schema = `{"properties":{
		"a":{"$ref":"#/properties/b","properties":{"b":{"$ref":"#/properties/b"}}},
		"b":{"type":"object","required":["c"]}}}`
	typ := event.Type{InputSchema: json.RawMessage(schema), PayloadSchema: json.RawMessage(schema)}
	value := []byte(`{"a":{"c":1,"b":{"d":1}}}`)
	if err := ValidateArguments(typ, value); err == nil || !strings.Contains(err.Error(), `missing properties: ["c"]`) {
		t.Error(err)
	}
	if found := CheckPayload(typ, value); len(found) != 1 || found[0].Path.Raw() != "/a/b/c" || found[0].Says != Missing {
		t.Error(found)
	}
}

// References are replaced by their targets before anything is checked, so their number counts.
func TestReferencesAreBounded(t *testing.T) {
	chain := func(n int) string {
		var defs []string
		for i := range n {
			defs = append(defs, fmt.Sprintf(`"d%d":{"minProperties":1,"$ref":"#/$defs/d%d"}`, i, i+1))
		}
		return fmt.Sprintf(`{"$defs":{%s,"d%d":{"type":"object"}},"properties":{"a":{"$ref":"#/$defs/d0"}}}`, strings.Join(defs, ","), n)
	}
	if found := CheckPayload(event.Type{PayloadSchema: json.RawMessage(chain(20))}, []byte(`{"a":1}`)); len(found) != 1 {
		t.Error("a chain of references is not followed:", found)
	}
	endless(t, chain(2_000), `{"a":1}`)

	var doubled strings.Builder
	for i := range 60 {
		fmt.Fprintf(&doubled, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	endless(t, `{"$defs":{`+doubled.String()+`"d60":{"type":"object"}},"properties":{"a":{"$ref":"#/$defs/d0"}}}`, `{"a":1}`)
}

// A schema of a draft that the validator does not know checks nothing; the address of a
// schema changes nothing.
func TestDraftsAndAddressesOfSchemas(t *testing.T) {
	for schema, want := range map[string]int{
		`{"$schema":"http://json-schema.org/draft-04/schema#","required":["b"]}`:                                                                   0,
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","required":["b"]}`:                                                              1,
		`{"$id":"https://x.example/s","required":["b"]}`:                                                                                           1,
		`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/definitions/n","maximum":0}},"definitions":{"n":true}}`: 0,
		`{"properties":{"a":{"$ref":"#/$defs/n","maximum":0}},"$defs":{"n":true}}`:                                                                 1,
		`{"properties":{"a":{"$ref":"#/$defs/n","title":"N"}},"$defs":{"n":{"maximum":0}}}`:                                                        1,
	} {
		typ := event.Type{InputSchema: json.RawMessage(schema)}
		if found := CheckArguments(typ, []byte(`{"a":1}`)); len(found) != want {
			t.Errorf("%s: %v", schema, found)
		}
		if err := ValidateArguments(typ, []byte(`{"a":1}`)); (err != nil) != (want > 0) {
			t.Errorf("%s: %v", schema, err)
		}
	}
}
