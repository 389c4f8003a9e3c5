package form

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/schema"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.FixedZone("", 3600))

func model(schema string) *Model {
	return New(event.Type{InputSchema: json.RawMessage(schema)}, func() time.Time { return noon })
}

func (m *Model) named(t *testing.T, name string) *Entry {
	t.Helper()
	e := m.Named(name)
	if e == nil {
		t.Fatalf("there is no field %s", name)
	}
	return e
}

func wantJSON(t *testing.T, m *Model, want string) {
	t.Helper()
	if got := string(m.JSON()); got != want {
		t.Errorf("sends %s, want %s", got, want)
	}
}

const incident = `{"required":["team","kind"],"properties":{
	"sev":{"enum":["P1",2,null],"default":2},"team":{"type":"string"},"kind":{"const":"page"},
	"loud":{"type":"boolean","default":true},"n":{"type":"integer","minimum":1},
	"tags":{"type":"array","items":{"enum":["a","b","c"]}},"ids":{"type":"array","items":{"type":"integer"}},
	"since":{"type":"string","format":"date-time"},"who":{"type":["string","null"]},
	"where":{"type":"object","properties":{"zone":{"type":"string"},"rack":{"type":"integer"}},"required":["zone"]},
	"any":{"type":["string","integer"]}}}`

func TestUntouchedFieldsAreNotSent(t *testing.T) {
	m := model(incident)
	wantJSON(t, m, `{"kind":"page"}`)
	if m.Dirty() {
		t.Error("a new form is dirty")
	}
	p := m.Problems()
	if len(p) != 1 || p[0].Entry != m.named(t, "team") || !p[0].Missing {
		t.Errorf("%+v", p)
	}
	if m.Entries()[0].Path[0] != "team" || m.Entries()[1].Path[0] != "kind" {
		t.Error("what is required does not come first")
	}
}

func TestRequiredDefaultsAreSent(t *testing.T) {
	wantJSON(t, model(`{"required":["a"],"properties":{"a":{"type":"string","default":"x"},"b":{"type":"string","default":"y"}}}`), `{"a":"x"}`)
}

func TestEveryKindIsSent(t *testing.T) {
	m := model(incident)
	m.named(t, "team").Write("core")
	m.named(t, "sev").Pick(1)
	m.named(t, "loud").Pick(1)
	m.named(t, "n").Write(" 12345678901234567890 ")
	m.named(t, "tags").Pick(2)
	m.named(t, "tags").Pick(0)
	m.named(t, "ids").Write("1\n\n22\n")
	m.named(t, "since").Write("-1h")
	m.named(t, "who").SetNull()
	m.named(t, "where.zone").Write("eu \"1\"")
	m.named(t, "any").Write(` "x" `)
	wantJSON(t, m, `{"team":"core","kind":"page","sev":2,"loud":false,"n":12345678901234567890,"tags":["a","c"],"ids":[1,22],`+
		`"since":"2026-03-14T11:00:00+01:00","who":null,"where":{"zone":"eu \"1\""},"any":"x"}`)
	if p := m.Problems(); len(p) > 0 {
		t.Errorf("%+v", p)
	}
	if !m.Dirty() {
		t.Error("not dirty")
	}
	m.named(t, "tags").Pick(0)
	m.named(t, "tags").Pick(2)
	m.named(t, "loud").Pick(1)
	m.named(t, "sev").Pick(2)
	m.named(t, "n").Write("")
	for _, name := range []string{"ids", "since", "who", "where.zone", "any"} {
		m.named(t, name).Clear()
	}
	wantJSON(t, m, `{"team":"core","kind":"page","sev":null}`)
}

func TestProblemsNameTheirField(t *testing.T) {
	m := model(incident)
	m.named(t, "n").Write("0")
	m.named(t, "ids").Write("1\nx")
	m.named(t, "since").Write("soon")
	m.named(t, "any").Write("{")
	m.named(t, "where.rack").Write("7")
	got := map[string]string{}
	for _, p := range m.Problems() {
		got[strings.Join(p.Entry.Path, ".")] = p.Text
	}
	for name, part := range map[string]string{"n": "must be at least 1", "ids": "line 2: not a number", "since": "not a moment", "any": "not JSON", "where.zone": "missing", "team": "missing"} {
		if !strings.Contains(got[name], part) {
			t.Errorf("%s: %q, want %q", name, got[name], part)
		}
	}
	if len(got) != 6 {
		t.Error(got)
	}
	if m.Named("/where/zone") != m.Named("zone") || m.Named("arguments.n") != m.Named("n") || m.Named("zzz") != nil {
		t.Error("a server's name of a field is not found")
	}
}

