package schema

import (
	"encoding/json"
	"strings"
	"testing"

	"eventdeck/host/event"
)

func TestCheckPayload(t *testing.T) {
	const schema = `{"type":"object","required":["title"],"properties":{"title":{"type":"string"},"n":{"$ref":"#/$defs/count"},
		"labels":{"type":"array","items":{"type":"string","maxLength":3}},"a/b":{"type":"object","properties":{"c":{"const":1}}}},
		"$defs":{"count":{"type":"integer","minimum":1}}}`
	for data, want := range map[string]string{
		`{"title":"x","n":3}`:                    "",
		`{"n":3}`:                                "/title",
		`{"title":7}`:                            "/title",
		`{"title":"x","n":0}`:                    "/n",
		`{"title":"x","labels":["ok","long",5]}`: "/labels/1 /labels/2",
		`{"title":"x","a/b":{"c":"\u001b]0;x\u0007"}}`: "/a~1b/c",
		`[1]`: "",
	} {
		var paths []string
		got := CheckPayload(event.Type{PayloadSchema: json.RawMessage(schema)}, []byte(data))
		for _, p := range got {
			paths = append(paths, p.Path.Raw())
			if p.Says == "" || strings.ContainsAny(p.Says, "\x1b\a\n") {
				t.Errorf("%s: says %q", data, p.Says)
			}
		}
		if strings.Join(paths, " ") != want {
			t.Errorf("%s fails at %q, want %q", data, paths, want)
		}
		if fails := data == `{"n":3}` || data == `[1]` || want != ""; fails != (len(got) > 0) {
			t.Errorf("%s: %d problems", data, len(got))
		}
	}
}
