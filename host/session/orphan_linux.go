package session

import "syscall"

// endWithParent makes the kernel terminate the process when this program is killed: a
// process that does not read its input would not notice. Linux sends the signal when the
// thread that started the process ends, so no goroutine of this program may end with its
// thread locked.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }
