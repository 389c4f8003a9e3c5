package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/config"
	"eventdeck/ui/tui/palette"
	"eventdeck/ui/tui/query"
)

func (h *fakeHost) RemoveServer(_ context.Context, name string) error {
	if err := h.note("remove %s", name); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.snap.Version++
	h.snap.Servers = slices.DeleteFunc(h.snap.Servers, func(v host.ServerView) bool { return v.Name == name })
	h.snap.Subs = slices.DeleteFunc(h.snap.Subs, func(v host.SubscriptionView) bool { return v.Key.Server == name })
	return nil
}

// Removing a server in the tree first says what ends with it.
func TestRemoveAServer(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	a.draw()
	press(t, a, "1", "X")
	if a.dialog != nil {
		t.Fatal("all servers are one")
	}
	press(t, a, "j", "j", "j", "X")
	s := screenOf(a)
	for _, want := range []string{"Remove the server", "Its 2 subscriptions end here and at the server.", "Stored events stay."} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is not told:\n%s", want, s)
		}
	}
	if strings.Contains(s, "configuration") {
		t.Error("told of a configuration that there is not")
	}
	press(t, a, "esc")
	if len(h.did) != 0 {
		t.Fatalf("esc did %q", h.did)
	}
	press(t, a, "X", "y")
	arrive(a)
	if s := screenOf(a); !slices.Equal(h.did, []string{"remove pager"}) || !strings.Contains(s, "removed pager") || a.tree.At != (query.Node{}) || a.stream.Query.Node != (query.Node{}) || a.tree.Total.All != 1 {
		t.Errorf("did %q, at %v:\n%s", h.did, a.tree.At, s)
	}
	h.refuse = errors.New("the store is full")
	press(t, a, "j", "X", "y")
	if s := screenOf(a); !strings.Contains(s, "the store is full") || len(h.snap.Servers) != 1 {
		t.Errorf("a failure is not told:\n%s", s)
	}
}

// configured returns a screen with two servers and a configuration file. The first server is chosen.
func configured(t *testing.T, text string, size ...int) (*fakeHost, *app) {
	t.Helper()
	h := newFake()
	h.server("pager")
	h.server("chat")
	size = append(size, 120, 40)
	a := newcomer(t, h, size[0], size[1], "")
	if err := errors.Join(os.MkdirAll("config", 0o700), os.WriteFile(a.o.Servers.File, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	press(t, a, "1", "j")
	return h, a
}

// pagerAndChat is a configuration of both servers.
const pagerAndChat = "{\n  \"mcpServers\": {\n    // the one\n    \"pager\": {\"url\": \"http://pager/\"},\n    \"chat\": {\"command\": \"chat\"},\n  }\n}\n"

// checkRemoved fails unless the host removed pager and nothing else, and the configuration file has a
// text.
func checkRemoved(t *testing.T, h *fakeHost, a *app, config string) {
	t.Helper()
	if got, err := os.ReadFile(a.o.Servers.File); string(got) != config || err != nil || !slices.Equal(h.did, []string{"remove pager"}) {
		t.Errorf("%q, %v, did %q", got, err, h.did)
	}
}

func TestGoldenRemoveServer(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range goldenSizes {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			_, a := configured(t, pagerAndChat, size[0], size[1])
			press(t, a, "X")
			t.Chdir(dir)
			golden(t, a, "remove")
		})
	}
}

func TestRemoveAServerForThisRunOnly(t *testing.T) {
	h, a := configured(t, pagerAndChat)
	press(t, a, "X")
	s := screenOf(a)
	for _, want := range []string{"It has no subscriptions here.", "config/servers.json lists it.", "remove it for this run only", "remove it from the file too"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is not told:\n%s", want, s)
		}
	}
	press(t, a, "y")
	checkRemoved(t, h, a, pagerAndChat)
}

func TestRemoveAServerFromTheConfiguration(t *testing.T) {
	h, a := configured(t, pagerAndChat)
	press(t, a, "X", "f")
	const left = "{\n  \"mcpServers\": {\n    // the one\n    \"chat\": {\"command\": \"chat\"},\n  }\n}\n"
	checkRemoved(t, h, a, left)
	if s := screenOf(a); !strings.Contains(s, "removed pager, also from config/servers.json") {
		t.Errorf("not told:\n%s", s)
	}
}

