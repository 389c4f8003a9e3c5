package tui

import (
	"encoding/json"
	"strings"
	"testing"
)

// Required fields are marked, but not those of an optional object that is empty. A placeholder is no
// value.
func TestFormMarksRequiredFields(t *testing.T) {
	h := incident()
	h.snap.Servers[0].Types[2].InputSchema = json.RawMessage(`{"type":"object","required":["team"],"properties":{
		"team":{"type":"string"},"limit":{"type":"integer","default":5},
		"window":{"type":"object","required":["from"],"properties":{"from":{"type":"string","format":"date-time"},"note":{"type":"string"}}}}}`)
	a := open(t, h, 120, 50)
	press(t, a, "1", "G", "k", "k", "k", "k", "k", "k")
	for a.tree.At.Type.Raw() != "deploy.finished" {
		press(t, a, "j")
	}
	press(t, a, "s")
	s := screenOf(a)
	for _, want := range []string{"team *", "default 5", "e.g. 2026-03-14T14:00:00Z"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
	if strings.Contains(s, "from *") {
		t.Errorf("what may be left out is marked:\n%s", s)
	}
	press(t, a, "tab", "tab", "tab")
	word(t, a, "later")
	if s := screenOf(a); !strings.Contains(s, "from *") {
		t.Errorf("what is needed beside a note is not marked:\n%s", s)
	}
}
