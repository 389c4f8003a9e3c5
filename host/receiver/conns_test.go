package receiver

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventdeck/host/internal/pause"
)

// pipes is a network in memory, so that a test runs in virtual time.
type pipes struct {
	backlog chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

// newPipedRig returns a rig over HTTP whose connections are pipes. Call it in a bubble.
func newPipedRig(t *testing.T, change func(*Options)) (*rig, *pipes) {
	t.Helper()
	p := &pipes{backlog: make(chan net.Conn, 4096), closed: make(chan struct{})}
	r := newRig(t, testBook(), false, func(o *Options) {
		o.Bind = func(string, string) (net.Listener, error) { return p, nil }
		if change != nil {
			change(o)
		}
	})
	r.client.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) { return p.dial(), nil }
	return r, p
}

func (p *pipes) dial() net.Conn {
	here, there := net.Pipe()
	p.backlog <- there
	return here
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.backlog:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.once.Do(func() { close(p.closed) }); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// wantShutdown checks that the server ends at once; net/http alone waits five seconds for a connection
// on which no request has begun.
func (r *rig) wantShutdown() {
	r.t.Helper()
	began := time.Now()
	if err := r.server.Shutdown(r.t.Context()); err != nil {
		r.t.Errorf("Shutdown: %v", err)
	}
	if took := time.Since(began); took > 2*time.Second {
		r.t.Errorf("Shutdown took %v", took)
	}
}

// A sender that holds a connection ready must not delay the end.
func TestShutdownDoesNotWaitForUnusedConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, p := newPipedRig(t, nil)
		defer p.dial().Close()
		synctest.Wait()
		if n := len(r.server.conns.all); n != 1 {
			t.Fatalf("%d connections are open", n)
		}
		r.wantShutdown()
	})
}

func TestShutdownWhileAConnectionWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, p := newPipedRig(t, func(o *Options) { o.Limits.Connections = 1 })
		if got := r.do(r.request("/hooks/known", "evt_1", eventBody, vectorSecret)); got.status != 204 {
			t.Fatal(got.status)
		}
		defer p.dial().Close()
		synctest.Wait()
		r.wantShutdown()
	})
}

// Connections without a request do not keep senders out.
func TestIdleConnectionsKeepNoNewSenderOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, p := newPipedRig(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var flood sync.WaitGroup
		flood.Go(func() {
			for pause.For(ctx, 5*time.Millisecond) == nil {
				defer p.dial().Close()
			}
		})
		defer flood.Wait()
		defer cancel()
		time.Sleep(time.Duration(2*r.server.handler.o.Limits.Connections) * 5 * time.Millisecond)
		// Less than what a connection without a request may stay, so that it is no delivery
		// for which nothing made room.
		r.client.Timeout = readHeaderTimeout - time.Second/2
		for range 5 {
			r.client.CloseIdleConnections() // a new connection each time
			if got := r.do(r.request("/hooks/known", "evt_1", eventBody, vectorSecret)); got.status != 204 {
				t.Errorf("a genuine delivery: %d", got.status)
			}
		}
	})
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

// addressed is a connection with a given remote address.
type addressed struct {
	net.Conn
	address string
}

func (c addressed) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.address))
}
