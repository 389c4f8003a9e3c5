//go:build !windows

package runner

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// priority gives the session of a process, and that of this one, the priority of this process.
// Linux shares the processors among sessions first (autogroup), and within each of them by
// priority: without this, nice would not affect a program on a terminal of its own. Without
// autogroups it does nothing.
func priority(pid int) {
	raised, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	if err != nil {
		return
	}
	nice := 20 - raised // the system call returns 20 - nice
	if nice >= 0 {
		return
	}
	for _, who := range []string{"self", strconv.Itoa(pid)} {
		_ = os.WriteFile(fmt.Sprintf("/proc/%s/autogroup", who), []byte(strconv.Itoa(nice)), 0o600)
	}
}
