package e2e

import (
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// proxy stands between host and server, at an address that does not change.
type proxy struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	mute  bool
	wg    sync.WaitGroup
}

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, target: target, conns: map[net.Conn]struct{}{}}
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		l.Close()
		p.reset()
		p.wg.Wait()
	})
	return p
}

func (p *proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.serve(c) })
	}
}

func (p *proxy) serve(client net.Conn) {
	p.mu.Lock()
	target := p.target
	p.mu.Unlock()
	server, err := net.Dial("tcp", target)
	if err != nil {
		abort(client)
		return
	}
	p.mu.Lock()
	p.conns[client], p.conns[server] = struct{}{}, struct{}{}
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { p.copy(server, client); abort(server) })
	both.Go(func() { p.copy(client, server); abort(client) })
	both.Wait()
	p.mu.Lock()
	delete(p.conns, client)
	delete(p.conns, server)
	p.mu.Unlock()
}

// copy forwards, or swallows while the proxy is mute.
func (p *proxy) copy(to io.Writer, from io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		mute := p.mute
		p.mu.Unlock()
		if n > 0 && !mute {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// reset cuts every connection with a TCP reset.
func (p *proxy) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		abort(c)
	}
}

func abort(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // the connection may be gone already
	}
	c.Close()
}

// behind puts the proxy in front of an endpoint and returns the new address.
func behind(t *testing.T, url string) (*proxy, string) {
	t.Helper()
	host, path, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	p := newProxy(t, host)
	return p, "http://" + p.listener.Addr().String() + "/" + path
}

func modes(t *testing.T, f func(t *testing.T, mode string)) {
	for _, mode := range []string{"push", "poll", "webhook"} {
		t.Run(mode, func(t *testing.T) {
			f(t, mode)
		})
	}
}

// A connection that is reset again and again loses nothing.
func TestResetLosesNothing(t *testing.T) {
	modes(t, func(t *testing.T, mode string) {
		w := newWorld(t)
		_, direct := w.pager("--rate", "200")
		start := pollServer(t, direct, "null").Cursor
		proxy, url := behind(t, direct)
		tail := w.start([]string{envWatchdog + "=2s"}, "tail", url, "load.tick", "--mode", mode, "--data", w.data(), "--json")
		for i := range 5 {
			tail.await(tail.stdout, 100*(i+1), isEvent)
			proxy.reset()
		}
		tail.await(tail.stdout, 700, isEvent)
		mark := 0
		if mode == "webhook" {
			mark = position(t, pollServer(t, direct, "null").Cursor)
			tail.awaitWatermark(mark)
		}
		tail.signal(syscall.SIGTERM)
		tail.wait()
		compare(t, direct, start, w.stored(), mark)
	})
}

// The host gives up a server that falls silent without closing, and finds it again.
func TestSilenceIsNoticed(t *testing.T) {
	w := newWorld(t)
	_, direct := w.pager("--rate", "50")
	start := pollServer(t, direct, "null").Cursor
	proxy, url := behind(t, direct)
	tail := w.start([]string{envWatchdog + "=1s"}, "tail", url, "load.tick", "--mode", "push", "--data", w.data(), "--json")
	tail.await(tail.stdout, 50, isEvent)
	proxy.setMute(true)
	tail.await(tail.stdout, 1, func(s string) bool { return strings.Contains(s, `"state":"backoff"`) })
	proxy.setMute(false)
	proxy.reset()
	tail.await(tail.stdout, 150, isEvent)
	tail.signal(syscall.SIGTERM)
	tail.wait()
	compare(t, direct, start, w.stored(), 0)
}

// A server that lost its history leaves a gap record, and events go on.
func TestLostHistoryLeavesAGap(t *testing.T) {
	modes(t, func(t *testing.T, mode string) {
		w := newWorld(t)
		server, direct := w.pager("--rate", "100")
		addr := strings.Split(strings.TrimPrefix(direct, "http://"), "/")[0]
		tail := w.start([]string{envWatchdog + "=2s"}, "tail", direct, "load.tick", "--mode", mode, "--data", w.data(), "--json")
		tail.await(tail.stdout, 20, isEvent)
		server.kill()
		w.pager("--rate", "100", "--listen", addr)
		tail.await(tail.stdout, 1, func(s string) bool {
			return strings.Contains(s, `"kind":"gap"`) && strings.Contains(s, `"certain":true`)
		})
		before := strings.Count(tail.stdout.text(), `"kind":"event"`)
		tail.await(tail.stdout, before+50, isEvent)
		tail.signal(syscall.SIGTERM)
		tail.wait()
		ids := map[string]bool{}
		for _, r := range w.stored() {
			if r.Kind == "event" && ids[r.EventID] {
				t.Errorf("%s is stored twice", r.EventID)
			}
			ids[r.EventID] = true
		}
	})
}

func (p *proxy) setMute(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mute = on
}
