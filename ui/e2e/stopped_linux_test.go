package e2e

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A process that is stopped from outside has restored the terminal before; once it is continued, the
// screen is back.
func TestStopFromOutsideRestoresTheTerminal(t *testing.T) {
	c := newWorld(t).terminal(100, 30, "demo")
	c.reads("commands")
	cooked := func() bool {
		state, err := unix.IoctlGetTermios(int(c.tty.Fd()), unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		return state.Lflag&unix.ICANON != 0
	}
	for range 2 {
		if cooked() {
			t.Fatal("the screen is there without raw mode")
		}
		if err := c.cmd.Process.Signal(syscall.SIGTSTP); err != nil {
			t.Fatal(err)
		}
		waitForState(t, c.cmd.Process.Pid, "T (stopped)")
		c.sees("no screen", func(text string) bool { return !strings.Contains(text, "commands") })
		if !cooked() {
			t.Error("stopped in raw mode")
		}
		if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		c.reads("commands")
	}
	c.keys("\x03")
	c.end()
}

// waitForState waits until Linux reports a state of a process.
func waitForState(t *testing.T, pid int, state string) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), "State:\t"+state) {
			return
		}
	}
	t.Fatalf("process %d is not %s", pid, state)
}
