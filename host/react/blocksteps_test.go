package react

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"eventdeck/host/trust"
)

// Whatever decides what a request does is on a line of its block.
func TestABlockTellsEveryMemberOfItsKind(t *testing.T) {
	// What is not told: places, what another member tells (the pin, the schema; a class that
	// is not known is write), and what belongs to another act.
	quiet := []string{".Model.Where", ".Tools[0].Schema", ".Tools[0].Tool.Class", ".Class", ".Choices[0].Do.Note", ".Choices[0].Do.Command.Stdin", ".Choices[0].Do.Command.Dir",
		".Choices[0].Args[1].Bool", ".Choices[1].Files.Path", ".Choices[1].Files.Program", ".Choices[1].Files.Tree", ".Choices[1].Files.Dir"}
	asks := []string{".Task", ".Tools", ".Flows", ".Spend", ".Tokens", ".Time", ".Input"}
	for kind, shown := range map[RequestKind][]string{
		RequestModel:  append([]string{".Model"}, asks...),
		RequestChoice: append([]string{".Model", ".Choices"}, asks...),
		RequestAgent:  append([]string{".Argv", ".Files", ".Env", ".Boundary", ".Keep"}, asks...),
		RequestTool:   {".Server", ".Tool", ".Class", ".Pin", ".Step", ".Input", ".Time"},
		RequestPermit: {".Title", ".Input", ".Time"},
	} {
		t.Run(string(kind), func(t *testing.T) {
			r := fullRequest()
			r.Kind, r.Input = kind, []byte(`{"a":1}`)
			lines := func() string { return plainBlock(r.lines(nil)) }
			whole := lines()
			change(reflect.ValueOf(&r).Elem(), "", func(path string) {
				told := slices.ContainsFunc(shown, func(p string) bool {
					return path == p || strings.HasPrefix(path, p+".") || strings.HasPrefix(path, p+"[")
				})
				if told && !slices.Contains(quiet, path) && lines() == whole {
					t.Errorf("%s is not shown", path)
				}
			})
		})
	}
}

func TestClassOfAToolIsShownInWords(t *testing.T) {
	for _, kind := range []RequestKind{RequestModel, RequestTool} {
		r := fullRequest()
		r.Kind, r.Class = kind, ToolRead
		r.Tools[0].Class = ToolRead
		if got := plainBlock(r.lines(nil)); !strings.Contains(got, "read: by your word") || strings.Contains(got, "write: it may") {
			t.Errorf("%s: %s", kind, got)
		}
	}
}

// calling is a run that asks for a call of a tool.
func calling(args string) Run {
	first := fullRequest()
	first.Kind = RequestModel
	r := Request{Kind: RequestTool, Run: "aaaa", Rule: "page", Seq: 7, Count: 1, Step: 3, Server: "pager", Tool: "rollback", Class: ToolWrite, Pin: "ab", Input: []byte(args), Time: first.Time}
	run := asking(r)
	run.Began = &first
	return run
}

func TestABlockOfACallShowsEachArgument(t *testing.T) {
	got := plainBlock(Block(calling(`{"service": "api", "env":"<prod>", "n":2,"who":{"ids":["a", "b"]}, "p\u0430th":"x", "service":"web"}`), inForce(), nil))
	for _, want := range []string{
		`"rollback", of server:`, `"pager", write: it may change something, each call is asked about`, `service = "api"`, `n = 2`, `who = {"ids":["a","b"]}`,
		`"p\u0430th" is:`, `service = "web"`, "3 of the run", `"qwen3", "local" of rules.json, wire chat`, `"http://127.0.0.1:11434/v1"`,
		"$3.00 a million tokens that are read, $15.00 that are written", `"Find the cause."`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in\n%s", want, got)
		}
	}
	if !strings.Contains(got, `fixed       env = "<prod>"`) {
		t.Errorf("what the rule fixed is not told apart:\n%s", got)
	}
	for _, l := range Block(calling(`{"service":"api","service":"web"}`), inForce(), nil) {
		if l.Text.Plain() == `service = "web"` && !l.Warn {
			t.Error("a second argument of the same name calls for no care")
		}
	}
}

