package rules

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"eventdeck/host/react"
)

const theModels = `"models":{"local":{"wire":"chat","url":"http://127.0.0.1:11434/v1/","model":"qwen3","price":0},
	"big":{"wire":"messages","url":"https://example.com","model":"m-1","key":"${KEY}","price":{"in":"3.00","out":"15.00"},"output":1024},
	"rich":{"wire":"messages","url":"https://example.com","model":"m-2","key":"keyring"}}`

const listens = `"on":{"server":"pager","type":"incident.created"}`

// withModels returns a file with a rule that asks a model with these members.
func withModels(members string) string {
	if !strings.Contains(members, `"use"`) {
		members = `"use":"local",` + members
	}
	return `{` + theModels + `,"rules":{"a":{` + listens + `,"do":{"model":{` + members + `}}}}}`
}

const (
	asking = `{` + theModels + `,"rules":{"a":{` + listens + `,"do":{"model":{"use":"big","task":"Find the\ncause.","fields":["incidentId",".a.b"],
		"tools":{"pager/rollback":{"class":"write","fix":{"env": "prod", "n" : [1, 2]},"drop":["force"]},"git/log/all":"read","pager/get_incident":"read"},"flows":["pager>git"]}}}}}`
	choosing = `{` + theModels + `,"rules":{"a":{` + listens + `,"do":{"choose":{"use":"local","task":"Choose.","fields":["service"],"acts":{
		"rollback":{"mode":"auto","args":{"service":{"enum":["a","b"]},"n":{"number":{"min":1,"max":5}},"dry":{"bool":true},"id":{"pattern":"INC-[0-9]+"}},"do":{"command":["/bin/rollback"]}},
		"tell":{"do":{"note":"told"}}}}}}}}`
	driving = `{"rules":{"a":{` + listens + `,"do":{"agent":["/bin/agent","--acp"],"task":"Look.","fields":["service"],"session":"keep","env":["HOME"],"cwd":"/srv",
		"confine":{"net":true},"tools":{"git/log":"read","pager/get":"read"},"flows":["pager>git"]}}}}`
)

func parsed(t *testing.T, text string) react.File {
	t.Helper()
	f, err := Parse("f", []byte(text), known())
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return f
}

func TestModelsAreRead(t *testing.T) {
	f := parsed(t, asking)
	want := []react.Model{
		{Name: "local", Wire: react.WireChat, URL: "http://127.0.0.1:11434/v1", Model: "qwen3", Price: &react.Price{}, Output: 4096, Where: "f:1:12"},
		{Name: "big", Wire: react.WireMessages, URL: "https://example.com", Model: "m-1", Key: "${KEY}", Price: &react.Price{In: 3_000_000, Out: 15_000_000}, Output: 1024, Where: "f:2:2"},
		{Name: "rich", Wire: react.WireMessages, URL: "https://example.com", Model: "m-2", Key: "keyring", Output: 4096, Where: "f:3:2"},
	}
	if !reflect.DeepEqual(f.Models, want) {
		t.Errorf("got  %+v\nwant %+v", f.Models, want)
	}
	task := &react.Task{
		Model: want[1], Task: "Find the\ncause.", Fields: []string{".incidentId", ".a.b"}, Flows: []react.Flow{{From: "pager", To: "git"}},
		Tools: []react.Tool{{Server: "git", Name: "log/all", Class: react.ToolRead}, {Server: "pager", Name: "get_incident", Class: react.ToolRead},
			{Server: "pager", Name: "rollback", Class: react.ToolWrite, Fix: map[string]json.RawMessage{"env": json.RawMessage(`"prod"`), "n": json.RawMessage(`[1,2]`)}, Drop: []string{"force"}}},
	}
	if got := f.Rules[0].Do.Task; !reflect.DeepEqual(got, task) {
		t.Errorf("got  %+v\nwant %+v", got, task)
	}
}

