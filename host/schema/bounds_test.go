package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// deepSchema returns a schema with this number of levels and bytes.
func deepSchema(levels, bytes int) string {
	s := strings.Repeat(`{"items":`, levels-1) + `{"title":""}` + strings.Repeat("}", levels-1)
	return strings.Replace(s, `""`, `"`+strings.Repeat("x", max(0, bytes-len(s)))+`"`, 1)
}

func TestSchemasAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		levels, bytes int
		says          string // "" where the schema is used
	}{
		"bytes below": {2, maxSchemaBytes - 1, ""}, "bytes at": {2, maxSchemaBytes, ""}, "bytes above": {2, maxSchemaBytes + 1, "it has 262145 bytes, at most 262144 are read"},
		"levels below": {maxSchemaDepth - 1, 0, ""}, "levels at": {maxSchemaDepth, 0, ""}, "levels above": {maxSchemaDepth + 1, 0, "it has 65 levels, at most 64 are read"},
		"work below": {32, maxSchemaWork/32 - 1, ""}, "work at": {32, maxSchemaWork / 32, ""}, "work above": {32, maxSchemaWork/32 + 1, "it has 65537 bytes on 32 levels"},
	} {
		err := Check(json.RawMessage(deepSchema(c.levels, c.bytes)))
		if (err == nil) != (c.says == "") || err != nil && (!errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), c.says+", ") && !strings.Contains(err.Error(), c.says+"; ")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// With a schema that makes no sense the arguments are given as JSON and are not refused here.
// No schema that it refers to is fetched.
func TestUnusableSchemasCheckNothing(t *testing.T) {
	asked := make(chan string, 100)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Path }))
	defer elsewhere.Close()
	properties := make([]string, 20_000)
	for i := range properties {
		properties[i] = fmt.Sprintf(`"p%d":{"type":"string"}`, i)
	}
	for name, schema := range map[string]string{
		"empty":               ``,
		"cut":                 `{"type":"object","properties":{`,
		"binary":              "\x00\xff\xfe",
		"null":                `null`,
		"a list":              `[]`,
		"a number":            `5`,
		"type of no type":     `{"type":"florb"}`,
		"type is a number":    `{"type":5,"properties":{"a":{"type":{}}}}`,
		"properties a list":   `{"properties":["a"]}`,
		"required a text":     `{"required":"a"}`,
		"required of numbers": `{"required":[1]}`,
		"a bad pattern":       `{"properties":{"a":{"pattern":"(("}}}`,
		"a bad bound":         `{"properties":{"a":{"minimum":"many","maxLength":-1}}}`,
		"circle":              `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`,
		"circle in a member":  `{"properties":{"a":{"$ref":"#/properties/a"}}}`,
		"a reference nowhere": `{"$ref":"#/$defs/none"}`,
		"of a file":           `{"properties":{"a":{"$ref":"file:///etc/passwd"}}}`,
		"of the network":      `{"properties":{"a":{"$ref":"` + elsewhere.URL + `/ref"}},"$schema":"` + elsewhere.URL + `/schema"}`,
		"of its own address":  `{"$id":"` + elsewhere.URL + `/id","properties":{"a":{"$ref":"other"}}}`,
		"deep":                deepSchema(9_900, 0),
		"deeper than JSON":    deepSchema(50_000, 0),
		"huge":                `{"properties":{` + strings.Join(properties, ",") + `}}`,
	} {
		typ := event.Type{Name: trust.Untrusted("t"), InputSchema: json.RawMessage(schema), PayloadSchema: json.RawMessage(schema)}
		args := []byte(`{"a":1}`)
		if err := ValidateArguments(typ, args); err != nil {
			t.Errorf("%s refuses arguments: %v", name, err)
		}
		if found := CheckArguments(typ, args); len(found) > 0 {
			t.Errorf("%s finds %v", name, found)
		}
		if found := CheckPayload(typ, args); len(found) > 0 {
			t.Errorf("%s finds %v in a payload", name, found)
		}
		if s := Skeleton(typ); !json.Valid(s) || len(s) > 1000 {
			t.Errorf("%s begins with %.100s", name, s)
		}
		if n := len(Fields(typ)); n > maxFields {
			t.Errorf("%s has %d fields", name, n)
		}
	}
	select {
	case path := <-asked:
		t.Errorf("%s was asked for", path)
	default:
	}
}