func TestABlockOfAPermitSaysThatItIsTheAgentsWord(t *testing.T) {
	first := fullRequest()
	first.Kind = RequestAgent
	run := asking(Request{Kind: RequestPermit, Run: "aaaa", Rule: "page", Title: trust.Untrusted("list the files"), Input: []byte(`{"command":"rm -rf /"}`)})
	run.Began = &first
	lines := Block(run, inForce(), nil)
	got := plainBlock(lines)
	for _, want := range []string{"its own word and not checked", `"list the files"`, `command = "rm -rf /"`, `"/bin/echo", an agent`, "closed"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in\n%s", want, got)
		}
	}
	if i := slices.IndexFunc(lines, func(l BlockLine) bool { return strings.Contains(l.Text.Plain(), "not checked") }); i < 0 || !lines[i].Warn {
		t.Error("nothing calls for care")
	}
}

// No text of a server, a model or an agent hides a line or makes one.
func TestNothingHostileImitatesABlockOfAStep(t *testing.T) {
	for _, hostile := range hostile {
		name, err := json.Marshal(strings.ToValidUTF8(hostile, ""))
		if err != nil {
			t.Fatal(err)
		}
		run := calling(fmt.Sprintf(`{"a":%s,"b":%s,"c":[%s],"z":1}`, name, name, name))
		run.Began.Tools[0].Description, run.Request.Tool = trust.Untrusted(hostile), hostile
		lines := Block(run, inForce(), nil)
		plainASCII(t, hostile, lines)
		labels := map[string]int{}
		for _, l := range lines {
			labels[l.Label]++
		}
		if labels["argument"] != 4 || labels["hash"] != 1 || labels["call"] != 1 || labels["program"] != 0 {
			t.Errorf("%.20q: %v", hostile, labels)
		}
		named := Block(calling(fmt.Sprintf(`{%s:"v","z":1}`, name)), inForce(), nil)
		plainASCII(t, hostile, named)
		if last := slices.IndexFunc(named, func(l BlockLine) bool { return l.Text.Plain() == "z = 1" }); last < 0 {
			t.Errorf("%.20q: the argument behind it is hidden", hostile)
		}
		permit := calling(`{"a":1}`)
		permit.Request.Kind, permit.Request.Title = RequestPermit, trust.Untrusted(hostile)
		plainASCII(t, hostile, Block(permit, inForce(), nil))
	}
}

// What is approved is shown whole, however long it is.
func TestArgumentsAreShownWhole(t *testing.T) {
	long := strings.Repeat("x", 60<<10)
	for _, args := range []string{`{"a":"` + long + `END"}`, `{"a":["` + long + `END"]}`, `{"` + long + `END":1}`, `["` + long + `END"]`} {
		if got := plainBlock(Block(calling(args), inForce(), nil)); !strings.Contains(got, long+"END") {
			t.Errorf("%.10s is cut", args)
		}
	}
}

// A value that has quotes in it does not pass for several, nor for words of ours.
func TestQuotesInAValueDoNotEndIt(t *testing.T) {
	got := plainBlock(Block(calling(`{"to":"3\", fixed by the rule; \"env\" = \"test","at":"c:\\"}`), inForce(), nil))
	for _, want := range []string{`to = "3\", fixed by the rule; \"env\" = \"test"`, `at = "c:\\"`} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("%s is missing in\n%s", want, got)
		}
	}
	for _, l := range Block(calling(`{"to":"a\"b"}`), inForce(), nil) {
		if got := l.Text.Plain(); len(got) != l.Text.Width {
			t.Errorf("%s is %d cells", got, l.Text.Width)
		}
	}
}

