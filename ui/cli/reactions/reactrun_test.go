package reactions

import (
	"context"
	"strings"
	"testing"

	"eventdeck/host/mcptest"
	"eventdeck/host/react"
	"eventdeck/ui/cli/program"
)

// told is reactions with something to tell the operator.
type told struct {
	react.Control
	view react.View
}

func (r *told) Reactions() react.View { return r.view }

func TestReactRunReportsWaitingRuns(t *testing.T) {
	var said mcptest.Buffer
	r := &told{view: react.View{On: true, Path: "rules.json", Held: "the store was restored", Fault: "rules.json:3: no such member", Blocked: "the log cannot be read: no space", Waiting: []react.Run{{ID: "abc", Rule: "page"}}, Rules: []react.RuleView{{Armed: true}, {}}}}
	ctx, cancel := context.WithCancel(t.Context())
	a := &commands{&program.App{Program: program.Program{Stderr: &said}}}
	cancel() // it tells once, and ends
	if err := a.tellReactions(ctx, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 rules of rules.json, 1 armed", "nothing acts: the store was restored; `eventdeck react go` lets it", "rules.json:3: no such member; the rules of before", "the log cannot be read: no space; it is tried again", "run abc of page waits for you"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q is not told:\n%s", want, said.String())
		}
	}
}
