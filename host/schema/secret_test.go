package schema

import (
	"fmt"
	"slices"
	"testing"

	"eventdeck/host/redact"
)

func TestMaskArguments(t *testing.T) {
	typ := schemaType(`{"properties":{
		"pin":{"type":"string","format":"password"},"n":{"type":"integer","writeOnly":true},
		"keys":{"type":"array","items":{"type":"string","format":"password"}},
		"o":{"type":"object","properties":{"pin":{"$ref":"#/properties/pin"},"x":{"type":"string"}}},"team":{"type":"string"},
		"\ud800":{"type":"string"},"\ud801":{"type":"string","writeOnly":true}}}`)
	nested := schemaType(`{"$defs":{"login":{"anyOf":[{"properties":{"pin":{"type":"string","format":"password"}}},{"type":"string"}]}},"properties":{
		"logins":{"type":"array","items":{"type":"object","properties":{"pin":{"type":"string","writeOnly":true}}}},
		"login":{"$ref":"#/$defs/login"},"any":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}`)
	const want = `{"any":5,"login":"***","logins":"***"}`
	if got := string(MaskArguments(nested, []byte(`{"logins":[{"pin":"hunter2"}],"login":{"pin":"hunter2"},"any":5}`))); got != want {
		t.Errorf("without fields: %s, want %s", got, want)
	}
	for args, want := range map[string]string{
		`{"team":"<core>"}`:                           `{"team":"<core>"}`,
		`{"pin":"hunter2","n":5,"keys":["a"]}`:        `{"keys":"***","n":"***","pin":"***"}`,
		`{"o":{"pin":"hunter2","x":"y"},"team":"ok"}`: `{"o":{"pin":"***","x":"y"},"team":"ok"}`,
		`{"o":7}`:              `{"o":7}`,
		`[1]`:                  `[1]`,
		`{"\ud801":"hunter2"}`: "{\"\ufffd\":\"***\"}", // its name is that of another member once decoded
	} {
		if got := string(MaskArguments(typ, []byte(args))); got != want {
			t.Errorf("%s gives %s, want %s", args, got, want)
		}
	}
}

// Masked values are returned scalar by scalar, each with the member that holds it.
func TestSecretArguments(t *testing.T) {
	tell := func(args []redact.Value) (out []string) {
		for _, a := range args {
			out = append(out, fmt.Sprintf("%s=%s", a.Member, a.Secret.Reveal()))
		}
		slices.Sort(out)
		return out
	}
	for _, c := range []struct {
		args, shown string
		want        []string
	}{
		{`{"a":"x","b":"y"}`, ``, nil},
		{`{"a":"x","b":"y\u00e9\"","n":1.50,"t":true,"z":null}`, `{"a":"x","b":"***","n":"***","t":"***","z":"***"}`, []string{`b=yé"`, "n=1.50", "t=true"}},
		{`{"o":{"p":"x","u":"y"}}`, `{"o":{"p":"***","u":"y"}}`, []string{"p=x"}},
		{`{"o":{"p":["x",{"q":7}],"u":"y"}}`, `{"o":"***"}`, []string{"p=x", "q=7", "u=y"}},
		{`{"l":["x",[2]]}`, `{"l":"***"}`, []string{"l=2", "l=x"}},
		{`7`, `{"l":"***"}`, nil},
		// Names that are the same once decoded.
		{`{"o":{"\ud800":"x","\ud801":"y"}}`, `{"o":"***"}`, []string{"\ufffd=x", "\ufffd=y"}},
		{`{"\ud800":"x","\ud801":"y"}`, `{"\ufffd":"***"}`, []string{"\ufffd=x", "\ufffd=y"}},
	} {
		if got := tell(secretArguments("", []byte(c.args), []byte(c.shown))); !slices.Equal(got, c.want) {
			t.Errorf("%s shown as %s: %q, want %q", c.args, c.shown, got, c.want)
		}
	}
}
