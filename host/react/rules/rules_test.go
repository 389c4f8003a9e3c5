package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// known is a host with one server.
func known() Known {
	return Known{
		Servers: []string{"pager", "git"},
		Types: func(server string) []event.Type {
			if server != "pager" {
				return nil
			}
			return []event.Type{{Name: trust.Untrusted("incident.created"), PayloadSchema: json.RawMessage(
				`{"type":"object","properties":{"severity":{"enum":["P1","P2"]},"service":{"type":"string"},"incidentId":{"type":"string"}}}`)},
				{Name: trust.Untrusted("heartbeat")}}
		},
		Env: func(name string) (string, bool) { return "whsec_x", name == "KEY" },
	}
}

const good = `{
  // who is called
  "models": {},
  "limits": {"runs": "100/h", "running": 8},
  "rules": {
    "page-p1": {
      "on": {"server": "pager", "type": "incident.created"},
      "when": ".severity=P1 !flag:any", "key": ".service", "wait": "5s",
      "once": {"by": [".incidentId"], "for": "6h"}, "age": "1d", "mode": "auto",
      "limits": {"runs": "10/h", "spend": "1.50"},
      "do": {"command": ["/bin/echo", "$(x)"], "stdin": "ndjson", "env": ["HOME"], "cwd": "/srv", "repeat": "safe",
             "confine": {"read": ["/srv"], "write": [], "net": false}},
    },
    "quiet": {"on": {"server": "pager", "type": "heartbeat"}, "window": {"absent": "5m"}, "do": {"note": "no heartbeat"}},
    "gaps": {"on": {"server": "pager", "type": "incident.created", "kind": "gap"}, "do": {"webhook": "https://example.com/x", "secret": "${KEY}"}}
  }
}`

func TestRulesAreRead(t *testing.T) {
	f, err := Parse("rules.json", []byte(good), known())
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Rules) != 3 || f.Limits.Running != 8 || f.Limits.Runs != (react.Rate{N: 100, Per: time.Hour}) || f.Line("limits.runs") != "rules.json:4:14" {
		t.Errorf("the file: %+v", f)
	}
	r := f.Rules[0]
	if r.Where != "rules.json:6:5" || r.Line("mode") != "rules.json:9:66" || r.Line("limits.runs") != "rules.json:10:18" || r.Line("limits.queue") != r.Where {
		t.Errorf("places: %s, %s, %s", r.Where, r.Line("mode"), r.Line("limits.runs"))
	}
	r.Where, r.Lines = "", nil
	want := react.Rule{
		Name: "page-p1", On: react.Source{Server: "pager", Types: react.Types{"incident.created"}, Kind: event.KindEvent}, When: ".severity=P1 !flag:any",
		Key: []string{".service"}, Wait: 5 * time.Second, Once: react.Once{By: []string{".incidentId"}, For: 6 * time.Hour}, Age: 24 * time.Hour, Mode: react.ModeAuto,
		Limits: react.Limits{Runs: react.Rate{N: 10, Per: time.Hour}, Running: 1, Queue: 100, Spend: 1_500_000, Tokens: 100_000, Time: 5 * time.Minute},
		Do: react.Do{Command: &react.Command{Argv: []string{"/bin/echo", "$(x)"}, Stdin: react.StdinNDJSON, Env: []string{"HOME"}, Dir: "/srv", RepeatSafe: true,
			Confine: &react.Confine{Read: []string{"/srv"}}}},
	}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("got  %+v %+v\nwant %+v %+v", r, r.Do.Command, want, want.Do.Command)
	}
	quiet, gaps := f.Rules[1], f.Rules[2]
	if quiet.Mode != react.ModeAsk || quiet.Wait != 10*time.Second || quiet.Age != 15*time.Minute || quiet.Window.Absent != 5*time.Minute || quiet.Do.Note == "" {
		t.Errorf("defaults: %+v", quiet)
	}
	if gaps.On.Kind != event.KindGap || gaps.Limits.Time != 10*time.Second || gaps.Do.Webhook.Secret != "${KEY}" {
		t.Errorf("a webhook: %+v", gaps)
	}
	if _, err := react.Compile(f, time.Now()); err != nil {
		t.Error(err)
	}
}

