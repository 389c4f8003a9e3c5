package schema

import (
	"encoding/json"
	"testing"

	"eventdeck/host/event"
)

// Operators read these beside the field that they fill in.
func TestProblemsAreInPlainWords(t *testing.T) {
	for _, c := range []struct{ rule, value, want string }{
		{`"type":"integer","minimum":1,"maximum":9`, `99`, "must be at most 9"},
		{`"type":"integer","minimum":1`, `0`, "must be at least 1"},
		{`"type":"integer"`, `1.5`, "is no whole number"},
		{`"type":"number","exclusiveMinimum":0.5`, `0.5`, "must be more than 0.5"},
		{`"type":"number","exclusiveMaximum":1e21`, `1e21`, "must be less than 1000000000000000000000"},
		{`"type":"string","minLength":2`, `"é"`, "has 1, must have at least 2 characters"},
		{`"type":"string","maxLength":5`, `"too long"`, "has 8, may have at most 5 characters"},
		{`"type":"string","pattern":"^[a-z]+$"`, `"ABC"`, "does not match ^[a-z]+$"},
		{`"type":"array","maxItems":1`, `[1,2]`, "has 2, may have at most 1 item"},
		{`"type":"array","minItems":1`, `[]`, "has 0, must have at least 1 item"},
		{`"type":"string"`, `7`, `type: 7 has type "integer", want "string"`},
	} {
		typ := event.Type{InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{` + c.rule + `}}}`)}
		found := CheckArguments(typ, []byte(`{"a":`+c.value+`}`))
		if len(found) != 1 || found[0].Says != c.want || found[0].Path.Raw() != "/a" {
			t.Errorf("%s with %s: %v, not %q", c.value, c.rule, found, c.want)
		}
	}
}
