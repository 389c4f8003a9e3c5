package host

import "testing"

func TestMaskArguments(t *testing.T) {
	typ := schemaType(`{"properties":{
		"pin":{"type":"string","format":"password"},"n":{"type":"integer","writeOnly":true},
		"keys":{"type":"array","items":{"type":"string","format":"password"}},
		"o":{"type":"object","properties":{"pin":{"$ref":"#/properties/pin"},"x":{"type":"string"}}},"team":{"type":"string"}}}`)
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
		`{"o":7}`: `{"o":7}`,
		`[1]`:     `[1]`,
	} {
		if got := string(MaskArguments(typ, []byte(args))); got != want {
			t.Errorf("%s gives %s, want %s", args, got, want)
		}
	}
}
