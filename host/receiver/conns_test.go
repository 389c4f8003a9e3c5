package receiver

import (
	"context"
	"net"
	"runtime"
	"testing"
	"time"
)

// A sender that holds a connection ready must not delay the end.
func TestShutdownDoesNotWaitForUnusedConnections(t *testing.T) {
	r := newRig(t, testBook(), false, nil)
	conn, err := net.Dial("tcp", r.server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for accepted := 0; accepted == 0; runtime.Gosched() {
		r.server.conns.mu.Lock()
		accepted = len(r.server.conns.all)
		r.server.conns.mu.Unlock()
	}
	// net/http alone waits five seconds for such a connection.
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := r.server.Shutdown(ctx); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
}
