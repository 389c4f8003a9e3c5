//go:build unix

package external

import (
	"os"
	"syscall"
)

// stopSignals ask a process to stop until it is continued.
var stopSignals = []os.Signal{syscall.SIGTSTP}

func stopProcess() { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) } // a process may stop itself
