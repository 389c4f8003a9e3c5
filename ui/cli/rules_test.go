package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventdeck/host/mcptest"
)

// withRules writes rules.json beside a servers.json and returns both paths.
func withRules(t *testing.T, text string) (servers, rules string) {
	t.Helper()
	dir := t.TempDir()
	servers, rules = filepath.Join(dir, "servers.json"), filepath.Join(dir, "rules.json")
	for path, text := range map[string]string{servers: `{"mcpServers": {"pager": {"command": "x"}}}`, rules: text} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return servers, rules
}

const pageRule = `{"rules": {"page-p1": {
  "on": {"server": "pager", "type": "incident.created"}, "when": ".severity=P1", "key": ".service", "mode": "auto",
  "do": {"note": "look"}}}}`

func TestRulesCheck(t *testing.T) {
	b := newBench(t)
	servers, path := withRules(t, pageRule)
	b.expect(t, exitDone, "", "rules", "check", "--config", servers)
	if got, want := b.out.String(), path+": 1 rule, no mistakes\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	b.out, b.err = mcptest.Buffer{}, mcptest.Buffer{}
	servers, path = withRules(t, "{\"rules\": {\"a\": {\n\"on\": {\"server\": \"pagr\", \"type\": \"t\"}, \"do\": {\"command\": [\"x\"]}}}}")
	b.err = mcptest.Buffer{}
	b.expect(t, exitError, "2 mistakes", "rules", "check", "--config", servers)
	want := path + ":2:18: there is no server \"pagr\"; write: \"pager\"\n" + path + ":2:59: \"command\" is the relative path \"x\"; write: its absolute path\n"
	if got := b.out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	b.out, b.err = mcptest.Buffer{}, mcptest.Buffer{}
	b.err = mcptest.Buffer{}
	b.expect(t, exitError, "2 mistakes", "rules", "check", "--json", path, "--config", servers)
	if got := b.out.String(); !strings.HasPrefix(got, `{"where":`) || !strings.Contains(got, `"write":"\"pager\""}`+"\n") {
		t.Errorf("JSON: %s", got)
	}
	b.err = mcptest.Buffer{}
	b.expect(t, exitError, "no regular file but a directory", "rules", "check", t.TempDir())
	b.out, b.err = mcptest.Buffer{}, mcptest.Buffer{}
	missing := filepath.Join(t.TempDir(), "rules.json")
	b.expect(t, exitError, "there is no file "+missing, "rules", "check", missing)
	if got := b.out.String(); got != "" {
		t.Errorf("of a missing file it prints %s", got)
	}
}

func TestRulesListAndSchema(t *testing.T) {
	b := newBench(t)
	servers, path := withRules(t, pageRule)
	b.expect(t, exitDone, "", "rules", "list", "--config", servers)
	if got := strings.Join(strings.Fields(b.out.String()), " "); got != `page-p1 auto pager incident.created event .severity=P1 note look `+path+`:1:12` {
		t.Errorf("list: %s", got)
	}
	b.out, b.err = mcptest.Buffer{}, mcptest.Buffer{}
	b.expect(t, exitDone, "", "rules", "list", "--json", "--config", servers)
	want := `{"name":"page-p1","mode":"auto","best":"auto","letters":"","server":"pager","type":"incident.created","kind":"event","when":".severity=P1",`
	if got := b.out.String(); !strings.HasPrefix(got, want) || !strings.Contains(got, `"rule":{"name":"page-p1","on":`) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	b.out, b.err = mcptest.Buffer{}, mcptest.Buffer{}
	b.expect(t, exitDone, "", "rules", "schema")
	if !strings.Contains(b.out.String(), `"$schema"`) {
		t.Error("no schema")
	}
	b.err = mcptest.Buffer{}
	b.expect(t, exitUsage, "there is no command rules \"chek\"", "rules", "chek")
	b.err = mcptest.Buffer{}
	b.expect(t, exitUsage, "rules: say what to do", "rules")
}

