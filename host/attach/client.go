package attach

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"eventdeck/host"
	"eventdeck/host/eventlog"
)

// Client uses the host of another process. It implements [host.API]; what that can
// do here only is refused with [ErrNotHere]. Calls after the end of the other
// process return [ErrGone]. All methods may be called from any goroutine.
type Client struct {
	dir    string
	pid    int
	conn   *net.UnixConn
	frames *frames
	ctx    context.Context // of the connection; its cause says why it ended
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup
	slots  chan struct{} // requests that may be under way
	out    chan outgoing // requests that are to be written
	recall chan struct{} // raised when there is something in recalled
	wait   time.Duration // how long an answer may wait for a change
	late   time.Duration // after which the first counts as stopped

	mu       sync.Mutex
	next     uint64
	pending  map[uint64]*pending
	recalled []uint64 // requests that were written and are not wanted any more
	flags    map[chan struct{}]struct{}
	state    state
	version  uint64           // of the newest state, as the first counts
	turns    uint64           // how often the first fell silent or was heard again
	silent   bool             // it does not answer
	refused  map[string]error // servers that the first does not take
	stats    host.Stats
	wireLast uint64
	appLast  uint64

	pulling chan struct{} // held by who brings a state in

	log        *eventlog.Log
	wire       *eventlog.Ring[host.WireFrame]
	appLog     *eventlog.Ring[host.LogLine]
	last       atomic.Uint64 // newest record
	audited    atomic.Uint64
	wireWanted atomic.Int64 // when somebody last looked at the wire, in Unix nanoseconds
}

// pending is a request that is under way. Its answer is read on the goroutine of the
// connection.
type pending struct {
	read func(*frames) error
	done chan error
}

// outgoing is a request that is to be written.
type outgoing struct {
	header header
	value  any
}

// Bounds of what a client remembers of the wire and of the program's log.
const (
	clientFrames     = 5000
	clientFrameBytes = 4 << 20
	clientLines      = 2000
	clientLineBytes  = 1 << 20
)

// askWithin bounds questions that have no context of their own.
const askWithin = 5 * time.Second

// Attach connects to the process that has the store in dir open.
//
// Errors: [ErrNobody] when there is none that listens; [ErrVersion], [ErrPeer],
// [ErrBusy]; the cause of ctx.
func Attach(ctx context.Context, dir string) (*Client, error) {
	return attach(ctx, dir, pullWait, pullLate)
}

func attach(ctx context.Context, dir string, wait, late time.Duration) (*Client, error) {
	dialer := net.Dialer{Timeout: helloWithin}
	path := socketOf(dir)
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink != 0 {
		return nil, ErrNobody
	}
	raw, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("%w: %w", ErrNobody, err)
	}
	conn := raw.(*net.UnixConn)
	c, err := newClient(conn, dir)
	if err == nil {
		err = c.pull(ctx, stateAsk{})
	}
	if err != nil {
		err = errors.Join(err, closed(conn.Close()))
		if c != nil {
			_ = c.Close() // what went wrong before says more
		}
		return nil, err
	}
	c.wait, c.late = wait, late
	c.wg.Go(c.follow)
	return c, nil
}

func newClient(conn *net.UnixConn, dir string) (*Client, error) {
	if err := checkPeer(conn); err != nil {
		return nil, err
	}
	in := bufio.NewReader(conn)
	pid, err := greet(conn, in)
	switch {
	case errors.Is(err, ErrVersion):
		return nil, err
	case err != nil: // it was about to end, or has no room
		return nil, fmt.Errorf("%w: %w", ErrNobody, err)
	}
	c := &Client{
		dir: dir, pid: pid, conn: conn, frames: newFrames(conn, in, maxAnswer, maxRequest),
		slots: make(chan struct{}, maxRunning/2), out: make(chan outgoing), recall: make(chan struct{}, 1), pending: map[uint64]*pending{}, flags: map[chan struct{}]struct{}{},
		refused: map[string]error{}, pulling: make(chan struct{}, 1),
		wire:   eventlog.NewRing[host.WireFrame](clientFrames, clientFrameBytes),
		appLog: eventlog.NewRing[host.LogLine](clientLines, clientLineBytes),
	}
	c.log = eventlog.New(&remoteStore{c: c})
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	context.AfterFunc(c.ctx, func() { _ = conn.Close() }) // what reads and writes ends with it
	c.wg.Go(c.read)
	c.wg.Go(c.write)
	return c, nil
}

// PID returns the process that has the store open.
func (c *Client) PID() int { return c.pid }

