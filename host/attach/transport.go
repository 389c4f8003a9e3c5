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

// Dial opens a connection to the process that is attached to.
type Dial func(ctx context.Context) (net.Conn, error)

// dialSocket connects to the socket of a data directory, if a process of the same
// user listens there.
//
// Errors: [ErrNotListening], [ErrPeer], [ErrVersion]; the cause of ctx.
func dialSocket(dir string) Dial { return dialPath(func() string { return socketOf(dir) }) }

func dialPath(socket func() string) Dial {
	return func(ctx context.Context) (net.Conn, error) {
		dialer := net.Dialer{Timeout: helloWithin}
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
		return &greeted{Conn: conn, in: bufio.NewReader(conn)}, nil
	}
}

// greeted is a connection to a process that may speak version 1: that one begins
// with a line of its own, where HTTP waits for a request.
type greeted struct {
	net.Conn
	in      *bufio.Reader
	checked bool
}

const greeting = "eventdeck-attach "

// Read implements [net.Conn]. Error: [ErrVersion].
func (g *greeted) Read(p []byte) (int, error) {
	if !g.checked {
		g.checked = true
		if first, err := g.in.Peek(len(greeting)); err == nil && string(first) == greeting {
			line, _ := g.in.ReadString('\n') // what there is of it is enough
			words := strings.Fields(line)
			return 0, fmt.Errorf("%w: process %s; quit it, or use the same one", ErrVersion, words[len(words)-1])
		}
	}
	return g.in.Read(p)
}

// peers lets in processes of the same user, so many at once as there may be
// connections.
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
			return &counted{Conn: conn, free: p.free}, nil
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

// counted gives its place back when it is closed.
type counted struct {
	net.Conn
	once sync.Once
	free <-chan struct{}
}

// Close implements [net.Conn].
func (c *counted) Close() error {
	c.once.Do(func() { <-c.free })
	return c.Conn.Close()
}
