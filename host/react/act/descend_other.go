//go:build unix && !linux

package act

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// adoptOrphans: this system gives orphans to its first process.
func adoptOrphans() {}

// keepDescriptors: this system cannot say so of all at once, and confines nothing.
func keepDescriptors() error { return nil }

// awaitOthers waits until nothing of the process group is left. What left the group is not
// found any more.
func (g *group) awaitOthers() {
	for !errors.Is(syscall.Kill(-g.pid, 0), syscall.ESRCH) {
		time.Sleep(killEvery)
	}
}

func descendants() []int { return nil }

// startsOpened: programs are started by their names, so they run from a copy, unless they are
// root's: copies of the programs of the system may not run.
func startsOpened(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid == 0
}

// openToStart opens a program.
func openToStart(path string) (*os.File, error) {
	f, _, err := openFile(path)
	return f, err
}

// nameOpened returns the name by which an open program is started.
func nameOpened(f *os.File, _ string) (string, error) { return f.Name(), nil }