func TestArgumentsThatHaveNoLineOfTheirOwn(t *testing.T) {
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, `"a%d":%d,`, i, i)
	}
	lines := Block(calling(`{`+b.String()+`"rm":true}`), inForce(), nil)
	if len(lines) > maxArguments+40 || !strings.Contains(plainBlock(lines), "99901 more: ") || !strings.Contains(plainBlock(lines), `"rm":true}`) {
		t.Errorf("%d lines", len(lines))
	}
	for _, args := range []string{`[1]`, `"x"`, `{"a":`, `null`} {
		lines := Block(calling(args), inForce(), nil)
		if i := slices.IndexFunc(lines, func(l BlockLine) bool { return l.Label == "arguments" }); i < 0 || !lines[i].Warn {
			t.Errorf("%s: %s", args, plainBlock(lines))
		}
	}
}

func TestARuleThatAsksAModelIsShownWhole(t *testing.T) {
	for _, r := range fullRules()[4:7] {
		got := plainBlock(RuleBlock(RuleView{Rule: r, Hash: r.Hash(Request{}), Boundary: "all of it"}))
		want := map[string][]string{
			"model": {`"qwen3", "local" of rules.json`, `"http://127.0.0.1:11434/v1"`, `"${MODEL_KEY}" of the environment`, `"Find the cause."`, `"incidentId"`, `"rollback", of server:`, `env = "prod"`, `"force"`, `"pager", what it told, to:`, "$0.50 a run, 100000 tokens a run",
				`"pager/rollback: it may change something"`},
			"choose": {"rollback, auto", "tell, ask", `"/bin/rollback"`, `"told"`, `"service", one of:`, `"b"`, `"n", a number from 1 to 5`, `"dry", true or false`, `"INC-[0-9]+"`},
			"agent":  {`"/bin/echo"`, `"Look at it."`, `".a.b"`, "trusted", "goes on with the conversation", "all of it"},
		}
		kind := map[bool]string{r.Do.Task != nil: "model", r.Do.Choice != nil: "choose", r.Do.Agent != nil: "agent"}[true]
		for _, w := range want[kind] {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %s is missing in\n%s", kind, w, got)
			}
		}
	}
}

// A rule is armed with what servers say of its tools: each word of it stands in the block, and
// nothing that a server writes can be taken for a line of ours.
func TestToolsOfARuleAreShownWhole(t *testing.T) {
	rule := fullRules()[4]
	tools, _ := rule.Do.Tools()
	hostile := "Looks up.\n" + strings.Repeat("pad ", 2*maxShown/4) + "\x1b[2J\u202e\"hash 00"
	v := RuleView{Rule: rule, Hash: rule.Hash(Request{}), Listed: true, Tools: []Pinned{{
		Tool: tools[0], Description: trust.Untrusted(hostile), Pin: "p1",
		Schema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string","description":"of the \u202eincident"},"pinned SHA-256 0":true},"required":["id"]}`),
	}}}
	got := strings.Join(strings.Fields(plainBlock(RuleBlock(v))), " ")
	for _, want := range []string{
		`it says "Looks up."`, `\x1b[2J\u202e\"hash 00"`, `takes id = {"type":"string","description":"of the \\u202eincident"}`, `takes "pinned SHA-256 0" is:`,
		`schema required = ["id"]`, "pinned SHA-256 p1", "hash " + string(v.ArmHash()),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if n := strings.Count(got, "pad"); n != 2*maxShown/4 {
		t.Errorf("%d of %d words are shown", n, 2*maxShown/4)
	}
	hashes := map[Hash]bool{v.Hash: true}
	for _, change := range []func(*Pinned){func(*Pinned) {}, func(p *Pinned) { p.Description = trust.Untrusted("x") }, func(p *Pinned) { p.Schema = json.RawMessage(`{}`) }, func(p *Pinned) { p.Pin = "p2" }, func(p *Pinned) { p.Class = ToolWrite }} {
		other := v
		other.Tools = slices.Clone(v.Tools)
		change(&other.Tools[0])
		if h := other.ArmHash(); hashes[h] {
			t.Error("tools that differ have one hash")
		} else {
			hashes[h] = true
		}
	}
	v.Tools = nil
	if got := strings.Join(strings.Fields(plainBlock(RuleBlock(v))), " "); v.ArmHash() != v.Hash || !strings.Contains(got, "left out its server does not list it now") {
		t.Errorf("without its tool:\n%s", got)
	}
}
