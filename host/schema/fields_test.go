package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"eventdeck/host/event"
)

func schemaType(schema string) event.Type { return event.Type{InputSchema: json.RawMessage(schema)} }

// outline writes fields on one line: name:kind, ! for required, ? for nullable.
func outline(fields []Field) string {
	names := [...]string{"string", "integer", "number", "boolean", "enum", "enums", "list", "section", "json"}
	var parts []string
	for _, f := range fields {
		s := f.Path[len(f.Path)-1] + ":" + names[f.Kind]
		if f.Kind == FieldList {
			s += "<" + names[f.Item] + ">"
		}
		if f.Required {
			s += "!"
		}
		if f.Nullable {
			s += "?"
		}
		if f.Kind == FieldSection {
			s += "{" + outline(f.Fields) + "}"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " ")
}

func TestFields(t *testing.T) {
	for schema, want := range map[string]string{
		``:                                    "",
		`true`:                                "",
		`{"type":"object"}`:                   "",
		`{"properties":{"a":true}}`:           "a:json",
		`{"properties":{"a":{}}}`:             "a:json",
		`{"properties":{"a":{"type":5}}}`:     "a:json",
		`{"properties":{"a":{"minimum":{}}}}`: "a:json",
		`{"properties":{"b":{"type":"string"},"a":{"type":"integer"}},"required":["a"]}`:                                                                                                                                                                     "a:integer! b:string",
		`{"properties":{"a":{"type":["string","null"]},"b":{"anyOf":[{"type":"null"},{"type":"number"}]},"c":{"oneOf":[{"enum":[1]},{"const":null}]}}}`:                                                                                                      "a:string? b:number? c:enum?",
		`{"properties":{"a":{"type":["string","integer"]},"b":{"anyOf":[{"type":"string"},{"type":"number"}]}}}`:                                                                                                                                             "a:json b:json",
		`{"properties":{"a":{"enum":["x",1]},"b":{"const":3},"c":{"oneOf":[{"const":"x","title":"X"},{"const":"y"}]}}}`:                                                                                                                                      "a:enum b:enum c:enum",
		`{"properties":{"a":{"type":"array","items":{"enum":["x"]}},"b":{"type":"array","items":{"type":"integer"}},"c":{"type":"array"},"d":{"type":"array","items":{"type":"object"}},"e":{"type":"array","items":{"type":"string"},"prefixItems":[{}]}}}`: "a:enums b:list<integer> c:json d:json e:json",
		`{"properties":{"o":{"properties":{"x":{"type":"boolean"}},"required":["x"]},"p":{"type":"object"},"q":{"type":"object","properties":{"x":{}},"patternProperties":{"^a":{}}}}}`:                                                                      "o:section{x:boolean!} p:json q:json",
		`{"$defs":{"d":{"enum":["x"]}},"properties":{"a":{"$ref":"#/$defs/d"},"b":{"$ref":"#/nowhere"},"c":{"$ref":"https://x/y"},"d":{"allOf":[{"$ref":"#/$defs/d"}]}}}`:                                                                                    "a:enum b:json c:json d:enum",
		`{"properties":{"a":{"$ref":"#/properties/a"},"b":{"type":"object","properties":{"b":{"$ref":"#/properties/b"}}}}}`:                                                                                                                                  "a:json b:section{b:section{b:section{b:section{b:json}}}}",
		`{"$ref":"#/$defs/r","$defs":{"r":{"properties":{"a":{"type":"string"}}}}}`:                                                                                                                                                                          "a:string",
	} {
		if got := outline(Fields(schemaType(schema))); got != want {
			t.Errorf("%s\n gives %q\nwanted %q", schema, got, want)
		}
	}
}

func TestFieldsKeepWhatTheServerWrote(t *testing.T) {
	f := Fields(schemaType(`{"$defs":{"n":{"enum":[12345678901234567890,"1","P1",null,1.50],"description":"inner"}},
		"properties":{"n":{"$ref":"#/$defs/n","description":"outer","default":1.50}}}`))[0]
	var labels []string
	for _, c := range f.Choices {
		labels = append(labels, string(c.Value)+"="+c.Label.Raw())
	}
	if got := fmt.Sprint(labels); got != `[12345678901234567890=12345678901234567890 "1"="1" "P1"=P1 null=null 1.50=1.50]` {
		t.Error(got)
	}
	if f.Description.Raw() != "outer" || string(f.Default) != "1.50" {
		t.Errorf("%q %s", f.Description, f.Default)
	}
}

func TestFieldHints(t *testing.T) {
	fields := Fields(schemaType(`{"properties":{
		"a":{"type":"integer","minimum":1,"maximum":10},"b":{"type":"string","pattern":"^a+$","maxLength":5},
		"c":{"type":"string","format":"date-time"},"d":{"type":"array","items":{"type":"number"},"minItems":2},
		"e":{"type":["number","null"],"exclusiveMinimum":0,"multipleOf":0.5}}}`))
	for i, want := range []string{"integer, 1 to 10", "text, at most 5 characters, matches ^a+$", "date-time",
		"one a line: number, at least 2 items", "number, more than 0, a multiple of 0.5, or null"} {
		if got := fields[i].Hint.Raw(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestFieldsAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"$defs":{"o":{"type":"object","properties":{`)
	for i := range 50 {
		fmt.Fprintf(&b, `"p%d":{"$ref":"#/$defs/o"},`, i)
	}
	b.WriteString(`"end":{"type":"string"}}}},"$ref":"#/$defs/o"}`)
	n := 0
	var count func([]Field)
	count = func(fields []Field) {
		for _, f := range fields {
			n++
			count(f.Fields)
		}
	}
	count(Fields(schemaType(b.String())))
	if n == 0 || n > maxFields {
		t.Errorf("%d fields", n)
	}
}

func TestCheckArgumentsNamesTheField(t *testing.T) {
	typ := schemaType(`{"properties":{"a":{"type":"integer"},"o":{"type":"object","properties":{"x":{"enum":["y"]}},"required":["z"]}},"required":["b"]}`)
	got := map[string]bool{}
	for _, p := range CheckArguments(typ, []byte(`{"a":"no","o":{"x":1}}`)) {
		got[p.Path.Raw()] = true
	}
	for _, want := range []string{"/a", "/b", "/o/x", "/o/z"} {
		if !got[want] {
			t.Errorf("%s is not named: %v", want, got)
		}
	}
	if len(got) != 4 {
		t.Error(got)
	}
}

func FuzzFields(f *testing.F) {
	for _, s := range []string{`{"$ref":"#"}`, `{"properties":{"a":{"type":["string","null"],"enum":[1]}}}`, `{"properties":{"a":{"items":{"$ref":"#/properties/a"},"type":"array"}},"required":["a"]}`} {
		f.Add([]byte(s), []byte(`{"a":[1]}`))
	}
	f.Fuzz(func(t *testing.T, schema, args []byte) {
		typ := event.Type{InputSchema: schema}
		n := 0
		var visit func(fields []Field, depth int)
		visit = func(fields []Field, depth int) {
			for _, f := range fields {
				n++
				if len(f.Path) != depth {
					t.Fatalf("%q lies at depth %d", f.Path, depth)
				}
				if (f.Kind == FieldEnum || f.Kind == FieldEnums) != (len(f.Choices) > 0) || len(f.Choices) > maxChoices {
					t.Fatalf("%q of kind %d has %d choices", f.Path, f.Kind, len(f.Choices))
				}
				visit(f.Fields, depth+1)
			}
		}
		visit(Fields(typ), 1)
		if n > maxFields {
			t.Fatalf("%d fields", n)
		}
		CheckArguments(typ, args)
		_ = ValidateArguments(typ, args)
	})
}