// with returns a file with one rule of these members beside a listener and a note, or with
// them in their place.
func with(members string) string {
	rest := ""
	if !strings.Contains(members, `"on"`) {
		rest += `,"on":{"server":"pager","type":"incident.created"}`
	}
	if !strings.Contains(members, `"do"`) {
		rest += `,"do":{"note":"n"}`
	}
	return `{"rules":{"a":{` + members + rest + `}}}`
}

func TestEachMistakeIsNamedWithItsPlaceAndWhatToWrite(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", `f:1:1: the file is empty; it should hold {"rules": {}}`},
		{"half written", `{"rules": {"a": `, `f:1:17: unexpected end of JSON input`},
		{"no JSON", "{\n  rules: 1}", `f:2:3: invalid character 'r' looking for beginning of object key string`},
		{"no UTF-8", "{\"rules\":{\"\xff\":{}}}", `f:1:12: this is no UTF-8; write: the file in UTF-8`},
		{"no object", `[]`, `f:1:1: the file must be an object; write: { … }`},
		{"unknown member", `{"rule":{}}`, `f:1:2: the file has no member "rule"; write: "rules"`},
		{"twice a member", `{"rules":{},"rules":{}}`, `f:1:13: the file has "rules" twice, first on line 1; write: it once`},
		{"limit above its bound", `{"limits":{"running":65}}`, `f:1:22: "running" is 65; write: a whole number from 1 to 64`},
		{"limit unknown", `{"limits":{"run":"1/h"}}`, `f:1:12: "limits" of the file has no member "run"; write: "runs"`},
		{"name", `{"rules":{"A b":{"on":{"server":"pager","type":"heartbeat"},"do":{"note":"n"}}}}`, `f:1:11: the name of a rule is "A b"; write: a name of a-z, 0-9 and -, at most 40 long`},
		{"two rules of one name", "{\"rules\":{\n\"a\":{\"on\":{\"server\":\"pager\",\"type\":\"heartbeat\"},\"do\":{\"note\":\"n\"}},\n\"a\":{}}}", `f:3:1: "rules" has "a" twice, first on line 2; write: it once`},
		{"nothing in it", `{"rules":{"a":{}}}`, "f:1:11: rule \"a\" does not say what it listens to; write: \"on\": {\"server\": \"NAME\", \"type\": \"TYPE\"}\nf:1:11: rule \"a\" does not say what it does; write: \"do\": {\"note\": \"TEXT\"}, or another act"},
		{"rule is a list", `{"rules":{"a":[]}}`, `f:1:15: rule "a" must be an object; write: { … }`},
		{"server", with(`"on":{"server":"pagr","type":"x"}`), `f:1:31: there is no server "pagr"; write: "pager"`},
		{"type", with(`"on":{"server":"pager","type":"incident.crated"}`), `f:1:46: server "pager" has no type "incident.crated"; write: "incident.created"`},
		{"no type", with(`"on":{"server":"pager"}`), `f:1:21: "on" has no "type"; write: "type": "NAME"`},
		{"kind", with(`"on":{"server":"pager","type":"heartbeat","kind":"state"}`), `f:1:65: "kind" is "state"; write: "event" or "gap"`},
		{"filter", with(`"when":".severity="`), `f:1:34: a value is missing here; write "" for the empty text`},
		{"path of a filter", with(`"when":".sevrity=P1"`), `f:1:23: payloads of "incident.created" have no .sevrity, by the type's schema; write: ".severity"`},
		{"filter that cannot match", with(`"when":".severity=P9"`), `f:1:23: no payload of "incident.created" has .severity=P9, by the type's schema; write: .severity="P1"`},
		{"time in a filter", with(`"when":"since:10m"`), `f:1:23: since: and until: would stand still in a rule; write: "age" for how old an event may be`},
		{"path of a key", with(`"key":[".service",".servce"]`), `f:1:34: payloads of "incident.created" have no .servce, by the type's schema; write: ".service"`},
		{"key without a dot", with(`"key":"service"`), `f:1:22: "key": a path begins with a dot, as in .severity; write: a path such as ".service", or a list of them`},
		{"key of no type", with(`"key":7`), `f:1:22: "key" is 7; write: a path such as ".service", or a list of them`},
		{"no key", with(`"key":[]`), `f:1:22: "key" has 0 paths; write: 1 to 8 paths`},
		{"wait", with(`"wait":"2m"`), `f:1:23: "wait" is "2m"; write: a duration from "0s" to "1m"`},
		{"wait as a number", with(`"wait":10`), `f:1:23: "wait" is 10; write: a duration from "0s" to "1m"`},
		{"age", with(`"age":"-1s"`), `f:1:22: "age" is "-1s"; write: a duration from "1s" to "30d"`},
		{"mode", with(`"mode":"yes"`), `f:1:23: "mode" is "yes"; write: "shadow" or "ask" or "auto"`},
		{"null", with(`"mode":null`), `f:1:23: "mode" is null; write: "shadow" or "ask" or "auto"`},
		{"half a once", with(`"once":{"by":".incidentId"}`), `f:1:23: "once" has no "for"; write: "for": "6h"`},
		{"two windows", with(`"window":{"count":1,"within":"1m","absent":"1m"}`), `f:1:25: "window" has count and within and absent; write: {"count": 5, "within": "1m"}, {"rate": 100, "per": "1m"} or {"absent": "5m"}`},
		{"count", with(`"window":{"count":0,"within":"1m"}`), `f:1:34: "count" is 0; write: a whole number from 1 to 1000000`},
		{"rate above the limits", with(`"limits":{"runs":"2/m"}`), `f:1:33: "runs" is "2/m"; write: a rate such as "6/h", at most "60/h"`},
		{"queue", with(`"limits":{"queue":1e9}`), `f:1:34: "queue" is 1e9; write: a whole number from 1 to 1000`},
		{"spend", with(`"limits":{"spend":"9"}`), `f:1:34: "spend" is "9"; write: dollars such as "0.50", at most "5.00"`},
		{"nothing to do", with(`"do":{}`), `f:1:21: "do" does not say what it does; write: "command": ["/PATH"], "webhook": "https://…", "note": "TEXT", "model": {"use": "NAME", "task": "TEXT"}, "choose": {"use": "NAME", "task": "TEXT", "acts": {…}} or "agent": ["/PATH"], "task": "TEXT"`},
		{"two acts", with(`"do":{"note":"n","command":["/x"]}`), `f:1:21: "do" has note and command; write: one of them, the other in a rule of its own`},
		{"channel", with(`"do":{"channel":{}}`), `f:1:21: "do" does not say what it does; write: "command": ["/PATH"], "webhook": "https://…", "note": "TEXT", "model": {"use": "NAME", "task": "TEXT"}, "choose": {"use": "NAME", "task": "TEXT", "acts": {…}} or "agent": ["/PATH"], "task": "TEXT"`},
		{"relative command", with(`"do":{"command":["./x"]}`), `f:1:33: "command" is the relative path "./x"; write: its absolute path`},
		{"shell string", with(`"do":{"command":"/bin/x -y"}`), `f:1:32: "command" is "/bin/x -y"; write: ["/PATH/OF/THE/PROGRAM", "ARGUMENT"]`},
		{"batch file", with(`"do":{"command":["/x.BAT"]}`), `f:1:33: a .bat file needs a shell; write: a program`},
		{"NUL", with(`"do":{"command":["/x","a\u0000b"]}`), `f:1:38: a word of the command cannot be handed on; write: at most 4096 bytes, none of them NUL`},
		{"member of another act", with(`"do":{"note":"n","stdin":"ndjson"}`), `f:1:33: "do" with a note has no member "stdin"; write: "note"`},
		{"repeat", with(`"do":{"command":["/x"],"repeat":"yes"}`), `f:1:48: "repeat" is "yes"; write: "safe"`},
		{"confinement", with(`"do":{"command":["/x"],"confine":{"read":["srv"],"nett":true}}`), "f:1:58: \"read\" is the relative path \"srv\"; write: its absolute path\nf:1:65: \"confine\" has no member \"nett\"; write: \"net\""},
		{"variable", with(`"do":{"command":["/x"],"env":["A=B"]}`), `f:1:46: "A=B" is not the name of a variable; write: names such as ["HOME", "LANG"]`},
		{"http", with(`"do":{"webhook":"http://example.com","secret":"${KEY}"}`), `f:1:32: "webhook" begins with http:; write: https://…, or "private": true with http on this machine`},
		{"http elsewhere", with(`"do":{"webhook":"http://192.168.1.5/","secret":"${KEY}","private":true}`), `f:1:32: "webhook" begins with http:; write: https://…, or "private": true with http on this machine`},
		{"address with a user", with(`"do":{"webhook":"https://u:p@example.com","secret":"${KEY}"}`), `f:1:32: "webhook" has a user or a fragment; write: the address without them`},
		{"no secret", with(`"do":{"webhook":"https://example.com"}`), `f:1:21: the webhook has no secret to sign with; write: "secret": "${NAME}", with a variable NAME that holds whsec_…`},
		{"secret in the file", with(`"do":{"webhook":"https://example.com","secret":"whsec_abc"}`), `f:1:63: "secret" is not a variable; write: "${NAME}", with the secret in the variable NAME`},
		{"secret that is not set", with(`"do":{"webhook":"https://example.com","secret":"${KEYS}"}`), `f:1:63: the variable KEYS is not set; write: the name of a variable that is set, or set it and start eventdeck again`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("f", []byte(c.text), known())
			var faulty *Faulty
			if !errors.As(err, &faulty) || !errors.Is(err, ErrFile) {
				t.Fatalf("%s: %v", c.text, err)
			}
			if got := err.Error(); got != c.want {
				t.Errorf("%s\ngot  %s\nwant %s", c.text, got, c.want)
			}
		})
	}
}

