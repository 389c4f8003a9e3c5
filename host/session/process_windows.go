package session

import (
	"os/exec"
	"syscall"
)

// ownGroup starts the process in a group of its own, so that a key pressed in
// the console does not reach it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// terminateGroup does nothing: Windows has no signal that asks a process
// without a console to end. Closing its input has asked already.
func terminateGroup(*exec.Cmd) {}

// killGroup kills the process. A process that has ended already is no error.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
