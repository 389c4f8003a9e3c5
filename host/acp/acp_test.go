package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// message is what the client sent.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Code int }
}

// stub is the other end: an agent that does what a test says.
type stub struct {
	t    *testing.T
	to   *io.PipeWriter
	from chan message // closed when the client closed its end

	mu    sync.Mutex
	asked []Permission
}

// begin starts a client on a stub that answers initialize with these capabilities.
func begin(t *testing.T, o Options, capabilities string) (*Conn, *stub) {
	t.Helper()
	theirIn, in := io.Pipe()
	out, theirOut := io.Pipe()
	s := &stub{t: t, to: theirOut, from: make(chan message, 1000)}
	go func() {
		defer close(s.from)
		lines := bufio.NewScanner(theirIn)
		lines.Buffer(nil, 4<<20)
		for lines.Scan() {
			var m message
			if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
				t.Errorf("the client sent %q: %v", lines.Text(), err)
			}
			s.from <- m
		}
	}()
	go func() {
		if m := s.next(); m.Method == "initialize" {
			s.send(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1,"agentCapabilities":%s,"agentInfo":{"name":"stub","version":"2"}}}`, m.ID, capabilities)
		}
	}()
	c, err := Open(t.Context(), in, out, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = theirOut.Close()
		_ = c.Close() // what ended it is looked at where it matters
	})
	return c, s
}

func (s *stub) next() message {
	m, ok := <-s.from
	if !ok {
		s.t.Error("the client closed its end")
	}
	return m
}

// expect returns the next message, which must be of this method; "": an answer.
func (s *stub) expect(method string) message {
	m := s.next()
	if m.Method != method {
		s.t.Errorf("the client sent %q, not %q", m.Method, method)
	}
	return m
}

// send writes a line; one that nobody reads any more is lost.
func (s *stub) send(format string, args ...any) {
	_, _ = fmt.Fprintf(s.to, format+"\n", args...)
}

func (s *stub) update(update string) {
	s.send(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":%s}}`, update)
}

func (s *stub) says(text string) {
	s.update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}}`)
}

func (s *stub) end(prompt message, stop string) {
	s.send(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":%q,"usage":{"inputTokens":7,"outputTokens":3,"totalTokens":10}}}`, prompt.ID, stop)
}

// ask asks permission for a call, and returns the answer.
func (s *stub) ask(id int, call, options string) message {
	s.send(`{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":%s,"options":%s}}`, id, call, options)
	return s.expect("")
}

const usual = `[{"optionId":"a","name":"Always","kind":"allow_always"},{"optionId":"n","name":"No","kind":"reject_once"},{"optionId":"y","name":"Yes","kind":"allow_once"}]`

var s1 = trust.Untrusted("s1")

// permits is an option that answers every request alike, and remembers them.
func (s *stub) permits(allowed bool) func(context.Context, Permission) (bool, error) {
	return func(_ context.Context, p Permission) (bool, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked = append(s.asked, p)
		return allowed, nil
	}
}

// prompts runs a prompt against what the agent does in its turn.
func prompts(t *testing.T, c *Conn, s *stub, turn func(prompt message)) (Turn, error) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		turn(s.expect("session/prompt"))
	}()
	got, err := c.Prompt(t.Context(), s1, []string{"do it", "data"})
	<-done
	return got, err
}

