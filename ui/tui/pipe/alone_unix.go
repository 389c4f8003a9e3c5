//go:build unix

package pipe

import (
	"os/exec"
	"syscall"
)

// alone runs a command in a process group of its own, so that what it starts is killed
// with it.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