func TestManyRulesAreRefused(t *testing.T) {
	text := func(n int) []byte {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(`"r` + strings.Repeat("x", i/20) + string(rune('a'+i%20)) + `":{"on":{"server":"pager","type":"heartbeat"},"do":{"note":"n"}}`)
		}
		return []byte(`{"rules":{` + b.String() + `}}`)
	}
	if _, err := Parse("f", text(maxRules), known()); err != nil {
		t.Error(err)
	}
	if _, err := Parse("f", text(maxRules+1), known()); err == nil || !strings.Contains(err.Error(), "there are 201 rules; write: at most 200 rules") {
		t.Error(err)
	}
}

func TestAWebhookOnThisMachineNeedsNoTLS(t *testing.T) {
	for _, host := range []string{"localhost:8080", "127.0.0.1", "[::1]:99"} {
		if _, err := Parse("f", []byte(with(`"do":{"webhook":"http://`+host+`/x","secret":"${KEY}","private":true}`)), known()); err != nil {
			t.Error(err)
		}
	}
}

func TestLimitsOfAllRulesLowerDefaults(t *testing.T) {
	f, err := Parse("f", []byte(`{"limits":{"runs":"2/h","time":"1m"},`+with(`"mode":"ask"`)[len(`{`):]), Known{})
	if err != nil || f.Rules[0].Limits.Runs.N != 2 || f.Rules[0].Limits.Time != time.Minute {
		t.Errorf("%+v, %v", f.Rules, err)
	}
}

