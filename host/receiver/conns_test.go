package receiver

import (
	"context"
	"net"
	"net/netip"
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

// Whoever opens connections and asks nothing on them keeps no sender out.
func TestIdleConnectionsKeepNoNewSenderOut(t *testing.T) {
	r := newRig(t, testBook(), false, nil)
	flood := make(chan net.Conn, 4096)
	stop, ended, full := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for opened := 1; ; opened++ {
			select {
			case <-tick.C:
				if c, err := net.Dial("tcp", r.server.Addr()); err == nil {
					flood <- c
				}
				if opened == 2*r.server.handler.o.Limits.Connections {
					close(full)
				}
			case <-stop:
				return
			}
		}
	}()
	defer func() {
		close(stop)
		<-ended
		close(flood)
		for c := range flood {
			c.Close()
		}
	}()
	<-full
	// Less than what a connection without a request may stay, so that it is no delivery
	// for which nothing made room.
	r.client.Timeout = readHeaderTimeout - time.Second/2
	for range 5 {
		r.client.CloseIdleConnections() // a new connection each time
		if got := r.do(r.request("/hooks/known", "evt_1", eventBody, vectorSecret)); got.status != 204 {
			t.Errorf("a genuine delivery: %d", got.status)
		}
	}
}

// Of connections that yield, those of the source with most of them go first.
func TestTheSourceWithMostIdleConnectionsYields(t *testing.T) {
	var k conns
	open := func(address string, age time.Duration) net.Conn {
		c, other := net.Pipe()
		t.Cleanup(func() { c.Close(); other.Close() })
		named := addressed{c, address}
		k.opened(context.Background(), named)
		k.all[named].since = time.Now().Add(-age)
		return named
	}
	sender := open("192.0.2.1:1", time.Hour)
	first := open("192.0.2.2:1", time.Minute)
	second := open("192.0.2.2:2", 2*time.Minute)
	young := open("192.0.2.2:3", 0)
	for i, want := range []net.Conn{second, sender, first} {
		k.makeRoom()
		if _, there := k.all[want]; there || len(k.all) != 3-i {
			t.Errorf("round %d: %v is left, of %d", i+1, want.RemoteAddr(), len(k.all))
		}
	}
	if _, there := k.all[young]; !there || k.roomWanted {
		t.Errorf("the one that came just now: there %v, wanting %v", there, k.roomWanted)
	}
	if k.makeRoom(); !k.roomWanted {
		t.Error("there was no room to make, and none is wanted")
	}
}

// addressed is a connection that says where it comes from.
type addressed struct {
	net.Conn
	address string
}

func (c addressed) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.address))
}
