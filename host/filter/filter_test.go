package filter

import (
	"errors"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

var noon = time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)

func parse(t testing.TB, text string) *Filter {
	t.Helper()
	f, err := Parse(text, noon)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return f
}

// incident is a record with a value in every field.
func incident() *event.Record {
	data := `{"incidentId": "INC-1234", "severity":"P1", "n": 7, "big":9007199254740993, "ratio":0.5, "ok":true, "none":null,
		"title":"Pool EXHAUSTED on caf\u00e9 \"db\"", "tags":["eu","db"], "user":{"name":"Ünal","email":"u@example.com"},
		"items":[{"id":1,"at":"2026-07-28"},{"id":22}], "odd name":"x", "caf\u00e9":"key", "text":"7"}`
	return &event.Record{
		Seq: 9, Kind: event.KindEvent, Sub: "k3abcdef", Server: "Pagerduty", Type: trust.Untrusted("incident.created"),
		Mode: event.ModePush, ReceivedAt: noon.Add(-5 * time.Minute), EventID: trust.Untrusted("evt_789"),
		Flags: []string{"to-ai", "control"}, Data: []byte(data), Raw: []byte(`{"eventId":"evt_789","onlyinraw":1}`),
	}
}

func TestMatch(t *testing.T) {
	yes := []string{
		"", "  ", "pool", "POOL exhausted", `"pool exhausted"`, `"" `, "pager", "created", "evt_7", "push", "event", "to-ai",
		"café", "CAFÉ", "ünal", "ÜNAL", `"\"db\""`, "!test", "! test", "!(test)", "!!pool", "/p[0-9]/", "/POOL +ex/", `/caf.\s"db/`, `/INC\-\d+/`,
		"server:pager", "SERVER:PAGERDUTY", `server:="pagerduty"`, "server:", "type:incident", "type:=incident.created", "type:/^inc.*d$/",
		"sub:k3", "sub:abc", "id:789", "mode:push", "mode:pu", "kind:ev", "flag:any", "flag:to", "flag:", "flag:control", "flag:=control",
		"sev:p1", "sev:critical", "sev:>=error", "!status:resolved", "sev:>Error", "sev:<=critical", `sev:>="P1"`, "sev:P", "sev:=P1", "sev:/^p[12]$/",
		".severity=P1", ".severity=p1", ".severity", ".none", ".none=null", ".ok=true", ".n=7", ".n=7.0", ".n=70e-1", ".n>6", ".n>=7", ".n<8", ".n<=7", ".n!=8",
		".n>-1", ".ratio<1", ".ratio=.5e0 | .ratio=0.50", ".text=7", ".text>6", ".big=9007199254740993", ".big!=9007199254740992", ".big>9007199254740992",
		".title~exhausted", ".title~/^pool/", ".title=/café/", `.title~"\"db\""`, ".tags=eu", ".tags=db", ".tags!=us", ".tags[1]=db", ".tags",
		".user.name=ünal", ".user~example", ".user", ".items.id=22", ".items[0].id=1", ".items[1].id>1", ".items.at>2026-07-01", ".items.at<2026-08",
		`."odd name"=x`, `.café=key`, ".missing!=x", "!.missing", ".missing | pool", "(nope | pool) (.n=7)", "nope | pool", "pool|nope",
		"since:10m", "until:4m", "since:11:50", "since:2026-07-28", "until:2026-07-29", "since:2026-07-28T11:54", "since:2026-07-28T11:54:00Z", `since:"2026-07-28 11:54"`, "since:1d", "since:1w", "since:5m", "until:5m",
		"since:13:00", "https://nope | pool",
	}
	no := []string{
		"test", `"exhausted pool"`, "!pool", "!(pool exhausted)", "onlyinraw", "k3abcdef", "pool nope", "(nope | pool) nope", "pool !exhausted",
		"/^nope/", "server:github", "server:=pager", "type:=incident", "sub:zz", "mode:ush", "kind:gap", "flag:tool", "flag:=to", "!flag:", "sev:1", "sev:<error", "sev:>p1", `sev:">=error"`, "sev:=P",
		".severity=P", ".severity=P2", ".missing", ".missing=x", ".n=8", ".n>7", ".n<7", ".n=7x", ".big=9007199254740992", ".title>5", ".ok>0", ".n>abc",
		".tags=us", ".tags[0]=db", ".tags[2]", ".tags!=eu", ".user=x", ".user.nam", ".items[2]", ".items.id=3", ".Severity=P1", ".text<5", ".user.name.x",
		"since:4m", "until:6m", "since:11:56", "until:13:00", "since:2026-07-29", "https://nope", "12:30",
	}
	r := incident()
	for _, text := range yes {
		if !parse(t, text).Match(r) {
			t.Errorf("%q does not take the record", text)
		}
	}
	for _, text := range no {
		if parse(t, text).Match(r) {
			t.Errorf("%q takes the record", text)
		}
	}
	if !(*Filter)(nil).Match(r) {
		t.Error("no filter takes nothing")
	}
}

