package attach

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/react"
)

// Client uses the host of the owner. It implements [host.API]. Operations that only the owner can
// do return [ErrNotHere], and calls after the owner has ended return [ErrGone]. A client of an owner
// elsewhere (see [Elsewhere]) outlives the connection: while it is cut, calls return
// [event.ErrSilent]. It is safe for concurrent use.
type Client struct {
	dir     string
	http    *http.Client
	run     react.RunID // whose tools the session is for; "" for a session of the operator
	follows bool        // it stays
	token   string      // of the run
	session atomic.Pointer[clientSession]
	ctx     context.Context // of the client; its cause says why it ended
	cancel  context.CancelCauseFunc
	wg      sync.WaitGroup
	slots   chan struct{} // requests that may be under way
	wait    time.Duration // how long an answer may wait for a change
	late    time.Duration // after which the owner counts as stopped

	readers readers

	mu         sync.Mutex
	state      state
	version    uint64           // of the newest state, as the owner counts
	ownChanges uint64           // of the state here since it was attached: silences and parts
	newer      newerParts       // than the state
	silent     bool             // the owner does not answer
	refused    map[string]error // servers that the owner refused to add
	stats      host.Stats
	wireLast   uint64
	appLast    uint64

	pulling chan struct{} // held by the goroutine that fetches a state

	log          *eventlog.Log
	wire         *eventlog.Ring[host.WireFrame]
	appLog       *eventlog.Ring[host.LogLine]
	last         atomic.Uint64 // newest record
	audited      atomic.Uint64
	wireLookedAt atomic.Int64 // when the wire was last looked at, in Unix nanoseconds

	reactions control
}

// clientSession is the session of a client.
type clientSession struct {
	pid int    // of the owner
	id  string // sent with each request
}

// Bounds of what a client remembers of the wire and of the program's log.
const (
	clientFrames     = 5000
	clientFrameBytes = 4 << 20
	clientLines      = 2000
	clientLineBytes  = 1 << 20
)

// askTimeout bounds requests that have no context of their own.
const askTimeout = 5 * time.Second

// Attach connects a command to the process that has the store in dir open.
//
// Errors: [ErrNotListening] when no process listens, [event.ErrSilent] when one does and does not
// answer; [ErrVersion], [ErrPeer], [ErrBusy]; [react.ErrToken] for a process that cannot read the
// data directory; the cause of ctx.
func Attach(ctx context.Context, dir string) (*Client, error) {
	return attach(ctx, dir, dialSocket(dir), false, pullWait, pullLate)
}

// Follow is Attach for a frontend that stays, as a screen does: these have places of their own, so
// that commands find one however many stay.
func Follow(ctx context.Context, dir string) (*Client, error) {
	return attach(ctx, dir, dialSocket(dir), true, pullWait, pullLate)
}

func attach(ctx context.Context, dir string, dial Dial, follows bool, wait, late time.Duration) (*Client, error) {
	c := newClient(dir, dial)
	c.follows, c.wait, c.late = follows, wait, late
	err := c.open(ctx)
	if err == nil {
		err = c.pull(ctx, stateRequest{})
	}
	if err != nil {
		_ = c.Close() // err says more
		return nil, err
	}
	c.wg.Go(c.follow)
	return c, nil
}

func newClient(dir string, dial Dial) *Client {
	c := &Client{
		dir:     dir,
		slots:   make(chan struct{}, maxRunning/2),
		newer:   newerParts{subs: map[event.SubID]newerSub{}},
		refused: map[string]error{}, pulling: make(chan struct{}, 1),
		wire:   eventlog.NewRing[host.WireFrame](clientFrames, clientFrameBytes),
		appLog: eventlog.NewRing[host.LogLine](clientLines, clientLineBytes),
	}
	c.http = &http.Client{Transport: &http.Transport{
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		MaxIdleConnsPerHost: 8, IdleConnTimeout: idleTimeout, DisableCompression: true,
	}}
	c.log = eventlog.New(&remoteStore{c: c})
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.reactions.c = c
	return c
}