// A failure is shown, and file and server stay as they were.
func TestRemoveAServerFromAConfigurationThatChanged(t *testing.T) {
	h, a := configured(t, pagerAndChat)
	press(t, a, "X")
	const theirs = `{"mcpServers": {`
	if err := os.WriteFile(a.o.Servers.File, []byte(theirs), 0o600); err != nil {
		t.Fatal(err)
	}
	press(t, a, "f")
	if got, err := os.ReadFile(a.o.Servers.File); string(got) != theirs || err != nil || len(h.did) != 0 {
		t.Errorf("%q, %v, did %q", got, err, h.did)
	}
	if s := screenOf(a); !strings.Contains(s, "cannot remove pager: configuration file: config/servers.json:1:17: unexpected end") {
		t.Errorf("not told:\n%s", s)
	}
	press(t, a, "X")
	if s := screenOf(a); !strings.Contains(s, "It may be there again after the next start:") || !strings.Contains(s, "servers.json:1:17") || strings.Contains(s, "from the file") {
		t.Errorf("a file that cannot be read is not told of:\n%s", s)
	}
	press(t, a, "y")
	if !slices.Equal(h.did, []string{"remove pager"}) {
		t.Errorf("did %q", h.did)
	}
}

func TestRemoveAServerThatTheHostKeeps(t *testing.T) {
	h, a := configured(t, pagerAndChat)
	h.refuse = errors.New("the store is full")
	press(t, a, "X", "f")
	if s := screenOf(a); !strings.Contains(s, "the store is full; it is no longer in config/servers.json") || len(h.snap.Servers) != 2 {
		t.Errorf("not told:\n%s", s)
	}
}

// A server that the file does not list is removed by one key, and the file is left alone.
func TestRemoveAServerThatIsNotConfigured(t *testing.T) {
	const other = `{"mcpServers": {"chat": {"command": "chat"}}}`
	h, a := configured(t, other)
	press(t, a, "X")
	if s := screenOf(a); !strings.Contains(s, "config/servers.json does not list it.") || strings.Contains(s, "from the file") {
		t.Errorf("not told:\n%s", s)
	}
	press(t, a, "f", "y")
	checkRemoved(t, h, a, other)
}

// A demo server that runs inside of the program is none of the configuration's, even
// when that has the same name.
func TestRemoveADemoServer(t *testing.T) {
	h, a := configured(t, pagerAndChat)
	a.demo.Names = []string{"pager"}
	press(t, a, "X")
	if s := screenOf(a); strings.Contains(s, "servers.json") {
		t.Errorf("told of the configuration:\n%s", s)
	}
	press(t, a, "f", "y")
	checkRemoved(t, h, a, pagerAndChat)
}

// The typed command asks the same as the key.
func TestRemoveCommand(t *testing.T) {
	h, a := configured(t, pagerAndChat)
	if got := a.actions.Completions("remove "); !slices.Equal(got, []string{"remove pager", "remove chat"}) {
		t.Errorf("completes to %q", got)
	}
	press(t, a, ":")
	word(t, a, "remove chat")
	press(t, a, "enter")
	if s := screenOf(a); len(h.did) != 0 || !strings.Contains(s, "Remove the server") || !strings.Contains(s, "remove it from the file too") {
		t.Fatalf("did %q, not asked:\n%s", h.did, s)
	}
	press(t, a, "f")
	f, err := config.Load(a.o.Servers.File, true, nil)
	if err != nil || !slices.Equal(f.Names(), []string{"pager"}) || !slices.Equal(h.did, []string{"remove chat"}) {
		t.Errorf("%v, %v, did %q", f, err, h.did)
	}
	if _, err := a.actions.Execute("remove nobody"); !errors.Is(err, host.ErrUnknownServer) || a.dialog != nil {
		t.Errorf("%v, %v", err, a.dialog)
	}
	a.actions.ReadOnly = true
	if _, err := a.actions.Execute("remove pager"); !errors.Is(err, palette.ErrReadOnly) || a.dialog != nil {
		t.Errorf("%v, %v", err, a.dialog)
	}
}

func TestRemoveAServerIsRefusedReadOnly(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	a.actions.ReadOnly = true
	a.draw()
	press(t, a, "1", "j", "X")
	if s := screenOf(a); a.dialog != nil || len(h.did) != 0 || !strings.Contains(s, palette.ErrReadOnly.Error()) {
		t.Errorf("%q:\n%s", h.did, s)
	}
}
