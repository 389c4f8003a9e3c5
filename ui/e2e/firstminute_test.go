//go:build !windows

package e2e

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// anEvent reports whether a row of an event is in the stream: it begins with a time, and is no
// change of state.
func anEvent(s string) bool {
	return slices.ContainsFunc(strings.Split(s, "\n"), func(row string) bool {
		return rowTime.MatchString(row) && !strings.Contains(row, "╌╌")
	})
}

// events is anEvent for whole frames: before the rest of a frame has come, a row of state may
// lack the mark that distinguishes it from an event. An event counts only if it is on three
// screens in a row.
func events() func(s string) bool {
	n := 0
	return func(s string) bool {
		if n++; !anEvent(s) {
			n = 0
		}
		return n >= 3
	}
}

var rowTime = regexp.MustCompile(`\d\d:\d\d:\d\d\.\d `)

// A newcomer starts the program with nothing configured, reads what the screen
// says, and sees an event of a demo server after one key of at most six.
func TestFirstEventWithoutDocs(t *testing.T) {
	w := newWorld(t)
	c := w.terminal(100, 30, "--data", w.data())
	c.reads("try demo servers")
	c.keys("d")
	shown := events()
	c.sees("events", func(s string) bool { return shown(s) && strings.Contains(s, "pager") && strings.Contains(s, "chat") })
	last := c.screen.Text()
	c.keys("q")
	c.endsWell()
	for _, r := range w.stored() {
		if r.Kind == "event" {
			return
		}
	}
	t.Errorf("no event is stored, and there was\n%s", last)
}

// A person adds a server, subscribes to it and finds it again in the next run.
func TestAddServerFromTheScreen(t *testing.T) {
	w := newWorld(t)
	_, url := w.pager("--speed", "10")
	c := w.terminal(100, 30, "--data", w.data())
	c.reads("add a server")
	c.keys("A")
	c.reads("Add a server")
	c.keys(url + "\x13") // ctrl+s tests
	c.reads("It answers")
	c.reads("incident.activity")
	c.keys("\x13")                                                        // and saves
	c.sees("the server with its types and no form", func(s string) bool { // a server is ready before its types are listed
		return strings.Contains(s, "local ready") && strings.Contains(s, "8 types") && !strings.Contains(s, "Add a server")
	})
	c.keys("1jjs")
	c.reads(" Subscribe ")
	c.subscribes()
	c.sees("an event", events())
	c.keys("q")
	c.endsWell()

	c = w.terminal(100, 30, "--data", w.data())
	c.reads("1 push")
	c.keys("q")
	c.endsWell()
}

// Import takes over the servers of another client, after a preview and a confirmation.
func TestImportFromTheScreen(t *testing.T) {
	w := newWorld(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name, err := json.Marshal(self)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(w.dir, ".cursor", "mcp.json")
	text := `{"mcpServers":{"talk":{"command":` + string(name) + `,"args":["demo-server","chat"],"env":{"KEPT":"hunter2hunter2hunter2"}}}}`
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	c := w.terminal(100, 30, "--data", w.data())
	c.reads("import servers")
	c.keys("I")
	c.reads("would run")
	if strings.Contains(c.screen.Text(), "hunter2hunter2") {
		t.Error("a secret is shown")
	}
	c.keys(" \r")
	c.reads("will be written")
	c.keys("y")
	c.reads("talk ready")
	c.keys("q")
	c.endsWell()
}