// open opens a session, which lasts until the owner ends.
//
// Errors: those of [Attach].
func (c *Client) open(ctx context.Context) error {
	within, cancel := context.WithCancelCause(c.ctx)
	r, err := http.NewRequestWithContext(within, http.MethodGet, "http://attach"+pathOf(pathSession), nil)
	if err != nil {
		cancel(nil)
		return err
	}
	token := c.token
	if c.run == "" {
		if token, err = readToken(c.dir); err != nil {
			cancel(nil)
			return err
		}
	} else {
		r.Header.Set(headerRun, string(c.run))
	}
	if c.follows {
		r.Header.Set(headerFollows, "1")
	}
	r.Header.Set(headerPID, strconv.Itoa(os.Getpid()))
	r.Header.Set(headerToken, token)
	stopCancel := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	helloTimer := time.AfterFunc(helloTimeout, func() { cancel(event.ErrSilent) })
	res, err := c.http.Do(r)
	switch answered := helloTimer.Stop() && stopCancel(); {
	case err == nil && !answered:
		_ = res.Body.Close() // it came too late
		return context.Cause(within)
	case !answered:
		return context.Cause(within)
	case err != nil:
		cancel(nil)
		if errors.Is(err, ErrVersion) || errors.Is(err, ErrPeer) || errors.Is(err, ErrNotListening) {
			return err
		}
		return fmt.Errorf("%w: %w", ErrNotListening, err) // the owner was about to end
	}
	if err := c.opened(res); err != nil {
		cancel(nil)
		return errors.Join(err, res.Body.Close())
	}
	c.wg.Go(func() {
		defer cancel(nil)
		_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxAnswer)) // no byte comes before the end
		_ = res.Body.Close()                                            // it is over
		if Elsewhere(c.dir) {
			c.openAgain()
			return
		}
		c.awaitRequests()
		c.end()
	})
	return nil
}

// opened reads the response that opens a session.
func (c *Client) opened(res *http.Response) error {
	pid, err := strconv.Atoi(res.Header.Get(headerPID))
	switch other := res.Header.Get(headerVersion); {
	case other == "" || err != nil:
		return fmt.Errorf("%w: what listens there is another program", ErrNotListening)
	case other != strconv.Itoa(version):
		return fmt.Errorf("%w: process %d; quit it, or use the same one", ErrVersion, pid)
	case res.StatusCode == http.StatusServiceUnavailable:
		var f failure
		if err := gob.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(&f); err != nil {
			return fmt.Errorf("%w: process %d: %w", ErrAnswer, pid, err)
		}
		return fmt.Errorf("process %d: %w", pid, f.err())
	case res.StatusCode == http.StatusForbidden:
		return fmt.Errorf("process %d: %w: it is in the data directory", pid, react.ErrToken)
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf("%w: HTTP %d", ErrAnswer, res.StatusCode)
	}
	c.session.Store(&clientSession{pid, res.Header.Get(headerSession)})
	return nil
}

// PID returns the process that has the store open.
func (c *Client) PID() int { return c.session.Load().pid }

// Done is closed when the connection has ended; [Client.Err] tells why.
func (c *Client) Done() <-chan struct{} { return c.ctx.Done() }

var errClosed = fmt.Errorf("%w: detached", event.ErrClosed)

// Err returns why the connection ended: nil while it has not, and after Close.
func (c *Client) Err() error {
	if c.ctx.Err() == nil || errors.Is(context.Cause(c.ctx), errClosed) {
		return nil
	}
	return context.Cause(c.ctx)
}

