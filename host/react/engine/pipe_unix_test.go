//go:build unix

package engine

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// Reading a pipe in place of rules.json would never end.
func TestPipeIsRefusedAsRulesFile(t *testing.T) {
	w := newWorld(t)
	if err := os.Remove(w.path()); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(w.path(), 0o600); err != nil {
		t.Fatal(err)
	}
	e := w.opened()
	if fault := e.Reactions().Fault; !strings.Contains(fault, "a pipe") {
		t.Errorf("the fault is %q", fault)
	}
}
