package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/config"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/layout"
)

// newcomer returns a screen without servers whose home has the configuration of another client. Its
// paths are relative, as golden screens contain them.
func newcomer(t *testing.T, h *fakeHost, w, hgt int, foreign string) *app {
	t.Helper()
	t.Chdir(t.TempDir())
	if foreign != "" {
		if err := errors.Join(os.MkdirAll(".cursor", 0o700), os.WriteFile(".cursor/mcp.json", []byte(foreign), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	env := func(name string) (string, bool) { return "some " + name, name == "TOKEN" || name == "HOME" }
	a := newApp(context.Background(), Options{
		API: h, Env: quiet, Theme: "none", Now: func() time.Time { return start },
		Servers:   config.Source{File: filepath.Join("config", "servers.json"), Paths: config.Paths{System: "linux", Home: ".", Env: env}},
		StartDemo: func(context.Context) ([]string, error) { h.server("pager"); return []string{"pager"}, h.refuse },
	})
	a.panes.W, a.panes.H = w, hgt
	settle(a, a.detail.Work())
	a.draw()
	return a
}

const strangers = `{"mcpServers":{
	"files":{"command":"npx","args":["-y","@scope/server-files","/tmp/a b"],"env":{"KEY":"hunter2hunter2hunter2","PLACE":"${HOME}"}},
	"hub":{"url":"https://hub.example/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}},
	"off":{"command":"x","disabled":true},"bad\u001b[31m":{"command":"x"},"none":{}}}`

func TestGoldenSetup(t *testing.T) {
	for _, size := range goldenSizes {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			dir, err := os.Getwd()
			if err != nil {
				t.Fatal(err)
			}
			inTestdata := func(a *app, name string) {
				t.Helper()
				t.Chdir(dir)
				golden(t, a, name)
			}
			h := newFake()
			a := newcomer(t, h, size[0], size[1], strangers)
			temp, _ := os.Getwd()
			inTestdata(a, "empty")
			press(t, a, "A")
			word(t, a, "https://mcp.hub.example/mcp")
			press(t, a, "tab", "tab")
			word(t, a, "Authorization: Bearer hunter2 ${TOKEN}")
			inTestdata(a, "add")
			h.tested = host.ServerView{Transport: "streamable-http", HTTP: "HTTP/2", Version: "2026-07-28", Era: "stateless", Profile: "SEP-3415",
				Title: trust.Untrusted("Hub\x1b[2J"), Release: trust.Untrusted("1.0"), TypesKnown: true,
				Types: []event.Type{{Name: trust.Untrusted("push.main"), Modes: []event.Mode{event.ModePush, event.ModePoll}}, {Name: trust.Untrusted("issue.opened"), Modes: []event.Mode{event.ModeWebhook}}}}
			press(t, a, "ctrl+s")
			inTestdata(a, "add-tested")
			press(t, a, "esc", "y")
			t.Chdir(temp)
			press(t, a, "I", "space")
			press(t, a, "k")
			inTestdata(a, "import")
		})
	}
}

func TestAddServerTestsThenSaves(t *testing.T) {
	h := newFake()
	a := newcomer(t, h, 100, 30, "")
	press(t, a, "A")
	word(t, a, "https://mcp.hub.example/mcp")
	press(t, a, "tab", "tab")
	word(t, a, "Authorization: Bearer ${TOKEN}")
	press(t, a, "ctrl+s")
	if _, err := os.Stat(a.o.Servers.File); err == nil || fmt.Sprint(h.did) != "[test hub]" {
		t.Fatalf("saved before it was shown, or not tested: %v", h.did)
	}
	press(t, a, "ctrl+s")
	if a.dialog != nil || fmt.Sprint(h.did) != "[test hub add hub https://mcp.hub.example/mcp]" {
		t.Fatalf("%v\n%s", h.did, screenOf(a))
	}
	raw, err := os.ReadFile(a.o.Servers.File)
	if err != nil || !strings.Contains(string(raw), `"Authorization": "Bearer ${TOKEN}"`) {
		t.Errorf("%s %v", raw, err)
	}
}

func TestAddServerByCommand(t *testing.T) {
	h := newFake()
	a := newcomer(t, h, 100, 30, "")
	press(t, a, "A")
	word(t, a, "npx -y @scope/server-files '/tmp/a b'")
	press(t, a, "tab", "tab")
	word(t, a, "KEY=hunter2")
	if s := screenOf(a); strings.Contains(s, "hunter2") || !strings.Contains(s, "KEY=") || !strings.Contains(s, "files") {
		t.Errorf("the value is shown, or there is no name:\n%s", s)
	}
	press(t, a, "ctrl+r")
	if !strings.Contains(screenOf(a), "hunter2") {
		t.Error("ctrl+r does not show it")
	}
	h.refuse = errors.New("no \x1b[31msuch program")
	press(t, a, "ctrl+s")
	if s := screenOf(a); !strings.Contains(s, "such program") || !strings.Contains(s, "all the same") {
		t.Errorf("the failure is not told:\n%s", s)
	}
	h.refuse = nil
	press(t, a, "ctrl+s")
	f, err := config.Load(a.o.Servers.File, true, nil)
	if err != nil || len(f.Drafts()) != 1 {
		t.Fatal(f, err)
	}
	if d := f.Drafts()[0]; d.Name != "files" || d.Command != "npx" || len(d.Args) != 3 || d.Env[0].Value.Reveal() != "hunter2" {
		t.Errorf("%+v", d)
	}
}

func TestAddServerShowsErrors(t *testing.T) {
	h := newFake()
	a := newcomer(t, h, 80, 24, "")
	press(t, a, "A", "ctrl+s")
	if !strings.Contains(screenOf(a), "write the URL") {
		t.Error(screenOf(a))
	}
	word(t, a, "ftp://u:hunter2@x/")
	press(t, a, "ctrl+s")
	if s := screenOf(a); !strings.Contains(s, "user name or password") && !strings.Contains(s, "only http") {
		t.Error(s)
	}
	press(t, a, "ctrl+u")
	word(t, a, "x")
	press(t, a, "tab", "tab")
	word(t, a, "hunter2")
	press(t, a, "ctrl+s")
	if s := screenOf(a); !strings.Contains(s, "line 1: write a variable as NAME=value") {
		t.Error(s)
	}
	if len(h.did) > 0 {
		t.Error(h.did)
	}
	press(t, a, "esc", "esc")
	if a.dialog == nil || a.dialog.Title() != "Add a server" {
		t.Error("what was written is lost without a yes")
	}
}

// A mistyped address is not started as a program.
func TestMistypedAddressIsNotRun(t *testing.T) {
	h := newFake()
	a := newcomer(t, h, 120, 40, strangers)
	press(t, a, "A")
	word(t, a, "htp:/foo bar")
	press(t, a, "ctrl+s")
	if s := screenOf(a); len(h.did) > 0 || !strings.Contains(s, "neither an address nor a command") {
		t.Errorf("%v\n%s", h.did, s)
	}
}

func TestImportAsksBeforeAnythingHappens(t *testing.T) {
	h := newFake()
	a := newcomer(t, h, 120, 40, strangers)
	press(t, a, "I")
	if s := screenOf(a); strings.Contains(s, "hunter2") || !strings.Contains(s, "would run npx") || !strings.Contains(s, ".cursor") {
		t.Fatalf("the preview tells too little or too much:\n%s", s)
	}
	press(t, a, "enter")
	if !strings.Contains(screenOf(a), "nothing is chosen") {
		t.Error(screenOf(a))
	}
	press(t, a, "a", "enter")
	if s := screenOf(a); len(h.did) > 0 || !strings.Contains(s, "2 servers will be written") || !strings.Contains(s, "1 command of theirs will be started") {
		t.Fatalf("not asked: %v\n%s", h.did, s)
	}
	press(t, a, "esc", "enter", "y")
	if got := fmt.Sprint(h.did); a.dialog != nil || got != "[add files npx add hub https://hub.example/mcp]" {
		t.Errorf("%s\n%s", got, screenOf(a))
	}
	if f, err := config.Load(a.o.Servers.File, true, nil); err != nil || len(f.Names()) != 2 {
		t.Error(f, err)
	}
	press(t, a, "I")
	if !strings.Contains(screenOf(a), "configured here already") {
		t.Errorf("offered again:\n%s", screenOf(a))
	}
}

func TestImportWithNothingToFind(t *testing.T) {
	a := newcomer(t, newFake(), 60, 20, "")
	press(t, a, "I", "a", "enter", "j")
	exact(t, a)
	if s := screenOf(a); !strings.Contains(s, "No server was found") || strings.Contains(s, "enter import") {
		t.Error(screenOf(a))
	}
	if press(t, a, "esc"); a.dialog != nil {
		t.Error("it does not close")
	}
}

func TestDemoFromTheEmptyScreen(t *testing.T) {
	h := newFake()
	a := newcomer(t, h, 100, 30, "")
	press(t, a, "d")
	if len(a.snap.Servers) != 1 || a.panes.Focus != layout.Stream {
		t.Errorf("no demo:\n%s", screenOf(a))
	}
	if a.demo.CanStart() {
		t.Error("offered again")
	}
	h.subscribe("pager", "note.added", event.ModeWebhook, "{}")
	a.take(h.Snapshot())
	if !press(t, a, "q") {
		t.Error("it asks about leases that end with the demo")
	}
	h = newFake()
	h.refuse = errors.New("no loopback")
	a = newcomer(t, h, 100, 30, "")
	press(t, a, "d")
	if !strings.Contains(screenOf(a), "no loopback") {
		t.Error(screenOf(a))
	}
}

func TestReadOnlyAddsNothing(t *testing.T) {
	a := newcomer(t, newFake(), 100, 30, strangers)
	a.actions.ReadOnly = true
	press(t, a, "A")
	press(t, a, "I")
	press(t, a, "d")
	if a.dialog != nil || len(a.snap.Servers) > 0 {
		t.Error("a screen that only reads adds servers")
	}
}

func TestModeSwitch(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	a.draw()
	press(t, a, "1", "j", "j", "j", "j", "M")
	if s := screenOf(a); !strings.Contains(s, "no callback address") || !strings.Contains(s, "(●) p push") {
		t.Fatalf("the modes are not told:\n%s", s)
	}
	exact(t, a)
	press(t, a, "k", "enter")
	if len(h.did) > 0 || !a.Edges.Status.Note.Bad {
		t.Fatal("a mode that cannot be used was taken")
	}
	press(t, a, "j", "j", "enter")
	press(t, a, "M", "f")
	id := a.snap.Subs[0].ID
	if got := fmt.Sprint(h.did); got != fmt.Sprintf("[mode poll %s failover true %s]", id, id) {
		t.Error(got)
	}
}
