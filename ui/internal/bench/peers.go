//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// peer is a program that shows the same events. Its source replaces the words in capitals in its
// arguments; without a source the events come on the standard input, a line each.
type peer struct {
	name   string
	args   []string
	source func(dir string) (*source, error)
	plain  bool   // it only prints lines
	ready  string // text on its screen when it is ready; "": wait a second
	keys   string // to follow new events
	quit   string
	note   string
}

// peers returns plain, and programs that can be installed from Debian.
func peers(plain string) []peer {
	return []peer{
		{name: "plain Bubble Tea", args: []string{plain}, quit: "q", note: "keeps 200 lines, checks nothing"},
		{name: "mitmproxy", source: proxied, ready: "Flows", quit: "Qy", note: "interactive, fed by HTTP: a request each, over 64 connections",
			args: []string{"mitmproxy", "--mode", "reverse:http://UPSTREAM", "--listen-host", "127.0.0.1", "-p", "PORT", "--set", "confdir=DIR", "--set", "console_focus_follow=true"}},
		{name: "lnav", args: []string{"lnav", "-q", "FILE"}, source: appended, keys: "G", quit: "q", note: "file reader"},
		{name: "less +F", args: []string{"less", "-S", "+F", "FILE"}, source: appended, quit: "\x03q", note: "file reader"},
		{name: "multitail", args: []string{"multitail", "FILE"}, source: appended, quit: "q", note: "file reader"},
		{name: "redis-cli SUBSCRIBE", args: []string{"redis-cli", "-p", "PORT", "SUBSCRIBE", "load"}, source: published, plain: true, quit: "\x03", note: "printer, fed as by a message bus"},
		{name: "curl -N", args: []string{"curl", "-s", "-N", "http://127.0.0.1:PORT/"}, source: streamed, plain: true, quit: "\x03", note: "printer, fed by SSE"},
		{name: "jq", args: []string{"jq", "-c", "-C", "--unbuffered", "."}, plain: true, quit: "\x03", note: "printer"},
		{name: "tail -f", args: []string{"tail", "-n", "+1", "-f", "FILE"}, source: appended, plain: true, quit: "\x03", note: "printer"},
	}
}

// source feeds a peer.
type source struct {
	fill  *strings.Replacer // for the arguments; may be nil
	input *os.File          // the peer's standard input; may be nil
	// feed sends due events for a span.
	feed  func(p *pace, c *clock, span time.Duration) error
	close func() error
}

// dialled is a source that the peer connects to: the peer sends a request, which ends with until,
// and gets the greeting, and then a line for each event.
func dialled(until, greeting, line string) (*source, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	var conn net.Conn // open until close: the peer may end with it
	return &source{
		fill: strings.NewReplacer("PORT", portOf(l.Addr().String())),
		close: func() error {
			if conn != nil {
				return errors.Join(conn.Close(), l.Close())
			}
			return l.Close()
		},
		feed: func(p *pace, c *clock, span time.Duration) error {
			if err := l.(*net.TCPListener).SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
				return err
			}
			if conn, err = l.Accept(); err != nil {
				return fmt.Errorf("it does not connect: %w", err)
			}
			if err := conn.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
				return err
			}
			var asked []byte
			for one := make([]byte, 1); !bytes.HasSuffix(asked, []byte(until)); asked = append(asked, one...) {
				if _, err := io.ReadFull(conn, one); err != nil {
					return fmt.Errorf("it asks %q: %w", asked, err)
				}
			}
			if _, err := io.WriteString(conn, greeting); err != nil {
				return err
			}
			p.start()
			return feedLines(conn, newTemplate(line), p, c, span)
		},
	}, nil
}

// portOf returns the port of an address.
func portOf(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }

// streamed is an HTTP server that sends events (SSE).
func streamed(string) (*source, error) {
	return dialled("\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", "data: "+occurrence("")+"\n\n")
}

// published is a source that acts as a Redis server with a subscriber of channel load.
func published(string) (*source, error) {
	payload := occurrence("")
	return dialled("load\r\n", "*3\r\n$9\r\nsubscribe\r\n$4\r\nload\r\n:1\r\n",
		fmt.Sprintf("*3\r\n$7\r\nmessage\r\n$4\r\nload\r\n$%d\r\n%s\r\n", len(payload), payload))
}

// senders is the number of connections for requests.
const senders = 64

// proxied sends a request for each event to a proxy, whose upstream answers each with
// 200. An event is emitted when it falls due, not when there is a connection for it.
func proxied(dir string) (*source, error) {
	free, err := freeAddress() // for the proxy
	if err != nil {
		return nil, err
	}
	up := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the proxy may be gone
	})}
	address, err := listen(up)
	if err != nil {
		return nil, err
	}
	upstream, _, _ := strings.Cut(strings.TrimPrefix(address, "http://"), "/")
	return &source{
		fill:  strings.NewReplacer("UPSTREAM", upstream, "PORT", portOf(free), "DIR", filepath.Join(dir, "mitmproxy")),
		close: up.Close,
		feed:  func(p *pace, c *clock, span time.Duration) error { return post("http://"+free, p, c, span) },
	}, nil
}

// post sends a request for each event that falls due, over senders connections.
func post(address string, p *pace, c *clock, span time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), span)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: senders}}
	defer client.CloseIdleConnections()
	var taken atomic.Int64
	var answered atomic.Int64
	var wg sync.WaitGroup
	event := newTemplate(occurrence(""))
	for range senders {
		wg.Go(func() {
			for ctx.Err() == nil {
				n := taken.Load() + 1
				if n > int64(c.emitted()) {
					time.Sleep(time.Millisecond)
					continue
				}
				if !taken.CompareAndSwap(n-1, n) {
					continue
				}
				body := event.append(nil, int(n), time.Now().UTC().Format(timeLayout))
				r, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("%s/SEQ=%010d", address, n), bytes.NewReader(body))
				if err != nil {
					continue
				}
				if answer, err := client.Do(r); err == nil {
					_, _ = io.Copy(io.Discard, answer.Body) // for the next request
					answer.Body.Close()
					answered.Add(1)
				}
			}
		})
	}
	p.start()
	for tick := time.NewTicker(gather); ctx.Err() == nil; <-tick.C {
		c.emit(p.due() - c.emitted())
	}
	wg.Wait()
	if answered.Load() == 0 {
		return fmt.Errorf("no request to %s was answered", address)
	}
	return nil
}
