package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/attach"
	"eventdeck/host/config"
	"eventdeck/host/event"
)

// newSessionBench is a bench beside a process that has the user's data directory open, and in it
// the configured server pager and the session server extra.
func newSessionBench(t *testing.T) (*bench, string) {
	t.Helper()
	b := newBench(t)
	b.standIn.types = []event.Type{incident}
	b.standIn.view(host.ServerView{Name: "pager"}, host.ServerView{Name: "extra"})
	dir, err := config.Paths{System: b.p.System, Env: b.p.Env, Home: b.p.Home}.DataDir()
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	b.serve(t, attach.Options{Dir: dir})
	return b, dir
}

func TestServersShowsSessionServers(t *testing.T) {
	b, dir := newSessionBench(t)
	b.expect(t, exitDone, "", "servers", "--json")
	var names []string
	for line := range strings.Lines(b.out.String()) {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, `{"name":"`), `"`)
		names = append(names, name)
	}
	if got := strings.Join(names, " "); got != "pager chat extra" {
		t.Errorf("shows %q", got)
	}
	b.clear()
	b.expect(t, exitDone, "", "servers", "extra", "--data", dir)
	if !strings.Contains(b.out.String(), "extra  http") {
		t.Error(b.out.String())
	}
}

// Tokens do not leave the process that has the store open, so it is asked.
func TestServersThatTheOwnerIsSignedInTo(t *testing.T) {
	b, dir := newSessionBench(t)
	b.standIn.view(host.ServerView{Name: "pager", Address: "http://127.0.0.1:1/mcp", SignedIn: true}, host.ServerView{Name: "chat"})
	for command, here := range map[string]int{
		"types pager": 0, "servers pager": 0, "types chat": 1, "servers": 1, // only chat
		"types pager --header a:b": 1, "types http://127.0.0.1:1/other": 1,
	} {
		b.clear()
		b.opened, b.standIn.servers = nil, nil
		b.expect(t, exitDone, "", append(strings.Fields(command), "--data", dir)...)
		if len(b.standIn.servers) != here || b.out.String() == "" {
			t.Errorf("%s: asked here: %+v; prints %q", command, b.standIn.servers, b.out.String())
		}
	}
}

func TestTypesOfASessionServer(t *testing.T) {
	b, _ := newSessionBench(t)
	b.expect(t, exitDone, "", "types", "extra")
	if !strings.HasPrefix(b.out.String(), "incident.created") || len(b.opened) > 0 || len(b.standIn.servers) > 0 {
		t.Errorf("prints %q, opened %+v, added %+v", b.out.String(), b.opened, b.standIn.servers)
	}
	b.clear()
	for _, command := range [][]string{{"types", "other"}, {"servers", "other"}, {"tail", "other", "x"}} {
		b.clear()
		b.expect(t, exitUsage, fmt.Sprintf(`unknown server "other": process %d has pager, extra; `, os.Getpid()), command...)
	}
	b.clear()
	b.expect(t, exitUsage, `unknown server "extr": did you mean "extra"?`, "types", "extr")
	b.clear()
	b.expect(t, exitUsage, `unknown server "extra"`, "types", "extra", "--data", t.TempDir())
}

func TestTailOfASessionServer(t *testing.T) {
	b, dir := newSessionBench(t)
	b.fill(1)
	b.expect(t, exitDone, "", "tail", "extra", "incident.created", "--data", dir, "--count", "1", "--json")
	if b.ids() != "e1" {
		t.Errorf("prints %q", b.out.String())
	}
	b.clear()
	b.expect(t, exitUsage, "with --data "+dir+" that process subscribes", "tail", "extra", "incident.created")
}
