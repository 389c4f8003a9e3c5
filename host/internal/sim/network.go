package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Harm has the probabilities, from 0 to 1, with which the network harms a new connection,
// and the extent of the harm.
type Harm struct {
	Cut, Reset, HalfClose, Silence, Garble float64
	Throttle                               float64
	Latency                                time.Duration // up to
	After                                  int           // most bytes before the harm
}

// Network carries connections in memory between [Node]s.
type Network struct {
	rand *Random

	mu        sync.Mutex
	harm      Harm
	garble    map[string]bool // addresses at which garbled bytes are detected
	listeners map[string]*listener
	conns     map[*conn]struct{}
	port      int
	faults    map[string]int
	dead      map[string]bool // addresses that do not answer
	last      map[string]time.Time
}

// NewNetwork returns a network that does no harm yet.
func NewNetwork(r *Random) *Network {
	return &Network{
		rand: r, port: 40000, garble: map[string]bool{}, listeners: map[string]*listener{}, conns: map[*conn]struct{}{},
		faults: map[string]int{}, dead: map[string]bool{}, last: map[string]time.Time{},
	}
}

// SetHarm changes the harm to connections from now on.
func (n *Network) SetHarm(h Harm) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.harm = h
}

// Garbled allows bytes to an address to be changed, where the reader can detect it.
func (n *Network) Garbled(address string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.garble[address] = true
}

// Faults returns how often each kind of harm was done, and the faults of [Network.Count].
func (n *Network) Faults() map[string]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.faults)
}

// Count counts a fault.
func (n *Network) Count(fault string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults[fault]++
}

// LastRead returns when bytes from an address were last read by a node that had dialed it.
func (n *Network) LastRead(address string) time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.last[address]
}

// ResetAll resets the connections to an address.
func (n *Network) ResetAll(address string) {
	for _, c := range n.to(address) {
		c.fail(errReset)
	}
}

// SilenceAll makes the connections to an address lose all written bytes, and new ones too
// until [Network.Unsilence].
func (n *Network) SilenceAll(address string) {
	n.mu.Lock()
	n.dead[address] = true
	n.mu.Unlock()
	for _, c := range n.to(address) {
		c.in.silence()
		c.out.silence()
	}
}

// Unsilence ends [Network.SilenceAll] for new connections. Silenced connections stay
// silent.
func (n *Network) Unsilence(address string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.dead, address)
}

func (n *Network) to(address string) (found []*conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.conns {
		if c.address == address {
			found = append(found, c)
		}
	}
	return found
}

// Node is one process on the network: its connections and listeners end with it.
type Node struct {
	net  *Network
	name string
	gone chan struct{} // closed when it is dead

	mu        sync.Mutex
	dead      bool
	listeners []*listener
	conns     map[*conn]struct{}
}

// Node returns a new process.
func (n *Network) Node(name string) *Node {
	return &Node{net: n, name: name, gone: make(chan struct{}), conns: map[*conn]struct{}{}}
}

// Kill resets every connection, closes every listener, and refuses new ones.
func (d *Node) Kill() {
	d.mu.Lock()
	if d.dead {
		d.mu.Unlock()
		return
	}
	d.dead = true
	close(d.gone)
	conns, listeners := d.conns, d.listeners
	d.conns, d.listeners = map[*conn]struct{}{}, nil
	d.mu.Unlock()
	for _, l := range listeners {
		l.Close()
	}
	for c := range conns {
		c.fail(errReset)
	}
}

func (d *Node) own(c *conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead {
		return false
	}
	d.conns[c] = struct{}{}
	return true
}

func (d *Node) disown(c *conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.conns, c)
}

// Listen is net.Listen on the network.
func (d *Node) Listen(_, address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	n := d.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if port == "0" {
		n.port++
		port = strconv.Itoa(n.port)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return nil, err
	}
	address = net.JoinHostPort(host, port)
	if n.listeners[address] != nil {
		return nil, fmt.Errorf("listen %s: %w", address, os.NewSyscallError("bind", syscall.EADDRINUSE))
	}
	l := &listener{node: d, address: address, addr: &net.TCPAddr{IP: net.ParseIP(host), Port: number},
		queue: make(chan *conn, 256), closed: make(chan struct{})}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead {
		return nil, net.ErrClosed
	}
	d.listeners = append(d.listeners, l)
	n.listeners[address] = l
	return l, nil
}

