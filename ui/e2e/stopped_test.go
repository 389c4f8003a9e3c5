//go:build !windows

package e2e

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// Beside a process that is stopped a command does not only say that the store is in use.
func TestCommandBesideAStoppedProcessSaysSo(t *testing.T) {
	w := newWorld(t)
	_, url := w.pager("--rate", "10")
	tail := w.start(nil, "tail", url, "load.tick", "--json", "--data", w.data())
	tail.await(tail.stdout, 1, isEvent)
	tail.signal(syscall.SIGSTOP)
	defer tail.signal(syscall.SIGCONT)
	for _, args := range [][]string{{"subs", "list"}, {"types", "of-its-session"}} {
		p := w.start(nil, append(args, "--data", w.data())...)
		if code := p.wait(); code != 1 || !strings.Contains(p.stderr.text(), "the process with the store does not answer") {
			t.Errorf("%s ends with %d and says %q", p.name, code, p.stderr.text())
		}
	}
}

// A server that is stopped and goes on keeps every event.
func TestStoppedServerGoesOn(t *testing.T) {
	w := newWorld(t)
	server, url := w.pager("--rate", "100")
	start := pollServer(t, url, "null").Cursor
	tail := w.start([]string{envWatchdog + "=1s"}, "tail", url, "load.tick", "--mode", "push", "--data", w.data(), "--json")
	tail.await(tail.stdout, 20, isEvent)
	server.signal(syscall.SIGSTOP)
	tail.await(tail.stdout, 1, func(s string) bool { return strings.Contains(s, `"state":"backoff"`) })
	server.signal(syscall.SIGCONT)
	tail.await(tail.stdout, 200, isEvent)
	tail.signal(os.Interrupt)
	tail.wait()
	compare(t, url, start, w.stored(), 0)
}
