package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"eventdeck/host/trust/strict"
)

func TestCanonicalArgs(t *testing.T) {
	for raw, want := range map[string]string{
		``: `{}`, ` `: `{}`, `null`: `{}`, ` null `: `{}`, `{}`: `{}`,
		`{"b":1,"a":2}`: `{"a":2,"b":1}`,
		` { "b" : [ 1 , {"z":1,"y":[]} ] , "a" : null } `: `{"a":null,"b":[1,{"y":[],"z":1}]}`,
		`{"n":[1.0,1e3,1E+3,-0,12345678901234567890]}`:    `{"n":[1.0,1e3,1E+3,-0,12345678901234567890]}`,
		`{"a":"<&>","b":"\u00e9\u2028\t","c":true}`:       `{"a":"<&>","b":"é\u2028\t","c":true}`,
		`{"\u0062":1,"a":2}`:                              `{"a":2,"b":1}`,
		`{"A":1,"a":2}`:                                   `{"A":1,"a":2}`,
		`{"a":"\ud83d\ude00","b":"\ufffd","c":"\\ud800"}`: `{"a":"😀","b":"�","c":"\\ud800"}`,
	} {
		got, err := CanonicalArgs([]byte(raw))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", raw, got, err, want)
		}
	}
	for raw, want := range map[string]error{
		`[]`: strict.ErrNotObject, `"x"`: strict.ErrNotObject, `{`: strict.ErrSyntax, `{} {}`: strict.ErrTrailing,
		`{"\ud800":1,"\ud801":2,"a":"\ud800"}`: strict.ErrUnicode, `{"a":[{"b":"x\udc00"}]}`: strict.ErrUnicode,
		`{"a":{"\ud83d":1}}`: strict.ErrUnicode, "{\"a\":\"\xff\"}": strict.ErrUnicode, "{\"\xed\xa0\x80\":1}": strict.ErrUnicode,
		`{"a":1,"a":2}`: strict.ErrDuplicateKey, `{"a":{"b":1,"b":2}}`: strict.ErrDuplicateKey, `{"a":01}`: strict.ErrSyntax,
	} {
		if got, err := CanonicalArgs([]byte(raw)); !errors.Is(err, want) {
			t.Errorf("%s: %s, %v; want %v", raw, got, err, want)
		}
	}
}

func FuzzCanonicalArgs(f *testing.F) {
	for _, s := range []string{`{"b":1,"a":[1.50,{"d":null,"c":"\ud800<"}]}`, `null`, `{"a":1,"a":2}`, `{"n":1E+3,"":""}`, `{"\u0000":"\u202e"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		once, err := CanonicalArgs(raw)
		if err != nil {
			return
		}
		if !json.Valid(once) {
			t.Fatalf("not JSON: %q", once)
		}
		twice, err := CanonicalArgs(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%q becomes %q, %v", once, twice, err)
		}
		var indented bytes.Buffer
		if json.Indent(&indented, once, " ", "\t") == nil {
			if again, err := CanonicalArgs(indented.Bytes()); err != nil || !bytes.Equal(once, again) {
				t.Errorf("with white space %q becomes %q, %v", once, again, err)
			}
		}
	})
}
