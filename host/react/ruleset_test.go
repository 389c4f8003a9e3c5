package react

import (
	"fmt"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

func record(server, typ, data string) *event.Record {
	return &event.Record{Seq: 1, Kind: event.KindEvent, Server: server, Type: trust.Untrusted(typ), Data: []byte(data), ReceivedAt: noon}
}

func compiled(t testing.TB, rules ...Rule) *Set {
	t.Helper()
	s, err := Compile(File{Rules: rules}, noon)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOnlyTheNamedSourceFiresARule(t *testing.T) {
	set := compiled(t,
		Rule{Name: "a", On: Source{Server: "pager", Types: Types{"incident.created"}}, When: ".severity=P1"},
		Rule{Name: "b", On: Source{Server: "pager", Types: Types{"incident.created"}, Kind: event.KindEvent}},
		Rule{Name: "gap", On: Source{Server: "pager", Types: Types{"incident.created"}, Kind: event.KindGap}})
	for _, c := range []struct {
		r    *event.Record
		want string
	}{
		{record("pager", "incident.created", `{"severity":"P1"}`), "a b"},
		{record("pager", "incident.created", `{"severity":"P2"}`), "b"},
		{record("pagers", "incident.created", `{"severity":"P1"}`), ""},
		{record("pager", "incident", `{"severity":"P1"}`), ""},
		{record("Pager", "incident.created", `{"severity":"P1"}`), ""},
	} {
		var names []string
		for _, m := range set.Candidates(c.r, nil) {
			if m.Match(c.r) {
				names = append(names, m.Rule.Name)
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s %s %s: fired %q, want %q", c.r.Server, c.r.Type.Raw(), c.r.Data, got, c.want)
		}
	}
	gap := record("pager", "incident.created", "")
	gap.Kind = event.KindGap
	if got := set.Listening(gap); len(got) != 1 || got[0].Rule.Name != "gap" {
		t.Errorf("a gap is listened to by %v", got)
	}
	if set.Rule("a") == nil || set.Rule("c") != nil {
		t.Error("rules are not found by their names")
	}
}

func TestGroupsAreByteExact(t *testing.T) {
	long := strings.Repeat("x", KeyBytes)
	for _, c := range []struct{ paths, data, want string }{
		{"", `{"a":1}`, ""},
		{".a", `{"a":"x y"}`, `"x y"`},
		{".a", `{"a": 1.0 }`, `1.0`},
		{".a", `{"a":1}`, `1`},
		{".a", `{"a":"1"}`, `"1"`},
		{".a", `{"a":null}`, `null`},
		{".a", `{"b":1}`, `(none)`},
		{".a", `{"a":"(none)"}`, `"(none)"`},
		{".a", ``, `(none)`},
		{".a .b", `{"a":"x","b":[1,2]}`, `"x",[1,2]`},
		{".a .b", `{"b":2}`, `(none),2`},
		{".a", `{"a":"ﬁ"}`, `"ﬁ"`},
	} {
		m := compiled(t, Rule{Name: "r", Key: strings.Fields(c.paths)}).Rule("r")
		if got := m.Key(record("s", "t", c.data)); got != Key(c.want) {
			t.Errorf("%s in %s: %q, want %q", c.paths, c.data, got, c.want)
		}
	}
	m := compiled(t, Rule{Name: "r", Key: []string{".a"}, Once: Once{By: []string{".b"}}}).Rule("r")
	one, other := m.Key(record("s", "t", `{"a":"`+long+`1"}`)), m.Key(record("s", "t", `{"a":"`+long+`2"}`))
	if one == other || len(one) > KeyBytes {
		t.Errorf("long values: %q and %q", one, other)
	}
	if got, ok := m.Once(record("s", "t", `{"b":7}`)); !ok || got != "7" {
		t.Errorf("once is %q, %v", got, ok)
	}
	if _, ok := compiled(t, Rule{Name: "r"}).Rule("r").Once(record("s", "t", `{}`)); ok {
		t.Error("a rule without once has a once value")
	}
}

func manyRules() []Rule {
	var rules []Rule
	for i := range 200 {
		rules = append(rules, Rule{Name: fmt.Sprint("r", i), On: Source{Server: fmt.Sprint("server", i%10), Types: Types{fmt.Sprint("type", i)}}, When: ".severity=P1"})
	}
	return rules
}

// taken counts the rules that take a record; try holds the candidates.
func taken(set *Set, r *event.Record, try []*Matcher) (n int) {
	for _, m := range set.Candidates(r, try[:0]) {
		if m.Match(r) {
			n++
		}
	}
	return n
}

func TestARecordOfNoRuleCostsNoMemory(t *testing.T) {
	set := compiled(t, manyRules()...)
	r := record("pager", "incident.created", `{"severity":"P1"}`)
	if n := testing.AllocsPerRun(100, func() {
		if taken(set, r, nil) > 0 {
			t.Error("a rule took it")
		}
	}); n != 0 {
		t.Errorf("%v allocations a record", n)
	}
}

func BenchmarkRecordOfNoRule(b *testing.B) {
	set := compiled(b, manyRules()...)
	r := record("pager", "incident.created", `{"severity":"P1"}`)
	b.ReportAllocs()
	for b.Loop() {
		if taken(set, r, nil) > 0 {
			b.Error("a rule took it")
		}
	}
}

// BenchmarkRulesOfOneType holds a record against 200 rules of its type that each demand a
// severity of its own: one of them the record's, or none. Tried is each rule, found are the
// candidates.
func BenchmarkRulesOfOneType(b *testing.B) {
	var rules []Rule
	for i := range 200 {
		rules = append(rules, Rule{Name: fmt.Sprint("r", i), On: Source{Server: "pager", Types: Types{"incident"}}, When: fmt.Sprintf(".severity=P%d", i)})
	}
	set := compiled(b, rules...)
	for severity, want := range map[string]int{"P100": 1, "warning": 0} {
		r := record("pager", "incident", `{"severity":"`+severity+`","service":"checkout","title":"a title of some length for an event","n":12345}`)
		b.Run("tried/"+severity, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				for _, m := range set.Listening(r) {
					if m.Match(r) {
						n++
					}
				}
				if n != want {
					b.Fatal(n)
				}
			}
		})
		b.Run("found/"+severity, func(b *testing.B) {
			b.ReportAllocs()
			try := make([]*Matcher, 0, len(rules))
			for b.Loop() {
				if n := taken(set, r, try); n != want {
					b.Fatal(n)
				}
			}
		})
	}
}

// A rule listens to event names, or to the types that were subscribed to; to one, to several, or
// to all that begin alike.
func TestARuleListensToEventNames(t *testing.T) {
	on := func(name string, types ...string) Rule {
		return Rule{Name: name, On: Source{Server: "digest", Types: types}}
	}
	set := compiled(t, on("all", "*"), on("one", "incident.changed"), on("stream", "filtered-stream"), on("two", "note.added", "incident.changed"),
		on("below", "incident.*", "x"), on("both", "filtered-stream", "incident.changed"), Rule{Name: "elsewhere", On: Source{Server: "pager", Types: Types{"*"}}},
		Rule{Name: "gaps", On: Source{Server: "digest", Types: Types{"filtered-*"}, Kind: event.KindGap}})
	gap := record("digest", "filtered-stream", "")
	gap.Kind = event.KindGap
	named := func(name string) *event.Record {
		r := record("digest", "filtered-stream", `{}`)
		r.Labels = &event.Labels{Name: trust.Untrusted(name)}
		return r
	}
	for _, c := range []struct {
		r    *event.Record
		want string
	}{
		{named("incident.changed"), "all one stream two below both"},
		{named("note.added"), "all stream two both"},
		{record("digest", "incident.changed", `{}`), "all one two below both"},
		{record("digest", "incident.opened", `{}`), "all below"},
		{record("other", "incident.changed", `{}`), ""},
		{gap, "gaps"},
	} {
		var found, listening []string
		for _, m := range set.Candidates(c.r, nil) {
			found = append(found, m.Rule.Name)
		}
		for _, m := range set.Listening(c.r) {
			listening = append(listening, m.Rule.Name)
		}
		if got := strings.Join(found, " "); got != c.want || strings.Join(listening, " ") != c.want {
			t.Errorf("%s %s: found %q, listening %q, want %q", c.r.Kind, c.r.Name().Raw(), got, listening, c.want)
		}
		if set.Hears(c.r) != (c.want != "") {
			t.Errorf("%s: heard %v", c.r.Name().Raw(), c.want == "")
		}
	}
}
