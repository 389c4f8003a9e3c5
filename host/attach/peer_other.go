//go:build !linux && !darwin

package attach

import "net"

// checkPeer passes: the system does not tell the peer, and the private
// directory keeps others away.
func checkPeer(*net.UnixConn) error { return nil }
