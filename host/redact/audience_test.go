package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

func TestAudience(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"title":"pool exhausted","n":12345678901234567}`, `{"title":"pool exhausted","n":12345678901234567}`},
		{`{"email":"a@b.c","n":1}`, `{"email":"***","n":1}`},
		{`{ "User_Name" : "ann" , "n": 1 }`, `{ "User_Name" : "***" , "n": 1 }`},
		{`{"user":{"id":17,"name":"Ann","tags":["x",true]},"name":"db-main"}`, `{"user":{"id":0,"name":"***","tags":["***",true]},"name":"db-main"}`},
		{`{"em\u0061il":"x"}`, `{"em\u0061il":"***"}`},
		{`{"text":"mail ann.b+c@example.co.uk now"}`, `{"text":"mail *** now"}`},
		{`{"text":"mail ann\u0040example.com"}`, `{"text":"mail ***"}`},
		{`{"text":"call +49 (30) 123-4567"}`, `{"text":"call ***"}`},
		{`{"text":"at 2026-03-14 14:03:05.123 +02:00"}`, `{"text":"at 2026-03-14 14:03:05.123 +02:00"}`},
		{`["whsec_abcdefgh1234","Bearer abc.def.ghi","https://u:p@host/x"]`, `["***","***","https://***@host/x"]`},
		{`{"hook":"see https://hooks.example/services/T000/B000/a1B2c3D4e5F6g7H8i9J0, now"}`, `{"hook":"see https://hooks.example/services/T000/B000/… now"}`},
		{`{"run":"https://ci.example/build?token=t0p&n=7"}`, `{"run":"https://ci.example/build?token=…&n=7"}`},
		{`{"run":"https://ci.example/team/build/1234567"}`, `{"run":"https://ci.example/team/build/1234567"}`},
		{`{"githubToken":"x","note":null,"phone":491234}`, `{"githubToken":"***","note":null,"phone":0}`},
		{`{"password":"a","password":"b`, `{"password":"***","password":"***`},
		{`no json, ann@example.com`, `no json, ***`},
	} {
		if got := string(Audience().JSON([]byte(c.in))); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

// Valid JSON stays valid, with the same members in the same order, and nothing is left to
// mask. In other texts nothing is left of the shapes that are masked in every text.
func FuzzAudience(f *testing.F) {
	f.Add([]byte(`{"user":{"id":17},"text":"a@b.c","x":[1,{"token":"t"}]}`))
	f.Add([]byte(`{"a":"\"`))
	f.Add([]byte(`["://ann+4930 1234567@host"]`))
	f.Add([]byte(`"0":token":***"""0=00`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		out := Audience().JSON(raw)
		if !json.Valid(out) {
			if again := maskPersonal(string(out)); again != string(out) {
				t.Errorf("%q is left in %q, which was %q", again, out, raw)
			}
			return
		}
		if again := Audience().JSON(out); !bytes.Equal(again, out) {
			t.Errorf("%q, masked again: %q", out, again)
		}
		if !json.Valid(raw) {
			return
		}
		if was, is := members(raw), members(out); !slices.Equal(was, is) {
			t.Errorf("%q became %q: members %q became %q", raw, out, was, is)
		}
	})
}

// members returns the names, the delimiters and the kinds of values of a JSON text.
func members(raw []byte) []string {
	var list []string
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var objects []bool // whether each open value is an object
	name := false
	for {
		token, err := d.Token()
		if err != nil {
			return append(list, err.Error())
		}
		if delim, ok := token.(json.Delim); ok {
			list = append(list, delim.String())
			if delim == '{' || delim == '[' {
				objects = append(objects, delim == '{')
			} else {
				objects = objects[:len(objects)-1]
			}
			name = len(objects) > 0 && objects[len(objects)-1]
			continue
		}
		if name {
			list = append(list, fmt.Sprintf("%q", token))
		} else {
			list = append(list, fmt.Sprintf("%T", token))
		}
		name = !name && len(objects) > 0 && objects[len(objects)-1]
	}
}
