// Package acptest is an agent for tests: a program that speaks the Agent Client Protocol,
// well or badly as its arguments say. It does not use package acp: what both had wrong would
// not be seen.
package acptest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Arg is the first argument with which a test binary becomes the agent; those behind it are
// what it does with a prompt, in order:
//
//	say TEXT         says it
//	prompt           says the prompt that it got
//	ask KIND TITLE   asks permission for a tool call, says what was chosen, and reports the call
//	                 as done if it was allowed
//	forever TITLE    the same, with no answer that allows it once
//	unasked KIND     reports a tool call as done without having asked
//	write PATH       writes a file and says whether that worked
//	tools            starts the server that it was given and says which tools there are
//	call TOOL ARGS   starts the server that it was given, calls a tool and says the answer
//	env              says what the server that it was given is to have in its environment
//	wait PATH        makes a file and waits for the end of its input
//	deaf             ignores everything from now on, also that it is to end
//	long BYTES       sends a line of so many bytes
//	flood            sends updates without end
//	shut             closes its output and goes on
//	late             asks permission after its turn has ended
//	exit             ends with exit code 3
//	loads            beforehand: can load sessions
const Arg = "__acp_agent"

// Main is the agent's life if the process was started as one, and returns its exit code;
// else not ok.
func Main(args []string) (code int, ok bool) {
	if len(args) < 2 || args[1] != Arg {
		return 0, false
	}
	a := &agent{script: args[2:], in: bufio.NewReaderSize(os.Stdin, 4<<20)}
	return a.run(), true
}

type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

type server struct {
	Command string
	Args    []string
	Env     []struct{ Name, Value string }
}

type agent struct {
	script  []string
	in      *bufio.Reader
	session string
	server  *server
	loaded  bool
	calls   int
	stop    string // reason with which the turn ends
	late    func() // what is done after its end; nil: nothing
}

func (a *agent) run() int {
	for {
		m, err := a.read()
		if err != nil {
			return 0
		}
		switch m.Method {
		case "initialize":
			a.answer(m, fmt.Sprintf(`{"protocolVersion":1,"agentCapabilities":{"loadSession":%t},"agentInfo":{"name":"stub","version":"1"}}`, slices.Contains(a.script, "loads")))
		case "session/new", "session/load":
			var p struct {
				SessionID  string
				McpServers []server
			}
			_ = json.Unmarshal(m.Params, &p) // the tests see what comes of it
			if len(p.McpServers) > 0 {
				a.server = &p.McpServers[0]
			}
			a.session, a.loaded = p.SessionID, m.Method == "session/load"
			if !a.loaded {
				a.session = fmt.Sprintf("session-%d", os.Getpid())
			}
			a.answer(m, fmt.Sprintf(`{"sessionId":%q}`, a.session))
		case "session/prompt":
			if code, ends := a.prompt(m); ends {
				return code
			}
		}
	}
}

func (a *agent) read() (m message, err error) {
	line, err := a.in.ReadBytes('\n')
	if err != nil {
		return m, err
	}
	err = json.Unmarshal(line, &m)
	return m, err
}

func (a *agent) send(format string, args ...any) { fmt.Printf(format+"\n", args...) }

func (a *agent) answer(m message, result string) {
	a.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

func (a *agent) update(format string, args ...any) {
	a.send(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":%s}}`, a.session, fmt.Sprintf(format, args...))
}

func (a *agent) say(format string, args ...any) {
	text, _ := json.Marshal(fmt.Sprintf(format, args...)) // strings always can be
	a.update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}`, text)
}

// prompt does what the script says.
func (a *agent) prompt(m message) (code int, ends bool) {
	a.stop, a.late = "end_turn", nil
	if a.loaded {
		a.say("(loaded %s)", a.session)
	}
	for i := 0; i < len(a.script); i++ {
		next := func() string { i++; return a.script[i] }
		if a.behave(a.script[i], next, m) {
			continue
		}
		if code, ends := a.misbehave(a.script[i], next); ends {
			return code, true
		}
	}
	a.answer(m, fmt.Sprintf(`{"stopReason":%q,"usage":{"inputTokens":5,"outputTokens":2,"totalTokens":7}}`, a.stop))
	if a.late != nil {
		a.late()
	}
	return 0, false
}

// behave does what a good agent may do, and reports whether the word stands for such a thing.
func (a *agent) behave(word string, next func() string, m message) bool {
	switch word {
	case "loads":
	case "say":
		a.say("%s", next())
	case "prompt":
		var p struct{ Prompt []struct{ Text string } }
		_ = json.Unmarshal(m.Params, &p)
		for _, b := range p.Prompt {
			a.say("<%s>", b.Text)
		}
	case "ask":
		a.ask(next(), next(), "allow_once")
	case "forever":
		a.ask("execute", next(), "allow_always")
	case "write":
		a.say("wrote: %t;", os.WriteFile(next(), []byte("x"), 0o600) == nil)
	case "tools":
		a.say("%s", a.mcp(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`))
	case "call":
		a.say("%s", a.mcp(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, next(), next())))
	case "env":
		if a.server != nil {
			for _, v := range a.server.Env {
				a.say("%s=%s ", v.Name, v.Value)
			}
		}
	default:
		return false
	}
	return true
}

