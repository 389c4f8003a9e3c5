package act

import "golang.org/x/sys/unix"

// refusedOlder are refused calls that newer machines never had.
var refusedOlder = []uint32{
	unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT,
}
