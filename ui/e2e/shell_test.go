//go:build !windows

package e2e

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A kill takes nothing of what was on the screen: filter, scope, zoom, times and
// marks are there again, and so are the events.
func TestKillKeepsTheScreen(t *testing.T) {
	w := newWorld(t)
	_, url := w.pager("--speed", "20")
	args := []string{url, "--data", w.data()}
	c := w.terminal(120, 40, args...)
	c.reads("incident.activity")
	c.keys("jjs")
	c.reads(" Subscribe ")
	c.subscribes()
	c.reads("push live")
	c.keys("2")
	c.reads("came by")
	c.keys("mfirst light\r")
	c.reads("marked record")
	c.keys("/kind:event\r")
	c.reads("filter kind:event")
	c.keys("t")
	c.reads("times are in UTC")
	c.keys("z")
	c.sees("the stream alone", func(s string) bool { return !strings.Contains(s, "1 Servers") })
	// What changed is saved with the first message after a second. It is committed
	// when events that came later are.
	c.sees("a save", func(string) bool { return w.keeps(`"clock":1`) && w.keeps(`"size":2`) })
	shown := c.screen.Text()
	c.sees("newer events", func(s string) bool { return s != shown })
	shown = c.screen.Text()
	c.sees("newer events", func(s string) bool { return s != shown })
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.end()

	c = w.terminal(120, 40, args...)
	c.reads("filter kind:event")
	c.sees("the stream alone, in UTC", func(s string) bool {
		return !strings.Contains(s, "1 Servers") && strings.Contains(s, " Z ")
	})
	c.keys("'")
	c.reads("first light")
	for range 10 {
		c.keys(esc)
	}
	c.reads("1 Servers")
	c.keys("q")
	c.endsWell()
}

// keeps tells whether a file of the data holds a text.
func (w *world) keeps(text string) bool {
	found := false
	_ = filepath.WalkDir(w.data(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // files come and go
		}
		raw, err := os.ReadFile(path)
		found = found || err == nil && bytes.Contains(raw, []byte(text))
		return nil
	})
	return found
}

// An id is copied in two keys, through the terminal, as over SSH.
func TestCopyInTwoKeys(t *testing.T) {
	w := newWorld(t)
	c := w.terminal(120, 40, "demo")
	c.sees("some events", func(s string) bool { return strings.Count(s, "incident.activi") > 6 })
	c.keys("2/kind:event\r")
	c.sees("the filter kept", func(s string) bool { return strings.Contains(s, "filter kind:event") && strings.Contains(s, "? help") })
	c.keys(" ")
	c.reads("FROZEN")
	c.keys("yi")
	c.sees("an id on the clipboard", func(s string) bool {
		id := c.screen.Clipboard()
		return len(id) > 8 && strings.Contains(s, "copied the event id")
	})
	c.keys("\x03")
	c.endsWell()
}

// The operator's keys work from the file of settings, and --read-only refuses.
func TestSettingsAndReadOnly(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.dir, "config", "eventdeck")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "settings.json"), []byte(`{"keys": {"help": ["H"]}} // mine`), 0o600); err != nil {
		t.Fatal(err)
	}
	c := w.terminal(120, 40, "demo", "--read-only")
	c.reads("H help")
	c.reads("message.posted ")
	c.keys("2D")
	c.reads("only reads")
	c.keys("H")
	c.reads("Keys that work here")
	c.keys(esc + "\x03")
	c.endsWell()
}

// While another program has the terminal, ctrl+c is for that one.
func TestInterruptInThePager(t *testing.T) {
	w := newWorld(t)
	script := filepath.Join(w.dir, "pager")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntrap 'echo interrupted; exit 0' INT\necho reading\nwhile :; do sleep 0.1; done\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := w.terminalWith([]string{"PAGER=" + script}, 120, 30, "demo")
	c.sees("events and no changes of state", func(s string) bool {
		return strings.Contains(s, "untrusted data") && !strings.Contains(s, "╌╌")
	})
	c.keys("o")
	c.reads("reading")
	c.keys("\x03")
	c.reads("1 Servers")
	c.keys("q")
	c.endsWell()
}
