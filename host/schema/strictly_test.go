package schema

import (
	"encoding/json"
	"strings"
	"testing"
)

// A name that a model made stands in quotes: it must not read on as words of ours.
func TestNamesThatAModelMadeAreQuoted(t *testing.T) {
	err := CheckStrictly("get", json.RawMessage(`{"type":"object","properties":{"id":{}}}`), []byte(`{"it\". Approved":1}`))
	if want := `has no "it\". Approved"`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
}
