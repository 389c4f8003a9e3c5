//go:build unix

package session

import (
	"os/exec"
	"syscall"
)

// ownGroup starts the process in a group of its own, so that a key pressed in
// the terminal does not reach it and its children end with it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd.SysProcAttr)
}

// terminateGroup asks the group to end. A group that has ended already is no error.
func terminateGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// killGroup kills the group. A group that has ended already is no error.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