func TestInvalidRulesFiles(t *testing.T) {
	dir := t.TempDir()
	if f, err := Load(filepath.Join(dir, "none.json"), known()); err != nil || len(f.Rules) != 0 || f.Limits.Running == 0 {
		t.Errorf("a file that is not there: %+v, %v", f, err)
	}
	if _, err := Load(dir, known()); !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), "a directory") {
		t.Errorf("a directory: %v", err)
	}
	large := filepath.Join(dir, "large.json")
	for n, fits := range map[int64]bool{react.MaxFile: true, react.MaxFile + 1: false} {
		text := `{"rules":{}}` + strings.Repeat(" ", int(n)-12)
		if err := os.WriteFile(large, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(large, known()); fits != (err == nil) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// What a file with nothing but mistakes takes does not grow with their square.
func TestManyMistakesAreReported(t *testing.T) {
	var b strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&b, `"m%d":0,`, i)
	}
	_, err := Parse("f", []byte(`{`+b.String()+`"x":0}`), known())
	var faulty *Faulty
	if !errors.As(err, &faulty) || len(faulty.Mistakes) != maxMistakes {
		t.Errorf("%.300v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(with(`"window":{"rate":5,"per":"1m"}`)))
	for _, text := range []string{asking, choosing, driving} {
		f.Add([]byte(text))
	}
	f.Add([]byte("\ufeff{\"rules\":{\"a\":{\"on\":[],\"do\":{\"command\":[null]}}}}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := Parse("f", raw, known())
		if err != nil {
			var faulty *Faulty
			if !errors.As(err, &faulty) || len(faulty.Mistakes) == 0 {
				t.Fatalf("%q: %v", raw, err)
			}
			for _, m := range faulty.Mistakes {
				if !strings.HasPrefix(m.Where, "f:") || strings.ContainsAny(m.What+m.Write, "\n\x1b") {
					t.Fatalf("%q: %q", raw, m)
				}
			}
			return
		}
		if _, err := react.Compile(file, time.Now()); err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		for _, r := range file.Rules {
			back, err := react.Thaw(r.Freeze())
			if r.Where, r.Lines = "", nil; err != nil || string(back.Freeze()) != string(r.Freeze()) {
				t.Fatalf("%q: %+v, %v", raw, back, err)
			}
			if r.Do.Task != nil || r.Do.Choice != nil || r.Do.Agent != nil {
				continue // written by hand only
			}
			text, err := insert("g", []byte(emptyFile), r)
			if err != nil {
				t.Fatalf("%q: cannot be written: %v", raw, err)
			}
			if _, err := remove("g", text, r.Name); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
	})
}

// A rule listens to one type or to several, by name or by the beginning of names. Names that a
// server gives its events are in no list, so they are refused only where there are none.
func TestTypesOfARule(t *testing.T) {
	k := known()
	types := k.Types
	k.Types = func(server string) []event.Type {
		if server == "git" {
			return []event.Type{{Name: trust.Untrusted("filtered-stream"), Dialect: "MCPE"}}
		}
		return types(server)
	}
	for on, want := range map[string]string{
		`"server":"pager","type":"incident.created"`:               "",
		`"server":"pager","type":["incident.created","heart*"]`:    "",
		`"server":"pager","type":"incident.*"`:                     "",
		`"server":"git","type":["filtered-stream","build.failed"]`: "",
		`"server":"pager","type":["incident.created","beat.*"]`:    `f:1:66: server "pager" has no type "beat.*"; write: "incident.created" or "heartbeat"`,
		`"server":"pager","type":[]`:                               `f:1:46: "type" has 0 types; write: 1 to 32 types`,
		`"server":"pager","type":7`:                                `f:1:46: "type" is 7; write: the name of an event type, or the beginning of one such as "incident.*", or a list of them`,
		`"server":"pager","type":""`:                               `f:1:46: "type" is empty; write: the name of an event type, or the beginning of one such as "incident.*", or a list of them`,
	} {
		f, err := Parse("f", []byte(with(`"on":{`+on+`}`)), k)
		if got := fmt.Sprint(err); err != nil && got != want || err == nil && want != "" {
			t.Errorf("%s\ngot  %s\nwant %s", on, got, want)
		}
		if err == nil && len(f.Rules[0].On.Types) == 0 {
			t.Errorf("%s: no types", on)
		}
	}
}
