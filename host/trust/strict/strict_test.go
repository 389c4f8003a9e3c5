package strict

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"eventdeck/host/internal/jsontext"
	"eventdeck/host/trust"
	"eventdeck/host/trust/internal/trusttest"
)

func FuzzParseObject(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":[1,{"b":null}]}`, `{"a":1,"a":2}`, `[1]`, `{"a":"\ud83d"} x`, "\ufeff{}", `{"a":-0.1e+5}`, `1`, ``, `{"a\u0062":1,"ab":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		members, err := ParseObject(raw, jsontext.Limits{})
		dup := duplicateByDecoder(raw)
		valid := json.Valid(raw) && len(raw) > 0 && raw[jsontext.SkipSpace(raw, 0)] == '{'
		switch {
		case err == nil && (!valid || dup):
			t.Fatalf("accepted: %q (valid %v, duplicate %v)", raw, valid, dup)
		case err != nil && valid && !dup && utf8.Valid(raw):
			t.Fatalf("refused: %q: %v", raw, err)
		case err != nil:
			return
		}
		var b strings.Builder
		for _, m := range members {
			b.Write(trust.AppendJSONString(nil, m.Key.Raw()))
			if !json.Valid(m.Value) {
				t.Fatalf("member %v has the value %q", m.Key, m.Value)
			}
		}
		if c := trust.CompactJSON(raw); !json.Valid(c) {
			t.Fatalf("CompactJSON(%q) = %q", raw, c)
		}
		if back, err := ParseObject(trust.CompactJSON(raw), jsontext.Limits{}); err != nil && utf8.Valid(raw) || len(back) != len(members) && err == nil {
			t.Fatalf("CompactJSON(%q) has %d members, not %d: %v", raw, len(back), len(members), err)
		}
	})
}

// duplicateByDecoder looks for a duplicate key with the decoder of the standard library, up
// to the decoder's first error.
func duplicateByDecoder(raw []byte) bool {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	duplicate := false
	var value func() error
	value = func() error {
		tok, err := dec.Token()
		if err != nil {
			return err
		}
		d, ok := tok.(json.Delim)
		if !ok {
			return nil
		}
		seen := map[string]bool{}
		for dec.More() {
			if d == '{' {
				k, err := dec.Token()
				if err != nil {
					return err
				}
				// U+FFFD may stand for different surrogates.
				s, _ := k.(string)
				duplicate = duplicate || seen[s] && !strings.Contains(s, "\ufffd")
				seen[s] = true
			}
			if err := value(); err != nil {
				return err
			}
		}
		_, err = dec.Token()
		return err
	}
	return value() == nil && duplicate
}

func BenchmarkParseTypical(b *testing.B) {
	raw := []byte(trusttest.TypicalEvent)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseObject(raw, jsontext.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
