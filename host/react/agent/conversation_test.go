//go:build unix

package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

func TestAConversationIsKept(t *testing.T) {
	d := newDesk(t, "loads", "say", "here")
	d.rule.Do.Agent.Keep, d.rule.Do.Agent.Dir = true, t.TempDir()
	if text := d.ran(t, &journal{}).Answer.Raw(); text != "here" {
		t.Errorf("the first time it says %q", text)
	}
	for _, id := range []react.RunID{"second", "third"} {
		d.run.ID = id
		if text := d.ran(t, &journal{}).Answer.Raw(); !strings.HasPrefix(text, "(loaded session-") {
			t.Errorf("%s: it says %q", id, text)
		}
	}
	d.run.ID, d.rule.On.Server = "other", "other"
	if text := d.ran(t, &journal{}).Answer.Raw(); text != "here" {
		t.Errorf("a run about another server goes on with %q", text)
	}
	d.run.ID, d.rule.Do.Agent.Task = "fourth", "Another one."
	if text := d.ran(t, &journal{}).Answer.Raw(); text != "here" {
		t.Errorf("another act goes on with %q", text)
	}
	d.rule.Do.Agent.Dir = ""
	if _, err := d.Prepare(d.rule, d.run, []event.Record{member()}); !errors.Is(err, errKeepDir) {
		t.Errorf("without a directory: %v", err)
	}
}

// A run waits while another one uses its conversation.
func TestRunsOfAConversationAreSerial(t *testing.T) {
	d := newDesk(t, "loads", "say", "ready", "ask", "read", "x")
	d.rule.Do.Agent.Keep, d.rule.Do.Agent.Dir = true, t.TempDir()
	asked, go1 := make(chan struct{}), make(chan struct{})
	one := &journal{answer: func(react.Request) (react.Answered, error) {
		close(asked)
		<-go1
		return react.Answered{}, nil
	}}
	a := d.begin(t, one, 1)
	<-asked
	d.run.ID = "second"
	two := &journal{}
	b := d.begin(t, two, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := b.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) || len(two.All()) != 0 {
		t.Errorf("the second did not wait: %v, %+v", err, two.All())
	}
	close(go1)
	if r := ended(t, a); r.Outcome != react.OutcomeDone {
		t.Errorf("%+v", r)
	}
	if r := ended(t, b); r.Outcome != react.OutcomeDone || !strings.Contains(r.Answer.Raw(), "(loaded") {
		t.Errorf("%+v", r)
	}
}

func TestRememberedConversationsAreBounded(t *testing.T) {
	d := newDesk(t)
	for i := range maxRemembered {
		if err := os.WriteFile(d.file(react.Request{Run: react.RunID(fmt.Sprint("earlier", i))}), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	newest := react.Request{Run: "newest"}
	for _, req := range []react.Request{{Run: "r"}, newest} {
		if err := d.remember(req, conversation{Session: trust.Untrusted("s"), Run: req.Run}); err != nil {
			t.Fatal(err)
		}
	}
	left, err := os.ReadDir(d.place())
	if err != nil || len(left) != maxRemembered {
		t.Errorf("%d, %v", len(left), err)
	}
	if _, ok := d.recall(newest); !ok {
		t.Error("the newest is forgotten")
	}
}
