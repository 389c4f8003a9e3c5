package filter

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"eventdeck/host/trust"
)

func TestDemandsAndPaths(t *testing.T) {
	for text, want := range map[string]string{
		"":                             " | | false",
		".a=1 .b.c[0].d~x":             ".a .b.c[0].d | .a=1 | false",
		".a=x | .b=y":                  ".a .b | | false",
		"!.a=x since:10m":              ".a | | true",
		"(.a=1 | until:10m) .b=2 .c>1": ".a .b .c | .b=2 | true",
		"word sev:P1 .x=/re/":          ".x | | false",
	} {
		f, err := Parse(text, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		var paths, demands []string
		for _, p := range f.Paths() {
			paths = append(paths, p.String())
		}
		for _, d := range f.Demands() {
			demands = append(demands, d.Path.String()+"="+d.Wants)
		}
		got := strings.Join(strings.Fields(fmt.Sprint(strings.Join(paths, " "), " | ", strings.Join(demands, " "), " | ", f.Timed())), " ")
		if strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	f, _ := Parse(".a=1", time.Now())
	d := f.Demands()[0]
	if !d.Takes(trust.Untrusted("1")) || !d.Takes(trust.Untrusted("1.0")) || d.Takes(trust.Untrusted("2")) {
		t.Error("a demand takes other values than its filter")
	}
	for pointer, want := range map[string]string{"/a": ".a", "/a/b~1c/404": `.a."b/c".404`, "/odd name/a~0": `."odd name"."a~"`} {
		if got := PathAt(pointer); got != want {
			t.Errorf("%s is %s, want %s", pointer, got, want)
		}
	}
	if p, _ := ParsePath(".a[2].b"); strings.Join(p.Names(), " ") != "a b" {
		t.Errorf("names %v", p.Names())
	}
}
