package filter

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"eventdeck/host/event"
)

// indexed looks up a record in an index of filters. It fails unless the same candidates
// match as when all filters are tried, in the same order. It returns how many filters the
// index spared, and how many matching filters were found by a value.
func indexed(t *testing.T, filters []*Filter, r *event.Record) (spared, found int) {
	t.Helper()
	all := make([]int, len(filters))
	for i := range all {
		all[i] = i
	}
	x := NewIndex(all, func(i int) *Filter { return filters[i] })
	takes := func(i int) bool { return filters[i].Match(r) }
	var want, got []int
	for _, i := range all {
		if takes(i) {
			want = append(want, i)
			if x.always[i/64]>>(i%64)&1 == 0 {
				found++
			}
		}
	}
	candidates := x.Candidates(r, nil)
	for _, i := range candidates {
		if takes(i) {
			got = append(got, i)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("of %q on %q: took %v, want %v", filters, r.Data, got, want)
	}
	return len(all) - len(candidates), found
}

// indexTexts are texts of values: equal ones spelled differently, and different ones
// spelled alike.
var indexTexts = []string{
	"P1", "p1", "P2", "é", "É", "e\u0301", "k", "K", "\u212a", "s", "\u017f", "σ", "Σ", "ς", "ß", "ẞ", "i", "İ", "ı", "Ⱥ", "ⱥ", "\ufffd", "日本",
	"7", "7.0", "70e-1", "0.7E1", "007", "7e0", "0", "-0", "0.0", "-0e5", "1e400", "-1e400", "2e400", "1e-400", "1E+06", "1000000",
	"9007199254740992", "9007199254740993", "9007199254740993.0", "+inf", "+7", "7.", ".7", "null", "true", "TRUE", "", "x y", `a"b`, `a\b`, "{}",
	strings.Repeat("long", 40), strings.Repeat("LONG", 40), strings.Repeat("long", 41),
}

var indexPaths = []string{".a", ".a", ".a", ".b", ".b.a", ".a[0]", ".a[1].b", `."odd name"`}

// demanding makes a filter that usually demands one of the texts.
func (g generator) demanding(texts []string) string {
	equal := func() string {
		return g.pick(indexPaths...) + "=" + string(appendPhrase(nil, g.pick(texts...)))
	}
	switch g.IntN(10) {
	case 0:
		return g.filter(2).text
	case 1:
		return equal() + " | " + equal()
	case 2:
		return "!" + equal()
	case 3:
		return g.pick("", ".a", ".a>5", ".a~p", ".a=/P1/")
	case 4, 5:
		return equal() + " " + equal()
	case 6:
		return "(" + equal() + " | " + equal() + ") " + equal()
	}
	return equal()
}

// spelled writes a value with one of the texts in JSON, or nearly so.
func (g generator) spelled(texts []string, depth int) string {
	list := func(n int, one func() string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = one()
		}
		return strings.Join(parts, g.pick(",", " , ", "\n,"))
	}
	switch n := g.IntN(8); {
	case n == 0 && depth > 0:
		return "[" + list(g.IntN(4), func() string { return g.spelled(texts, depth-1) }) + "]"
	case n <= 2 && depth > 0:
		return "{" + list(g.IntN(4), func() string {
			return g.pick(`"a"`, `"a"`, `"b"`, `"\u0061"`, `"A"`, `"odd name"`) + g.pick(":", " : ") + g.spelled(texts, depth-1)
		}) + "}"
	case n == 3:
		return g.pick(`"\ud800"`, `"\u00c9"`, "\"\xff\"", `"\u212A"`, `"\u0050\u0031"`, `"\ufffd"`, `"\/"`, `"\u0037"`, "nul", "--7", `""`)
	case n == 4:
		return g.pick(texts...) // a number, or invalid JSON
	}
	return string(appendPhrase(nil, g.pick(texts...)))
}

