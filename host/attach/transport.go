package attach

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"sync"
)

// Dial opens a connection to the owner.
type Dial func(ctx context.Context) (net.Conn, error)

// dialSocket connects to the socket of a data directory, if a process of the same
// user listens there.
//
// Errors: [ErrNotListening], [ErrPeer], [ErrVersion]; the cause of ctx.
func dialSocket(dir string) Dial { return dialPath(func() string { return SocketOf(dir) }) }

func dialPath(socket func() string) Dial {
	return func(ctx context.Context) (net.Conn, error) {
		dialer := net.Dialer{Timeout: helloTimeout}
		path := socket()
		if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return nil, ErrNotListening
		}
		conn, err := dialer.DialContext(ctx, "unix", path)
		if err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, fmt.Errorf("%w: %w", ErrNotListening, err)
		}
		if err := checkPeer(conn.(*net.UnixConn)); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		return &greetedConn{Conn: conn, in: bufio.NewReader(conn)}, nil
	}
}

// greetedConn is a connection to a process that may speak version 1, which begins with a line of
// its own where HTTP waits for a request.
type greetedConn struct {
	net.Conn
	in      *bufio.Reader
	checked bool
}

const greeting = "eventdeck-attach "

// Read implements [net.Conn]. Error: [ErrVersion].
func (g *greetedConn) Read(p []byte) (int, error) {
	if !g.checked {
		g.checked = true
		if owner, err := g.in.Peek(len(greeting)); err == nil && string(owner) == greeting {
			line, _ := g.in.ReadString('\n') // a part of the line will do
			words := strings.Fields(line)
			return 0, fmt.Errorf("%w: process %s; quit it, or use the same one", ErrVersion, words[len(words)-1])
		}
	}
	return g.in.Read(p)
}

// peers returns a listener that accepts processes of the same user, at most maxConnections at a
// time.
func (s *Server) peers(l *net.UnixListener) net.Listener {
	return &peers{UnixListener: l, server: s, free: make(chan struct{}, maxConnections), closed: make(chan struct{})}
}

type peers struct {
	*net.UnixListener
	server *Server
	free   chan struct{}
	once   sync.Once
	closed chan struct{}
}

// Accept implements [net.Listener].
func (p *peers) Accept() (net.Conn, error) {
	for {
		select {
		case p.free <- struct{}{}:
		case <-p.closed:
			return nil, net.ErrClosed
		}
		conn, err := p.AcceptUnix()
		if err != nil {
			<-p.free
			return nil, err
		}
		if err = checkPeer(conn); err == nil {
			return &countedConn{Conn: conn, free: p.free}, nil
		}
		p.server.opts.Log.Warn("a process that wanted to attach was refused", "err", err)
		_ = conn.Close() // it was refused
		<-p.free
	}
}

// Close implements [net.Listener].
func (p *peers) Close() error {
	p.once.Do(func() { close(p.closed) })
	return p.UnixListener.Close()
}

// countedConn frees its place when it is closed.
type countedConn struct {
	net.Conn
	once sync.Once
	free <-chan struct{}
}

// Close implements [net.Conn].
func (c *countedConn) Close() error {
	c.once.Do(func() { <-c.free })
	return c.Conn.Close()
}
