//go:build unix

package act

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eventdeck/host/react"
)

func TestTheSameRunHasTheSameRequest(t *testing.T) {
	r := newRunner(t, Options{})
	one, two := prepared(t, r, shell("exit 0")), prepared(t, r, shell("exit 0"))
	if one.Hash() != two.Hash() {
		t.Error("the request changes from one asking to the next")
	}
	if other := prepared(t, r, shell("exit 0"), member(7, `{"a":2}`)); other.Hash() == one.Hash() || other.ActHash() != one.ActHash() {
		t.Error("another payload has the same hash, or is another act")
	}
}

// refusesChange makes a change after a command was prepared, and checks that neither that attempt
// nor a further one starts, and that the hashes of rule and request change. why is in the result.
func refusesChange(t *testing.T, r *Runner, rule react.Rule, why string, change func()) {
	t.Helper()
	req := prepared(t, r, rule)
	a, err := r.Ready(t.Context(), req, 1)
	if err != nil {
		t.Fatal(err)
	}
	change()
	if _, err := r.Ready(t.Context(), req, 2); !errors.Is(err, react.ErrProgram) {
		t.Errorf("%v", err)
	}
	if err := a.Go(nil); err != nil { // only the supervisor sees the change
		t.Fatal(err)
	}
	if result := outcome(t, a); result.Outcome != react.OutcomeNever || !strings.Contains(result.Why, why) {
		t.Errorf("%+v", result)
	}
	if again := prepared(t, r, rule); rule.Hash(again) == rule.Hash(req) || again.Hash() == req.Hash() {
		t.Error("the hashes did not change")
	}
	if err := r.Forget(a.Handle()); err != nil {
		t.Error(err)
	}
}

func TestAChangedProgramDoesNotStart(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	replace(t, script, "#!/bin/sh\necho one\n")
	rule := react.Rule{Name: "page", Do: react.Do{Command: &react.Command{Argv: []string{script}}}}
	refusesChange(t, newRunner(t, Options{}), rule, "changed", func() { replace(t, script, "#!/bin/sh\necho two\n") })
}

// Links could be changed between the approval and the start.
func TestPathsAreApprovedWithoutTheirLinks(t *testing.T) {
	base := t.TempDir()
	if real, err := filepath.EvalSymlinks(base); err != nil {
		t.Fatal(err)
	} else {
		base = real
	}
	link, one, two := filepath.Join(base, "link"), filepath.Join(base, "one"), filepath.Join(base, "two")
	for _, dir := range []string{one, two} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	turn := func(to string) {
		t.Helper()
		if err := errors.Join(os.RemoveAll(link), os.Symlink(to, link)); err != nil {
			t.Fatal(err)
		}
	}
	r := newRunner(t, Options{})
	rule := shell("pwd")
	rule.Do.Command.Dir = link
	confined := shell("exit 0")
	confined.Do.Command.Confine = &react.Confine{Read: []string{one}, Write: []string{link}}
	turn(one)
	req := prepared(t, r, rule)
	if req.Dir != one {
		t.Errorf("the directory of the request is %s", req.Dir)
	}
	reach, possible := r.Prepare(confined, theRun(), nil)
	turn(two)
	if again, err := r.Prepare(confined, theRun(), nil); possible == nil && (err != nil || confined.Hash(again) == confined.Hash(reach)) {
		t.Errorf("what may be written is elsewhere, and an armed rule stays armed: %v", err)
	}
	if possible == nil {
		a, err := r.Ready(t.Context(), reach, 7) // what was approved is where the link led
		if err != nil {
			t.Fatal(err)
		}
		a.Abort()
	}
	if out := outcome(t, begin(t, r, req)).Output.Stdout.Head.Raw(); out != one+"\n" {
		t.Errorf("it ran in %s", out)
	}
	if again := prepared(t, r, rule); again.Hash() == req.Hash() || rule.Hash(again) == rule.Hash(req) {
		t.Error("a link that leads elsewhere is the same request")
	}
	if err := errors.Join(os.Remove(one), os.Symlink(two, one)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Ready(t.Context(), req, 2); !errors.Is(err, react.ErrProgram) {
		t.Errorf("the directory became a link: %v", err)
	}
}

func TestInvalidPrograms(t *testing.T) {
	r := newRunner(t, Options{})
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sh", "./sh", filepath.Join(dir, "missing"), dir, plain} {
		rule := react.Rule{Name: "page", Do: react.Do{Command: &react.Command{Argv: []string{name}}}}
		if _, err := r.Prepare(rule, theRun(), nil); !errors.Is(err, react.ErrProgram) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
