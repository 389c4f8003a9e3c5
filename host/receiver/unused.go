package receiver

import (
	"net"
	"net/http"
	"sync"
)

// unused knows the connections on which no request has begun. A sender keeps
// some of them ready, and an orderly shutdown would wait seconds for each.
type unused struct {
	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
}

// follow is the server's ConnState.
func (u *unused) follow(c net.Conn, state http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if state != http.StateNew {
		delete(u.conns, c)
		return
	}
	if u.closed {
		c.Close()
		return
	}
	if u.conns == nil {
		u.conns = map[net.Conn]struct{}{}
	}
	u.conns[c] = struct{}{}
}

// close ends the unused connections, also those that still come.
func (u *unused) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	for c := range u.conns {
		c.Close()
	}
}
