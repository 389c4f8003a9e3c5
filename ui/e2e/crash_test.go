//go:build !windows

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// However the program dies, the terminal is restored, the reason is shown, and the store opens
// again.
func TestTerminalAfterADeath(t *testing.T) {
	for name, c := range map[string]struct {
		env     []string
		says    string
		reports int
	}{
		"panic in a goroutine":            {[]string{envPanic + "=1"}, "panic (its words are left out", 1},
		"kill -9":                         {nil, "it was killed", 0},
		"kill -9 before the monitor runs": {[]string{envLate + "=1"}, "it was killed", 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, url := w.pager("--rate", "50")
			w.run("tail", url, "load.tick", "--count", "1", "--data", w.data())
			env, die := w.mortal(append(c.env, envFailpoint+"=committed:1"))
			s := w.terminalWith(env, 100, 30, "--data", w.data(), url)
			before := usualModes(t)
			s.reads("load.tick")
			die()
			s.end()
			s.reads(c.says)
			if s.screen.Alternate() || s.screen.CursorHidden() {
				t.Error("the terminal is not as it was")
			}
			after, err := term.GetState(int(s.tty.Fd()))
			if err != nil || *after != before {
				t.Errorf("its modes are not as they were: %v", err)
			}
			reports, err := filepath.Glob(filepath.Join(w.dir, "*", "eventdeck", "crashes", "*"))
			if err != nil || len(reports) != c.reports {
				t.Fatalf("%d reports are expected: %v %v", c.reports, reports, err)
			}
			for _, file := range reports {
				text, err := os.ReadFile(file)
				if err != nil || !strings.Contains(string(text), "main_test.go:") || strings.Contains(string(text), envPanic) {
					t.Errorf("%v\n%s", err, text)
				}
			}
			if _, code := w.run("events", "--data", w.data(), "--limit", "1"); code != 0 {
				t.Error("the store does not open again:", code)
			}
		})
	}
}

// mortal keeps a program from reaching its failpoint before die is called.
func (w *world) mortal(env []string) (with []string, die func()) {
	w.t.Helper()
	gate := filepath.Join(w.dir, "gate")
	return append(env, envGate+"="+gate), func() {
		w.t.Helper()
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
}

// usualModes are the modes of an unchanged terminal.
func usualModes(t *testing.T) term.State {
	t.Helper()
	tty, other, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	defer other.Close()
	state, err := term.GetState(int(tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	return *state
}
