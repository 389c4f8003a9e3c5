package tui

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestMask(t *testing.T) {
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
		{`{"githubToken":"x","note":null,"phone":491234}`, `{"githubToken":"***","note":null,"phone":0}`},
		{`{"password":"a","password":"b`, `{"password":"***","password":"***"`},
		{`no json, ann@example.com`, `no json, ***`},
	} {
		if got := string(maskJSON([]byte(c.in))); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

// What was valid stays valid, with the same names in the same order.
func FuzzMask(f *testing.F) {
	f.Add([]byte(`{"user":{"id":17},"text":"a@b.c","x":[1,{"token":"t"}]}`))
	f.Add([]byte(`{"a":"\"`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		out := maskJSON(raw)
		if json.Valid(raw) && !json.Valid(out) {
			t.Errorf("%q became %q", raw, out)
		}
		if again := maskJSON(out); !bytes.Equal(again, out) {
			t.Errorf("%q, masked again: %q", out, again)
		}
	})
}
