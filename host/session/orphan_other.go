//go:build unix && !linux

package session

import "syscall"

// endWithParent does nothing: on these systems the process must notice that its input ends.
func endWithParent(*syscall.SysProcAttr) {}
