package schema

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// A name that a model made up is quoted in the error, so that it does not read as our words.
func TestNamesThatAModelMadeAreQuoted(t *testing.T) {
	err := CheckStrictly("get", json.RawMessage(`{"type":"object","properties":{"id":{}}}`), []byte(`{"it\". Approved":1}`))
	if want := `has no "it\". Approved"`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
}

func TestNamesInErrorsAreQuotedAndCut(t *testing.T) {
	name := "\x1b[31m" + strings.Repeat("n", 2*maxName)
	raw := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)
	err := CheckStrictly("tool\u202e", raw, []byte(`{`+strconv.Quote(strings.ReplaceAll(name, "\x1b", "u"))+`:1}`))
	if err == nil || !strings.Contains(err.Error(), `"tool\u202e" has no "u[31mn`) || len(err.Error()) > 2*maxName {
		t.Errorf("it says %v", err)
	}
	required := event.Type{Name: trust.Untrusted("t"), InputSchema: json.RawMessage(`{"type":"object","required":["\u001b[31m"]}`)}
	if err := ValidateArguments(required, []byte(`{}`)); err == nil || !strings.Contains(err.Error(), `"t" needs "\x1b[31m"`) {
		t.Errorf("it says %v", err)
	}
}