// Within returns a context that ends with ctx or with the connection; its cause says why.
func (c *Client) Within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.ctx, func() { cancel(context.Cause(c.ctx)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// Close detaches. The owner keeps running.
func (c *Client) Close() error {
	c.mu.Lock()
	c.cancel(errClosed)
	c.mu.Unlock()
	c.wg.Wait()
	c.http.CloseIdleConnections()
	return nil
}

// awaitRequests waits briefly for requests under way to finish: the owner has answered all of
// them before it ended the session, on other connections.
func (c *Client) awaitRequests() {
	late := time.NewTimer(answerTimeout)
	defer late.Stop()
	for range cap(c.slots) {
		select {
		case c.slots <- struct{}{}:
		case <-late.C:
			return
		case <-c.ctx.Done():
			return
		}
	}
}

// end ends the session with [ErrGone].
func (c *Client) end() {
	c.cancel(fmt.Errorf("%w: process %d, which had %s open; run the command again", ErrGone, c.PID(), c.dir))
}

// ask sends a request and waits for the answer.
//
// Errors: those of the owner, [ErrGone], [ErrAnswer], the cause of ctx.
func ask[In, Out any](ctx context.Context, c *Client, v verb[In, Out], in In) (Out, error) {
	var out Out
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return out, context.Cause(ctx)
	case <-c.ctx.Done():
		return out, context.Cause(c.ctx)
	}
	within, stop := c.Within(ctx)
	defer stop()
	err := c.post(within, string(v), in, &out)
	if err == nil {
		return out, nil
	}
	var none Out
	if within.Err() != nil && !isRemote(err) {
		err = context.Cause(within)
	}
	return none, err
}

// isRemote reports whether the owner has answered with the error.
func isRemote(err error) bool {
	var r *remoteError
	return errors.As(err, &r)
}

// post sends a request and reads its response. Errors: those of ask.
func (c *Client) post(ctx context.Context, name string, in, out any) error {
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(in); err != nil {
		return err
	}
	if body.Len() > maxRequest {
		return fmt.Errorf("%s: the request has %d bytes, more than %d", name, body.Len(), maxRequest)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://attach"+pathOf(name), &body)
	if err != nil {
		return err
	}
	r.Header.Set(headerSession, c.session.Load().id)
	res, err := c.http.Do(r)
	if err != nil {
		switch {
		case ctx.Err() != nil, errors.Is(err, syscall.EMFILE):
			return fmt.Errorf("process %d, which has %s open, cannot be asked: %w", c.PID(), c.dir, err)
		case Elsewhere(c.dir):
			return fmt.Errorf("%w: %w", event.ErrSilent, err)
		}
		c.end() // the session ends too, perhaps a moment later
		return context.Cause(c.ctx)
	}
	defer func() { _ = res.Body.Close() }() // an error shows in what was read
	read := gob.NewDecoder(io.LimitReader(res.Body, maxAnswer))
	if res.StatusCode == http.StatusOK {
		if err := read.Decode(out); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrAnswer, name, err)
		}
		_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1)) // so that the connection is used again
		return nil
	}
	var f failure
	if err := read.Decode(&f); err != nil {
		return fmt.Errorf("%w: %s: HTTP %d: %w", ErrAnswer, name, res.StatusCode, err)
	}
	return f.err()
}

// askWithTimeout is ask for callers without a context. Error: [event.ErrSilent] too.
func askWithTimeout[In, Out any](c *Client, v verb[In, Out], in In) (Out, error) {
	ctx, cancel := context.WithTimeoutCause(c.ctx, askTimeout, event.ErrSilent)
	defer cancel()
	return ask(ctx, c, v, in)
}

// changePart is [change] for a change that shows only in one subscription, or in the marks if sub is
// empty. Its cost does not grow with the number of subscriptions.
func changePart[In, Out any](ctx context.Context, c *Client, v verb[In, Out], in In, sub event.SubID) (Out, error) {
	out, err := ask(ctx, c, v, in)
	if c.ctx.Err() == nil {
		c.mu.Lock()
		a := stateRequest{Part: !c.silent, Sub: sub} // only a full state ends a silence
		c.mu.Unlock()
		_ = c.pull(ctx, a) // whether it was done or not, a later state shows it
	}
	return out, err
}

// actSub is changePart for a verb without a result.
func actSub[In any](ctx context.Context, c *Client, v verb[In, nothing], in In, sub event.SubID) error {
	_, err := changePart(ctx, c, v, in, sub)
	return err
}

// change asks for a change, and returns when the state of the client shows it.
func change[In, Out any](ctx context.Context, c *Client, v verb[In, Out], in In) (Out, error) {
	out, err := ask(ctx, c, v, in)
	if c.ctx.Err() == nil {
		// Whether it was done or not, a later state shows it.
		_ = c.pull(ctx, stateRequest{})
	}
	return out, err
}

// act is change for a verb without a result.
func act[In, Out any](ctx context.Context, c *Client, v verb[In, Out], in In) error {
	_, err := change(ctx, c, v, in)
	return err
}