func TestLoad(t *testing.T) {
	m := model(incident)
	args := `{"team":"core","kind":"page","sev":"P1","loud":true,"n":1.0,"tags":["b"],"ids":[3],"since":"2026-01-01T00:00:00Z","who":null,"where":{"zone":"z","extra":1},"any":{"a":[1]},"more":[1,2]}`
	if err := m.Load([]byte(args)); err != nil {
		t.Fatal(err)
	}
	sameArgs(t, m, args)
	if m.Dirty() {
		t.Error("dirty after loading")
	}
	if got := string(m.Extra()); got != `{"where":{"extra":1},"more":[1,2]}` {
		t.Errorf("extra %s", got)
	}
	misfits := `{"team":7,"loud":"yes","tags":["zz"],"ids":["x"],"where":"here","n":"1"}`
	if err := m.Load([]byte(misfits)); err != nil {
		t.Fatal(err)
	}
	sameArgs(t, m, `{"kind":"page",`+misfits[1:])
	if len(m.Problems()) < 5 {
		t.Errorf("misfits pass: %+v", m.Problems())
	}
	if err := m.Load([]byte(`{`)); err == nil {
		t.Error("loaded what is no JSON")
	}
	if err := m.Load(nil); err != nil {
		t.Fatal(err)
	}
	wantJSON(t, m, `{"kind":"page"}`)
}

func sameArgs(t *testing.T, m *Model, want string) {
	t.Helper()
	a, err := event.CanonicalArgs(m.JSON())
	if err != nil {
		t.Fatal(err)
	}
	b, err := event.CanonicalArgs([]byte(want))
	if err != nil {
		t.Fatal(err)
	}
	if string(a) != string(b) {
		t.Errorf("sends\n%s, want\n%s", a, b)
	}
}

func TestTypeWithoutSchemaIsJSON(t *testing.T) {
	for _, schema := range []string{``, `true`, `{"type":"object"}`, `[]`} {
		m := model(schema)
		wantJSON(t, m, `{}`)
		if len(m.Entries()) != 1 {
			t.Fatalf("%d fields", len(m.Entries()))
		}
		m.Entries()[0].Write(`{"a": [1]}`)
		wantJSON(t, m, `{"a":[1]}`)
		m.Entries()[0].Write(`[1]`)
		if p := m.Problems(); len(p) != 1 {
			t.Errorf("%s: a list passes for arguments: %+v", schema, p)
		}
	}
}

func TestSeveralChoicesKeepTheirOrder(t *testing.T) {
	m := model(`{"properties":{"a":{"type":"array","items":{"enum":["w","x","y","z"]}}}}`)
	e := m.named(t, "a")
	for _, i := range []int{3, 0, 1} {
		e.Pick(i)
	}
	wantJSON(t, m, `{"a":["w","x","z"]}`)
	if err := m.Load([]byte(`{"a":["z","x"]}`)); err != nil {
		t.Fatal(err)
	}
	wantJSON(t, m, `{"a":["z","x"]}`)
	e.Pick(2)
	wantJSON(t, m, `{"a":["y","z","x"]}`)
	e.Pick(3)
	wantJSON(t, m, `{"a":["y","x"]}`)
}

func TestDefaultChoice(t *testing.T) {
	if i := model(incident).named(t, "sev").DefaultChoice(); i != 1 {
		t.Error(i)
	}
	if i := model(incident).named(t, "tags").DefaultChoice(); i != -1 {
		t.Error(i)
	}
}

