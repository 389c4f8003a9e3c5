package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"eventdeck/host/event"
)

// The cost of a check is bounded for any schema and value: beyond it a strict check refuses
// the value, and the others let it pass unchecked.
func TestCostOfACheckIsBounded(t *testing.T) {
	list := func(part string, n int) string { return strings.TrimSuffix(strings.Repeat(part+",", n), ",") }
	enum := make([]string, 5_000)
	for i := range enum {
		enum[i] = fmt.Sprint(i + 1)
	}
	any400 := `{"properties":{"a":{"anyOf":[` + list(`{"items":{"type":"string"}}`, 400) + `]}}}`
	for name, c := range map[string]struct {
		schema, value string
		checked       bool
	}{
		"many parts, one value":       {any400, `{"a":[0]}`, true},
		"many parts, many values":     {any400, `{"a":[` + list("0", 30_000) + `]}`, false},
		"few parts, many values":      {`{"properties":{"a":{"items":{"type":"string"}}}}`, `{"a":[` + list("0", 30_000) + `]}`, true},
		"many choices, many values":   {`{"properties":{"a":{"items":{"enum":[` + strings.Join(enum, ",") + `]}}}}`, `{"a":[` + list("0", 30_000) + `]}`, false},
		"many names, many values":     {`{"properties":{"a":{"items":{"required":[` + list(`"x"`, 5_000) + `]}}}}`, `{"a":[` + list("{}", 20_000) + `]}`, false},
		"many patterns, a long text":  {`{"properties":{"a":{"allOf":[` + list(`{"pattern":"(x+y?)+z"}`, 1_000) + `]}}}`, `{"a":"` + strings.Repeat("x", 60_000) + `"}`, false},
		"a long pattern, a long text": {`{"properties":{"a":{"pattern":"^(x?x{1,900})+z$"}}}`, `{"a":"` + strings.Repeat("x", 60_000) + `"}`, false},
		"a pattern, a text":           {`{"properties":{"a":{"pattern":"^[a-z0-9-]{1,63}$"}}}`, `{"a":"` + strings.Repeat("x", 6_000) + `"}`, true},
		"many parts, many members":    {`{"patternProperties":{"x":{"anyOf":[` + list(`{"type":"string"}`, 400) + `]}}}`, `{` + numbered(4_000) + `}`, false},
	} {
		typ := event.Type{InputSchema: json.RawMessage(c.schema), PayloadSchema: json.RawMessage(c.schema)}
		strictly := CheckStrictly("get", typ.InputSchema, []byte(c.value))
		if errors.Is(strictly, ErrArguments) != c.checked || errors.Is(strictly, ErrSchema) == c.checked {
			t.Errorf("%s: strictly %.200v", name, strictly)
		}
		if err := ValidateArguments(typ, []byte(c.value)); (err != nil) != c.checked {
			t.Errorf("%s: %.200v", name, err)
		}
		if found := CheckPayload(typ, []byte(c.value)); (len(found) > 0) != c.checked {
			t.Errorf("%s: %d problems", name, len(found))
		}
	}
}

// numbered returns n members that are numbers.
func numbered(n int) string {
	members := make([]string, n)
	for i := range members {
		members[i] = fmt.Sprintf(`"x%d":0`, i)
	}
	return strings.Join(members, ",")
}
