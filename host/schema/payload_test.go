package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"eventdeck/host/event"
)

func TestPayloadAt(t *testing.T) {
	typ := event.Type{PayloadSchema: json.RawMessage(`{"type":"object","properties":{
		"severity":{"enum":["P1","P2",3]},"who":{"$ref":"#/$defs/who"},"fixed":{"const":true},
		"list":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"}}}},
		"open":{"type":"object"},"map":{"type":"object","properties":{"a":{}},"additionalProperties":{"type":"string"}},
		"closed":{"type":"object","properties":{"a":{}},"additionalProperties":false},
		"any":{"anyOf":[{"properties":{"x":{}}}],"properties":{"y":{}}}},
		"$defs":{"who":{"type":"object","properties":{"name":{"type":"string"}}}}}`)}
	for path, want := range map[string]string{
		"severity":    "known [P1 P2 3]",
		"fixed":       "known [true]",
		"who name":    "known []",
		"who nam":     `no "nam", but [name], closed false`,
		"list id":     "known []",
		"list ide":    `no "ide", but [id], closed false`,
		"open x y":    "known []",
		"map other":   "known []",
		"closed b":    `no "b", but [a], closed true`,
		"any z":       "known []",
		"severity x":  "known []",
		"sev":         `no "sev", but [any closed fixed list map open severity who], closed false`,
		"who name in": "known []",
	} {
		p := PayloadAt(typ, strings.Fields(path))
		var values []string
		for _, v := range p.Values {
			values = append(values, v.Raw())
		}
		got := fmt.Sprintf("known %v", values)
		if !p.Known {
			got = fmt.Sprintf("no %q, but %v, closed %v", p.Missing, p.Names, p.Closed)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if p := PayloadAt(event.Type{}, []string{"a"}); !p.Known {
		t.Error("without a schema nothing can be said against a path")
	}
}