// misbehave does what no good agent does, and reports whether the process ends with that.
func (a *agent) misbehave(word string, next func() string) (code int, ends bool) {
	switch word {
	case "unasked":
		a.calls++
		a.update(`{"sessionUpdate":"tool_call","toolCallId":"u%d","title":"quietly","kind":%q,"status":"in_progress"}`, a.calls, next())
		a.update(`{"sessionUpdate":"tool_call_update","toolCallId":"u%d","status":"completed"}`, a.calls)
		a.say("did it")
		_, _ = a.read() // what it would do next is not seen
	case "wait":
		_ = os.WriteFile(next(), nil, 0o600) // the test that waits for it sees that it is missing
		for {
			m, err := a.read()
			if err != nil {
				return 0, true
			}
			if m.Method == "session/cancel" {
				a.stop = "cancelled"
				break
			}
		}
	case "deaf":
		signal.Ignore(syscall.SIGTERM, os.Interrupt)
		a.say("deaf")
		sleep()
	case "long":
		var n int
		_, _ = fmt.Sscan(next(), &n)
		a.say("%s", strings.Repeat("x", n))
		_, _ = a.read()
	case "flood":
		for {
			a.update(`{"sessionUpdate":"plan","entries":[]}`)
		}
	case "shut":
		_ = os.Stdout.Close()
		signal.Ignore(syscall.SIGTERM)
		sleep()
	case "late":
		a.late = func() { a.ask("execute", "too late", "allow_once") }
	case "exit":
		return 3, true
	default:
		fmt.Fprintf(os.Stderr, "unknown: %s\n", word)
		return 2, true
	}
	return 0, false
}

// sleep never returns.
func sleep() {
	for {
		time.Sleep(time.Hour)
	}
}

// ask asks permission, the option that stands for ever first.
func (a *agent) ask(kind, title, allow string) {
	a.calls++
	text, _ := json.Marshal(title)
	a.send(`{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":%q,"toolCall":{"toolCallId":"c%d","title":%s,"kind":%q,"rawInput":{"command":%s}},`+
		`"options":[{"optionId":"always","name":"Always","kind":"allow_always"},{"optionId":"yes","name":"Yes","kind":%q},{"optionId":"no","name":"No","kind":"reject_once"}]}}`,
		a.calls, a.session, a.calls, text, kind, text, allow)
	for {
		m, err := a.read()
		switch {
		case err != nil:
			return
		case m.Method != "":
			continue
		}
		a.say("[%s: %s%s]", title, m.Result, m.Error)
		if strings.Contains(string(m.Result), `"yes"`) {
			a.update(`{"sessionUpdate":"tool_call_update","toolCallId":"c%d","status":"completed"}`, a.calls)
			a.say("[%s: done]", title)
		}
		return
	}
}

// mcp starts the server that the agent was given, asks it one thing and returns what it
// answered.
func (a *agent) mcp(request string) string {
	if a.server == nil {
		return "no server"
	}
	cmd := exec.Command(a.server.Command, a.server.Args...)
	for _, v := range a.server.Env {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err.Error()
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err.Error()
	}
	if err := cmd.Start(); err != nil {
		return err.Error()
	}
	_, _ = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"stub","version":"1"}}}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+request+"\n") // what it answers is read below
	lines := bufio.NewReader(out)
	answer := ""
	for range 2 {
		if answer, err = lines.ReadString('\n'); err != nil {
			answer = "the server said " + answer + ": " + err.Error()
			break
		}
	}
	_ = in.Close()
	_ = cmd.Wait()
	return strings.TrimSpace(answer)
}
