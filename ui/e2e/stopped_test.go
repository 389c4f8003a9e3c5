//go:build !windows

package e2e

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

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