func TestMatchOtherKinds(t *testing.T) {
	gap := &event.Record{Kind: event.KindGap, Server: "chat", Gap: &event.Gap{Cause: event.CauseTruncated}}
	state := &event.Record{Kind: event.KindState, Mode: event.ModePoll, State: &event.StateChange{State: event.StateBackoff, Evidence: "answered 503", Error: trust.Untrusted("try later")}}
	refused := &event.Record{Kind: event.KindRejected, Reason: trust.Untrusted("duplicate key"), Raw: []byte(`{"a":1,"a":2,"sevère":1}`)}
	nested := &event.Record{Kind: event.KindEvent, Data: []byte(`{"alert":{"level":"cri\u0074ical"},"n":1}`)}
	labelled := &event.Record{Kind: event.KindEvent, Data: []byte("{}"), Labels: &event.Labels{
		Name: trust.Untrusted("renamed"), Priority: trust.Untrusted("high"), Tags: []trust.Text{trust.Untrusted("x"), trust.Untrusted("eu-west")}}}
	for _, c := range []struct {
		r    *event.Record
		text string
		want bool
	}{
		{gap, "truncated", true}, {gap, "kind:gap server:chat", true}, {gap, ".a!=1", true}, {gap, ".a", false}, {gap, "sev:", true}, {gap, "sev:P1", false}, {gap, "flag:any", false},
		{state, "backoff", true}, {state, `"answered 503"`, true}, {state, "later", true}, {state, "mode:poll", true},
		{refused, "duplicate", true}, {refused, "SEVÈRE", true}, {refused, ".a", false}, {refused, "kind:rej", true},
		{labelled, "sev:high", true}, {labelled, "eu-west", true}, {labelled, "renamed", true}, {labelled, "sev:low", false},
		{nested, "sev:critical", true}, {nested, "sev:crit", true}, {nested, "sev:high", false},
	} {
		if got := parse(t, c.text).Match(c.r); got != c.want {
			t.Errorf("%q takes a %s: %v", c.text, c.r.Kind, got)
		}
	}
}