func TestRulesTest(t *testing.T) {
	b := newBench(t)
	servers, _ := withRules(t, pageRule)
	sub := b.keep("pager", "incident.created", 0)
	for i, data := range []string{`{"severity":"P1","service":"x"}`, `{"severity":"P2","service":"y"}`, `{"severity":"P1","service":"x"}`} {
		r := occurrence(sub, fmt.Sprint("e", i), data)
		r.ReceivedAt = at.Add(time.Duration(i) * time.Second)
		b.store.add(r)
	}
	b.expect(t, exitDone, "", "rules", "test", "page-p1", "--json", "--config", servers, "--data", b.data(t))
	lines := b.out.String()
	want := `{"rule":"page-p1","decision":"ready","cause":"mode","why":"the rule's mode is auto","line":"rules.json:2:101","key":"\"x\"","members":2,"first":1,"last":3,"from":"2026-07-28T12:00:00.005Z","to":"2026-07-28T12:00:02.005Z","cost":"0.00"}` + "\n"
	if lines != want {
		t.Errorf("got  %swant %s", lines, want)
	}
	b.out, b.err = mcptest.Buffer{}, mcptest.Buffer{}
	b.expect(t, exitDone, "", "rules", "test", "--config", servers, "--data", b.data(t))
	if got := b.out.String(); !strings.Contains(got, "ready       page-p1") || !strings.Contains(got, "2 records, 1 to 3") {
		t.Errorf("plain: %q", got)
	}

	// The lines of events --json give the same.
	b.out, b.err = mcptest.Buffer{}, mcptest.Buffer{}
	b.expect(t, exitDone, "", "events", "--json", "--data", b.data(t))
	dir := t.TempDir()
	day, expected := filepath.Join(dir, "day"), filepath.Join(dir, "expected")
	for path, text := range map[string]string{day: b.out.String(), expected: lines} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.out, b.err = mcptest.Buffer{}, mcptest.Buffer{}
	b.expect(t, exitDone, "", "rules", "test", "--events", day, "--expect", expected, "--config", servers)
	if got := b.out.String(); got != "" {
		t.Errorf("printed %s", got)
	}
	if err := os.WriteFile(expected, []byte(strings.Replace(lines, "ready", "asking", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	b.err = mcptest.Buffer{}
	b.expect(t, exitError, "not as expected: "+expected+":1:", "rules", "test", "--events", day, "--expect", expected, "--config", servers)
	b.err = mcptest.Buffer{}
	b.expect(t, exitNotMet, "no record matched", "rules", "test", "--events", os.DevNull, "--config", servers)
	b.err = mcptest.Buffer{}
	b.expect(t, exitNotMet, "no record matched", "rules", "test", "--since", "1s", "--config", servers, "--data", b.data(t))
	b.err = mcptest.Buffer{}
	b.expect(t, exitUsage, "there is no rule \"page\"", "rules", "test", "page", "--config", servers)
	servers, _ = withRules(t, `{"rules": {`)
	b.err = mcptest.Buffer{}
	b.expect(t, exitError, "rules.json:1:12: unexpected end", "rules", "test", "--config", servers, "--data", b.data(t))
}

// asksRules asks a model with tools, has one choose, and starts an agent.
const asksRules = `{"models": {"big": {"wire": "chat", "url": "https://example.com/v1", "model": "m", "price": {"in": "3.00", "out": "15.00"}}},
  "rules": {"explain": {"on": {"server": "pager", "type": "incident.created"}, "mode": "auto",
    "do": {"model": {"use": "big", "task": "Why?", "tools": {"pager/get": "read", "git/log": "read"}}}},
  "route": {"on": {"server": "pager", "type": "incident.created"}, "do": {"choose": {"use": "big", "task": "Who?", "acts": {"tell": {"do": {"note": "n"}}, "wake": {"do": {"note": "w"}}}}}},
  "fix": {"on": {"server": "pager", "type": "incident.created"}, "do": {"agent": ["/bin/agent"], "task": "Fix it.", "trusted": true}}}}`

func TestRulesListShowsTheCostOfModels(t *testing.T) {
	b := newBench(t)
	servers, _ := withRules(t, asksRules)
	b.expect(t, exitDone, "", "rules", "list", "--config", servers)
	for _, want := range []string{"model big: Why?", "choose tell or wake by big: Who?", `agent "/bin/agent": Fix it.`} {
		if got := b.out.String(); !strings.Contains(got, want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
	b.out, b.err = mcptest.Buffer{}, mcptest.Buffer{}
	b.expect(t, exitDone, "", "rules", "list", "--json", "--config", servers)
	for _, want := range []string{
		`"name":"explain","mode":"auto","best":"auto","letters":"A B C"`, `"cost":"0.50"`, `"best":"ask","letters":"A B C"`,
		`"asks":["git/log: its arguments may carry what pager told; flows has no \"pager>git\"","pager/get: its arguments may carry what git told; flows has no \"git>pager\""]`,
	} {
		if got := b.out.String(); !strings.Contains(got, want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
	b.store.add(occurrence(b.keep("pager", "incident.created", 0), "e1", `{"severity":"P1"}`))
	b.out, b.err = mcptest.Buffer{}, mcptest.Buffer{}
	b.expect(t, exitDone, "", "rules", "test", "explain", "--json", "--config", servers, "--data", b.data(t))
	if got := b.out.String(); !strings.Contains(got, `"decision":"ready"`) || !strings.Contains(got, `"cost":"0.50"`) {
		t.Errorf("test: %s", got)
	}
}
