package sim

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// laneBytes is the buffer of one direction of a connection, in bytes.
const laneBytes = 64 << 10

// lane is one direction of a connection.
type lane struct {
	mu     sync.Mutex
	cond   sync.Cond
	chunks []chunk
	held   int   // bytes in chunks
	eof    bool  // the writer has closed it
	err    error // the error of both ends from now on
	muted  bool  // written bytes are lost, without an error
	ends   [2]time.Time
	free   time.Time // when the bytes written so far are through

	latency time.Duration
	pace    int // bytes per second; 0: unlimited

	harmAfter int // bytes until harm is called; 0: never
	harm      func(l *lane, p []byte) []byte
	onRead    func(n int) // called with the number of bytes read
}

type chunk struct {
	at   time.Time
	data []byte
}

const (
	reading = iota
	writing
)

func newLane() *lane {
	l := &lane{}
	l.cond.L = &l.mu
	return l
}

func (l *lane) read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		now := time.Now()
		switch {
		case l.err != nil:
			return 0, l.err
		case passed(l.ends[reading], now):
			return 0, os.ErrDeadlineExceeded
		case len(l.chunks) > 0 && !l.chunks[0].at.After(now):
			c := &l.chunks[0]
			n := copy(p, c.data)
			if c.data = c.data[n:]; len(c.data) == 0 {
				l.chunks = l.chunks[1:]
			}
			l.held -= n
			l.cond.Broadcast()
			if l.onRead != nil {
				l.onRead(n)
			}
			return n, nil
		case len(l.chunks) == 0 && l.eof:
			return 0, io.EOF
		}
		until := l.ends[reading]
		if len(l.chunks) > 0 && (until.IsZero() || l.chunks[0].at.Before(until)) {
			until = l.chunks[0].at
		}
		l.wait(until)
	}
}

func (l *lane) write(p []byte) (n int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n < len(p) {
		now := time.Now()
		switch {
		case l.err != nil:
			return n, l.err
		case l.eof:
			return n, net.ErrClosed
		case passed(l.ends[writing], now):
			return n, os.ErrDeadlineExceeded
		case l.muted:
			return len(p), nil
		}
		room := laneBytes - l.held
		if room <= 0 {
			l.wait(l.ends[writing])
			continue
		}
		part := append([]byte(nil), p[n:min(len(p), n+room)]...)
		n += len(part)
		l.carry(part, now)
	}
	return n, nil
}

// carry queues bytes. The lock is held.
func (l *lane) carry(part []byte, now time.Time) {
	if l.harmAfter > 0 {
		if l.harmAfter -= len(part); l.harmAfter <= 0 {
			l.harmAfter = 0
			if part = l.harm(l, part); len(part) == 0 {
				return
			}
		}
	}
	at := now.Add(l.latency)
	if at.Before(l.free) {
		at = l.free
	}
	if l.pace > 0 {
		at = at.Add(time.Duration(len(part)) * time.Second / time.Duration(l.pace))
	}
	l.free = at
	l.chunks = append(l.chunks, chunk{at, part})
	l.held += len(part)
	l.cond.Broadcast()
}

func passed(end, now time.Time) bool { return !end.IsZero() && !end.After(now) }

// wait waits for a change, or until a time if it is not zero.
func (l *lane) wait(until time.Time) {
	if !until.IsZero() {
		timer := time.AfterFunc(time.Until(until), func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.cond.Broadcast()
		})
		defer timer.Stop()
	}
	l.cond.Wait()
}

func (l *lane) change(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
	l.cond.Broadcast()
}

// reset drops the queued bytes and fails both ends.
func (l *lane) reset(err error) {
	l.change(func() {
		if l.err == nil {
			l.err, l.chunks, l.held = err, nil, 0
		}
	})
}

func (l *lane) silence() { l.change(func() { l.muted, l.chunks, l.held = true, nil, 0 }) }

func (l *lane) end() { l.change(func() { l.eof = true }) }

var errReset = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