func TestMoments(t *testing.T) {
	for text, want := range map[string]string{
		"now": "2026-03-14T12:00:00+01:00", "now-90m": "2026-03-14T10:30:00+01:00", "-2d": "2026-03-12T12:00:00+01:00",
		"+30m": "2026-03-14T12:30:00+01:00", "Today": "2026-03-14T00:00:00+01:00", "14:05": "2026-03-14T14:05:00+01:00",
		"2026-02-01": "2026-02-01T00:00:00+01:00", "2026-02-01 07:05": "2026-02-01T07:05:00+01:00",
		"2026-02-01T07:05:00Z": "", "x": "", "": "", "-": "", "--1h": "", "+-1h": "",
	} {
		if got, _ := moment(text, "date-time", noon); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if got, _ := moment("yesterday", "date", noon); got != "2026-03-13" {
		t.Error(got)
	}
}

func TestUntil(t *testing.T) {
	for text, want := range map[string]string{
		"90m": "2026-03-14T13:30:00+01:00", "3d": "2026-03-17T12:00:00+01:00", "14:05": "2026-03-14T14:05:00+01:00", " 11:59 ": "2026-03-15T11:59:00+01:00",
		"12:00": "2026-03-15T12:00:00+01:00", "tomorrow": "2026-03-15T00:00:00+01:00", "2026-04-01": "2026-04-01T00:00:00+01:00", "2026-04-01 20:00": "2026-04-01T20:00:00+01:00",
		"2026-03-14T12:00:01Z": "2026-03-14T13:00:01+01:00", "now+1h": "2026-03-14T13:00:00+01:00",
		"2026-03-14T10:00:00Z": "", "2026-03-01": "", "now": "", "-1h": "", "0s": "", "": "", "never": "", "25:00": "",
	} {
		at, err := Until(text, noon)
		if got := at.In(noon.Location()).Format(time.RFC3339); (err == nil) != (want != "") || want != "" && got != want || err != nil && !errors.Is(err, ErrEnd) {
			t.Errorf("%q is %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{"90s": 90 * time.Second, "1h 30m": 90 * time.Minute, "2d": 48 * time.Hour, "1d12h": 36 * time.Hour} {
		if got, err := Duration(text); err != nil || got != want {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "5", "x", "-1h", "d", "-2d3h"} {
		if d, err := Duration(text); err == nil {
			t.Errorf("%q is %v", text, d)
		}
	}
}

// What is no character cannot be sent, so the form names it as a problem of its field.
func TestInputThatIsNotUnicodeIsAProblem(t *testing.T) {
	schema := `{"properties":{"s":{"type":"string"},"o":{"type":"object"},"c":{"enum":["\ud800"]}}}`
	for name, fill := range map[string]func(*Entry){
		"s": func(e *Entry) { e.Write("\xed\xa0\x80") },
		"o": func(e *Entry) { e.Write(`{"\ud800":1}`) },
		"c": func(e *Entry) { e.Pick(0) },
	} {
		m := New(event.Type{InputSchema: []byte(schema)}, func() time.Time { return noon })
		e := m.named(t, name)
		fill(e)
		if p := m.Problems(); len(p) != 1 || p[0].Entry != e || !strings.Contains(p[0].Text, "not Unicode") {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// With any schema, loaded arguments are sent unchanged.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(incident), []byte(`{"team":"core","where":{"zone":null},"tags":["a","a"],"n":""}`))
	f.Add([]byte(`{"properties":{"a":{"type":"array","items":{"enum":["x","y","z"]}}}}`), []byte(`{"a":["z","x"]}`))
	f.Add([]byte(`{"properties":{"a":{"properties":{"b":{"type":"string"}}}}}`), []byte(`{"a":[],"":1}`))
	f.Fuzz(func(t *testing.T, input, args []byte) {
		want, err := event.CanonicalArgs(args)
		if err != nil {
			return
		}
		m := New(event.Type{InputSchema: input}, func() time.Time { return noon })
		if m.Load(args) != nil {
			t.Fatal("not loaded")
		}
		m.Problems()
		var have, wanted map[string]json.RawMessage
		got, err := event.CanonicalArgs(m.JSON())
		if err != nil {
			t.Fatalf("sends %s: %v", m.JSON(), err)
		}
		if json.Unmarshal(got, &have) != nil || json.Unmarshal(want, &wanted) != nil {
			t.Skip("an object with names that differ only by what JSON cannot spell")
		}
		for name, v := range wanted {
			e := m.find([]string{name})
			if e != nil && e.Heading {
				continue // required members with a default may have been added
			}
			if string(have[name]) != string(v) {
				t.Fatalf("%q was %s and becomes %s", name, v, have[name])
			}
		}
		for _, e := range m.Entries() {
			if e.Kind == schema.FieldSection {
				continue
			}
			e.Pick(0)
			e.Write("1")
			e.SetNull()
		}
		if _, err := event.CanonicalArgs(m.JSON()); err != nil && len(m.Problems()) == 0 {
			t.Fatalf("nothing is wrong with %s: %v", m.JSON(), err)
		}
	})
}