func TestIndexFindsTheSameAsTryingAll(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(3, 4))}
	spared, found := 0, 0
	for range 1_500 {
		from := g.IntN(len(indexTexts) - 4)
		texts := indexTexts[from : from+5] // similar ones
		var filters []*Filter
		for range 1 + g.IntN(90) {
			filters = append(filters, parse(t, g.demanding(texts)))
		}
		for range 6 {
			r := g.record()
			if g.IntN(8) > 0 {
				var members []string
				for range 1 + g.IntN(4) {
					members = append(members, g.pick(`"a"`, `"a"`, `"\u0061"`, `"b"`, `"odd name"`)+":"+g.spelled(texts, 3))
				}
				r.Data = []byte("{" + strings.Join(members, ",") + "}")
			}
			if g.IntN(8) == 0 {
				r.Data = r.Data[:g.IntN(len(r.Data)+1)]
			}
			s, f := indexed(t, filters, r)
			spared, found = spared+s, found+f
		}
	}
	if spared < 100_000 || found < 5_000 {
		t.Errorf("%d filters were spared, %d were found by a value: the index is not tested", spared, found)
	}
}

// FuzzIndex: looking up filters gives the same matches as trying all.
func FuzzIndex(f *testing.F) {
	for i, text := range indexTexts {
		f.Add(text, indexTexts[(i+1)%len(indexTexts)], fmt.Sprintf(`{"a":%s,"b":["%s",{"a":"%s"}]}`, text, text, strings.ToUpper(text)))
	}
	f.Add("P1", "x", `{"\u0061":"\u00501","a":"x`)
	f.Fuzz(func(t *testing.T, value, other, data string) {
		var filters []*Filter
		for _, text := range []string{".a=%q", ".a=%[2]q", ".a=%q .b=%q", ".b=%q", ".b=%[2]q !.a=%[1]q", ".b.a=%[1]q", ".b.a=%[2]q", ".b[0]=%q", ".b[0]=%[2]q", ".a=%q | .b=%q", ".a"} {
			quoted := func(s string) string { return string(appendPhrase(nil, s)) }
			text = strings.NewReplacer("%q", quoted(value), "%[1]q", quoted(value), "%[2]q", quoted(other)).Replace(text)
			if got, err := Parse(text, noon); err == nil {
				filters = append(filters, got)
			}
		}
		r := incident()
		for _, r.Data = range [][]byte{[]byte(data), []byte(`{"a":` + data), []byte(`{"a":"` + data + `","b":` + other + `}`), []byte(`{"b":[{"a":"` + data + `"}]}`)} {
			indexed(t, filters, r)
		}
	})
}

func TestIndexCandidates(t *testing.T) {
	texts := []string{".sev=P1", ".sev=p2", ".sev=P1 .service=a", ".sev=P1 .service=b", ".n=7", ".n=8", ".once=1", "word", ".sev!=P1", ""}
	x := NewIndex(texts, func(text string) *Filter { return parse(t, text) })
	for data, want := range map[string]string{
		`{"sev":"p1"}`:                     ".sev=P1, .once=1, word, .sev!=P1, ",
		`{"sev":["P2","P1","p1"]}`:         ".sev=P1, .sev=p2, .once=1, word, .sev!=P1, ",
		`{"sev":"P1","service":"A"}`:       ".sev=P1, .sev=P1 .service=a, .once=1, word, .sev!=P1, ",
		`{"n":7.0}`:                        ".n=7, .once=1, word, .sev!=P1, ",
		`{"n":"80e-1","service":"\u0062"}`: ".sev=P1 .service=b, .n=8, .once=1, word, .sev!=P1, ",
		``:                                 ".once=1, word, .sev!=P1, ",
	} {
		r := incident()
		r.Data = []byte(data)
		if got := strings.Join(x.Candidates(r, nil), ", "); got != want {
			t.Errorf("%s: %s; want %s", data, got, want)
		}
	}
}

func TestIndexDoesNotAllocate(t *testing.T) {
	x := NewIndex([]string{".severity=P1", ".severity=P2", ".n=7", ".n=8", ".tags=é", ".tags=eu"}, func(text string) *Filter { return parse(t, text) })
	r := incident()
	out := make([]string, 0, 6)
	if n := testing.AllocsPerRun(100, func() { out = x.Candidates(r, out[:0]) }); n > 0 || len(out) != 3 {
		t.Errorf("%v allocations, found %q", n, out)
	}
}