func TestChoicesAreRead(t *testing.T) {
	f := parsed(t, choosing)
	want := &react.Choice{Model: f.Models[0], Task: "Choose.", Fields: []string{".service"}, Acts: []react.Act{
		{Name: "rollback", Mode: react.ModeAuto, Do: react.Do{Command: &react.Command{Argv: []string{"/bin/rollback"}, Stdin: react.StdinEnvelope}},
			Args: []react.Arg{{Name: "service", Enum: []string{"a", "b"}}, {Name: "n", Number: &react.Range{Min: 1, Max: 5}}, {Name: "dry", Bool: true}, {Name: "id", Pattern: "INC-[0-9]+"}}},
		{Name: "tell", Mode: react.ModeAsk, Do: react.Do{Note: "told"}},
	}}
	if got := f.Rules[0].Do.Choice; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestAgentsAreRead(t *testing.T) {
	want := &react.Agent{
		Command: react.Command{Argv: []string{"/bin/agent", "--acp"}, Env: []string{"HOME"}, Dir: "/srv", Confine: &react.Confine{Net: true}},
		Task:    "Look.", Fields: []string{".service"}, Keep: true, Flows: []react.Flow{{From: "pager", To: "git"}},
		Tools: []react.Tool{{Server: "git", Name: "log", Class: react.ToolRead}, {Server: "pager", Name: "get", Class: react.ToolRead}},
	}
	if got := parsed(t, driving).Rules[0].Do.Agent; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestMistakesOfModelsAreNamedWithTheirPlaceAndWhatToWrite(t *testing.T) {
	model := func(members string) string { return `{"models":{"m":{` + members + `}}}` }
	whole := `"wire":"chat","url":"https://example.com","model":"m"`
	changed := func(text, old, now string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("%s has no %s", text, old)
		}
		return strings.Replace(text, old, now, 1)
	}
	for _, c := range []struct{ name, text, want string }{
		{"no object", `{"models":{"m":1}}`, `f:1:16: model "m" must be an object; write: { … }`},
		{"name", `{"models":{"M":{` + whole + `}}}`, `f:1:12: the name of a model is "M"; write: a name of a-z, 0-9 and -, at most 40 long`},
		{"nothing", model(``), "f:1:16: model \"m\" has no \"wire\"; write: \"wire\": \"chat\" or \"messages\"\nf:1:16: model \"m\" has no \"url\"; write: \"url\": \"https://…\"\nf:1:16: model \"m\" has no \"model\"; write: \"model\": \"NAME\""},
		{"member", model(whole + `,"keys":"${KEY}"`), `f:1:71: model "m" has no member "keys"; write: "key"`},
		{"wire", model(changed(whole, `"chat"`, `"chart"`)), `f:1:24: "wire" is "chart"; write: "chat"`},
		{"http elsewhere", model(changed(whole, "https:", "http:")), `f:1:37: "url" begins with http:; write: https://…, or http on this machine`},
		{"key in the address", model(changed(whole, ".com", ".com/v1?key=1")), `f:1:37: "url" has a user, a question mark or a fragment; write: the address without them, and the key as "key"`},
		{"no address", model(changed(whole, "https://example.com", "example")), `f:1:37: "url" is no address; write: https://HOST/v1`},
		{"key in the file", model(whole + `,"key":"sk-1"`), `f:1:77: "key" is not a variable; write: "${NAME}", with the key in the variable NAME, or "keyring"`},
		{"key that is not set", model(whole + `,"key":"${KEYS}"`), `f:1:77: the variable KEYS is not set; write: the name of a variable that is set, or set it and start eventdeck again`},
		{"price", model(whole + `,"price":3`), `f:1:79: "price" is 3; write: 0, or {"in": "3.00", "out": "15.00"}, dollars a million tokens`},
		{"half a price", model(whole + `,"price":{"in":"3"}`), `f:1:79: "price" needs both "in" and "out"; write: 0, or {"in": "3.00", "out": "15.00"}, dollars a million tokens`},
		{"negative price", model(whole + `,"price":{"in":"3","out":"-1"}`), `f:1:95: "out" is "-1"; write: dollars such as "0.50", at most "1000.00"`},
		{"output", model(whole + `,"output":0`), `f:1:80: "output" is 0; write: a whole number from 1 to 64000`},

		{"model that is not there", withModels(`"use":"locl","task":"t"`), `f:3:173: there is no model "locl"; write: "local"`},
		{"no model there", `{"rules":{"a":{` + listens + `,"do":{"model":{"use":"m","task":"t"}}}}}`, `f:1:87: there is no model "m"; write: one of "models"; there is none yet`},
		{"no price", withModels(`"use":"rich","task":"t"`), `f:3:173: what a run spends is limited, and model "rich" has no price; write: "price": 0 at f:3:2 for one that costs nothing, or {"in": "3.00", "out": "15.00"}, dollars a million tokens`},
		{"nothing asked", withModels(`"use":"local"`), `f:3:166: "task" is missing; write: "task": "TEXT"`},
		{"template or not", withModels(`"task":""`), `f:3:188: "task" is empty; write: what the model is to do`},
		{"long task", withModels(`"task":"` + strings.Repeat("x", maxTask+1) + `"`), `f:3:188: "task" has 16385 bytes; write: at most 16384 bytes`},
		{"fields", withModels(`"task":"t","fields":[]`), `f:3:201: "fields" has 0 paths; write: 1 to 50 paths, or leave it out`},
		{"field", withModels(`"task":"t","fields":["a b","."]`), "f:3:202: \"a b\" is no path; write: paths such as [\"incidentId\", \".user.name\"]\nf:3:208: \".\" is no path; write: paths such as [\"incidentId\", \".user.name\"]"},
		{"class", withModels(`"task":"t","tools":{"git/log":"off"}`), `f:3:211: "git/log" is "off"; write: "read", or "write" for what may change something; leave out what must not be called`},
		{"no class", withModels(`"task":"t","tools":{"git/log":{}}`), `f:3:211: tool "git/log" has no class; write: "class": "read", or "write" for what may change something`},
		{"no tool", withModels(`"task":"t","tools":{"git/":"read"}`), `f:3:201: "git/" is no tool of a server; write: "SERVER/TOOL"`},
		{"tool of no server", withModels(`"task":"t","tools":{"gti/log":"read"}`), `f:3:201: there is no server "gti"; write: "pager" or "git"`},
		{"fixed and dropped", withModels(`"task":"t","tools":{"git/log":{"class":"read","fix":{"a":1},"drop":["a"]}}`), `f:3:248: "a" is both fixed and dropped; write: one of them`},
		{"flow", withModels(`"task":"t","tools":{"git/log":"read"},"flows":["pager->git"]`), `f:3:228: nothing comes from "pager-"; write: "pager"`},
		{"flow to nowhere", withModels(`"task":"t","tools":{"pager/a":"read"},"flows":["pager>git"]`), `f:3:228: there is no tool of class read of "git"; write: a server with a tool of class read; calls of others ask always`},
		{"flow to a tool that writes", withModels(`"task":"t","tools":{"git/push":"write"},"flows":["pager>git"]`), `f:3:230: there is no tool of class read of "git"; write: a server with a tool of class read; calls of others ask always`},
		{"flow of one", withModels(`"task":"t","tools":{"git/log":"read"},"flows":["git"]`), `f:3:228: "flows" is "git"; write: ["FROM>TO"], two servers`},

		{"no acts", changed(choosing, `"acts":{`, `"acts":{},"task2":{`), "f:3:227: there are 0 acts; write: 1 to 20 acts\nf:3:230: \"choose\" has no member \"task2\"; write: \"task\""},
		{"tools for one who chooses", changed(choosing, `"task":"Choose.",`, `"task":"Choose.","tools":{},`), `f:3:199: "choose" has no member "tools"; write: "use" or "task" or "fields" or "acts"`},
		{"chosen model", changed(choosing, `{"note":"told"}`, `{"model":{}}`), `f:5:17: a model may not choose "model"; write: "command": ["/PATH"], "webhook": "https://…" or "note": "TEXT"`},
		{"act in shadow", changed(choosing, `"mode":"auto"`, `"mode":"shadow"`), `f:4:22: "mode" is "shadow"; write: "ask" or "auto"`},
		{"text of its own", changed(choosing, `INC-[0-9]+`, `.*`), `f:4:135: "pattern" takes blanks or characters outside of ASCII; write: letters, digits and marks by name, such as "[A-Za-z0-9_-]+"`},
		{"text of all but", changed(choosing, `INC-[0-9]+`, `[^,]+`), `f:4:135: "pattern" takes blanks or characters outside of ASCII; write: letters, digits and marks by name, such as "[A-Za-z0-9_-]+"`},
		{"look-alike by folding", changed(choosing, `INC-[0-9]+`, `(?i)ink`), `f:4:135: "pattern" takes blanks or characters outside of ASCII; write: letters, digits and marks by name, such as "[A-Za-z0-9_-]+"`},
		{"no pattern", changed(choosing, `INC-[0-9]+`, `(`), `f:4:135: "pattern" is no pattern of at most 200 bytes; write: a pattern (RE2) of an id, such as "INC-[0-9]+"`},
		{"two kinds", changed(choosing, `{"bool":true}`, `{"bool":true,"enum":["a"]}`), `f:4:105: argument "dry" says 2 times what it may be; write: one of {"enum": ["a", "b"]}, {"number": {"min": 1, "max": 5}}, {"bool": true} or {"pattern": "INC-[0-9]+"}`},
		{"no bool", changed(choosing, `{"bool":true}`, `{"bool":false}`), `f:4:113: "bool" is false; write: true`},
		{"no range", changed(choosing, `"min":1`, `"min":9`), `f:4:80: "number" has no bounds with something between them; write: {"min": 1, "max": 5}`},
		{"nothing to choose", changed(choosing, `["a","b"]`, `[]`), `f:4:55: "enum" has 0 values; write: 1 to 100 values`},
		{"act that does nothing", changed(choosing, `{"do":{"note":"told"}}`, `{}`), `f:5:10: act "tell" does not say what it does; write: "do": {"note": "TEXT"}, or a command or a webhook`},

		{"agent without a task", changed(driving, `"task":"Look.",`, ``), `f:1:71: "task" is missing; write: "task": "TEXT"`},
		{"agent that is not confined", changed(driving, `"confine":{"net":true},`, ``), `f:1:71: the agent is not confined; write: "confine": {"read": ["/srv/app"], "write": [], "net": true}, or "trusted": true`},
		{"relative agent", changed(driving, `/bin/agent`, `agent`), `f:1:81: "agent" is the relative path "agent"; write: its absolute path`},
		{"session", changed(driving, `"keep"`, `"long"`), `f:1:149: "session" is "long"; write: "new" or "keep"`},
		{"input of an agent", changed(driving, `"session":"keep"`, `"stdin":"ndjson"`), `f:1:139: "do" with an agent has no member "stdin"; write: "agent" or "task" or "fields" or "session" or "env" or "cwd" or "code" or "confine" or "trusted" or "tools" or "flows"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("f", []byte(c.text), known())
			var faulty *Faulty
			if !errors.As(err, &faulty) {
				t.Fatalf("%s: %v", c.text, err)
			}
			if got := err.Error(); got != c.want {
				t.Errorf("%s\ngot  %s\nwant %s", c.text, got, c.want)
			}
		})
	}
}

func TestBoundsOfWhatAsksModels(t *testing.T) {
	many := func(n int, item func(i int) string) string {
		var all []string
		for i := range n {
			all = append(all, item(i))
		}
		return strings.Join(all, ",")
	}
	name := func(i int) string { return string(rune('a'+i/26)) + string(rune('a'+i%26)) }
	for what, c := range map[string]struct {
		most int
		text func(n int) string
	}{
		"models": {maxModels, func(n int) string {
			return `{"models":{` + many(n, func(i int) string { return `"` + name(i) + `":{"wire":"chat","url":"https://example.com","model":"m"}` }) + `}}`
		}},
		"tools": {maxTools, func(n int) string {
			return withModels(`"task":"t","tools":{` + many(n, func(i int) string { return `"git/` + name(i) + `":"read"` }) + `}`)
		}},
		"fields": {maxFields, func(n int) string {
			return withModels(`"task":"t","fields":[` + many(n, func(i int) string { return `"` + name(i) + `"` }) + `]`)
		}},
		"acts": {maxActs, func(n int) string {
			return `{` + theModels + `,"rules":{"a":{` + listens + `,"do":{"choose":{"use":"local","task":"t","acts":{` +
				many(n, func(i int) string { return `"` + name(i) + `":{"do":{"note":"n"}}` }) + `}}}}}}`
		}},
		"values": {maxValues, func(n int) string {
			return `{` + theModels + `,"rules":{"a":{` + listens + `,"do":{"choose":{"use":"local","task":"t","acts":{"x":{"args":{"v":{"enum":[` +
				many(n, func(i int) string { return `"` + name(i) + `"` }) + `]}},"do":{"note":"n"}}}}}}}}`
		}},
	} {
		if _, err := Parse("f", []byte(c.text(c.most)), known()); err != nil {
			t.Errorf("%s: %d are refused: %v", what, c.most, err)
		}
		if _, err := Parse("f", []byte(c.text(c.most+1)), known()); err == nil {
			t.Errorf("%s: %d are taken", what, c.most+1)
		}
	}
}
