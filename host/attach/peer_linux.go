package attach

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// checkPeer refuses a process of another user.
//
// Error: [ErrPeer].
func checkPeer(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Ucred
	var asked error
	if err := raw.Control(func(fd uintptr) { cred, asked = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return err
	}
	if asked != nil {
		return asked
	}
	if int(cred.Uid) != os.Geteuid() {
		return ErrPeer
	}
	return nil
}