// Done is closed when the connection has ended; [Client.Err] tells why.
func (c *Client) Done() <-chan struct{} { return c.ctx.Done() }

var errClosed = errors.New("detached")

// Err returns why the connection ended: nil while it has not, and after Close.
func (c *Client) Err() error {
	if c.ctx.Err() == nil || errors.Is(context.Cause(c.ctx), errClosed) {
		return nil
	}
	return context.Cause(c.ctx)
}

// Within returns a context that ends with the connection too; its cause is then that
// of the end.
func (c *Client) Within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.ctx, func() { cancel(context.Cause(c.ctx)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// Close detaches. The other process goes on.
func (c *Client) Close() error {
	c.cancel(errClosed)
	c.wg.Wait()
	return nil
}

// read hands the answers to those who wait for them.
func (c *Client) read() {
	err := error(nil)
	for err == nil {
		err = c.answer()
	}
	c.end(err)
}

// end says why the connection ends.
func (c *Client) end(err error) {
	if !errors.Is(err, ErrFrame) {
		err = fmt.Errorf("%w: process %d, which had %s open; run the command again", ErrGone, c.pid, c.dir)
	}
	c.cancel(err)
}

// write writes what is asked. A first process that reads nothing holds it up, and
// nobody else.
func (c *Client) write() {
	err := error(nil)
	for err == nil {
		select {
		case o := <-c.out:
			err = c.frames.write(o.header, o.value)
		case <-c.recall:
			err = c.writeRecalled()
		case <-c.ctx.Done():
			return
		}
	}
	c.end(err)
}

func (c *Client) writeRecalled() error {
	c.mu.Lock()
	ids := c.recalled
	c.recalled = nil
	c.mu.Unlock()
	for _, id := range ids {
		if err := c.frames.write(header{ID: id, Cancel: true}, nil); err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) answer() error {
	h, err := c.frames.next()
	if err != nil {
		return err
	}
	c.mu.Lock()
	p := c.pending[h.ID]
	delete(c.pending, h.ID)
	c.mu.Unlock()
	switch {
	case p == nil: // nobody waits any more
		return c.frames.skip(h)
	case h.Failed != nil:
		err = c.frames.skip(h)
		p.done <- h.Failed.err()
		return err
	case !h.Body:
		return fmt.Errorf("%w: an answer is empty", ErrFrame)
	}
	if err := p.read(c.frames); err != nil {
		return err
	}
	p.done <- nil
	return nil
}

// ask sends a request and waits for the answer. The request must not be changed
// afterwards: it may still be written when ctx has ended.
//
// Errors: those of the first process, [ErrGone], the cause of ctx.
func ask[In, Out any](ctx context.Context, c *Client, v verb[In, Out], in In) (Out, error) {
	var none Out
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return none, context.Cause(ctx)
	case <-c.ctx.Done():
		return none, context.Cause(c.ctx)
	}
	// The value is not read by the caller before done says so.
	out := new(Out)
	p := &pending{read: func(f *frames) error { return f.value(out) }, done: make(chan error, 1)}
	c.mu.Lock()
	c.next++
	id := c.next
	c.pending[id] = p
	c.mu.Unlock()
	select {
	case c.out <- outgoing{header{ID: id, Verb: string(v)}, in}:
	case <-c.ctx.Done():
		return none, context.Cause(c.ctx)
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.pending, id)
		c.mu.Unlock()
		return none, context.Cause(ctx)
	}
	select {
	case err := <-p.done:
		if err != nil {
			return *out, err
		}
		return *out, nil
	case <-c.ctx.Done():
		return none, context.Cause(c.ctx)
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.pending, id)
		c.recalled = append(c.recalled, id)
		c.mu.Unlock()
		select {
		case c.recall <- struct{}{}:
		default: // it is raised
		}
		return none, context.Cause(ctx)
	}
}

// soon asks what has no context of its own.
func soon[In, Out any](c *Client, v verb[In, Out], in In) (Out, error) {
	ctx, cancel := context.WithTimeout(c.ctx, askWithin)
	defer cancel()
	return ask(ctx, c, v, in)
}

// change asks for a change, and returns when what is shown here has it too.
func change[In, Out any](ctx context.Context, c *Client, v verb[In, Out], in In) (Out, error) {
	out, err := ask(ctx, c, v, in)
	if c.ctx.Err() == nil {
		// It was done or not; a state that is late shows it soon.
		_ = c.pull(ctx, stateAsk{})
	}
	return out, err
}
