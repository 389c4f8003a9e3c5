package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestAgentsAreBounded(t *testing.T) {
	for name, test := range map[string]struct {
		do   func(*stub)
		want error
	}{
		"a line of 20 MiB": {func(s *stub) { s.says(strings.Repeat("x", 20<<20)) }, ErrTooMuch},
		"a line without end": {func(s *stub) {
			for range 40 {
				if _, err := io.WriteString(s.to, strings.Repeat("x", 64<<10)); err != nil {
					return
				}
			}
		}, ErrTooMuch},
		"messages": {func(s *stub) {
			for range maxMessages + 1 {
				s.update(`{"sessionUpdate":"plan","entries":[]}`)
			}
		}, ErrTooMuch},
		"bytes": {func(s *stub) {
			long := strings.Repeat("x", 1000<<10)
			for range maxTurn/len(long) + 1 {
				s.says(long)
			}
		}, ErrTooMuch},
		"tool calls": {func(s *stub) {
			for i := range maxCalls + 1 {
				s.update(fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":"c%d","title":"it"}`, i))
			}
		}, ErrTooMuch},
		"an id": {func(s *stub) {
			s.update(`{"sessionUpdate":"tool_call","toolCallId":"` + strings.Repeat("x", maxID+1) + `"}`)
		}, ErrProtocol},
		"no JSON":        {func(s *stub) { s.send("Debugger attached.") }, ErrProtocol},
		"no message":     {func(s *stub) { s.send(`{"jsonrpc":"2.0"}`) }, ErrProtocol},
		"a batch":        {func(s *stub) { s.send(`[{"jsonrpc":"2.0","method":"x"}]`) }, ErrProtocol},
		"a key twice":    {func(s *stub) { s.send(`{"jsonrpc":"2.0","method":"x","method":"y"}`) }, ErrProtocol},
		"a broken note":  {func(s *stub) { s.send(`{"jsonrpc":"2.0","method":"session/update","params":[]}`) }, ErrProtocol},
		"closed output":  {func(s *stub) { _ = s.to.Close() }, ErrGone},
		"half a message": {func(s *stub) { _, _ = io.WriteString(s.to, `{"jsonrpc"`); _ = s.to.Close() }, ErrGone},
	} {
		t.Run(name, func(t *testing.T) {
			c, agent := begin(t, Options{}, `{}`)
			if _, err := prompts(t, c, agent, func(message) { test.do(agent) }); !errors.Is(err, test.want) || len(err.Error()) > 400 {
				t.Error(err)
			}
			if err := c.Close(); !errors.Is(err, test.want) {
				t.Errorf("closed: %v", err)
			}
		})
	}
}

func TestPermissionRequestsAreBounded(t *testing.T) {
	c, agent := begin(t, Options{Permit: func(ctx context.Context, _ Permission) (bool, error) {
		<-ctx.Done()
		return false, context.Cause(ctx)
	}}, `{}`)
	if _, err := prompts(t, c, agent, func(p message) {
		for i := range maxOpen {
			agent.send(`{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c"},"options":%s}}`, i, usual)
		}
		if m := agent.ask(99, `{"toolCallId":"c"}`, usual); m.Error == nil || string(m.ID) != "99" {
			t.Errorf("%s: %s", m.ID, m.Result)
		}
		many := "[" + strings.Repeat(`{"optionId":"y","kind":"allow_once"},`, maxOptions) + `{"optionId":"n","kind":"reject_once"}]`
		if m := agent.ask(100, `{"toolCallId":"c"}`, many); m.Error == nil {
			t.Errorf("%s: %s", m.ID, m.Result)
		}
		agent.end(p, "end_turn")
		for range maxOpen {
			if m := agent.expect(""); string(m.Result) != `{"outcome":{"outcome":"cancelled"}}` {
				t.Errorf("%s", m.Result)
			}
		}
	}); err != nil {
		t.Error(err)
	}
}

func TestTheMiddleOfALongMessageIsLeftOut(t *testing.T) {
	c, agent := begin(t, Options{}, `{}`)
	got, err := prompts(t, c, agent, func(p message) {
		agent.says("begin")
		for range 100 {
			agent.says(strings.Repeat("x", 10_000))
		}
		agent.says("end")
		agent.end(p, "end_turn")
	})
	text := got.Text.Raw()
	left := 100*10_000 + len("beginend") - 2*maxEnd
	if err != nil || !strings.HasPrefix(text, "begin") || !strings.HasSuffix(text, "end") || !strings.Contains(text, fmt.Sprintf("[%d bytes are left out]", left)) || len(text) > 2*maxEnd+100 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

func TestRemarksAreBounded(t *testing.T) {
	c, agent := begin(t, Options{}, `{}`)
	got, err := prompts(t, c, agent, func(p message) {
		for i := range maxNotes + 5 {
			agent.ask(i, `{"toolCallId":"c","title":"x"}`, `[]`)
		}
		agent.end(p, "end_turn")
	})
	if err != nil || len(got.Notes) != maxNotes {
		t.Errorf("%d, %v", len(got.Notes), err)
	}
}

func TestTitlesAreCut(t *testing.T) {
	s := &stub{}
	c, agent := begin(t, Options{Permit: s.permits(true)}, `{}`)
	if _, err := prompts(t, c, agent, func(p message) {
		agent.ask(1, `{"toolCallId":"c","title":"`+strings.Repeat("x", 10*maxTitle)+`"}`, usual)
		agent.end(p, "end_turn")
	}); err != nil || s.asked[0].Title.Len() != maxTitle {
		t.Errorf("%d bytes, %v", s.asked[0].Title.Len(), err)
	}
}
