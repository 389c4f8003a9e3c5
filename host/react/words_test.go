package react

import (
	"strings"
	"testing"
	"time"
)

// The words of a block and of a decision say what is true.
func TestWordsOfBlocksAndDecisions(t *testing.T) {
	ask := Rule{Name: "a", Mode: ModeAsk, Do: Do{Note: "n"}, Wait: 10 * time.Second, Age: 15 * time.Minute, Once: Once{By: []string{".id"}, For: 6 * time.Hour}}
	if d := Judge(Facts{NS: Live, Rule: &ask}); d.State != Asking || d.Cause != CauseMode {
		t.Errorf("a rule in mode ask that is not armed: %+v", d)
	}
	auto := ask
	auto.Mode = ModeAuto
	if d := Judge(Facts{NS: Live, Rule: &auto}); d.State != Asking || d.Cause != CauseDisarmed {
		t.Errorf("a rule in mode auto that is not armed: %+v", d)
	}
	if d := Judge(Facts{NS: Live, Rule: &auto, Armed: true, Stale: true}); !strings.HasSuffix(d.Why, "older than 15m") {
		t.Errorf("late: %q", d.Why)
	}

	var armed strings.Builder
	for _, l := range RuleBlock(RuleView{Rule: ask}) {
		armed.WriteString(l.Label + " " + l.Text.Plain() + "\n")
	}
	for _, want := range []string{"late after 15m\n", "gathers for 10s\n", "within 6h\n"} {
		if !strings.Contains(armed.String(), want) {
			t.Errorf("%q is not in\n%s", want, armed.String())
		}
	}

	gone := Block(Run{ID: "r", Rule: "a", Hash: "h", Request: &Request{Kind: RequestNote, Run: "r", Rule: "a", Count: 1, Seq: 1}}, RuleView{}, nil)
	if got := gone[0].Text.Plain(); got != "a, not in force now" || !gone[0].Warn || gone[1].Label == "careful" {
		t.Errorf("a rule that is gone: %q, then %s", got, gone[1].Label)
	}

	none := View{}
	some := View{Rules: make([]RuleView, 1)}
	if none.InForce() != "no rule is in force" || some.InForce() != "the rules of before stay in force" {
		t.Errorf("%q, %q", none.InForce(), some.InForce())
	}
}
