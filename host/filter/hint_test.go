package filter

import (
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

func TestHints(t *testing.T) {
	for text, want := range map[string]string{
		"severity=critical":             "sev:critical",
		"severity:critical x":           "sev:critical x",
		"sev=critical":                  "sev:critical",
		"severity>=error":               "sev:>=error",
		"sev>warn x":                    "sev:>warn x",
		"sev:>=error":                   "",
		"Severity!=info":                "!sev:info",
		"service==checkout":             ".service=checkout",
		"latency>=5":                    ".latency>=5",
		"a AND b":                       "a b",
		"a && b":                        "a b",
		"a OR b":                        "a | b",
		"NOT info":                      "!info",
		"sev:critical AND NOT (a OR b)": "sev:critical !(a | b)",
		"sev:critcal":                   "sev:critical",
		"!sev:eror x":                   "!sev:error x",
		"kind:events":                   "kind:event",
		"mode:webook":                   "mode:webhook",
		".severity==critical":           ".severity=critical",
		"a !.a.b==\"x y\"":              "a !.a.b=\"x y\"",
		`"a AND b" .n>5 sev:crit`:       "",
		"a and b":                       "",
		"sev:P1 sev:3 sev:/x/ sev:":     "",
		"/a=b/ value:x":                 "",
		"https://x.test/?a=b":           "",
		"":                              "",
	} {
		h, ok := HintOf(text, nil)
		if h.Meant != want || ok != (want != "") {
			t.Errorf("%s: %q, %v (%s), want %q", text, h.Meant, ok, h.Says, want)
		}
		if ok && !strings.HasSuffix(h.String(), "did you mean: "+want) {
			t.Errorf("%s: %q does not offer what was meant", text, h.Says)
		}
		if ok {
			parse(t, h.Meant)
			if again, more := HintOf(h.Meant, nil); more {
				t.Errorf("%s: what is offered is doubted itself: %s", text, again.Says)
			}
		}
	}
	if h, ok := HintOf("sev:quux", nil); !ok || h.Meant != "" || !strings.Contains(h.String(), `no severity "quux" is known, so nothing matches`) {
		t.Errorf("%v %v", h, ok)
	}
	for text, want := range map[string]string{
		".rate>x":         "to compare numbers it needs one",
		".rate<=five":     "to compare numbers it needs one",
		".when>alpha":     "",
		".when>2026-1":    "",
		"server:nope":     `no server "nope" is known; there are chat, pager`,
		"server:pagr":     "did you mean: server:pager",
		"!type:incidnt x": `did you mean: !type:"incident.created" x`,
		"server:age":      "",
		"server:/n/":      "",
		"server:":         "",
	} {
		seen := &Seen{}
		seen.Know("server", trust.Untrusted("pager"))
		seen.Know("server", trust.Untrusted("chat"))
		seen.Know("type", trust.Untrusted("incident.created"))
		seen.Add(&event.Record{Data: []byte(`{"rate":7,"when":"beta"}`)})
		if h, ok := HintOf(text, seen); ok != (want != "") || !strings.Contains(h.String(), want) {
			t.Errorf("%s: %q, want %q", text, h, want)
		}
		if h, ok := HintOf(text, nil); ok && strings.HasPrefix(text, "server") {
			t.Errorf("%s: doubted although no server is known: %s", text, h)
		}
	}
	seen := &Seen{}
	seen.Add(&event.Record{Data: []byte(`{"severity":"quuxotic"}`)})
	if h, ok := HintOf("sev:quux", seen); ok {
		t.Errorf("a severity that was seen is doubted: %s", h.Says)
	}
}

func TestValueIsFoundUnderAnyName(t *testing.T) {
	f := parse(t, "value:INC-7")
	for data, want := range map[string]bool{
		`{"incident":"INC-7"}`:                 true,
		`{"incidentId":"inc-7"}`:               true,
		`{"data":{"list":[1,{"id":"INC-7"}]}}`: true,
		`"INC-7"`:                              true,
		`{"x":"\u0049NC-7"}`:                   true,
		`{"incident":"INC-77"}`:                false,
		`{"text":"see INC-7"}`:                 false,
		`{"INC-7":1}`:                          false,
		``:                                     false,
	} {
		if got := f.Match(&event.Record{Data: []byte(data)}); got != want {
			t.Errorf("%s: %v", data, got)
		}
	}
	if !f.Match(&event.Record{EventID: trust.Untrusted("INC-7")}) || !f.Match(&event.Record{Labels: &event.Labels{Batch: trust.Untrusted("INC-7")}}) {
		t.Error("the ids of an event and of its batch are not looked at")
	}
	if f := parse(t, "value:500"); !f.Match(&event.Record{Data: []byte(`{"n": 500 }`)}) || f.Match(&event.Record{Data: []byte(`{"n":5001}`)}) {
		t.Error("numbers are not whole values")
	}
}

func TestWithJoinsATermToAFilter(t *testing.T) {
	for _, c := range []struct {
		text, term string
		not        bool
		want       string
	}{
		{"", "value:a", false, "value:a"},
		{"sev:P1", "value:a", false, "sev:P1 value:a"},
		{"a | b", "value:a", true, "(a | b) !value:a"},
		{"(a | b) c", "value:a", false, "(a | b) c value:a"},
		{"x value:a", "value:a", false, "x value:a"},
		{"x !value:a", "value:a", true, "x !value:a"},
		{"!value:a", "value:a", false, "value:a"},
		{"value:a", "value:a", true, "!value:a"},
		{"x value:a y", "value:a", true, "x y !value:a"},
		{`value:"a b" x`, `value:"a b"`, true, `x !value:"a b"`},
		{"value:a | b", "value:a", true, "(value:a | b) !value:a"},
		{"(value:a | b) x value:a", "value:a", true, "(value:a | b) x !value:a"},
		{"!(x value:a)", "value:a", true, "!(x value:a) !value:a"},
		{"value:ab", "value:a", true, "value:ab !value:a"},
	} {
		if got := With(c.text, c.term, c.not); got != c.want {
			t.Errorf("%s with %s: %s, want %s", c.text, c.term, got, c.want)
		}
		parse(t, c.want)
	}
	if got := ValueTerm(trust.Untrusted(`odd "one"`)); got != `value:"odd \"one\""` {
		t.Error(got)
	}
	if got := FieldTerm("server", trust.Untrusted("pager")); got != "server:=pager" || FieldTerm("nonsense", trust.Text{}) != "" {
		t.Error(got)
	}
	if got := PathTerm(".n", trust.Untrusted("5")); got != ".n=5" {
		t.Error(got)
	}
}

func TestTermAtTheValueOfALine(t *testing.T) {
	data := []byte(` {"incident":"INC \"7\"", "n": 5, "list":[{"odd name":true}], "text":"x"} `)
	for value, want := range map[string]string{
		`"INC`: `value:"INC \"7\""`,
		`5`:    ".n=5",
		`true`: `.list."odd name"=true`,
		`"x"`:  "value:x",
		`{"`:   "",
	} {
		term, _, ok := TermAt(data, strings.Index(string(data), value))
		if term != want || ok != (want != "") {
			t.Errorf("%s: %s, %v, want %s", value, term, ok, want)
		}
		if ok && !parse(t, term).Match(&event.Record{Data: data}) {
			t.Errorf("%s does not take where it comes from", term)
		}
	}
	if _, _, ok := TermAt([]byte("no json"), 3); ok {
		t.Error("there is no value in what is no JSON")
	}
}