func TestAPromptFromItsBeginningToItsEnd(t *testing.T) {
	var said []string
	c, s := begin(t, Options{Version: "9", Said: func(x trust.Text) { said = append(said, x.Raw()) }}, `{"loadSession":true}`)
	if i := c.Info(); i.Name.Raw() != "stub" || i.Version.Raw() != "2" || !i.Loads {
		t.Errorf("%+v", i)
	}
	go func() {
		m := s.expect("session/new")
		if want := `{"cwd":"/work","mcpServers":[{"args":["gate","r"],"command":"/bin/x","env":[{"name":"A","value":"b"}],"name":"eventdeck"}]}`; string(m.Params) != want {
			t.Errorf("the session is begun with %s", m.Params)
		}
		s.send(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s1"}}`, m.ID)
	}()
	id, err := c.New(t.Context(), "/work", []Server{{Name: "eventdeck", Command: "/bin/x", Args: []string{"gate", "r"}, Env: [][2]string{{"A", "b"}}}})
	if err != nil || id != s1 {
		t.Fatal(id, err)
	}
	got, err := prompts(t, c, s, func(p message) {
		if want := `{"prompt":[{"text":"do it","type":"text"},{"text":"data","type":"text"}],"sessionId":"s1"}`; string(p.Params) != want {
			t.Errorf("the prompt is %s", p.Params)
		}
		s.says("let me ")
		s.says("look")
		s.update(`{"sessionUpdate":"plan","entries":[]}`)
		s.update(`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"cat x","kind":"read"}`)
		s.update(`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}`)
		s.update(`{"sessionUpdate":"usage_update","used":5,"size":10}`)
		s.says("it is ")
		s.says("done")
		s.end(p, "end_turn")
	})
	if err != nil || got.Stop != StopEnd || got.Text.Raw() != "it is done" || got.In != 7 || got.Out != 3 || got.Calls != 1 || len(got.Notes) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if len(said) != 4 || said[1] != "look" {
		t.Errorf("it was heard to say %q", said)
	}
}

func TestAnOptionIsChosenByItsKind(t *testing.T) {
	once := `{"optionId":"y","name":"reject","kind":"allow_once"}`
	for name, test := range map[string]struct {
		options string
		allow   bool
		want    string
		asked   int
		notes   int
	}{
		"allow":                    {usual, true, `{"outcome":{"optionId":"y","outcome":"selected"}}`, 1, 0},
		"deny":                     {usual, false, `{"outcome":{"optionId":"n","outcome":"selected"}}`, 1, 0},
		"only for ever":            {`[{"optionId":"a","name":"Allow once","kind":"allow_always"},{"optionId":"n","name":"No","kind":"reject_once"}]`, true, `{"outcome":{"outcome":"cancelled"}}`, 0, 1},
		"two that allow":           {`[` + once + `,{"optionId":"y2","name":"Yes","kind":"allow_once"}]`, true, `{"outcome":{"outcome":"cancelled"}}`, 0, 1},
		"none that denies once":    {`[` + once + `,{"optionId":"n","name":"No","kind":"reject_always"}]`, false, `{"outcome":{"outcome":"cancelled"}}`, 1, 1},
		"a kind that is not known": {`[{"optionId":"y","name":"Yes","kind":"allow"}]`, true, `{"outcome":{"outcome":"cancelled"}}`, 0, 1},
		"none":                     {`[]`, true, `{"outcome":{"outcome":"cancelled"}}`, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := &stub{}
			c, agent := begin(t, Options{Permit: s.permits(test.allow)}, `{}`)
			got, err := prompts(t, c, agent, func(p message) {
				if m := agent.ask(100, `{"toolCallId":"c1","title":"rm x","kind":"execute","rawInput":{"command":"rm x"}}`, test.options); string(m.Result) != test.want {
					t.Errorf("answered with %s", m.Result)
				}
				agent.end(p, "end_turn")
			})
			if err != nil || len(got.Notes) != test.notes {
				t.Errorf("%+v, %v", got, err)
			}
			if len(s.asked) != test.asked {
				t.Fatalf("asked %d times", len(s.asked))
			}
			if test.asked == 1 && (s.asked[0].Title.Raw() != "rm x" || s.asked[0].Kind.Raw() != "execute" || !strings.Contains(string(s.asked[0].Call), `"command":"rm x"`)) {
				t.Errorf("%+v", s.asked[0])
			}
		})
	}
}

