//go:build linux || darwin

package attach

import (
	"net"
	"os"
)

// checkPeer refuses a process of another user.
//
// Error: [ErrPeer].
func checkPeer(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var uid uint32
	var asked error
	if err := raw.Control(func(fd uintptr) { uid, asked = peerUser(int(fd)) }); err != nil {
		return err
	}
	if asked != nil {
		return asked
	}
	if int(uid) != os.Geteuid() {
		return ErrPeer
	}
	return nil
}
