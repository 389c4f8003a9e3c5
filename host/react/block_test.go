package react

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func asking(r Request) Run {
	return Run{ID: r.Run, Rule: r.Rule, Hash: "h", State: Asking, Request: &r, Due: time.Unix(1e9, 0)}
}

func inForce() RuleView {
	return RuleView{Rule: Rule{Name: "page", Mode: ModeAsk, Where: "rules.json:3:5"}, Hash: "h", Letters: "A C"}
}

func plainBlock(lines []BlockLine) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%-12s%s\n", l.Label, l.Text.Plain())
	}
	return b.String()
}

func TestABlockShowsTheExactAct(t *testing.T) {
	r := someRequest()
	got := plainBlock(Block(asking(r), inForce(), nil))
	for _, want := range []string{
		"page, ask, rules.json:3:5", `"/bin/echo", which leads to:`, `"/usr/bin/echo"`, `"a"`, `"b"`, "SHA-256 00ff", `"/srv"`,
		"EVENTDECK_* HOME LANG", "may read", "closed", "untrusted input, an effect or sending (A C)", "2001-09-09T01:46:40Z", r.Hash(),
		"nothing of this rule was approved yet",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

// Of a run that is over the input is not kept: what was approved is known by its hash.
func TestABlockOfARunThatIsOverSaysWhatWasApproved(t *testing.T) {
	run := asking(someRequest())
	run.Approved = run.Request.Hash()
	run.State, run.Request.Input = Done, nil
	got := plainBlock(Block(run, inForce(), nil))
	if !strings.Contains(got, run.Approved) || strings.Contains(got, "0 bytes") || strings.Contains(got, "expires") {
		t.Error(got)
	}
	run.Approved = ""
	if got := plainBlock(Block(run, inForce(), nil)); strings.Contains(got, run.Request.Hash()) {
		t.Errorf("the hash of a request without its input:\n%s", got)
	}
}

func TestABlockSaysWhatChangedSinceTheLastApproval(t *testing.T) {
	before, now := someRequest(), someRequest()
	now.Argv = []string{"/bin/echo", "a", "c"}
	got := plainBlock(Block(asking(now), inForce(), &before))
	if !strings.Contains(got, "was argument 2\"b\"") && !strings.Contains(got, `was argument 2 "b"`) {
		t.Errorf("the argument that was is missing in\n%s", got)
	}
	i := slices.IndexFunc(Block(asking(now), inForce(), &before), func(l BlockLine) bool { return l.Label == "argument 2" })
	if i < 0 || !Block(asking(now), inForce(), &before)[i].Warn {
		t.Error("the argument that changed is not marked")
	}
	now = someRequest()
	now.Input = []byte("other")
	if got := plainBlock(Block(asking(now), inForce(), &before)); !strings.Contains(got, "the same act") {
		t.Errorf("only the input is another one:\n%s", got)
	}
}

// hostile are texts that would change what an operator reads, if they could.
var hostile = []string{
	"x\nhash        0000", "\u202eevil", "\x1b[2J\x1b[H", "\x00", "-rf", "a\" argument 9 \"b", "\u2028program \"/bin/rm\"", strings.Repeat("\n", 5000) + "program",
	"р\u0430ypal", strings.Repeat("A", 1<<20),
}

// plainASCII fails for lines that are not visible ASCII.
func plainASCII(t *testing.T, what string, lines []BlockLine) {
	t.Helper()
	for _, l := range lines {
		for _, c := range l.Text.Plain() {
			if c < ' ' || c > '~' {
				t.Errorf("%.20q: %q in line %q", what, c, l.Label)
				break
			}
		}
	}
}

func TestNothingHostileImitatesABlock(t *testing.T) {
	for _, hostile := range hostile {
		r := someRequest()
		quiet := len(Block(asking(r), inForce(), nil))
		r.Argv = []string{"/bin/echo", hostile, "b"}
		r.Input = []byte(hostile)
		lines := Block(asking(r), inForce(), nil)
		if len(lines) != quiet {
			t.Errorf("%.20q: %d lines instead of %d", hostile, len(lines), quiet)
		}
		plainASCII(t, hostile, lines)
		for _, l := range Payload(r, 80) {
			if text := l.Plain(); !strings.HasPrefix(text, Gutter) || strings.ContainsAny(text, "\n\r\x1b\x00\u202e") {
				t.Errorf("%.20q: a line of the payload is %.40q", hostile, text)
			}
		}
	}
}

// A call of a tool is compared with calls of that tool, and not with the run that it is a step of.
func TestActsOfAnotherKindAreNotCompared(t *testing.T) {
	run := Request{Kind: RequestModel, Run: "r", Rule: "a", Task: "look", Model: &Model{Name: "m"}}
	call := Request{Kind: RequestTool, Run: "r", Rule: "a", Server: "pager", Tool: "rollback", Class: ToolWrite, Input: []byte(`{"deploy":"d-5"}`)}
	other := call
	other.Input = []byte(`{"deploy":"d-6"}`)
	text := func(last *Request) string {
		var b strings.Builder
		for _, l := range Block(Run{ID: "r", Rule: "a", State: Asking, Request: &call}, RuleView{}, last) {
			b.WriteString(l.Label + " " + l.Text.Plain() + "\n")
		}
		return b.String()
	}
	if got := text(&run); !strings.Contains(got, "of another kind") || strings.Contains(got, "\nwas ") {
		t.Errorf("after a run of the rule:\n%s", got)
	}
	if got := text(&other); !strings.Contains(got, "\nwas argument deploy = \"d-6\"") {
		t.Errorf("after another call:\n%s", got)
	}
}
