package filter

import (
	"testing"
	"time"
	"unicode"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// FuzzFilter: no filter and no payload causes a panic, and String parses to the same
// filter.
func FuzzFilter(f *testing.F) {
	for _, text := range []string{"pool exhausted", `!"a b" | /x+/`, `server:=x type:y (sub:z | id:1) mode:push kind:gap flag:any sev:P1`, `.a."b c"[0]>=5 .d!=e .f~g .h`, "since:10m until:14:05", "sev:>=error !sev:<warn", "ünal", ".tags=eu"} {
		f.Add(text, "po", `{"a":[{"b c":[5,6]}],"severity":"P\u0031","tags":["eu",["x"]],"title":"pool \"exhausted\""}`)
	}
	f.Add(".a", ".a=1", `{"a":1`)
	f.Add("a", `"a" b`, `[[[[{"a":"\`)
	f.Fuzz(func(t *testing.T, text, other, data string) {
		got, err := Parse(text, noon)
		if err != nil {
			return
		}
		spelled := got.String()
		again, err := Parse(spelled, noon)
		if err != nil {
			if len(spelled) > maxText {
				return
			}
			t.Fatalf("%q is written %q: %v", text, spelled, err)
		}
		if again.String() != spelled {
			t.Errorf("%q is written %q and then %q", text, spelled, again.String())
		}
		r := incident()
		r.ReceivedAt = noon.Add(-time.Duration(len(data)) * time.Second)
		r.Data, r.EventID, r.Flags = []byte(data), trust.Untrusted(other), []string{text}
		if got.Match(r) != again.Match(r) {
			t.Errorf("%q and %q differ on %q", text, spelled, data)
		}
		r.Kind, r.Raw, r.Data = event.KindRejected, r.Data, nil
		got.Match(r)
	})
}

// A word whose only cased letters are ASCII is compared byte by byte, with the same result
// as comparing code points, for every code point.
func TestFoldingByBytes(t *testing.T) {
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if r >= 0xd800 && r <= 0xdfff {
			continue
		}
		if l := lowerRune(r); l != r && !twoCases(l) {
			t.Errorf("%U is written %U too, which is compared byte by byte", l, r)
		}
	}
}
