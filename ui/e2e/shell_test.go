//go:build !windows

package e2e

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// keeps reports whether a file in the data directory contains a text.
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

var tickNumber = regexp.MustCompile(`\bn (\d+), `)

// awaitSaved waits until texts are in the store for good. Their pages are in the
// file before the transaction is committed, and the screen lags behind the store,
// so it waits for an event of a [world.flood] that happened after they were there:
// what is shown is committed, and that event is in a later transaction.
func (w *world) awaitSaved(c *terminal, url string, texts ...string) {
	w.t.Helper()
	c.sees("a save", func(string) bool {
		return !slices.ContainsFunc(texts, func(text string) bool { return !w.keeps(text) })
	})
	newest := position(w.t, pollServer(w.t, url, "null").Cursor)
	c.sees("an event that happened since", func(s string) bool {
		return slices.ContainsFunc(tickNumber.FindAllStringSubmatch(s, -1), func(m []string) bool {
			n, err := strconv.Atoi(m[1])
			return err == nil && n > newest
		})
	})
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
	c.reads("untrusted data")
	c.keys("2/kind:event\r") // what is newest when the key comes is an event
	c.sees("events alone", func(s string) bool {
		return strings.Contains(s, "filter kind:event") && strings.Contains(s, "untrusted data") && !strings.Contains(s, "╌╌")
	})
	c.keys("o")
	c.reads("reading")
	c.keys("\x03")
	c.reads("1 Servers")
	c.keys("q")
	c.endsWell()
}