// Times of day are in the operator's time zone, and never in the future.
func TestTimesOfDay(t *testing.T) {
	zone := time.FixedZone("east", 2*60*60)
	now := time.Date(2026, 7, 28, 0, 30, 0, 0, zone)
	f, err := Parse("since:23:00 until:23:30:30", now)
	if err != nil {
		t.Fatal(err)
	}
	yesterday := time.Date(2026, 7, 27, 23, 0, 0, 0, zone)
	for at, want := range map[time.Duration]bool{-1: false, 0: true, 30*time.Minute + 30*time.Second: true, 31 * time.Minute: false} {
		if got := f.Match(&event.Record{ReceivedAt: yesterday.Add(at).UTC()}); got != want {
			t.Errorf("23:00 and %v: %v", at, got)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		text string
		at   int
		says string
	}{
		{`pool "exhausted`, 5, "not closed"},
		{"/ab", 0, "not closed"},
		{"a /(/", 2, "missing closing )"},
		{"foo:bar", 0, `write "foo:bar"`},
		{"a | ", 4, "missing"},
		{"| a", 0, "missing"},
		{"a (b", 2, "add )"},
		{"a )", 2, "without its ("},
		{"()", 1, "missing"},
		{"!", 1, "needs a term"},
		{".", 1, "after the dot"},
		{"a ..b", 3, "after the dot"},
		{".a[x]", 3, "[0]"},
		{".a[0", 4, "[0]"},
		{".a=", 3, "value is missing"},
		{".a> b", 3, "value is missing"},
		{".a!b", 2, "after a path"},
		{`.a="b`, 3, "not closed"},
		{"since:soon", 6, "no time"},
		{"since:", 6, "no time"},
		{"since:-5m", 6, "no time"},
		{"until:99999999w", 6, "no time"},
		{strings.Repeat("(", 60), 50, "nested too deep"},
		{strings.Repeat("a ", 3000), maxText, "too long"},
		{"a\xff", 0, "no characters"},
	} {
		f, err := Parse(c.text, noon)
		var e *Error
		if f != nil || !errors.As(err, &e) {
			t.Errorf("%q: %v, %v", c.text, f, err)
			continue
		}
		if e.At != c.at || !strings.Contains(e.Error(), c.says) {
			t.Errorf("%q: at %d: %v", c.text, e.At, e)
		}
	}
}

func TestString(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"  a   B ":                 "a B",
		`"a b"  "c"`:               `"a b" c`,
		"(a b) c":                  "a b c",
		"(a|b)|c":                  "a | b | c",
		"(a|b) c":                  "(a | b) c",
		"!(a b)":                   "!(a b)",
		"!(a|b)":                   "!(a | b)",
		"!(a)":                     "!a",
		"server:pager.eu":          `server:"pager.eu"`,
		"Server:=x":                "server:=x",
		"flag:":                    "flag:",
		"!.a=b":                    ".a!=b",
		".a!=b":                    ".a!=b",
		`.a."b c"[2]>=5`:           `.a."b c"[2]>=5`,
		"since:10m until:14:05":    `since:10m until:"14:05"`,
		`/a\/b\d/`:                 `/a\/b\d/`,
		`.a~/x/`:                   `.a~/x/`,
		`"back\\slash \"quoted\""`: `"back\\slash \"quoted\""`,
		"http://example.com/a?b=c": `"http://example.com/a?b=c"`,
		`type:"=x"`:                `type:"=x"`,
		".a":                       ".a",
		`.""`:                      `.""`,
	} {
		f := parse(t, text)
		if got := f.String(); got != want {
			t.Errorf("%q is written %q, want %q", text, got, want)
		}
		if again := parse(t, f.String()).String(); again != f.String() {
			t.Errorf("%q is written %q and then %q", text, f.String(), again)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	r := incident()
	r.Data = []byte(strings.ReplaceAll(string(r.Data), `\`, ""))
	for _, text := range []string{"nothing", "ünothing", "server:x | type:y", "sev:P1", ".severity=P1", ".n>5", ".items.id=99", "flag:any !pool since:1h"} {
		f := parse(t, text)
		if n := testing.AllocsPerRun(100, func() { f.Match(r) }); n > 0 {
			t.Errorf("%q: %v allocations", text, n)
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	r := incident()
	r.Data = []byte(`{"title":"` + strings.Repeat("pool exhausted ", 38) + `","severity":"P1"}`)
	for _, text := range []string{"nothing", "ünothing", "/nothing/", ".severity=P2", "sev:P2", "server:x | type:y"} {
		f := parse(b, text)
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.Match(r)
			}
		})
	}
}

func TestOnlyKnownSeveritiesAreCompared(t *testing.T) {
	for text, want := range map[string]string{
		"sev:>=mauve": `"mauve" is no severity that can be compared; after sev:>= write one of good, debug, info, warning, error, critical; sev:mauve finds the word itself`,
		"sev:>=":      "",
	} {
		if _, err := Parse(text, noon); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	f := parse(t, "sev:<=error")
	for data, want := range map[string]bool{
		`{"level":"warn"}`: true, `{"status":"failed"}`: true, `{"severity":"fatal"}`: false, `{"severity":"mauve"}`: false, `{}`: false,
	} {
		if f.Match(&event.Record{Data: []byte(data)}) != want {
			t.Errorf("%s: taken is %v", data, !want)
		}
	}
}

// type: is the event name in every dialect, and the type that was subscribed to, beside it.
func TestTypeIsTheEventName(t *testing.T) {
	note := &event.Record{Kind: event.KindEvent, Type: trust.Untrusted("filtered-stream"), Labels: &event.Labels{
		Name: trust.Untrusted("note.added"), Tags: []trust.Text{trust.Untrusted("team-a"), trust.Untrusted("eu-west")}}}
	filed := &event.Record{Kind: event.KindEvent, Type: trust.Untrusted("event://archive/filed"), Labels: &event.Labels{Name: trust.Untrusted("event://archive/filed/17")}}
	plain := &event.Record{Kind: event.KindEvent, Type: trust.Untrusted("note.added")}
	gap := &event.Record{Kind: event.KindGap, Type: trust.Untrusted("filtered-stream")}
	for text, want := range map[string]string{
		"type:note.added": "note plain", `type:="note.added"`: "note plain", "type:/^note/": "note plain", "!type:note": "filed gap",
		"type:filtered-stream": "note gap", "!type:filtered-stream": "filed plain", `type:="event://archive/filed/17"`: "filed", "type:filed": "filed",
		"tag:eu": "note", `tag:="eu-west"`: "note", "tag:=eu": "", "tag:team-b": "", "!tag:eu": "filed plain gap", "tag:": "note filed plain gap",
	} {
		f, got := parse(t, text), ""
		for _, r := range []struct {
			name string
			r    *event.Record
		}{{"note", note}, {"filed", filed}, {"plain", plain}, {"gap", gap}} {
			if f.Match(r.r) {
				got += " " + r.name
			}
		}
		if strings.TrimSpace(got) != want {
			t.Errorf("%s takes %q, want %q", text, got, want)
		}
	}
}

func TestMetaHasPathsOfItsOwn(t *testing.T) {
	r := &event.Record{Kind: event.KindEvent, Data: []byte(`{"region":"us","n":1}`), Meta: []byte(`{"region":"eu","try":7,"com.example/trace":{"id":"t1"},"list":[{"a":1},{"a":2}]}`)}
	for text, want := range map[string]bool{
		"meta.region=eu": true, "meta.region=us": false, ".region=us": true, ".region=eu": false, "meta.region": true, "meta.n": false, "meta.region!=eu": false,
		"meta.try>6": true, "meta.list.a=2": true, "meta.list[0].a=2": false, `meta."com.example/trace".id~T`: true, "!meta.region=us": true, `"meta.region"`: false,
	} {
		f := parse(t, text)
		if f.Match(r) != want {
			t.Errorf("%s: %v", text, !want)
		}
		if again := parse(t, f.String()); again.String() != f.String() || again.Match(r) != want {
			t.Errorf("%s is spelled %s", text, f)
		}
		if f.Match(&event.Record{Kind: event.KindEvent, Data: r.Data}) && strings.HasPrefix(text, "meta.") && !strings.Contains(text, "!=") {
			t.Errorf("%s takes an event without _meta", text)
		}
		if len(f.Demands()) > 0 && strings.Contains(text, "meta") {
			t.Errorf("%s demands a value of the payload", text)
		}
	}
	if h, said := HintOf("meta.region=eu", nil); said {
		t.Errorf("there is a hint: %s", h)
	}
}

func TestStatusIsRead(t *testing.T) {
	r := &event.Record{Kind: event.KindEvent, Data: []byte(`{"alert":{"state":"recovered","severity":"high","name":"disk"}}`)}
	for text, want := range map[string]bool{"status:resolved": true, "status:res": true, "status:trig": false, "sev:good": true, "sev:high": true, "sev:<info": true, "sev:>good": false} {
		if got := parse(t, text).Match(r); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
