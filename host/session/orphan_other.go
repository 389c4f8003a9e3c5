//go:build unix && !linux

package session

import "syscall"

// endWithParent does nothing: these systems leave it to the process to see its input end.
func endWithParent(*syscall.SysProcAttr) {}
