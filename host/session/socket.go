package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// subprotocol is the name that servers in the field use; there is no standard.
const subprotocol = "mcp"

const (
	pingEvery  = 20 * time.Second
	pongWithin = 10 * time.Second
)

func isSocket(scheme string) bool { return scheme == "ws" || scheme == "wss" }

// socketLink speaks over a WebSocket, one message per text frame.
type socketLink struct {
	router
	out     outbox
	web     *web
	conn    *websocket.Conn
	lose    func(error)     // ends the session
	ctx     context.Context // of reading, writing and pinging
	end     context.CancelFunc
	workers sync.WaitGroup

	taken  atomic.Int64 // frames that were passed on
	taking atomic.Bool  // one is being passed on
}

// dialSocket opens the WebSocket. ctx bounds only that.
//
// Errors: [ErrServer], [ErrUnreachable], [*HTTPError], [ErrAnswer], the cause of ctx.
func dialSocket(ctx context.Context, server event.Server, opts Options, unsolicited func(wire.Note), lose func(error)) (*socketLink, error) {
	w, err := newWeb(server, opts)
	if err != nil {
		return nil, err
	}
	l := &socketLink{web: w, lose: lose}
	l.router.init(opts, unsolicited)
	l.ctx, l.end = context.WithCancel(context.Background())
	l.out.init(l.ctx.Done())
	l.send = l.tell
	if l.conn, err = w.upgrade(ctx, func() { l.touch() }); err != nil {
		l.end()
		return nil, err
	}
	l.conn.SetReadLimit(-1) // read bounds each message, and goes on
	l.workers.Go(l.read)
	l.workers.Go(func() { l.out.run(l.replies, l.write) })
	l.workers.Go(l.ping)
	return l, nil
}

// upgrade makes the handshake, and repeats it while a refusal yields a better token.
func (w *web) upgrade(ctx context.Context, pong func()) (*websocket.Conn, error) {
	for asked := 1; ; asked++ {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url, nil)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrServer, err)
		}
		w.setHeaders(req)
		token, err := w.authorize(req)
		if err != nil {
			return nil, err
		}
		conn, resp, err := websocket.Dial(ctx, w.url, &websocket.DialOptions{
			HTTPClient: w.client, HTTPHeader: req.Header, Host: req.Host, Subprotocols: []string{subprotocol},
			OnPongReceived: func(context.Context, []byte) { pong() },
		})
		if err == nil {
			w.proto.Store(&resp.Proto)
			if conn.Subprotocol() == "" {
				w.opts.Log.Debug("server does not name the subprotocol mcp; going on")
			}
			return conn, nil
		}
		if refusal := w.upgradeRefusal(resp); refusal != nil {
			if w.auth != nil && refusesRights(refusal.Status) {
				if better, err := w.refused(ctx, token, resp); err != nil {
					return nil, err
				} else if better && asked < maxAttempts {
					continue
				}
			}
			return nil, refusal
		}
		if resp != nil {
			return nil, fmt.Errorf("%w: %w", ErrAnswer, err)
		}
		return nil, w.failure(ctx, req.URL.Host, err)
	}
}

// upgradeRefusal returns the error for a handshake that was answered with an HTTP status,
// nil for any other failure.
func (w *web) upgradeRefusal(resp *http.Response) *HTTPError {
	if resp == nil || resp.StatusCode == http.StatusSwitchingProtocols {
		return nil
	}
	var body []byte
	if resp.Body != nil {
		body, _ = io.ReadAll(resp.Body) // the library bounds it, and the body is not essential
	}
	return w.refusal(resp, body)
}

func (l *socketLink) version() string { return l.web.version() }

// hangsUp returns false: all exchanges share the socket.
func (l *socketLink) hangsUp(era) bool { return false }

func (l *socketLink) tell(ctx context.Context, _ era, _ string, frame []byte) error {
	return l.out.put(ctx, frame)
}

// write uses the context of the link: the library closes the socket with the context.
func (l *socketLink) write(frame []byte) error {
	l.opts.trace(Sent, frame)
	ctx, cancel := context.WithTimeout(l.ctx, l.opts.CallTimeout)
	defer cancel()
	err := l.conn.Write(ctx, websocket.MessageText, frame)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%w: the WebSocket cannot be written: %w", ErrLost, inWords(err))
	if !errors.Is(err, net.ErrClosed) { // else the reader knows why it was closed
		l.lose(err)
	}
	return err
}

// read reads from the socket, on a goroutine of its own.
func (l *socketLink) read() {
	defer l.end()
	for {
		_, src, err := l.conn.Reader(l.ctx)
		if err == nil {
			err = l.message(src)
		}
		if err != nil {
			l.lose(socketEnd(err))
			return
		}
	}
}

// message handles one message, text or not. The rest of a message that is too large is
// skipped.
func (l *socketLink) message(src io.Reader) error {
	limit := l.opts.maxAnswer()
	frame, err := io.ReadAll(io.LimitReader(src, int64(limit)+1))
	if err != nil {
		return err
	}
	if len(frame) > limit {
		l.hand(l.failAll, frame)
		_, err := io.Copy(io.Discard, src)
		return err
	}
	if text := strings.TrimSpace(string(frame[:min(len(frame), 64)])); text != "" {
		l.hand(l.take, frame)
	}
	return nil
}

// hand passes on a frame, which may block.
func (l *socketLink) hand(to func(frame []byte), frame []byte) {
	l.taking.Store(true)
	to(frame)
	l.taken.Add(1)
	l.taking.Store(false)
}

// socketEnd says why the socket ended, with the server's own words made safe.
func socketEnd(err error) error {
	var closed websocket.CloseError
	if errors.As(err, &closed) {
		if closed.Reason == "" {
			return fmt.Errorf("%w: the server closed the WebSocket (%d)", ErrLost, closed.Code)
		}
		return fmt.Errorf("%w: the server closed the WebSocket (%d): %v", ErrLost, closed.Code, head([]byte(closed.Reason)))
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: the WebSocket was cut", ErrLost)
	}
	return fmt.Errorf("%w: the WebSocket broke: %w", ErrLost, err)
}

// ping detects a dead peer. A pong that waits behind messages that are slowly handled here
// is no sign of one.
func (l *socketLink) ping() {
	tick := time.NewTicker(l.opts.pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-l.ctx.Done():
			return
		}
		before := l.taken.Load()
		ctx, cancel := context.WithTimeout(l.ctx, l.opts.pongWithin)
		err := l.conn.Ping(ctx)
		cancel()
		slow := l.taking.Load() || l.taken.Load() != before
		if err != nil && !slow && l.ctx.Err() == nil {
			l.lose(fmt.Errorf("%w: the WebSocket gave no pong: %w", ErrLost, inWords(err)))
			l.end()
			return
		}
	}
}

// close makes the closing handshake, and cuts the connection if the server does not answer
// within closingTimeout.
func (l *socketLink) close() {
	l.out.close()
	cut := time.AfterFunc(closingTimeout, func() { _ = l.conn.CloseNow() })
	_ = l.conn.Close(websocket.StatusNormalClosure, "") // the server may be gone
	cut.Stop()
	l.end()
	_ = l.conn.CloseNow()
	l.workers.Wait()
	l.web.client.CloseIdleConnections()
}

// socketURL reports whether an address is that of a WebSocket.
func socketURL(address string) bool {
	u, err := url.Parse(address)
	return err == nil && isSocket(u.Scheme)
}
