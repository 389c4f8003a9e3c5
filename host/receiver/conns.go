package receiver

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// peer is what is known of the sender on a connection.
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

// sender returns the peer of a request that a trusted proxy may have forwarded: then the source is
// the last address in X-Forwarded-For that is no trusted proxy. What stands before it is the
// sender's own word. Several senders share a proxy's connection, so what one has proved on it does
// not count for the next.
func sender(r *http.Request, proxies []netip.Prefix) *peer {
	p := peerOf(r)
	source := p.source
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && trusted(source, proxies); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		source = sourceOf(netip.AddrPortFrom(hop, 0).String())
	}
	if source == p.source {
		return p
	}
	return &peer{source: source}
}

func trusted(source netip.Addr, proxies []netip.Prefix) bool {
	return slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(source) })
}

// sourceOf returns the source by which senders are counted: the address, or for IPv6 its /64
// network, in which one machine may have any number of addresses. Zero: unreadable.
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

// idleGrace is how long a new connection without a request is kept when others wait for its
// place, so that a sender can complete its handshake. With 64 connections a flood must open
// more than 640 a second to prevent that.
const idleGrace = 100 * time.Millisecond

// roomPause is the pause between two attempts to make room for a connection that waits.
const roomPause = idleGrace / 4

// conns tracks the open connections. An orderly shutdown closes those on which no request has
// begun: senders keep such connections ready, and net/http would wait seconds for each. A
// waiting connection takes the place of one that is idle and has brought no genuine delivery.
type conns struct {
	mu         sync.Mutex
	all        map[net.Conn]*connection
	roomWanted bool // a connection waits for a place
	closed     bool
}

type connection struct {
	peer  *peer
	state http.ConnState
	since time.Time // of state
}

// opened is the server's ConnContext, which is called before the first ConnState.
func (k *conns) opened(ctx context.Context, c net.Conn) context.Context {
	p := &peer{source: sourceOf(c.RemoteAddr().String())}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil {
		k.all = map[net.Conn]*connection{}
	}
	k.all[c] = &connection{peer: p, since: time.Now()}
	return context.WithValue(ctx, peerKey{}, p)
}

// stateChanged is the server's ConnState.
func (k *conns) stateChanged(c net.Conn, state http.ConnState) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch state {
	case http.StateClosed, http.StateHijacked:
		delete(k.all, c)
		return
	case http.StateNew:
		if k.closed {
			closeRaw(c)
			return
		}
	}
	have := k.all[c]
	if have == nil {
		return // it was closed to make room
	}
	have.state, have.since = state, time.Now()
	if state == http.StateIdle && k.roomWanted && have.canYield(have.since) {
		k.roomWanted = false
		closeRaw(c)
	}
}

// canYield reports whether the connection may be closed in favour of another one.
func (c *connection) canYield(now time.Time) bool {
	switch c.state {
	case http.StateIdle:
		return !c.peer.proven.Load()
	case http.StateNew:
		return now.Sub(c.since) >= idleGrace
	}
	return false
}

// makeRoom closes a connection that can yield, or the next one that becomes able to. It chooses
// the oldest of the source with the most, so that a source that floods the receiver loses its
// own.
func (k *conns) makeRoom() {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	bySource := map[netip.Addr]int{}
	for _, have := range k.all {
		if have.canYield(now) {
			bySource[have.peer.source]++
		}
	}
	var victim net.Conn
	for c, have := range k.all {
		if have.canYield(now) && (victim == nil || have.yieldsBefore(k.all[victim], bySource)) {
			victim = c
		}
	}
	if k.roomWanted = victim == nil; victim != nil {
		delete(k.all, victim)
		closeRaw(victim)
	}
}

// yieldsBefore reports whether c is to be closed rather than other, given the number of
// connections of each source that can yield.
func (c *connection) yieldsBefore(other *connection, bySource map[netip.Addr]int) bool {
	own, others := bySource[c.peer.source], bySource[other.peer.source]
	return own > others || own == others && c.since.Before(other.since)
}

// close closes the connections on which no request has begun, and from now on new ones too.
func (k *conns) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	for c, have := range k.all {
		if have.state == http.StateNew {
			closeRaw(c)
		}
	}
}

// closeRaw closes a connection without the TLS alert, which could block.
func closeRaw(c net.Conn) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	c.Close()
}

// limitedListener bounds the connections that are open at once, and closes idle ones in favour
// of waiting ones.
type limitedListener struct {
	net.Listener
	conns *conns
	slots chan struct{}
	done  chan struct{}
	once  sync.Once
}

func newLimitedListener(l net.Listener, most int, k *conns) *limitedListener {
	return &limitedListener{Listener: l, conns: k, slots: make(chan struct{}, most), done: make(chan struct{})}
}

// Accept implements [net.Listener].
func (l *limitedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	conn := &slotConn{Conn: c, release: sync.OnceFunc(func() { <-l.slots })}
	for {
		select {
		case l.slots <- struct{}{}:
			return conn, nil
		default:
			l.conns.makeRoom()
		}
		select {
		case l.slots <- struct{}{}:
			return conn, nil
		case <-time.After(roomPause):
		case <-l.done:
			c.Close()
			return nil, net.ErrClosed
		}
	}
}

// Close implements [net.Listener].
func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return l.Listener.Close()
}

// slotConn is a connection that releases its slot when it is closed.
type slotConn struct {
	net.Conn
	release func()
}

// Close implements [net.Conn].
func (c *slotConn) Close() error {
	err := c.Conn.Close()
	c.release()
	return err
}