// Dial is net.Dialer.DialContext on the network.
func (d *Node) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	n := d.net
	n.mu.Lock()
	l, dead, latency := n.listeners[address], n.dead[address], n.harm.Latency
	n.mu.Unlock()
	if dead {
		select {
		case <-ctx.Done():
			return nil, dialError(context.Cause(ctx))
		case <-d.gone:
			return nil, dialError(net.ErrClosed)
		case <-time.After(10 * time.Second):
			return nil, dialError(os.ErrDeadlineExceeded)
		}
	}
	if latency > 0 {
		select {
		case <-time.After(n.rand.Between(0, latency)):
		case <-ctx.Done():
			return nil, dialError(context.Cause(ctx))
		}
	}
	if l == nil {
		return nil, dialError(os.NewSyscallError("connect", syscall.ECONNREFUSED))
	}
	near, far := n.pair(d, l)
	if !d.own(near) || !l.node.own(far) {
		near.fail(errReset)
		return nil, dialError(os.NewSyscallError("connect", syscall.ECONNREFUSED))
	}
	select {
	case l.queue <- far:
		return near, nil
	case <-l.closed:
		near.fail(errReset)
		return nil, dialError(os.NewSyscallError("connect", syscall.ECONNREFUSED))
	case <-ctx.Done():
		near.fail(errReset)
		return nil, dialError(context.Cause(ctx))
	}
}

func dialError(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }

// pair makes both ends of a connection and draws its harm.
func (n *Network) pair(d *Node, l *listener) (near, far *conn) {
	there, back := newLane(), newLane()
	near = &conn{in: back, out: there, local: &net.TCPAddr{IP: l.addr.IP, Port: 1}, remote: l.addr, address: l.address, node: d}
	far = &conn{in: there, out: back, local: l.addr, remote: near.local, address: l.address, node: l.node}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.conns[near] = struct{}{}
	back.onRead = func(int) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.last[l.address] = time.Now()
	}
	if n.dead[l.address] {
		there.muted, back.muted = true, true
	}
	h := n.harm
	if h.Latency > 0 {
		there.latency, back.latency = n.rand.Between(0, h.Latency), n.rand.Between(0, h.Latency)
	}
	if n.rand.Chance(h.Throttle) {
		n.faults["connection throttled"]++
		there.pace, back.pace = 24<<10+n.rand.N(64<<10), 24<<10+n.rand.N(64<<10)
	}
	n.arm(near, far, h)
	return near, far
}

// arm draws at most one harm for a connection. The lock is held.
func (n *Network) arm(near, far *conn, h Harm) {
	victim := near.in
	if n.rand.Chance(0.5) {
		victim = near.out
	}
	other := near.in
	if victim == near.in {
		other = near.out
	}
	kinds := []struct {
		name string
		p    float64
		blow func(l *lane, p []byte) []byte
	}{
		{"connection cut", h.Cut, func(l *lane, p []byte) []byte {
			l.eof = true
			go other.end()
			return p[:n.rand.N(len(p))]
		}},
		{"connection reset", h.Reset, func(l *lane, p []byte) []byte {
			l.err, l.chunks, l.held = errReset, nil, 0
			go other.reset(errReset)
			return nil
		}},
		{"connection half closed", h.HalfClose, func(l *lane, p []byte) []byte {
			l.eof = true
			return p[:n.rand.N(len(p))]
		}},
		{"connection silent", h.Silence, func(l *lane, _ []byte) []byte {
			l.muted, l.chunks, l.held = true, nil, 0
			go other.silence()
			return nil
		}},
		{"bytes garbled", h.Garble, func(_ *lane, p []byte) []byte {
			p[n.rand.N(len(p))] ^= byte(1 + n.rand.N(255))
			return p
		}},
	}
	for _, k := range kinds {
		if !n.rand.Chance(k.p) || k.name == "bytes garbled" && !n.garble[near.address] {
			continue
		}
		victim.harmAfter = 1 + n.rand.N(max(1, h.After))
		victim.harm = func(l *lane, p []byte) []byte {
			n.Count(k.name)
			return k.blow(l, p)
		}
		return
	}
}

type listener struct {
	node    *Node
	address string
	addr    *net.TCPAddr
	queue   chan *conn
	closed  chan struct{}
	once    sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.queue:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() {
		close(l.closed)
		n := l.node.net
		n.mu.Lock()
		if n.listeners[l.address] == l {
			delete(n.listeners, l.address)
		}
		n.mu.Unlock()
		for {
			select {
			case c := <-l.queue:
				c.fail(errReset)
			default:
				return
			}
		}
	})
	return nil
}

func (l *listener) Addr() net.Addr { return l.addr }

// conn is one end of a connection.
type conn struct {
	in, out       *lane
	local, remote net.Addr
	address       string // the dialed address
	node          *Node
}

func (c *conn) Read(p []byte) (int, error)  { return c.in.read(p) }
func (c *conn) Write(p []byte) (int, error) { return c.out.write(p) }
func (c *conn) LocalAddr() net.Addr         { return c.local }
func (c *conn) RemoteAddr() net.Addr        { return c.remote }

// Close lets the peer read the queued bytes.
func (c *conn) Close() error {
	c.out.end()
	c.in.reset(net.ErrClosed)
	c.forget()
	return nil
}

func (c *conn) fail(err error) {
	c.in.reset(err)
	c.out.reset(err)
	c.forget()
}

func (c *conn) forget() {
	c.node.disown(c)
	n := c.node.net
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.conns, c)
}

func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.change(func() { c.in.ends[reading] = t })
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.out.change(func() { c.out.ends[writing] = t })
	return nil
}
