package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

const (
	patience   = 2 * time.Second // with each step of stopping a process
	drainGrace = time.Second     // for what a dead process left in its pipes
	stderrLine = 4 << 10
)

// processLink speaks with a process over its standard input and output, one
// message a line.
type processLink struct {
	opts    Options
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	stdout  *os.File
	stderr  *os.File
	unasked func(wire.Note)
	lose    func(error) // ends the session

	writes  chan write
	replies chan []byte   // answers to the server; bounded, so that reading never waits for writing
	stop    chan struct{} // closed when nothing is written any more
	outDone chan struct{} // standard output is read to its end
	errDone chan struct{} // so is standard error
	exited  chan struct{} // the process was waited for
	deaf    chan struct{} // the process does not read its standard input
	workers sync.WaitGroup

	lastWords atomic.Pointer[trust.Text] // last line of standard error

	mu      sync.Mutex
	inboxes map[wire.ID]*inbox

	garbage int                        // lines that were no JSON-RPC; of the reader
	sample  atomic.Pointer[trust.Text] // the beginning of the first of them
}

// write is a frame on its way; done, with one slot, gets the outcome.
type write struct {
	frame []byte
	done  chan error
}

// startProcess starts the server's process: directly, never through a shell, in
// a process group of its own.
//
// Error: [ErrUnreachable].
func startProcess(server event.Server, opts Options, unasked func(wire.Note), lose func(error)) (*processLink, error) {
	l := &processLink{
		opts: opts, unasked: unasked, lose: lose,
		writes: make(chan write), replies: make(chan []byte, 16),
		stop: make(chan struct{}), outDone: make(chan struct{}), errDone: make(chan struct{}), exited: make(chan struct{}), deaf: make(chan struct{}),
		inboxes: map[wire.ID]*inbox{},
	}
	l.cmd = exec.Command(server.Command, server.Args...)
	l.cmd.Dir = server.Dir
	l.cmd.Env = os.Environ()
	for name, value := range server.Env {
		l.cmd.Env = append(l.cmd.Env, name+"="+value.Reveal())
	}
	ownGroup(l.cmd)
	if err := l.start(); err != nil {
		return nil, fmt.Errorf("%w: cannot start %q: %w", ErrUnreachable, server.Command, err)
	}
	l.workers.Go(l.write)
	l.workers.Go(l.readOut)
	l.workers.Go(l.readErr)
	l.workers.Go(l.watch)
	return l, nil
}

// start makes the pipes and starts the process. The pipes are files of our own
// because Wait must not close them before they are read to their end.
func (l *processLink) start() (err error) {
	var opened []io.Closer
	defer func() {
		if err != nil {
			for _, c := range opened {
				c.Close()
			}
		}
	}()
	pipe := func() (r, w *os.File, err error) {
		r, w, err = os.Pipe()
		if err == nil {
			opened = append(opened, r, w)
		}
		return r, w, err
	}
	var out, errs *os.File
	if l.stdout, out, err = pipe(); err != nil {
		return err
	}
	if l.stderr, errs, err = pipe(); err != nil {
		return err
	}
	l.cmd.Stdout, l.cmd.Stderr = out, errs
	if l.stdin, err = l.cmd.StdinPipe(); err != nil {
		return err
	}
	opened = append(opened, l.stdin)
	if err = l.cmd.Start(); err != nil {
		return err
	}
	out.Close()
	errs.Close()
	return nil
}

// hangsUp: a pipe does not tell the server of one exchange that was given up.
func (l *processLink) hangsUp(era) bool { return false }

// write is the goroutine that writes to the process.
func (l *processLink) write() {
	for {
		var w write
		select {
		case w = <-l.writes:
		case frame := <-l.replies:
			w = write{frame, make(chan error, 1)}
		case <-l.stop:
			return
		}
		l.opts.trace(Sent, w.frame)
		if _, err := l.stdin.Write(append(w.frame, '\n')); err != nil {
			w.done <- fmt.Errorf("%w: its process does not read: %w", ErrLost, err)
			close(l.deaf)
			return
		}
		w.done <- nil
	}
}

func (l *processLink) tell(ctx context.Context, _ era, _ string, frame []byte) error {
	w := write{frame, make(chan error, 1)}
	select {
	case l.writes <- w:
	case <-l.deaf:
		return ErrLost
	case <-l.exited:
		return ErrLost
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// watch waits for the end of the process and declares the session lost.
func (l *processLink) watch() {
	l.workers.Go(func() {
		// A failure is in the process state; the pipes are ours.
		_ = l.cmd.Wait()
		killGroup(l.cmd) // what it left behind
		close(l.exited)
	})
	select {
	case <-l.exited:
	case <-l.outDone:
	case <-l.deaf:
	}
	grace := time.NewTimer(drainGrace)
	defer grace.Stop()
	for _, end := range []chan struct{}{l.exited, l.outDone, l.errDone} {
		select {
		case <-end:
		case <-grace.C:
			grace.Reset(0) // the others get no more time
		}
	}
	select {
	case <-l.exited:
		l.lose(l.lostBecause("its process ended: " + l.cmd.ProcessState.String()))
	default:
		l.lose(l.lostBecause("its process closed its input or its output"))
	}
}

func (l *processLink) lostBecause(what string) error {
	if words := l.lastWords.Load(); words != nil {
		return fmt.Errorf("%w: %s; its last words: %v", ErrLost, what, *words)
	}
	return fmt.Errorf("%w: %s", ErrLost, what)
}

// close stops the process: it closes its input, then asks, then kills.
func (l *processLink) close() {
	close(l.stop)
	l.stdin.Close()
	for _, urge := range []func(*exec.Cmd){terminateGroup, killGroup} {
		wait := time.NewTimer(l.opts.patience)
		select {
		case <-l.exited:
		case <-wait.C:
			urge(l.cmd)
		}
		wait.Stop()
	}
	<-l.exited
	select {
	case <-l.outDone:
	case <-time.After(drainGrace):
	}
	l.stdout.Close()
	l.stderr.Close()
	l.workers.Wait()
}

// readErr hands on what the process says on its standard error.
func (l *processLink) readErr() {
	defer close(l.errDone)
	lines := newLineReader(l.stderr, stderrLine)
	for {
		line, _, err := lines.next()
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
				l.opts.Log.Warn("cannot read the server's standard error", "error", err)
			}
			return
		}
		text := trust.Untrusted(string(line))
		if len(line) > 0 {
			words := head(line)
			l.lastWords.Store(&words)
		}
		if l.opts.OnStderr != nil {
			l.opts.OnStderr(text)
		} else {
			l.opts.Log.Info("server's standard error", "line", text)
		}
	}
}
