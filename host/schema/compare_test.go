package schema

import (
	"encoding/json"
	"testing"

	"eventdeck/host/event"
)

func TestComparePayload(t *testing.T) {
	typ := event.Type{PayloadSchema: json.RawMessage(`{"type":"object","required":["id","who"],
		"properties":{"id":{"type":"string"},"n":{"type":"integer"},"who":{"$ref":"#/$defs/who"},"list":{"type":"array","items":{"type":"string","maxLength":3}}},
		"$defs":{"who":{"type":"object","required":["name"],"properties":{"name":{"type":["string","null"]}}}}}`)}
	for payload, want := range map[string]map[string]DifferenceKind{
		`{"id":"a","who":{"name":null},"n":3}`:                  {},
		`{"id":1,"who":{"name":"x"}}`:                           {"/id": DifferenceType},
		`{"id":"a","who":{}}`:                                   {"/who/name": DifferenceMissing},
		`{"id":"a","who":{"name":"x","a/b":1},"n":3.5}`:         {"/who/a~1b": DifferenceExtra, "/n": DifferenceType},
		`{"id":"a","who":{"name":"x"},"list":["abc","abcd",4]}`: {"/list/1": DifferenceOther, "/list/2": DifferenceType},
		`[]`: {"": DifferenceType},
		`{"id":"a","more":{},"who":{"name":"x"},"list":["abc","ab"]}`: {"/more": DifferenceExtra},
	} {
		c := ComparePayload(typ, []byte(payload))
		if !c.Schema || len(c.Differences) != len(want) {
			t.Errorf("%s: %+v, want %v", payload, c, want)
			continue
		}
		for _, d := range c.Differences {
			if want[d.Path.Raw()] != d.Kind {
				t.Errorf("%s: %v at %q %s, want %v", payload, d.Kind, d.Path.Raw(), d.Says, want)
			}
		}
	}
	for _, bad := range []string{``, `{"$ref":"#"}`, `{"type":5}`, `nonsense`} {
		if ComparePayload(event.Type{PayloadSchema: json.RawMessage(bad)}, []byte(`{}`)).Schema {
			t.Errorf("schema %q counts as usable", bad)
		}
	}
}
