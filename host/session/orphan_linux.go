package session

import "syscall"

// endWithParent has the process asked to end when this program is killed: one that does not
// read its input would not notice. Linux sends the signal when the thread that started the
// process ends, so no goroutine of a host may end with its thread locked.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }
