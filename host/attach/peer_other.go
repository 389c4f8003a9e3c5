//go:build !linux && !darwin

package attach

import "net"

// checkPeer passes: the system does not tell who is there, and the private
// directory keeps others away.
func checkPeer(*net.UnixConn) error { return nil }
