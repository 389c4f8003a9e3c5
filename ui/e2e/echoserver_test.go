//go:build !windows

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"eventdeck/host/mcptest"
)

// Secrets within the arguments of subscriptions.
const (
	argSecret = `argsecret-"Ww5"/Rr61 LlKkJjHhGg` // needs escapes in JSON and in a URL
	argShort  = "8,4-2"                           // too short to be looked for in every text
)

// echoServer is an MCP server whose event type takes a secret, and which repeats it in
// refusals, at the end of streams, and in results.
func echoServer(w http.ResponseWriter, r *http.Request) {
	m, ok := mcptest.Read(w, r)
	if !ok {
		return
	}
	var args struct{ Password, Team string }
	if len(m.Params.Arguments) > 0 && json.Unmarshal(m.Params.Arguments, &args) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	said, err := json.Marshal("no access with password " + args.Password)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	code := -32012
	if args.Team == "later" {
		code = -32603 // to be tried again
	}
	refused := fmt.Sprintf(`{"code":%d,"message":%s,"data":{"reason":%s,"request":%s}}`, code, said, said, m.Body)
	const occurrence = `{"eventId":"one","name":"vault.opened","timestamp":"2026-02-19T16:00:00Z","data":{"note":"` + planted + `"}`
	answer := `"error":` + refused
	switch {
	case m.Method == "server/discover":
		answer = `"result":{"supportedVersions":["2026-07-28"],"capabilities":{"events":{}},"serverInfo":{"name":"teller","version":"1"}}`
	case m.Method == "events/list":
		answer = `"result":{"events":[{"name":"vault.opened","delivery":["poll","push"],"inputSchema":{"type":"object","properties":{
			"password":{"type":"string","format":"password","minLength":4},"code":{"type":"string","writeOnly":true},"team":{"type":"string"}}}}]}`
	case args.Team == "closed", args.Team == "later":
	case m.Method == "events/poll":
		answer = fmt.Sprintf(`"result":{"events":[%s}],"cursor":"c","nextPollMs":60000,"request":%s}`, occurrence, m.Body)
	case m.Method == "events/stream":
		w.Header().Set("Content-Type", "text/event-stream")
		meta := fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/subscriptionId":%s}`, m.ID)
		for _, note := range []string{
			fmt.Sprintf(`"method":"notifications/events/active","params":{%s}`, meta),
			fmt.Sprintf(`"method":"notifications/events/event","params":%s,%s}`, occurrence, meta),
			fmt.Sprintf(`"method":"notifications/events/terminated","params":{"error":%s,%s}`, refused, meta),
		} {
			fmt.Fprintf(w, `data: {"jsonrpc":"2.0",%s}`+"\n\n", note)
		}
		return
	}
	m.Answer(w, answer)
}

// No secret in the arguments of a subscription is in anything that the program shows or logs,
// whatever the server says. The server gets it, and the store keeps it.
func TestSecretArgumentsStayInside(t *testing.T) {
	w := newWorld(t)
	web := httptest.NewServer(http.HandlerFunc(echoServer))
	t.Cleanup(web.Close)
	logged := filepath.Join(w.dir, "log")
	common := []string{"--data", w.data(), "--log", logged, "--log-level", "debug"}
	args := func(team string) string {
		raw, err := json.Marshal(map[string]string{"password": argSecret, "code": argShort, "team": team})
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	left := evidence{t: t, texts: map[string]string{}}
	run := func(want int, shows string, words ...string) {
		t.Helper()
		left.run(w, want, shows, words, common)
	}
	address := web.URL + "/mcp"
	const masked = `"arguments":{"code":"***","password":"***"`
	run(0, masked, "tail", address, "vault.opened", "--args", args("polls"), "--mode", "poll", "--count", "1", "--json", "--trace")
	run(4, "password ***", "tail", address, "vault.opened", "--args", args("closed"), "--mode", "poll", "--trace")
	run(4, "password ***", "tail", address, "vault.opened", "--args", args("streams"), "--mode", "push", "--trace")
	run(1, "minLength", "tail", address, "vault.opened", "--args", `{"password":"`+argShort[:3]+`"}`, "--mode", "poll")
	p := w.start(nil, append([]string{"tail", address, "vault.opened", "--args", args("later"), "--mode", "poll", "--trace"}, common...)...)
	p.await(p.stderr, 2, func(line string) bool {
		return strings.Contains(line, ` sent {`) && strings.Contains(line, `"team":"later"`)
	})
	p.signal(os.Interrupt)
	p.wait()
	left.keep("what is tried again", "password ***", p.stdout.text()+p.stderr.text())
	run(0, `"***"`, "subs", "list", "--json")
	run(0, "***", "subs", "list")
	run(0, "password ***", "audit", "--json")
	run(0, planted, "export", "--format", "ndjson")

	s := w.terminalWith(nil, 200, 50, append([]string{address}, common...)...)
	s.reads("vault.opened")
	take := func(name, shows string) { left.keep("the screen: "+name, shows, s.screen.Text()) }
	s.keys(":")
	s.reads("Commands")
	s.keys(`sub vault.opened "password=` + strings.ReplaceAll(argSecret, `"`, `\"`) + `" code=` + argShort + " team=closed mode=poll\r\x13")
	s.reads("✗ refused by the server")
	take("what was typed is refused", "password ***")
	s.keys(esc)
	s.reads("Leave the form")
	s.keys("y:")
	s.reads("Commands")
	s.keys("\x1b[A")
	s.reads("sub vault.opened team=closed")
	take("the history", "sub vault.opened team=closed")
	s.keys(esc + esc)
	s.sees("no dialog", func(text string) bool { return !strings.Contains(text, "Commands") })
	s.keys("5")
	s.reads("━ 5 ")
	for _, at := range [][2]string{{"[Audit]", "subscribe"}, {"[App]", "subscription interrupted"}, {"[Wire]", "events/poll"}} {
		s.turnTo(at[0])
		s.reads(at[1])
		take(at[0], at[1])
	}
	s.keys("\r")
	s.reads("events/")
	take("a frame", "events/")
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.end()

	left.files(w.dir, map[string]string{logged: "password ***"})
	find := search{}
	find.add("secret argument", argSecret)
	find["short argument"] = []byte(argShort)
	inStore := filepath.Join(w.data(), "state.db")
	if found := find.finds([]byte(left.texts[inStore])); len(found) == 0 {
		t.Error("the store does not keep the arguments")
	}
	for where := range left.texts {
		if strings.HasPrefix(where, w.data()) {
			delete(left.texts, where) // where they belong
		}
	}
	left.holds(find)
}
