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

// However the program dies, the terminal is as it was, the reason is told, and
// the store opens again.
func TestTerminalAfterADeath(t *testing.T) {
	for name, c := range map[string]struct {
		env  []string
		says string
	}{
		"panic in a goroutine": {[]string{envPanic + "=1"}, "panic (its words are left out"},
		"kill -9":              {nil, "it was killed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, url := w.pager("--rate", "50")
			w.run("tail", url, "load.tick", "--count", "1", "--data", w.data())
			s := w.terminalWith(append(c.env, envFailpoint+"=committed:20"), 100, 30, "--data", w.data(), url)
			before := usualModes(t)
			s.reads("load.tick")
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
			if want := len(c.env); err != nil || len(reports) != want {
				t.Fatalf("%d reports are expected: %v %v", want, reports, err)
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

// usualModes are those of a terminal that nobody has changed.
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
