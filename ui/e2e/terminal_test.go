//go:build !windows

package e2e

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"eventdeck/ui/internal/screen"
)

// esc is the Escape key in a form that cannot be taken for the beginning of
// another key.
const esc = "\x1b[27u"

// terminal is a program on a pseudo-terminal, as a person sees it.
type terminal struct {
	t      *testing.T
	dir    string // of its world
	screen *screen.Screen
	tty    *os.File
	cmd    *exec.Cmd
	ended  chan error
}

// terminal starts the program on a terminal of that size.
func (w *world) terminal(width, height int, args ...string) *terminal {
	w.t.Helper()
	return w.terminalWith(nil, width, height, args...)
}

// terminalWith is terminal with further variables, NAME=VALUE.
func (w *world) terminalWith(env []string, width, height int, args ...string) *terminal {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	return w.terminalOf(self, env, width, height, args...)
}

// terminalOf is terminalWith for another program.
func (w *world) terminalOf(name string, env []string, width, height int, args ...string) *terminal {
	w.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = w.dir
	cmd.Env = append(w.env(), "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "NO_COLOR=", "SSH_CONNECTION=")
	cmd.Env = append(cmd.Env, env...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)})
	if err != nil {
		w.t.Fatal(err)
	}
	c := &terminal{t: w.t, dir: w.dir, screen: screen.New(width, height, false), tty: tty, cmd: cmd, ended: make(chan error, 1)}
	c.screen.Answer(tty)
	go func() {
		_, err := io.Copy(c.screen, tty)
		if err != nil && !errors.Is(err, syscall.EIO) { // what Linux says when the program is gone
			c.ended <- err
			return
		}
		c.ended <- cmd.Wait()
	}()
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended by itself
		tty.Close()
	})
	return c
}

func (c *terminal) keys(text string) {
	c.t.Helper()
	if _, err := c.tty.WriteString(text); err != nil {
		c.t.Fatal(err)
	}
}

// sees waits until the screen satisfies cond.
func (c *terminal) sees(what string, cond func(text string) bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.screen.Until(ctx, what, cond); err != nil {
		c.t.Fatalf("%v\n%s", err, c.screen.Text())
	}
}

func (c *terminal) reads(text string) {
	c.t.Helper()
	c.sees(text, func(have string) bool { return strings.Contains(have, text) })
}

// subscribes sends the form and waits until it is closed: until then it would get the keys.
func (c *terminal) subscribes() {
	c.t.Helper()
	c.keys("\x13") // ctrl+s
	c.sees("no form", func(s string) bool { return !strings.Contains(s, " Subscribe ") })
}

// end waits for the program and returns its exit code.
func (c *terminal) end() int {
	c.t.Helper()
	select {
	case err := <-c.ended:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			c.t.Fatal(err)
		}
	case <-time.After(patience):
		_ = c.cmd.Process.Signal(syscall.SIGQUIT) // its stacks tell what it waits for
		select {
		case <-c.ended:
		case <-time.After(patience):
		}
		reports, _ := filepath.Glob(filepath.Join(c.dir, "*", "eventdeck", "crashes", "*")) // the pattern is right
		for _, file := range reports {
			text, err := os.ReadFile(file)
			c.t.Errorf("%s: %s, %v", file, text, err)
		}
		c.t.Fatalf("it does not end\n%s", c.screen.Text())
	}
	return c.cmd.ProcessState.ExitCode()
}

func (c *terminal) endsWell() {
	c.t.Helper()
	if code := c.end(); code != 0 {
		c.t.Errorf("ended with %d\n%s", code, c.screen.Text())
	}
	if c.screen.Alternate() || c.screen.CursorHidden() {
		c.t.Error("the terminal is not as it was")
	}
}

// The demo shows both servers, all three modes and arriving events by itself.
func TestDemoOnATerminal(t *testing.T) {
	w := newWorld(t)
	c := w.terminal(160, 45, "demo")
	c.sees("both servers in all three modes", func(s string) bool {
		for _, word := range []string{"pager ready", "chat  ready", " push ", " poll ", "1 webhook"} {
			if !strings.Contains(strings.ReplaceAll(s, "chat ready", "chat  ready"), word) {
				return false
			}
		}
		return true
	})
	c.sees("events of both", func(s string) bool {
		return strings.Contains(s, "incident.activi") && strings.Contains(s, "message.posted ")
	})
	if file := os.Getenv("EVENTDECK_PICTURE"); file != "" {
		picture(c, file)
	}
	for range 10 {
		c.keys(esc) // Esc never quits
	}
	c.keys("?")
	c.reads("Keys that work here")
	c.keys(esc)
	c.sees("the help gone", func(s string) bool { return !strings.Contains(s, "Keys that work here") })
	c.keys("q")
	c.endsWell()
	if left, err := os.ReadDir(w.temp()); err != nil || len(left) > 0 {
		t.Errorf("the demo left something behind: %v %v", left, err)
	}
}

// picture writes the screen as the README shows it:
//
//	EVENTDECK_PICTURE=$PWD/docs/screen.svg go test ./ui/e2e -run TestDemoOnATerminal
func picture(c *terminal, file string) {
	c.t.Helper()
	c.sees("a payload that tries something", func(s string) bool { return strings.Contains(s, "to-ai") })
	if err := os.WriteFile(file, []byte(c.screen.SVG(screen.Dark())), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

// subscribed is a screen on which the first type was subscribed to.
func (w *world) subscribed(args ...string) *terminal {
	w.t.Helper()
	c := w.terminal(120, 40, args...)
	c.reads("incident.activity")
	c.keys("jj")
	c.reads("Press s")
	c.keys("s")
	c.reads(" Subscribe ")
	c.subscribes()
	c.reads("1 push")
	return c
}

// A person subscribes, sees an event, quits, comes back and reads that delivery
// went on from the saved position.
func TestSubscribeQuitResume(t *testing.T) {
	w := newWorld(t)
	_, url := w.pager("--speed", "10")
	args := []string{url, "--data", w.data()}
	c := w.subscribed(args...)
	c.sees("an event", func(s string) bool {
		return strings.Contains(s, "incident.activi") && !strings.Contains(s, " 0 stored")
	})
	c.keys("q")
	c.endsWell()
	if !strings.Contains(c.screen.Text(), w.data()) {
		t.Errorf("the end does not say where the data is:\n%s", c.screen.Text())
	}

	c = w.terminal(120, 40, args...)
	c.reads("1 push")
	c.keys("/kind:state\r") // what arrives scrolls the row away
	c.reads("resumed")
	c.keys("q")
	c.endsWell()
	seen := map[string]bool{}
	for _, r := range w.stored() {
		if r.Kind == "gap" {
			t.Errorf("gap %d: %s", r.Seq, r.Cause)
		}
		if r.Kind == "event" && seen[r.EventID] {
			t.Errorf("%s is stored twice", r.EventID)
		}
		seen[r.EventID] = true
	}
}

// SIGTERM leaves the terminal as it was.
func TestTerminalAfterSIGTERM(t *testing.T) {
	w := newWorld(t)
	c := w.terminal(100, 30, "demo")
	c.reads("pager")
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	c.end()
	if c.screen.Alternate() || c.screen.CursorHidden() {
		t.Error("the terminal is not as it was")
	}
}

// resize makes the terminal another size.
func (c *terminal) resize(width, height int) {
	c.t.Helper()
	c.screen.Resize(width, height)
	if err := pty.Setsize(c.tty, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)}); err != nil {
		c.t.Fatal(err)
	}
}