func TestRequestsOutsideOfAPromptAreRefused(t *testing.T) {
	s := &stub{}
	c, agent := begin(t, Options{Permit: s.permits(true)}, `{}`)
	call := `{"toolCallId":"c1","title":"rm x","kind":"execute"}`
	if m := agent.ask(1, call, usual); m.Error == nil {
		t.Errorf("before the first: %s", m.Result)
	}
	if _, err := prompts(t, c, agent, func(p message) {
		agent.send(`{"jsonrpc":"2.0","id":2,"method":"session/request_permission","params":{"sessionId":"s2","toolCall":%s,"options":%s}}`, call, usual)
		if m := agent.expect(""); m.Error == nil {
			t.Errorf("of another session: %s", m.Result)
		}
		agent.end(p, "end_turn")
		// Right behind the end, in the same breath.
		if m := agent.ask(3, call, usual); m.Error == nil {
			t.Errorf("after the end: %s", m.Result)
		}
	}); err != nil {
		t.Error(err)
	}
	if len(s.asked) != 0 {
		t.Errorf("asked about %v", s.asked)
	}
}

func TestUnofferedRequestsAreRefused(t *testing.T) {
	c, agent := begin(t, Options{}, `{}`)
	got, err := prompts(t, c, agent, func(p message) {
		for i, method := range []string{"fs/read_text_file", "fs/write_text_file", "terminal/create", "session/elicitation", "_own/thing"} {
			agent.send(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"sessionId":"s1","path":"/etc/passwd"}}`, i, method)
			if m := agent.expect(""); m.Error == nil || m.Error.Code != wire.CodeMethodNotFound {
				t.Errorf("%s: %+v", method, m)
			}
		}
		agent.send(`{"jsonrpc":"2.0","method":"_own/note","params":{}}`)
		agent.end(p, "refusal")
	})
	if err != nil || got.Stop != StopRefusal {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestActWithoutPermissionEndsTheConnection(t *testing.T) {
	completed := `{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}`
	diff := `{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","content":[{"type":"diff","path":"/x","newText":""}]}`
	started := func(kind string) string {
		return `{"sessionUpdate":"tool_call","toolCallId":"c1","title":"it","kind":"` + kind + `","status":"in_progress"}`
	}
	for name, test := range map[string]struct {
		do    func(*stub)
		allow bool
		ends  bool
	}{
		"edit":    {func(s *stub) { s.update(started("edit")); s.update(completed) }, true, true},
		"execute": {func(s *stub) { s.update(started("execute")); s.update(completed) }, true, true},
		"delete":  {func(s *stub) { s.update(started("delete")); s.update(completed) }, true, true},
		"move":    {func(s *stub) { s.update(started("move")); s.update(completed) }, true, true},
		"at once": {func(s *stub) {
			s.update(`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"it","kind":"edit","status":"completed"}`)
		}, true, true},
		"called a read afterwards": {func(s *stub) {
			s.update(started("execute"))
			s.update(`{"sessionUpdate":"tool_call_update","toolCallId":"c1","kind":"read","status":"completed"}`)
		}, true, true},
		"a read with a diff": {func(s *stub) {
			s.update(`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"it","kind":"read","status":"completed","content":[{"type":"diff","path":"/x","newText":""}]}`)
		}, true, true},
		"denied": {func(s *stub) {
			s.ask(1, `{"toolCallId":"c1","kind":"execute"}`, usual)
			s.update(completed)
		}, false, true},
		"permission for another call": {func(s *stub) {
			s.ask(1, `{"toolCallId":"c2","kind":"execute"}`, usual)
			s.update(started("execute"))
			s.update(completed)
		}, true, true},
		"with permission": {func(s *stub) {
			s.update(started("execute"))
			s.ask(1, `{"toolCallId":"c1"}`, usual)
			s.update(completed)
		}, true, false},
		"permission for a read that became a command": {func(s *stub) {
			s.ask(1, `{"toolCallId":"c1","title":"Read README","kind":"read"}`, usual)
			s.update(`{"sessionUpdate":"tool_call_update","toolCallId":"c1","title":"rm -rf /home","kind":"execute"}`)
			s.update(completed)
		}, true, true},
		"permission for a read that became an edit": {func(s *stub) {
			s.ask(1, `{"toolCallId":"c1","title":"Read README","kind":"read"}`, usual)
			s.update(`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","content":[{"type":"diff","path":"README","newText":"x"}]}`)
		}, true, true},
		"failed": {func(s *stub) {
			s.update(started("execute"))
			s.update(`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"failed"}`)
		}, true, false},
		"a read": {func(s *stub) { s.update(started("read")); s.update(completed) }, true, false},
		"again, with permission for the first": {func(s *stub) {
			s.ask(1, `{"toolCallId":"c1","kind":"edit"}`, usual)
			s.update(completed)
			s.update(started("edit"))
			s.update(completed)
		}, true, true},
		"again, with permission for each": {func(s *stub) {
			s.ask(1, `{"toolCallId":"c1","kind":"edit","status":"pending"}`, usual)
			s.update(completed)
			s.ask(2, `{"toolCallId":"c1","kind":"edit","status":"pending"}`, usual)
			s.update(started("edit"))
			s.update(completed)
		}, true, false},
		"another edit": {func(s *stub) {
			s.ask(1, `{"toolCallId":"c1","kind":"edit"}`, usual)
			s.update(completed)
			s.update(diff)
		}, true, true},
		"told twice that it is done": {func(s *stub) {
			s.ask(1, `{"toolCallId":"c1","kind":"edit"}`, usual)
			s.update(diff)
			s.update(completed)
			s.update(`{"sessionUpdate":"tool_call_update","toolCallId":"c1","content":[{"type":"diff","path":"/x","newText":""}]}`)
		}, true, false},
		"after it failed": {func(s *stub) {
			s.ask(1, `{"toolCallId":"c1","kind":"execute"}`, usual)
			s.update(`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"failed"}`)
			s.update(completed)
		}, true, true},
		"its kind told behind its end": {func(s *stub) {
			s.update(started("read"))
			s.update(completed)
			s.update(`{"sessionUpdate":"tool_call_update","toolCallId":"c1","kind":"execute"}`)
		}, true, true},
		"a diff behind its end": {func(s *stub) {
			s.update(started("read"))
			s.update(completed)
			s.update(`{"sessionUpdate":"tool_call_update","toolCallId":"c1","content":[{"type":"diff","path":"/x","newText":""}]}`)
		}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := &stub{}
			c, agent := begin(t, Options{Permit: s.permits(test.allow)}, `{}`)
			_, err := prompts(t, c, agent, func(p message) {
				test.do(agent)
				agent.end(p, "end_turn")
			})
			if errors.Is(err, ErrUnasked) != test.ends || err != nil && !test.ends {
				t.Error(err)
			}
		})
	}
}

func TestASessionIsLoaded(t *testing.T) {
	c, agent := begin(t, Options{}, `{"loadSession":true}`)
	go func() {
		m := agent.expect("session/load")
		if want := `{"cwd":"/work","mcpServers":[],"sessionId":"s1"}`; string(m.Params) != want {
			t.Errorf("loaded with %s", m.Params)
		}
		// What happened in it is told once more, and is over.
		agent.update(`{"sessionUpdate":"tool_call","toolCallId":"c0","title":"it","kind":"edit","status":"completed"}`)
		agent.says("of old")
		agent.send(`{"jsonrpc":"2.0","id":%s,"result":null}`, m.ID)
	}()
	if err := c.Load(t.Context(), s1, "/work", nil); err != nil {
		t.Fatal(err)
	}
	got, err := prompts(t, c, agent, func(p message) {
		agent.says("new")
		agent.end(p, "end_turn")
	})
	if err != nil || got.Text.Raw() != "new" {
		t.Errorf("%+v, %v", got, err)
	}
	c, _ = begin(t, Options{}, `{}`)
	if err := c.Load(t.Context(), s1, "/work", nil); !errors.Is(err, ErrRefused) {
		t.Errorf("an agent that cannot: %v", err)
	}
}

func TestATurnIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // an agent has a few seconds to end its turn
		why := errors.New("enough")
		asked := make(chan struct{})
		c, agent := begin(t, Options{Permit: func(ctx context.Context, _ Permission) (bool, error) {
			close(asked)
			<-ctx.Done()
			return true, nil
		}}, `{}`)
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			p := agent.expect("session/prompt")
			agent.says("so far")
			agent.send(`{"jsonrpc":"2.0","id":5,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c"},"options":%s}}`, usual)
			<-asked
			cancel(why)
			// Of the two the first may come first.
			for range 2 {
				switch m := agent.next(); {
				case m.Method == "session/cancel" && string(m.Params) == `{"sessionId":"s1"}`:
				case string(m.Result) == `{"outcome":{"outcome":"cancelled"}}`:
				default:
					t.Errorf("%+v", m)
				}
			}
			agent.end(p, "cancelled")
		}()
		got, err := c.Prompt(ctx, s1, []string{"do it"})
		if !errors.Is(err, why) || errors.Is(err, ErrDeaf) || got.Stop != StopCancelled || got.Text.Raw() != "so far" {
			t.Errorf("%+v, %v", got, err)
		}
		if err := c.Close(); err != nil {
			t.Errorf("the connection had ended: %v", err)
		}
	})
}

func TestDeafAgentEndsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, agent := begin(t, Options{}, `{}`)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go agent.expect("session/prompt")
		from := time.Now()
		if _, err := c.Prompt(ctx, s1, []string{"do it"}); !errors.Is(err, ErrDeaf) || !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if took := time.Since(from); took != time.Second+graceCancel {
			t.Errorf("took %s", took)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c, agent := begin(t, Options{}, `{}`)
		go agent.expect("session/new")
		if _, err := c.New(t.Context(), "/", nil); !errors.Is(err, ErrDeaf) {
			t.Errorf("no answer: %v", err)
		}
	})
	// It writes and does not read.
	in, theirIn := io.Pipe()
	theirOut, out := io.Pipe()
	opened := make(chan struct{})
	go func() {
		_, _ = bufio.NewReader(in).ReadBytes('\n')
		_, _ = io.WriteString(out, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`+"\n")
		<-opened
		for i := 0; ; i++ {
			if _, err := fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%d,"method":"x"}`+"\n", i); err != nil {
				return
			}
		}
	}()
	c, err := Open(t.Context(), theirIn, theirOut, Options{})
	if err != nil {
		t.Fatal(err)
	}
	close(opened)
	<-c.ctx.Done()
	if err := c.Close(); !errors.Is(err, ErrDeaf) {
		t.Error(err)
	}
}

func TestIncompatibleAgentIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		answer, says string
		want         error
	}{
		"another version": {`"result":{"protocolVersion":2}`, "2 instead of 1", ErrVersion},
		"a sign-in":       {`"error":{"code":-32000,"message":"no \u001b[31mauth"}`, "sign in there", ErrRefused},
		"no object":       {`"result":7`, "initialize", ErrProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			in, theirIn := io.Pipe()
			theirOut, out := io.Pipe()
			go func() {
				_, _ = bufio.NewReader(in).ReadBytes('\n')
				_, _ = io.WriteString(out, `{"jsonrpc":"2.0","id":1,`+test.answer+"}\n")
			}()
			_, err := Open(t.Context(), theirIn, theirOut, Options{})
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) || strings.ContainsRune(err.Error(), '\x1b') {
				t.Error(err)
			}
		})
	}
}
