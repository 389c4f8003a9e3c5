package receiver

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// peer is what is known of the other end of a connection.
type peer struct {
	source netip.Addr
	proven atomic.Bool // its last delivery was genuine
}

type peerKey struct{}

// peerOf returns the peer of a request.
func peerOf(r *http.Request) *peer {
	if p, ok := r.Context().Value(peerKey{}).(*peer); ok {
		return p
	}
	return &peer{source: sourceOf(r.RemoteAddr)}
}

// sourceOf returns by what senders are told apart: the address, and of IPv6 the
// network, since one machine has as many addresses there as it likes.
func sourceOf(address string) netip.Addr {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return netip.Addr{}
	}
	addr := ap.Addr().Unmap().WithZone("")
	if addr.Is4() {
		return addr
	}
	network, err := addr.Prefix(64)
	if err != nil {
		return addr
	}
	return network.Addr()
}

// A connection on which nothing was asked for so long may be closed for another. A
// sender needs that for its handshake: at 64 connections a flood must bring more than
// 640 a second to take it away.
const patience = 100 * time.Millisecond

// How often a connection that waits for room looks for some.
const lookEvery = patience / 4

// conns knows the open connections. An orderly shutdown closes those on which no
// request has begun: a sender keeps some of them ready, and net/http would wait
// seconds for each. A connection that waits for room gets that of one which is
// idle and has proven nothing.
type conns struct {
	mu      sync.Mutex
	all     map[net.Conn]*connection
	wanting bool // a connection waits for a place
	closed  bool
}

type connection struct {
	peer  *peer
	state http.ConnState
	since time.Time
}

// meet is the server's ConnContext, which is called before the first ConnState.
func (k *conns) meet(ctx context.Context, c net.Conn) context.Context {
	p := &peer{source: sourceOf(c.RemoteAddr().String())}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil {
		k.all = map[net.Conn]*connection{}
	}
	k.all[c] = &connection{peer: p, since: time.Now()}
	return context.WithValue(ctx, peerKey{}, p)
}

// follow is the server's ConnState.
func (k *conns) follow(c net.Conn, state http.ConnState) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch state {
	case http.StateClosed, http.StateHijacked:
		delete(k.all, c)
		return
	case http.StateNew:
		if k.closed {
			drop(c)
			return
		}
	}
	have := k.all[c]
	if have == nil {
		return // it was dropped
	}
	have.state, have.since = state, time.Now()
	if state == http.StateIdle && k.wanting && have.yields(have.since) {
		k.wanting = false
		drop(c)
	}
}

// yields reports whether the connection may be closed for another one.
func (c *connection) yields(now time.Time) bool {
	switch c.state {
	case http.StateIdle:
		return !c.peer.proven.Load()
	case http.StateNew:
		return now.Sub(c.since) >= patience
	}
	return false
}

// makeRoom closes a connection that yields, or the next one that does: of the source
// that has most of these, the one that has yielded longest. A source that floods the
// receiver closes its own.
func (k *conns) makeRoom() {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	bySource := map[netip.Addr]int{}
	for _, have := range k.all {
		if have.yields(now) {
			bySource[have.peer.source]++
		}
	}
	var victim net.Conn
	for c, have := range k.all {
		if have.yields(now) && (victim == nil || have.before(k.all[victim], bySource)) {
			victim = c
		}
	}
	if k.wanting = victim == nil; victim != nil {
		delete(k.all, victim)
		drop(victim)
	}
}

// before reports whether c is to be closed rather than the other, given how many
// connections of each source yield.
func (c *connection) before(other *connection, bySource map[netip.Addr]int) bool {
	own, others := bySource[c.peer.source], bySource[other.peer.source]
	return own > others || own == others && c.since.Before(other.since)
}

// close ends the connections on which nothing was asked yet, also those that still
// come.
func (k *conns) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	for c, have := range k.all {
		if have.state == http.StateNew {
			drop(c)
		}
	}
}

// drop closes a connection without a word of TLS, for which it would have to wait.
func drop(c net.Conn) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	c.Close()
}

// capped is a listener with a bound on the connections that are open at once.
type capped struct {
	net.Listener
	conns *conns
	slots chan struct{}
	done  chan struct{}
	once  sync.Once
}

func newCapped(l net.Listener, most int, k *conns) *capped {
	return &capped{Listener: l, conns: k, slots: make(chan struct{}, most), done: make(chan struct{})}
}

// Accept implements [net.Listener].
func (l *capped) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	for {
		select {
		case l.slots <- struct{}{}:
			return &slotted{Conn: c, release: sync.OnceFunc(func() { <-l.slots })}, nil
		default:
		}
		l.conns.makeRoom()
		timer := time.NewTimer(lookEvery)
		select {
		case l.slots <- struct{}{}:
			timer.Stop()
			return &slotted{Conn: c, release: sync.OnceFunc(func() { <-l.slots })}, nil
		case <-timer.C:
		case <-l.done:
			timer.Stop()
			c.Close()
			return nil, net.ErrClosed
		}
	}
}

// Close implements [net.Listener].
func (l *capped) Close() error {
	l.once.Do(func() { close(l.done) })
	return l.Listener.Close()
}

// slotted gives its slot back when it is closed.
type slotted struct {
	net.Conn
	release func()
}

// Close implements [net.Conn].
func (c *slotted) Close() error {
	err := c.Conn.Close()
	c.release()
	return err
}
