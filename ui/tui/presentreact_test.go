package tui

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/ui/internal/reacttest"
	"eventdeck/ui/tui/present"
)

// Personal and secret texts of reactions.
var reactSecrets = []string{"ann@example", "Ann Smith", "t0psecret", "hunter2"}

// telling returns an engine whose rules and runs have these texts in every member.
func telling() *reacttest.Engine {
	e := reacting()
	rule := e.View.Rules[0].Rule
	rule.Key, rule.When = []string{".user"}, `.mail="ann@example.com"`
	rule.Do.Command = &react.Command{Argv: []string{"/bin/page", "--password", "hunter2", "--token=t0psecret", "ann@example.com"}, Dir: "/srv/ann@example.com", Confine: &react.Confine{Read: []string{"/srv/ann@example.com"}}}
	e.View.Rules[0].Rule = rule
	e.View.Rules[0].Boundary, e.View.Rules[0].Why = "reads of ann@example.com", "held by ann@example.com"
	e.View.Rules[1].Rule.Do.Note = "tell ann@example.com"
	e.View.Fault, e.View.Held, e.View.Blocked = "rules.json:1:1: ann@example.com", "of ann@example.com", "to ann@example.com"
	fill := func(r *react.Run) {
		req := *r.Request
		req.Argv, req.Path, req.Dir, req.Confine = rule.Do.Command.Argv, "/opt/ann@example.com", rule.Do.Command.Dir, rule.Do.Command.Confine
		req.Boundary = "reads of ann@example.com"
		req.Input = []byte("# notice\n" + `{"user":{"name":"Ann Smith"},"token":"t0psecret","mail":"ann@example.com"}`)
		r.Request, r.Frozen, r.Key = &req, rule.Freeze(), `"Ann Smith"`
		r.Why, r.Reason = "said ann@example.com", "as ann@example.com asked"
		r.Members.Top = map[string][]react.Count{".user.name": {{Value: trust.Untrusted("Ann Smith"), N: 2}}, ".title": {{Value: trust.Untrusted("by ann@example.com"), N: 1}}}
		if r.State == react.Done {
			r.Result = &react.Result{Outcome: react.OutcomeDone, Why: "by ann@example.com", Boundary: "of ann@example.com", Output: react.Output{
				Stdout: react.Stream{Head: trust.Untrusted("mail to ann@exam"), Tail: trust.Untrusted("ple.com\n"), Bytes: 24},
				Stderr: react.Stream{Head: trust.Untrusted(`{"password":"hunter2"}`), Bytes: 22}}}
		}
	}
	for i := range e.View.Waiting {
		fill(&e.View.Waiting[i])
	}
	for i := range e.All {
		fill(&e.All[i])
	}
	e.View.Rules[0].Approved = e.All[2].Request
	return e
}

func TestPresentedReactionsHaveNoPersonalValues(t *testing.T) {
	e := telling()
	before, _ := json.Marshal(e.All)
	a, _ := openReactWith(t, Options{Theme: "none", React: e, Present: true}, 120, 40)
	seen := shown(a)
	for _, keys := range [][]string{{"j"}, {"enter"}, {"G"}, {"esc", "6", "]"}, {"j"}, {"j"}, {"enter"}, {"G"}, {"esc", "6", "]"}, {"enter"}, {"G"}, {"esc", "6", "j", "enter"}, {"esc", "2", "Q"}, {"esc", "6", "[", "[", "ctrl+x"}} {
		press(t, a, keys...)
		a.draw()
		seen += shown(a)
	}
	for _, secret := range append(reactSecrets, "ple.com", "P2") {
		if at := strings.Index(seen, secret); at >= 0 {
			t.Errorf("%q is shown: %q", secret, seen[max(0, at-200):at+80])
		}
	}
	for _, word := range []string{"--password", "--token=", "mail to ***", "masked for the audience", "eventdeck approve r3aaaaaaaaaaaaaa", ".user.name"} {
		if !strings.Contains(seen, word) {
			t.Errorf("%q is not shown", word)
		}
	}
	if after, _ := json.Marshal(e.All); !bytes.Equal(before, after) {
		t.Error("the engine's runs were changed")
	}
}

func TestMaskedRequestsAreNotApproved(t *testing.T) {
	for _, tab := range [][]string{nil, {"]", "]"}} {
		e := telling()
		a, wait := openReactWith(t, Options{Theme: "none", React: e, Present: true}, 120, 40)
		press(t, a, append(tab, "enter")...)
		wait(2 * time.Second)
		if len(tab) == 0 {
			press(t, a, "ctrl+g")
			wait(2 * time.Second)
		}
		press(t, a, "ctrl+y")
		if len(e.Did) > 0 {
			t.Errorf("tab %v: %v", tab, e.Did)
		}
		if !strings.Contains(a.Edges.Status.Note.Text, "masked for the audience") {
			t.Errorf("tab %v: the key does not say why: %q", tab, a.Edges.Status.Note.Text)
		}
	}
	c := present.MaskReactions(telling())
	for _, err := range []error{c.Approve(t.Context(), "r", "h"), c.Grant(t.Context(), "r", "h", start), c.Arm(t.Context(), "r", "h")} {
		if !errors.Is(err, present.ErrUnread) {
			t.Errorf("not refused: %v", err)
		}
	}
}

func TestNoRuleHasMaskedValues(t *testing.T) {
	wrote := 0
	add := present.MaskRule(func(string, react.Rule) error { wrote++; return nil })
	if err := add("rules.json", react.Rule{Name: "a", When: ".mail=***"}); !errors.Is(err, present.ErrMasked) || wrote > 0 {
		t.Errorf("written: %v", err)
	}
	if err := add("rules.json", react.Rule{Name: "a", When: ".n=1"}); err != nil || wrote != 1 {
		t.Errorf("not written: %v", err)
	}
}
